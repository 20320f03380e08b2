#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# OpenMM and its CUDA platform, unmodified from PyPI: clients/openmm.sh BUILD
# OpenMM's own test of its installation, and clients/openmm_check.py: forces, energies and dynamics beside its Reference platform.
#
# The package of the CUDA platform asks for NVIDIA's cuFFT, NVRTC and runtime. It is installed without: libcufft, libnvrtc and the driver are Millrace's, and
# OpenMM needs nothing else of them.
. "$(dirname "$0")/common.sh"
client_begin openmm "${1:-build}"
install openmm-8.6 'openmm==8.6.*' numpy || exit 1
install openmm-cuda-8.6 --no-deps 'OpenMM-CUDA-13==8.6.*' || exit 1
# The test of the installation prints what failed, and ends with 0 all the same.
check testInstallation sh -c 'said=$("$@" 2>&1); echo "$said"; echo "$said" | grep -q "CUDA - Successfully computed forces" && echo "$said" | grep -q "^All differences are within tolerance"' - \
    "$millrace" run -- "$venv/bin/python" -m openmm.testInstallation
check openmm_check.py "$millrace" run -- "$venv/bin/python" "$root/clients/openmm_check.py"
client_end
