/* SPDX-License-Identifier: Apache-2.0 */
/* cuGraphDebugDotPrint: writes what graph/dot.c puts together. Flags that mean nothing are let through, as on hardware.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api_impl.h"
#include "base/alloc.h"
#include "base/call.h"
#include "graph/dot.h"
#include "prepare/check.h"
#include "prepare/work.h"

static CUresult write_file(const char *path, const char *text, size_t size)
{
    FILE *file = fopen(path, "w");
    bool done = file && fwrite(text, 1, size, file) == size;
    if (file)
        done = fclose(file) == 0 && done;
    if (done)
        return CUDA_SUCCESS;
    mr_call_log(MR_LOG_INFO, "%s can't be written: %s", path, strerror(errno));
    return CUDA_ERROR_OPERATING_SYSTEM;
}

CUresult mr_cuGraphDebugDotPrint(CUgraph hGraph, const char *path, unsigned int flags)
{
    struct mr_graph *graph;
    size_t size;
    CUresult status = mr_graph_require(hGraph, &graph);
    if (status != CUDA_SUCCESS)
        return status;
    if (!path)
        return mr_bad_value("path is NULL");
    char *text = mr_graph_dot(graph, flags, &size);
    if (!text)
        return CUDA_ERROR_OUT_OF_MEMORY;
    status = write_file(path, text, size);
    mr_free(text);
    return status;
}
