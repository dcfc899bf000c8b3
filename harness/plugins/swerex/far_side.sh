# Runs on a SWE-ReX deployment as the server's user, as `bash -c THIS bash FUNCTION ARGUMENT...`; needs bash 5, GNU
# coreutils, tar, grep and setsid. The server does one thing at a time: whatever may take long is detached.
#
# A sandbox's processes have a mark in TESTWRIGHT_COMMAND, as driver.sh gives it; ours have none.

LC_ALL=C

# The user's id, bash's version, the server's PATH, and one line for each program that is missing.
facts() {
    local name
    printf '%s\n' "$UID" "${BASH_VERSINFO[0]}" "$PATH"
    for name in base64 cat chmod dd du env find grep head mkdir mkfifo mv realpath rm setsid sha256sum stat tail tar; do
        type -P "$name" >/dev/null || echo "$name"
    done
}

# DIRECTORY LABELS: a sandbox's directory and its labels, as base64.
make() {
    mkdir -p -- "${1%/*}" && mkdir -m 700 -- "$1" && base64 -d <<<"$2" >"$1/labels.json.new" &&
        mv -- "$1/labels.json.new" "$1/labels.json"
}

# ROOT: each sandbox's directory and its labels as base64.
list() {
    local labels
    for labels in "$1"/sandbox-*/labels.json; do
        [[ ! -f $labels ]] || printf '%s %s\n' "${labels%/*}" "$(base64 -w0 "$labels")"
    done
}

# FILE SHA256
has() { [[ -f $1 && $(sha256sum <"$1") == "$2 "* ]]; }

there() { [[ -e $1 ]]; }

directories() { mkdir -p -- "$@"; }

# ARCHIVE DIRECTORY STRIP
unpack() { tar -x -p --delay-directory-restore -f "$1" --no-same-owner --strip-components="$3" -C "$2"; }

# Of each directory that there is: whether it is ours, its mode, its time and its place among the arguments.
above() {
    local at=0 path
    for path; do
        [[ ! -e $path && ! -L $path ]] || printf '%s %s\n' "$at" "$(stat -c '%u %a %.9Y %F' -- "$path")"
        ((at += 1))
    done
}

# DIRECTORY SPOOL LIMIT: a tar of a directory that no link leads to, its first LIMIT bytes. Status 3: there is none.
pack() {
    [[ -d $1 && ! -L $1 && $(realpath -e -- "$1") == "$1" ]] || return 3
    # What its own user has taken the right to read away from.
    find "$1" \( -type d ! -perm -u=rx -exec chmod u+rx {} \; \) -o \( -type f ! -perm -u=r -exec chmod u+r {} \; \)
    tar -c -f - -C "${1%/*}/" -- "${1##*/}" 2>/dev/null | head -c "$3" >"$2"
    case ${PIPESTATUS[0]} in
        0 | 1 | 141) return 0 ;; # files that changed meanwhile are no fault, nor is the limit
        *) return 1 ;;
    esac
}

# FILE NUMBER: a piece of 1 MiB.
piece() { [[ ! -f $1 ]] || dd if="$1" bs=1M skip="$2" count=1 status=none | base64 -w0; }

# DIRECTORY: out of the way at once, and deleted beside the server.
discard() {
    local gone=${1%/*}/removed-${1##*/}
    mv -T -- "$1" "$gone" 2>/dev/null || return 0
    setsid bash -c "$BASH_EXECUTION_STRING" bash remove "$gone" </dev/null >/dev/null 2>&1 &
}
remove() {
    rm -rf -- "$1" 2>/dev/null || { chmod -R u+rwX -- "$1" && rm -rf -- "$1"; }
}

# Bytes on disk and files. Nested so deep, or so many, that it takes too long: as good as full.
usage() {
    local bytes files
    bytes=$(timeout 5 du -s -B1 -- "$1" 2>/dev/null) || [[ $? != 124 ]] || bytes=9223372036854775807
    files=$(timeout 5 du -s --inodes -- "$1" 2>/dev/null) || [[ $? != 124 ]] || files=1000000000
    echo "${bytes%%[^0-9]*} ${files%%[^0-9]*}"
}

