#!/bin/sh
# tests/system.sh PART…: the system's programs that these parts of the tests need, installed where that is allowed and
# named where it is not.
set -eu
packages=""
need() { command -v "$1" >/dev/null 2>&1 || packages="$packages $2"; }
need bwrap bubblewrap
need git git
need setpriv util-linux
for part in "$@"; do
    case "$part" in
    test | faults | views)
        need npm npm
        need ps procps
        need curl curl
        need openssl openssl
        ;;
    sandbox)
        need podman podman
        need runc runc
        need newuidmap uidmap
        need debootstrap debootstrap
        ;;
    judging | agents)
        need npm npm
        ;;
    trust)
        need node nodejs
        need chromium chromium # for the eval with a page
        ;;
    browser)
        need npm npm
        need chromium chromium
        ;;
    esac
done
[ -z "$packages" ] && exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "The tests need these programs: sudo apt-get install --no-install-recommends$packages" >&2
    exit 1
fi
echo "Installing$packages …"
export DEBIAN_FRONTEND=noninteractive
install="apt-get install -qq -y --no-install-recommends"
# shellcheck disable=SC2086
$install $packages >/dev/null 2>&1 || { apt-get update -qq && $install $packages >/dev/null; }
