#!/bin/sh
# need.sh COMMAND PACKAGE: makes sure that COMMAND exists, installing the Debian
# package PACKAGE where that is possible. need.sh --have COMMAND only asks.
set -eu
if [ "$1" = --have ]; then
	command -v "$2" >/dev/null 2>&1
	exit
fi
command -v "$1" >/dev/null 2>&1 && exit 0
if command -v flock >/dev/null 2>&1; then # one at a time, as apt wants it
	exec 9>"${TMPDIR:-/tmp}/lore-need.lock"
	flock 9
	command -v "$1" >/dev/null 2>&1 && exit 0
fi
[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 || exit 1
apt-get update -qq >/dev/null 2>&1 || true
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$2" >/dev/null 2>&1
command -v "$1" >/dev/null 2>&1
