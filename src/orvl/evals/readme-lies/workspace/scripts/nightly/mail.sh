#!/bin/sh
# Operations, every morning at six. What this prints becomes a mail; a line that begins with PAGE wakes somebody up.
coffer() { node "$(dirname "$0")/../../bin/coffer.js" "$@"; }

report=$(coffer check "$@")
status=$?
case $status in
0) exit 0 ;;
1) ;;
*)
    echo "PAGE coffer itself is broken, status $status"
    exit 1
    ;;
esac

echo "Subject: backups need you"
echo "$report" | while read -r job state age number unit word than; do
    case $state in
    late) echo "- $job: the last one is $age old, $than is $word" ;;
    missing) echo "- $job: NO BACKUP AT ALL" ;;
    shrunk) echo "- $job: only $number $unit, $word it was $than" ;;
    esac
done
