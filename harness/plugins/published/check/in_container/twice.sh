#!/bin/bash
# usage: twice COMMAND...
# Runs a command two times in a row; the reports of the Nth time are in N below $TESTWRIGHT_REPORT_DIR.
set -u
reports=$TESTWRIGHT_REPORT_DIR
for round in 1 2; do
    mkdir -p "$reports/$round"
    TESTWRIGHT_REPORT_DIR=$reports/$round "$@"
done
exit 3
