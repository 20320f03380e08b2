#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The key of the cache of kernels, as a line for $GITHUB_OUTPUT. Kernels are of use to the same version on the same kind
# of processor: others are passed over, and would only take room.
set -eu
processor=$(grep -m1 '^flags' /proc/cpuinfo | cksum | cut -d ' ' -f 1)
echo "key=millrace-$(millrace --version | cut -d ' ' -f 2)-$processor"
