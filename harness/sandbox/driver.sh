# The far end of a channel (channel.py): runs in the sandbox, as its user, with bash 5 and coreutils only.
#
# A frame on standard input is a line `TOKEN MARK SECONDS SIZE` and SIZE bytes, the command. The answer on standard
# output is a line TOKEN, the command's output, and `TOKEN STATUS TIMED_OUT`; the driver then waits for an empty
# line, which says that all of it has arrived.
#
# Whatever is started here has TESTWRIGHT_COMMAND in its environment: its command's mark, or `driver`. By that it is
# found again when it has left its process group and its parents are gone.

exec 2>/dev/null
trap '' PIPE
workdir=$PWD
[[ -v LC_ALL ]] && locale=$LC_ALL
export -n LC_ALL
LC_ALL=C # commands are bytes

# The first line says whether all processes in sight are the sandbox's, and what a lost driver left.
read -r token alone old_driver old_mark

# stat=(state parent group ...) of a process; its name, which comes before these, may hold anything.
read_stat() {
    local text=''
    IFS= read -r -d '' text <"/proc/$1/stat"
    # shellcheck disable=SC2206  # a letter and numbers
    stat=(${text##*) })
    [[ ${#stat[@]} -gt 19 ]]
}

# found=the mark of a process, empty where it has none or hides it.
read_mark() {
    local entries=() entry
    found=''
    mapfile -d '' -t entries <"/proc/$1/environ" || return
    for entry in "${entries[@]}"; do
        [[ $entry != TESTWRIGHT_COMMAND=* ]] || found=${entry#*=}
    done
}

# victims=what command $1 started, with group $2, at $3; moving=those of them that are not stopped. A process without
# a mark belongs to the command when it is younger, and an orphan or the child of one that belongs.
find_victims() {
    local pid entry chosen=()
    victims=() moving=()
    for entry in /proc/[0-9]*; do
        pid=${entry#/proc/}
        read_stat "$pid" || continue
        [[ ${stat[0]} != [ZX] ]] || continue
        read_mark "$pid"
        if [[ $found ]]; then
            [[ $found == "$1" ]] || continue
        elif [[ $2 == 0 || ${stat[2]} != "$2" ]]; then # groups from outside the namespace are 0
            ((alone && $3 && stat[19] >= $3)) || continue
            [[ ${stat[1]} == 1 || ${chosen[stat[1]]} ]] || continue
        fi
        chosen[pid]=1
        victims+=("$pid")
        [[ ${stat[0]} == [Tt] ]] || moving+=("$pid")
    done
}

# All are stopped before any is killed, so that a fork bomb finds no free slot to fork into. Forks nothing itself.
kill_command() {
    local round victims moving
    for round in {1..100}; do
        find_victims "$@"
        ((${#victims[@]})) || return
        if ((${#moving[@]} && round < 50)); then
            kill -STOP "${moving[@]}"
        else
            kill -KILL "${victims[@]}"
        fi
    done
}

take_over() {
    local entry
    for entry in /proc/[0-9]*; do
        read_stat "${entry#/proc/}" && [[ ${stat[1]} == "$old_driver" ]] && kill -CONT "${entry#/proc/}"
    done
    kill -KILL "$old_driver"
    [[ $old_mark == - ]] || kill_command "$old_mark" 0 0
}

# Runs beside the driver, in another process group than the command; prints the command's pid and exit status.
launch() {
    trap - PIPE
    set -m
    cd -- "$workdir" && unset OLDPWD
    [[ ! -v locale ]] || export LC_ALL=$locale
    if ((size < 100000)); then
        TESTWRIGHT_COMMAND=$mark bash -c "$command" </dev/null >&"$out" 2>&1 {out}>&- &
    else # longer than one argument can be
        TESTWRIGHT_COMMAND=$mark bash <(printf %s "$command") </dev/null >&"$out" 2>&1 {out}>&- &
    fi
    echo $!
    wait -f $!
    echo $?
}

# Sets status and timed_out. A launcher that was killed tells nothing: what it launched goes after it.
await_end() {
    local shell=0 since=0 failed
    read -r -t "$seconds" -u "$ended" shell && read -r -t "$seconds" -u "$ended" status
    failed=$?
    timed_out=0
    ((failed)) || return
    read_stat "$shell" && since=${stat[19]}
    kill_command "$mark" "$shell" "$since"
    kill -KILL "$launcher"
    ((failed <= 128)) || timed_out=1
    ((status = timed_out ? 124 : 137))
}

# What a finished command left running may go on printing, but nobody listens.
silence() {
    kill -0 "$1" || return
    exec {rest}<"/proc/$1/fd/0" || return
    kill -KILL "$1"
    # What it is just writing may still arrive, and must do so before the next command's token.
    for round in {1..1000}; do
        read_stat "$1" || break
        [[ ${stat[0]} != [ZX] ]] || break
        ((round < 100)) || sleep 0.01
    done
    cat <&"$rest" >/dev/null {rest}<&- &
    exec {rest}<&-
}

((old_driver <= 1)) || take_over # 1 is this one, in a new namespace
echo "$token $$"

while read -r token mark seconds size; do
    IFS= read -r -N "$size" command
    echo "$token"
    # A relay for each command: its end closes the output, whoever else still has the command's end of it open.
    exec {out}> >(exec cat)
    relay=$!
    exec {ended}< <(launch)
    launcher=$!
    await_end
    exec {ended}<&-
    answer="$token $status $timed_out"
    echo "$answer" >&"$out"
    exec {out}>&-
    # A relay that was killed may have taken the answer along.
    until read -r -t 1 _ || (($? <= 128)); do
        kill -0 "$relay" || echo "$answer"
    done
    silence "$relay"
done
