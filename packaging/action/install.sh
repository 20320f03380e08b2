#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# install.sh FOLDER: Millrace from the packages for Debian or the wheel that lies there. CLANG=1: with clang 19.
set -eu
folder=$1 here=$(dirname "$0")
as_root=
[ "$(id -u)" -eq 0 ] || as_root="sudo --preserve-env=CLANG"
if ls "$folder"/libmillrace1_*.deb >/dev/null 2>&1; then
    $as_root "$here/../container/install.sh" "$(cd "$folder" && pwd)"
elif ls "$folder"/millrace_driver-*.whl >/dev/null 2>&1; then
    python3 -m pip install "$folder"/*.whl
else
    echo "install.sh: there is neither a Debian package nor a wheel of Millrace in $folder" >&2
    exit 1
fi
