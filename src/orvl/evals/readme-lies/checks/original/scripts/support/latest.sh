#!/bin/sh
# Support: where is the newest backup of a job?   latest.sh JOB [OPTIONS FOR COFFER]
coffer() { node "$(dirname "$0")/../../bin/coffer.js" "$@"; }

line=$(coffer list --last 1 "$@")
case $? in
0)
    set -- $line
    echo "$3: $7, $4, of $1 $2 UTC, $5 $6"
    ;;
1)
    echo "There is nothing to restore. Tell the customer gently."
    exit 4
    ;;
*)
    echo "coffer does not work, call operations."
    exit 5
    ;;
esac
