/* SPDX-License-Identifier: Apache-2.0 */
/* What the entry points of executable graphs share. */
#ifndef MR_API_GRAPH_EXEC_H
#define MR_API_GRAPH_EXEC_H

#include <cuda.h>

#include "graph/exec.h"

/* The live executable graph behind a handle, with a reference for the caller to drop. CUDA_ERROR_INVALID_VALUE. */
CUresult mr_exec_require(CUgraphExec handle, struct mr_exec **out) __attribute__((warn_unused_result));

#endif
