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
    python=python3
    # Debian's Python takes no packages but Debian's: they get an environment, whose programs later steps find.
    if python3 -c 'import os, sys, sysconfig
sys.exit(sys.prefix != sys.base_prefix or not os.path.exists(sysconfig.get_path("stdlib") + "/EXTERNALLY-MANAGED"))'; then
        environment=${RUNNER_TEMP:-${TMPDIR:-/tmp}}/millrace-environment
        python3 -m venv --system-site-packages "$environment"
        python=$environment/bin/python
        echo "$environment/bin" >>"${GITHUB_PATH:-/dev/null}"
        echo "install.sh: Millrace's command is in $environment/bin"
    fi
    "$python" -m pip install "$folder"/*.whl
else
    echo "install.sh: there is neither a Debian package nor a wheel of Millrace in $folder" >&2
    exit 1
fi