# DIRECTORY FUNCTION ARGUMENT...: runs beside the server.
detach() {
    [[ -d ${1%/*} ]] && mkdir -p -- "$1" && rm -f -- "$1/status" || return
    setsid bash -c "$BASH_EXECUTION_STRING" bash detached "$@" </dev/null >/dev/null 2>&1 &
}
detached() {
    local at=$1
    shift
    "$@"
    echo $? >"$at/status.new"
    mv -- "$at/status.new" "$at/status"
}
ended() { [[ -f $1/status ]] && head -c 20 "$1/status"; }

# state=of a process, session= and ticks= of CPU time, its ended children's included. Its name may hold anything.
read_stat() {
    local text='' fields
    [[ -r /proc/$1/stat ]] && IFS= read -r -d '' text 2>/dev/null <"/proc/$1/stat"
    # shellcheck disable=SC2206  # a letter and numbers
    fields=(${text##*) })
    state=${fields[0]:-} session=${fields[3]:-}
    ((ticks = ${fields[11]:-0} + ${fields[12]:-0} + ${fields[13]:-0} + ${fields[14]:-0}))
    [[ $state && $state != [ZX] ]]
}

# MARK: found=the processes that carry a mark that begins so, and all else in their sessions; total=their ticks, and
# busy=1 where one of them wants a core.
find_marked() {
    local entry pid own state session ticks
    local -A sessions=() seen=()
    total=0 busy=0
    read_stat $$
    own=$session
    while IFS= read -r entry; do
        pid=${entry//[^0-9]/}
        read_stat "$pid" || continue
        seen[$pid]=1
        [[ $session == "$own" ]] || sessions[$session]=1
    done < <(grep -lsz -- "^TESTWRIGHT_COMMAND=$1" /proc/[0-9]*/environ)
    found=()
    for entry in /proc/[0-9]*; do
        pid=${entry#/proc/}
        read_stat "$pid" || continue
        [[ ${sessions[$session]:-}${seen[$pid]:-} ]] || continue
        found+=("$pid")
        ((total += ticks))
        case $state in R) busy=1 ;; D) ((busy == 1)) || busy=2 ;; esac
    done
}

# MARK: kills them.
kill_marked() {
    local found total busy
    for _ in {1..100}; do
        find_marked "$1"
        ((${#found[@]})) || return 0
        kill -KILL "${found[@]}" 2>/dev/null
    done
}

# MARK: hundredths of a second of CPU time that they have used, and 1 where one wants a core, 2 where one waits for a
# disk and none wants a core, else 0.
used() {
    local found total busy
    find_marked "$1"
    echo "$total $busy"
}

# Starts a program of a sandbox: MARK DIRECTORY DISK_KIB MEMORY_KIB INHERIT NUMBER ENV... PROGRAM...
launch() {
    local mark=$1 directory=$2 disk=$3 memory=$4 inherit=$5 number=$6 clean=(-i)
    shift 6
    ((!inherit)) || clean=()
    cd -- "$directory" || return
    ulimit -c 0 -f "$disk" -d "$memory"
    exec env "${clean[@]}" "${@:1:number}" TESTWRIGHT_COMMAND="$mark" "${@:number + 1}"
}

# A driver: its input is a file that grows, its output a pipe with a name. CHANNEL MARKS, then as for launch.
open_channel() {
    local at=$1 marks=$2
    [[ -d ${at%/*} ]] && mkdir -- "$at" && mkfifo -- "$at/out" && : >"$at/in" || return
    TESTWRIGHT_COMMAND=${marks}channel setsid bash -c "$BASH_EXECUTION_STRING" bash hold_channel "$at" "${@:3}" \
        </dev/null >/dev/null 2>&1 &
}
hold_channel() {
    local at=$1 feeder
    shift
    exec {out}<>"$at/out" {in}< <(exec tail -f -c +1 "$at/in")
    feeder=$!
    echo "$$ $feeder" >"$at/pids"
    (launch "$@" <&"$in" >&"$out" {out}>&- {in}<&-)
    kill "$feeder"
    : >"$at/ended"
}
close_channel() {
    local pids=()
    read -r -a pids 2>/dev/null <"$1/pids"
    ((!${#pids[@]})) || kill -KILL "${pids[@]}" 2>/dev/null
    rm -rf -- "$1"
}
# What the driver has printed, up to 1 MiB, as base64; and after a space whether it has ended.
read_channel() {
    local at=$1 state session ticks pid over=''
    if [[ -f $at/ended ]]; then
        over=' ended'
    elif [[ -f $at/pids ]]; then
        read -r pid _ <"$at/pids"
        read_stat "$pid" || over=' ended'
    elif [[ ! -p $at/out ]]; then
        over=' ended'
    fi
    [[ ! -p $at/out ]] || for _ in {1..16}; do
        dd if="$at/out" iflag=nonblock bs=65536 count=1 status=none 2>/dev/null || break
    done | base64 -w0
    echo "$over"
}
write_channel() { [[ -f $1/in ]] && base64 -d <<<"$2" >>"$1/in"; }

# A job: its output goes to head and tail, its end to `status`. STATE KEEP MARKS, then as for launch.
start_job() {
    local at=$1 keep=$2
    [[ -d ${at%/*} ]] && mkdir -- "$at" && mkfifo -- "$at/log" || return
    setsid bash -c "$BASH_EXECUTION_STRING" bash keep_log "$at" "$keep" </dev/null >/dev/null 2>&1 &
    TESTWRIGHT_COMMAND=${3}job setsid bash -c "$BASH_EXECUTION_STRING" bash hold_job "$at" "${@:4}" \
        </dev/null >/dev/null 2>&1 &
}
hold_job() {
    local at=$1 begun=$EPOCHREALTIME status
    shift
    (launch "$@" >"$at/log" 2>&1)
    status=$?
    echo "$status $((${EPOCHREALTIME/./} - ${begun/./}))" >"$at/status.new"
    mv -- "$at/status.new" "$at/status"
    exec sleep infinity # until it is killed with whatever the job has left
}
keep_log() {
    { head -c "$2" >"$1/head" && tail -c "$2" >"$1/tail"; } <"$1/log"
    : >"$1/whole"
}

"$@"
