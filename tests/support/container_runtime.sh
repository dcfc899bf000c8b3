#!/bin/bash
# Stands for a container runtime's command in tests of SWE-ReX's Docker deployment: bubblewrap instead of containers,
# and a server on loopback instead of a published port. Knows `run` and `kill` as that deployment calls them.
#
# CONTAINERS: a directory; IMAGE_TREE: what /app holds; PYTHON: the interpreter that has SWE-ReX.
set -euo pipefail

run() {
    local port='' name='' home
    while [[ $1 == -* ]]; do
        case $1 in
            -p) port=${2%%:*} && shift ;;
            --name) name=$2 && shift ;;
        esac
        shift
    done
    home=$CONTAINERS/$name
    mkdir -p "$home"/{files/{proc,dev,tmp,logs,etc},}
    echo "$1" >"$home/image"
    [[ $4 =~ --auth-token\ ([0-9a-f-]+) ]]
    cp -r "$IMAGE_TREE" "$home/files/app"
    echo $$ >"$home/pid"
    local programs=()
    for path in /usr /bin /sbin /lib /lib64 "$(dirname "$(dirname "$PYTHON")")" "$(dirname "$(dirname "$(realpath "$PYTHON")")")"; do
        programs+=(--ro-bind-try "$path" "$path")
    done
    exec env -i PATH=/usr/local/bin:/usr/bin:/bin OF_THE_IMAGE=yes bwrap --unshare-user --unshare-pid --unshare-ipc \
        --unshare-uts --die-with-parent --uid 1000 --gid 1000 --bind "$home/files" / "${programs[@]}" \
        --proc /proc --dev /dev --chdir / \
        "$PYTHON" -m swerex.server --host 127.0.0.1 --port "$port" --auth-token "${BASH_REMATCH[1]}"
}

case $1 in
    run) run "${@:2}" ;;
    kill) kill -KILL "$(<"$CONTAINERS/$2/pid")" ;;
    *) exit 1 ;;
esac
