#!/bin/sh
# What I did since yesterday, in any of our repositories: bin/standup.sh [REPOSITORY]
cd "${1:-shop}" || exit 2
git log --all --since=yesterday --author="$(git config user.name)" --format='%h %s'
