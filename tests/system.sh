#!/bin/sh
# The system's programs that the tests need: put there where that is allowed, named where it is not.
set -eu
packages=""
need() { command -v "$1" >/dev/null 2>&1 || packages="$packages $2"; }
need bwrap bubblewrap
need podman podman
need runc runc
need newuidmap uidmap
need debootstrap debootstrap
need git git
need setpriv util-linux
need npm npm
need curl curl
need openssl openssl
need chromium chromium
[ -z "$packages" ] && exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "The tests need these programs: sudo apt-get install --no-install-recommends$packages" >&2
    exit 1
fi
echo "Installing what the tests need:$packages …"
export DEBIAN_FRONTEND=noninteractive
install="apt-get install -qq -y --no-install-recommends"
# shellcheck disable=SC2086
$install $packages >/dev/null 2>&1 || { apt-get update -qq && $install $packages >/dev/null; }
