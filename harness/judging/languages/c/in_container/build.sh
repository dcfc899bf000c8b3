# Runs in a container that never holds agent code: bash -c THIS build VARIANTS TEST_COMMAND, in the work tree.
# VARIANTS/NUMBER has a variant's text below `code`, and in `flags` how to compile it. For each, the library and
# what it was made of are left among the outputs, in the order of their numbers; at the first that fails it ends.
set -euo pipefail
variants=$1 command=$2
for variant in "$variants"/*/; do
    number=$(basename "$variant")
    cp -r "$variant/code/." .
    CFLAGS=$(<"$variant/flags") "$command" --library "/tmp/built/$number"
    mv "/tmp/built/$number/library.a" "$TESTWRIGHT_REPORT_DIR/$number.library"
    mv "/tmp/built/$number/sources" "$TESTWRIGHT_REPORT_DIR/$number.sources"
done
