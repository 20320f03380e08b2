#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# PyCUDA, unmodified from PyPI, built against Millrace's cuda.h and libcuda.so: clients/pycuda.sh BUILD
# Runs the four PyCUDA programs of the seed documents (where they are), clients/pycuda_check.py, and PyCUDA's own test files.
#
# pycuda.curandom can't be imported without cuRAND's host library, from which it takes a version and Sobol's direction vectors. That library and the headers
# it needs come from PyPI (nvidia-curand); no kernel source sees them: kernels include Millrace's curand_kernel.h.
. "$(dirname "$0")/common.sh"
version=2026.1
client_begin pycuda "${1:-build}"
toolkit=$venv/nvidia-host/nvidia/cu13

# PyCUDA is configured by a file in its source folder (siteconf.py), as its own documentation says; the sources stay as they are.
fetch_and_build() {
    built=pycuda-$version-$(cksum <"$build/include/cuda.h" | cut -d ' ' -f 1)
    [ -e "$cache/installed-$built" ] && return 0
    rm -rf "$cache/source" "$cache"/installed-pycuda-* && mkdir -p "$cache/source" || return 1
    echo "pycuda: fetching PyCUDA $version"
    "$venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-binary pycuda \
        -d "$cache/source" "pycuda==$version" >"$work/pip.log" 2>&1 || { pip_failed "the sources of PyCUDA"; return 1; }
    tar -xzf "$cache/source/pycuda-$version.tar.gz" -C "$cache/source" || return 1
    ln -sf libcurand.so.10 "$toolkit/lib/libcurand.so" || return 1
    cat >"$cache/source/pycuda-$version/siteconf.py" <<END
CUDA_INC_DIR = ["$build/include", "$toolkit/include"]
CUDADRV_LIB_DIR = ["$build/lib"]
CUDADRV_LIBNAME = ["cuda"]
CURAND_LIB_DIR = ["$toolkit/lib"]
CUDA_ENABLE_GL = False
CUDA_ENABLE_CURAND = True
CXXFLAGS = []
LDFLAGS = ["-Wl,-rpath,$toolkit/lib"]
END
    install "$built" --no-build-isolation --no-cache-dir --force-reinstall --no-deps "$cache/source/pycuda-$version"
}

install base-2 numpy setuptools wheel mako pytools platformdirs pytest || exit 1
install curand-10.4 --no-deps --target "$venv/nvidia-host" 'nvidia-curand==10.4.0.*' 'nvidia-cuda-runtime==13.0.*' 'nvidia-cuda-crt==13.0.*' || exit 1
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
check "pycuda_check.py" "$millrace" run -- "$venv/bin/python" "$root/clients/pycuda_check.py"
for file in driver gpuarray cumath; do
    cp "$cache/source/pycuda-$version/test/test_$file.py" "$work" || exit 1
    suite pytest "pycuda-$file" "$millrace" run -- "$venv/bin/python" "$work/test_$file.py"
done
client_end
