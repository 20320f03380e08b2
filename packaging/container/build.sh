#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The first stage: build.sh OUTPUT_FOLDER makes the packages there, on a Debian 12 that need have nothing but apt.
set -eu
cd "$(dirname "$0")/../.."
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends make python3 >/dev/null
scripts/setup.sh build package
python3 packaging/deb.py "$1"
