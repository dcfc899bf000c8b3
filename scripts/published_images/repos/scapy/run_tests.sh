#!/usr/bin/env bash
# Runs campaigns of UTscapy, started at the root of the tree; without arguments all that lie below test/. Each has a
# process of its own: UTscapy goes on with none after one with a failed test. Left out are tests that want a network
# or root.
shopt -s globstar
[[ $# -gt 0 ]] || set -- test/**/*.uts
for campaign in "$@"; do
    python3 -B -W ignore -m scapy.tools.UTscapy -N -K netaccess -K needs_root -K manufdb -f text -t "$campaign"
done
