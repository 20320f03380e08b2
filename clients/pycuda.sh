#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# PyCUDA, unmodified from PyPI's sources, by `millrace run -- pip install pycuda`: clients/pycuda.sh BUILD
# Runs the four PyCUDA programs of the seed documents (where they are), clients/pycuda_check.py, and PyCUDA's own test files.
# No package of NVIDIA's takes part: nvcc, headers, libcuda and libcurand are Millrace's.
. "$(dirname "$0")/common.sh"
version=2026.1
client_begin pycuda "${1:-build}"

# The sources are fetched apart for their test files. pip builds PyCUDA as a user's pip does; PyCUDA finds the toolkit by nvcc.
fetch_and_build() {
    built=pycuda-$version-$(cat "$build/include/cuda.h" "$build/include/curand.h" | cksum | cut -d ' ' -f 1)
    [ -e "$cache/installed-$built" ] && return 0
    rm -rf "$cache/source" "$cache"/installed-pycuda-* && mkdir -p "$cache/source" || return 1
    echo "pycuda: fetching and building PyCUDA $version"
    "$millrace" run -- "$venv/bin/pip" install --quiet --disable-pip-version-check --no-cache-dir --force-reinstall --no-deps --no-binary pycuda \
        "pycuda==$version" >"$work/pip.log" 2>&1 || { pip_failed "PyCUDA"; return 1; }
    "$millrace" run -- "$venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --no-binary pycuda \
        -d "$cache/source" "pycuda==$version" >"$work/pip.log" 2>&1 || { pip_failed "the sources of PyCUDA"; return 1; }
    tar -xzf "$cache/source/pycuda-$version.tar.gz" -C "$cache/source" || return 1
    touch "$cache/installed-$built"
}

install base-3 numpy mako pytools platformdirs pytest || exit 1
fetch_and_build || exit 1

# PyCUDA keeps what nvcc made; another build's device headers must not be in it.
export PYCUDA_CACHE_DIR="$cache/kernels-$(cat "$build"/device/*.h "$build"/device/include/*.h "$build"/bin/nvcc | cksum | cut -d ' ' -f 1)"
mkdir -p "$PYCUDA_CACHE_DIR"
for program in serial streams events threads; do
    if [ -e "$programs/pycuda_$program.py" ]; then
        check "pycuda_$program.py" "$millrace" run -- "$venv/bin/python" "$programs/pycuda_$program.py"
    else
        skip "pycuda_$program.py" "the seed programs are not here"
    fi
done
check "pycuda.curandom" "$millrace" run -- "$venv/bin/python" "$root/clients/pycuda_random_check.py"
check "pycuda_check.py" "$millrace" run -- "$venv/bin/python" "$root/clients/pycuda_check.py"
for file in driver gpuarray cumath; do
    cp "$cache/source/pycuda-$version/test/test_$file.py" "$work" || exit 1
    suite pytest "pycuda-$file" "$millrace" run -- "$venv/bin/python" "$work/test_$file.py"
done
client_end
