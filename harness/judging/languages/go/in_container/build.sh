# Runs in a container with at most the text of an agent's tests, in the work tree; compiles, and runs nothing of it.
# bash -c THIS build suite VARIANTS FOLDER REMOVED...: takes those files away and leaves the folder's test binary with
#   the overlay VARIANTS/NUMBER/overlay.json in NUMBER.gz, and in `embedded` the files that its tests embed, if any.
set -uo pipefail
export GOGC=400 GOMEMLIMIT=1GiB # compilers spend a fifth of their time on finding garbage
out=$TESTWRIGHT_REPORT_DIR
suite() {
    local variant
    rm -f -- "${@:3}"
    # Finding out what is embedded takes as long as a compilation.
    if grep -qsa 'go:embed' "$2"/*.go; then
        go list -e -test -f '{{range .EmbedFiles}}{{println .}}{{end}}' "./$2" > "$out/embedded" || return
    fi
    for variant in "$1"/*/; do
        # Without symbols: they would name the functions of the code for anybody who reads the binary.
        go test -c -vet=off -buildvcs=false -ldflags='-s -w' -overlay "${variant}overlay.json" -o /tmp/test "./$2" &&
            gzip -1nc /tmp/test > /tmp/test.gz && mv /tmp/test.gz "$out/$(basename "$variant").gz"
        rm -f /tmp/test
    done
}
"$@"
