# Makes server/shop.git and the clone shop/ from the streams beside this file, and removes this folder.
set -eu
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null

import() { # REPOSITORY STREAM
    git --git-dir="$1" fast-import --quiet --force <"$2"
    git --git-dir="$1" update-ref -d refs/heads/made
}

git -c init.defaultBranch=main init --quiet --bare server/shop.git
import server/shop.git .start/server.fi
git --git-dir=server/shop.git repack -a -d --quiet

# The laptop was last connected before the colleague pushed.
git clone --quiet --no-hardlinks --no-checkout server/shop.git shop
git -C shop config user.name "Maren Holt"
git -C shop config user.email maren@krate.example
git -C shop remote set-url origin ../server/shop.git
import shop/.git .start/laptop.fi
git -C shop symbolic-ref HEAD refs/heads/intake
git -C shop reset --quiet --hard
import server/shop.git .start/later.fi

# What Maren is in the middle of.
cp .start/stall.md shop/docs/stall.md
cp .start/friday.csv shop/friday.csv

rm -r .start
