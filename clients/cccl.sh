#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# NVIDIA's C++ headers (CCCL: Thrust, CUB, libcu++), unmodified from PyPI: clients/cccl.sh BUILD
# Each version is in a virtual environment of its own, where nvcc finds it without -I. One program uses all three on the
# device and on the host, as C++17 and as C++20.
. "$(dirname "$0")/common.sh"
client_begin cccl "${1:-build}"
for version in 2.8:nvidia-cuda-cccl-cu12==12.9.27 3.0:nvidia-cuda-cccl==13.0.85 3.3:nvidia-cuda-cccl==13.3.5.0.6; do
    package=${version#*:} version=${version%%:*}
    venv=$cache/venv-$version
    [ -x "$venv/bin/pip" ] || /usr/bin/python3 -m venv "$venv" || exit 1
    install "$version" "$package" || exit 1
    for standard in 17 20; do
        program=$work/cccl-$version-$standard
        check "CCCL $version as C++$standard: compile" env PATH="$venv/bin:$PATH" \
            "$build/bin/nvcc" -std=c++$standard -o "$program" \
            "$root/clients/cccl_check.cu"
        check "CCCL $version as C++$standard: run" sh -c '"$1" >"$1.txt" && cat "$1.txt" && [ "$(grep -c ": right" "$1.txt")" = 10 ]' - "$program"
    done
done
client_end
