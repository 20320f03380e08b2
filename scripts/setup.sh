#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing from Debian's main archive: scripts/setup.sh [GROUP ...] (build when none is named).
# Does nothing, and needs no rights, when everything is there.
set -eu
here=$(dirname "$0")
groups=" ${*:-build} "

missing=
while read -r group package _; do
    case $group in ''|'#'*) continue ;; esac
    case $groups in *" $group "*) ;; *) continue ;; esac
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing="$missing $package"
done < "$here/packages.txt"
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
    echo "setup: these Debian packages, or their like, are needed:$missing" >&2
    exit 1
fi
as_root=
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "setup: run as root: apt-get install --no-install-recommends$missing" >&2
        exit 1
    fi
    as_root=sudo
fi
echo "setup: installing$missing"
$as_root apt-get update -qq
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $missing
