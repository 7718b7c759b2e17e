#!/bin/sh
# Platform, before each release. We may release over a late backup, but never over one that is not there at all.
coffer() { node "$(dirname "$0")/../../bin/coffer.js" "$@"; }

report=$(coffer check --strict "$@")
status=$?
case $status in
0) echo "go" ;;
1)
    echo "go, but look at this:"
    echo "$report"
    ;;
3)
    echo "STOP, there is no backup at all:"
    echo "$report"
    exit 1
    ;;
*)
    echo "STOP, coffer check ended with $status"
    exit 1
    ;;
esac
