#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Mojo from PyPI, unmodified: clients/mojo.sh BUILD
# Its compiler makes PTX, and has a library of its own assemble that by NVIDIA's PTX Compiler API; clients/mojo_check.mojo has kernels with results that are
# known. The packages take 1.5 GB, so make test-clients leaves it out.
. "$(dirname "$0")/common.sh"
client_begin mojo "${1:-build}"
install mojo-1.2 'mojo==1.2.*' 'max==26.7.*' || exit 1
# What Mojo has compiled before, maybe for a GPU, must not count.
check "mojo_check.mojo" env HOME="$work" XDG_CACHE_HOME="$work/cache" "$millrace" run -- "$venv/bin/mojo" run "$root/clients/mojo_check.mojo"
client_end
