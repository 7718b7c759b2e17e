#!/bin/sh
# Operations: gaps as lines for the spreadsheet, job;from;to;length
coffer() { node "$(dirname "$0")/../../bin/coffer.js" "$@"; }

report=$(coffer gaps "$@")
case $? in
0) echo "no gaps" ;;
1)
    echo "$report" | while read -r job day time day2 time2 length; do
        if [ "$day2" = now ]; then
            echo "$job;$day $time;;$time2"
        else
            echo "$job;$day $time;$day2 $time2;$length"
        fi
    done
    ;;
*)
    echo "coffer gaps failed" >&2
    exit 2
    ;;
esac
