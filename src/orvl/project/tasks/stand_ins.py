"""Programs that stand in for what a task's scripts call and cannot have in a sandbox: package managers, whose packages
are there already, and what only root may do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

NOTHING = """#!/bin/sh
# What this is called for has been done before, or means nothing in this sandbox.
exit 0
"""
SUDO = """#!/bin/sh
while [ $# -gt 0 ]; do
  case $1 in
    -u|-g) shift 2 ;;
    -*|*=*) shift ;;
    *) break ;;
  esac
done
exec "$@"
"""
FETCH = """#!/bin/sh
# The script that installs uv is not needed: uv is there. Everything else is fetched as ever.
case "$*" in
  *astral.sh/uv*) exit 0 ;;
esac
self=$(dirname "$0")
PATH=$(printf %s "$PATH" | tr : '\\n' | grep -vxF "$self" | tr '\\n' :)
exec NAME "$@"
"""
SETUP_UV = """#!/bin/sh
# uv, as far as it installs into the system: that is a virtual environment here.
if [ "$1 $2" = "pip install" ]; then
  shift 2
  for word in "$@"; do
    shift
    case $word in
      --system|--break-system-packages|--no-cache) ;;
      *) set -- "$@" "$word" ;;
    esac
  done
  exec pip install "$@"
fi
echo "uv $1 cannot be had in this setup" >&2
exit 1
"""
UV = """#!/bin/sh
# uv, without a network: what it would install has been installed by the setup.
tools=$HOME/.verifier
case $1 in
  run) shift; exec uvx --orvl-run "$@" ;;
  tool) [ "$2" = run ] && { shift 2; exec uvx "$@"; } ;;
  venv)
    folder=.venv
    shift
    for word in "$@"; do
      case $word in -*) ;; *) folder=$word ;; esac
    done
    mkdir -p "$folder/bin"
    echo "PATH='$tools/bin':\\"\\$PATH\\"; export PATH" > "$folder/bin/activate"
    ln -sf "$tools"/bin/* "$folder/bin/" ;;
esac
exit 0
"""
UVX = """#!/bin/sh
# uvx, without a network: a command from what the setup has installed, or with it.
tools=$HOME/.verifier
runs=
while [ $# -gt 0 ]; do
  case $1 in
    --orvl-run) runs=1; shift ;;
    -p|--python|-w|--with|--from|--index|--index-url|--extra-index-url|--with-requirements|--project|--directory|--group)
      shift 2 ;;
    --) shift; break ;;
    -*) shift ;;
    *) break ;;
  esac
done
PATH=$tools/bin:$PATH
export PATH
name=${1%%@*}
shift
case $name in
  *.py) exec python3 "$name" "$@" ;;
esac
[ -n "$runs" ] || [ -x "$tools/bin/$name" ] || { echo "uvx: $name is not installed" >&2; exit 127; }
exec "$name" "$@"
"""
WORD = re.compile(r"[\w.-]+")
IDLE = (
    *("apt-get", "apt", "aptitude", "apt-key", "add-apt-repository", "useradd", "adduser", "groupadd", "usermod"),
    *("chown", "chgrp", "ldconfig", "locale-gen", "update-alternatives", "update-ca-certificates"),
)
"""Commands that mean nothing here."""


def for_setup(script: str) -> dict[str, str]:
    """By name, what stands in for what a setup calls, which reaches registries."""
    return _called({**dict.fromkeys(IDLE, NOTHING), "sudo": SUDO, "uv": SETUP_UV}, script)


def for_scripts(script: str) -> dict[str, str]:
    """By name, what stands in for what a task's verifier or solution calls."""
    fetchers = {name: FETCH.replace("NAME", name) for name in ("curl", "wget")} if "astral.sh" in script else {}
    found = _called({**dict.fromkeys(IDLE, NOTHING), **fetchers, "sudo": SUDO, "uv": UV, "uvx": UVX}, script)
    return {**found, "uv": UV, "uvx": UVX} if {"uv", "uvx", "curl", "wget"} & found.keys() else found


def _called(texts: Mapping[str, str], script: str) -> dict[str, str]:
    words = set(WORD.findall(script))
    return {name: text for name, text in texts.items() if name in words}
