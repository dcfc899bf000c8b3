# Runs in a container that never holds agent code: bash -c THIS compile VARIANTS COMMAND, in the work tree.
# VARIANTS/NUMBER has the files that a variant changes. COMMAND compiles the files that it is given. For each variant
# NUMBER.compiles is left among the outputs, or NUMBER.log with what the compiler said. The tree is put back after each.
set -uo pipefail
variants=$1 command=$2 out=$TESTWRIGHT_REPORT_DIR
for variant in "$variants"/*/; do
    number=$(basename "$variant")
    mapfile -d '' -t paths < <(cd "$variant" && find . -type f -printf '%P\0')
    rm -rf /tmp/before && mkdir /tmp/before && cp --parents -t /tmp/before -- "${paths[@]}"
    cp -r "$variant/." .
    if bash -c "$command" compile "${paths[@]}" >"$out/$number.log" 2>&1; then
        mv "$out/$number.log" "$out/$number.compiles"
    fi
    cp -r /tmp/before/. .
done
