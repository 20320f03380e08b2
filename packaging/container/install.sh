#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The second stage: install.sh FOLDER installs the packages that lie there, on a Debian 12 that need have nothing but apt.
# CLANG=1: also clang 19, headers and what nvcc needs.
set -eu
folder=$1
packages="$folder/libmillrace1_*.deb $folder/millrace_*.deb"
if [ "${CLANG:-0}" = 1 ]; then
    packages="$packages $folder/millrace-dev_*.deb clang-19 g++"
fi
apt-get update -qq
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages
apt-get clean
rm -rf /var/lib/apt/lists/*
