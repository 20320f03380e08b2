#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Wheels from PyPI that carry NVIDIA's runtime library inside, unmodified, with no CUDA toolkit: clients/wheels.sh BUILD
# CuPy: the two programs of the seed documents (where they are) and clients/cupy_check.py. XGBoost: clients/xgboost_check.py.
. "$(dirname "$0")/common.sh"
client_begin wheels "${1:-build}"
install cupy-14.2 'cupy-cuda13x==14.2.*' 'numpy<2.5' || exit 1
# Its wheel asks for NCCL's, which one device needs nothing of.
install xgboost-3.2 --no-deps 'xgboost==3.2.*' || exit 1
install xgboost-needs scipy || exit 1

CUPY_CACHE_DIR=$cache/kernels-$(cat "$build"/device/*.h "$build"/device/include/*.h "$build"/lib/libnvrtc.so.13 | cksum | cut -d ' ' -f 1)
export CUPY_CACHE_DIR
[ -d "$CUPY_CACHE_DIR" ] || rm -rf "$cache"/kernels-*
mkdir -p "$CUPY_CACHE_DIR"

if [ -e "$programs/cupy_events.py" ]; then
    check "cupy_events.py" "$millrace" run -- "$venv/bin/python" "$programs/cupy_events.py"
    # Its last line asserts what isn't so: its tutorial says that the program ends in an error there, as it does on hardware.
    check "cupy_streams.py" sh -c 'said=$("$@" 2>&1); echo "$said"; [ "$(echo "$said" | tail -n 1)" = AssertionError ]' - \
        "$millrace" run -- "$venv/bin/python" "$programs/cupy_streams.py"
else
    skip "cupy_events.py, cupy_streams.py" "the seed programs are not here"
fi
check "cupy_check.py" "$millrace" run -- "$venv/bin/python" "$root/clients/cupy_check.py"
check "xgboost_check.py" "$millrace" run -- "$venv/bin/python" "$root/clients/xgboost_check.py"
client_end
