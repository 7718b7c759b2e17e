#!/bin/sh
# Finance: gigabytes (of a thousand million bytes) by vault, for the invoice of the landlord
coffer() { node "$(dirname "$0")/../../bin/coffer.js" "$@"; }

report=$(coffer sizes --by vault --exact "$@") || exit
echo "$report" | while read -r vault count blocks share; do
    # blocks of 1024, we asked
    echo "$vault;$count;$((blocks * 1024 / 1000000000))"
done
