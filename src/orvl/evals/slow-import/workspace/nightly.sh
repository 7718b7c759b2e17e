#!/bin/sh
# cron: 30 3 * * *   (the mail with the log goes to Ines)
cd "$(dirname "$0")" || exit 1
for file in inbox/*.csv inbox/*.dat inbox/*.jsonl; do
    [ -e "$file" ] || continue
    python3 -m tally import "$file" >> nightly.log && mv "$file" "$file.rejects" done/
done
# on the first of the month the old one goes out; it is closed by hand, after Mrs. Oduya has called
if [ "$(date +%d)" = 01 ]; then
    month=$(date -d yesterday +%Y-%m)
    python3 -m tally export "$month" "outbox/tidewell-$month.txt" >> nightly.log
fi
