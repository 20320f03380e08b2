/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels touch: texels of arrays through textures and surfaces, and the memory of kernels in graphs. */
#include <string.h>

#include "points_test.h"

#define READ MR_ACCESS_READ
#define WRITE MR_ACCESS_WRITE

/* Thread (x, y) reads texel (x + 2, y + 1), and writes it to (x + 4, y + 3) of the surface. `add` reads from a pointer,
 * and adds to another. */
static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                           ".visible .entry texels(.param .u64 texture, .param .u64 surface) {\n"
                           ".reg .u64 %d<3>;\n.reg .u32 %r<12>;\n"
                           "ld.param.u64 %d1, [texture];\nld.param.u64 %d2, [surface];\n"
                           "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %tid.y;\n"
                           "add.u32 %r3, %r1, 2;\nadd.u32 %r4, %r2, 1;\n"
                           "tex.2d.v4.u32.s32 {%r5, %r6, %r7, %r8}, [%d1, {%r3, %r4}];\n"
                           "add.u32 %r3, %r1, 4;\nshl.b32 %r3, %r3, 2;\nadd.u32 %r4, %r2, 3;\n"
                           "sust.b.2d.b32.trap [%d2, {%r3, %r4}], {%r5};\nret;\n}\n"
                           ".visible .entry add(.param .u64 to, .param .u64 from) {\n"
                           ".reg .u64 %d<6>;\n.reg .u32 %r<6>;\n"
                           "ld.param.u64 %d1, [to];\nld.param.u64 %d2, [from];\n"
                           "mov.u32 %r1, %tid.x;\nmul.wide.u32 %d3, %r1, 8;\nadd.u64 %d4, %d2, %d3;\n"
                           "ld.global.u32 %r2, [%d4];\nred.global.add.u32 [%d1], %r2;\nret;\n}\n";

static CUfunction function(const char *name)
{
    static CUmodule module;
    CUfunction found = NULL;
    if (!module)
        OK(cuModuleLoadData(&module, text));
    OK(cuModuleGetFunction(&found, module, name));
    return found;
}

/* A box of an array, whatever the array's address is. */
static bool has_texels(uint64_t work, uintptr_t place, size_t width, size_t rows, uint32_t how)
{
    for (const struct point *at = next_of(NULL, POINT_ACCESS, work, 0); at; at = next_of(at, POINT_ACCESS, work, 0))
        if (at->box.first >= MR_OBSERVED_ARRAYS && (at->box.first & (((uintptr_t)1 << 36) - 1)) == place &&
            at->box.width == width && at->box.rows == rows && at->box.pitch == 128 && at->box.how == how)
            return true;
    return false;
}

void test_texels(void)
{
    CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = 32,
                                     .Height = 16,
                                     .Format = CU_AD_FORMAT_UNSIGNED_INT32,
                                     .NumChannels = 1,
                                     .Flags = CUDA_ARRAY3D_SURFACE_LDST};
    CUarray array;
    OK(cuArray3DCreate_v2(&array, &shape));
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
    CUDA_TEXTURE_DESC how = {.flags = CU_TRSF_READ_AS_INTEGER};
    CUtexObject texture = 0;
    CUsurfObject surface = 0;
    OK(cuTexObjectCreate(&texture, &resource, &how, NULL));
    OK(cuSurfObjectCreate(&surface, &resource));
    void *params[] = {&texture, &surface};
    mark();
    OK(cuLaunchKernel(function("texels"), 1, 1, 1, 8, 5, 1, 0, NULL, params, NULL));
    look();
    check_works();
    uint64_t work = bound_by(MR_CALL_cuLaunchKernel)->work.work;
    CHECK(count_of(POINT_ACCESS, work, 0) == 2);
    CHECK(has_texels(work, 128 + 8, 32, 5, READ));
    CHECK(has_texels(work, 3 * 128 + 16, 32, 5, WRITE));
    OK(cuTexObjectDestroy(texture));
    OK(cuSurfObjectDestroy(surface));
    OK(cuArrayDestroy(array));
}

/* The same executable graph twice: each run has the boxes of its own step. */
void test_graph_kernels(void)
{
    CUdeviceptr memory = 0;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node;
    OK(cuMemAlloc_v2(&memory, 8192));
    CUdeviceptr from = memory + 4096;
    void *params[] = {&memory, &from};
    CUDA_KERNEL_NODE_PARAMS launch = {.func = function("add"),
                                      .gridDimX = 3,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 64,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = params};
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &launch));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 2; i++) {
        mark();
        OK(cuGraphLaunch(exec, NULL));
        look();
        check_works();
        uint64_t work = bound_by(MR_CALL_cuGraphLaunch)->work.work;
        CHECK(count_of(POINT_ACCESS, work, (uintptr_t)node) == 2);
        CHECK(has_box(work, (uintptr_t)node, BOX(from, 4, 64, 8, READ)));
        CHECK(has_box(work, (uintptr_t)node, ROW(memory, 4, READ | WRITE | MR_ACCESS_ATOMIC)));
    }
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuMemFree_v2(memory));
}
