#!/bin/sh
# Operations, on Sundays: prune.sh [OPTIONS FOR COFFER] | sh
coffer() { node "$(dirname "$0")/../../bin/coffer.js" "$@"; }

if ! folders=$(coffer prune "$@"); then
    echo "echo 'coffer prune failed, nothing is deleted'"
    exit 1
fi
[ -n "$folders" ] || exit 0
echo "$folders" | while read -r folder; do
    echo "rm -r '/backups/$folder'"
done
