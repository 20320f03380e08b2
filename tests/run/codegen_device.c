/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The device's side of codegen_kernels.h: compiled by clang for NVPTX only.
 */
#include "codegen_kernels.h"
