/* SPDX-License-Identifier: Apache-2.0 */
/* Copies from and to arrays: every form, in bounds and not, in stream order, captured, in graphs. */
#include "array_support.h"

enum { SIZE = 4096 };

static unsigned char bytes[SIZE], found[SIZE];

static void fresh(void)
{
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (unsigned char)(i * 31 + i / 256 + 5);
    memset(found, 0, sizeof found);
}

static void linear(void **state)
{
    CUarray array = make_array(256, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0),
            other = make_array(256, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0);
    CUdeviceptr memory;
    (void)state;
    fresh();
    OK(cuMemAlloc(&memory, 1024));
    OK(cuMemcpyHtoA(array, 0, bytes, 1024));
    OK(cuMemcpyAtoA(other, 8, array, 4, 1016));
    OK(cuMemcpyAtoD(memory, other, 8, 1016));
    OK(cuMemcpyDtoA(array, 100, memory, 800));
    OK(cuMemcpyAtoH(found, array, 0, 1024));
    assert_memory_equal(found, bytes, 100);
    assert_memory_equal(found + 100, bytes + 4, 800);
    assert_memory_equal(found + 900, bytes + 900, 124);
    FAILS(cuMemcpyHtoA(array, 0, bytes, 1028), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpyHtoA(array, 1024, bytes, 4), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpyHtoA(array, SIZE_MAX - 3, bytes, 8), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemcpyHtoA(array, 2, bytes, 5));
    OK(cuMemcpyHtoA(array, 9000, bytes, 0));
    FAILS(cuMemcpyHtoA(NULL, 0, bytes, 4), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpyHtoA(WILD(CUarray), 0, bytes, 4), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuMemcpyAtoH(NULL, array, 0, 4), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpyAtoD(0, array, 0, 4), CUDA_ERROR_INVALID_VALUE);
}

static void boxes(void **state)
{
    CUarray array = make_array(16, 8, 4, CU_AD_FORMAT_UNSIGNED_INT16, 2, 0);
    (void)state;
    fresh();
    fill_array(array, bytes, 64, 8, 4);
    CUDA_MEMCPY3D out = box_out(array, found, 40, 5, 2);
    out.srcXInBytes = 12;
    out.srcY = 2;
    out.srcZ = 1;
    OK(cuMemcpy3D(&out));
    for (size_t z = 0; z < 2; z++)
        for (size_t y = 0; y < 5; y++)
            assert_memory_equal(found + (z * 5 + y) * 40, bytes + ((z + 1) * 8 + y + 2) * 64 + 12, 40);
    const struct {
        size_t x, y, z, width, height, depth;
    } outside[] = {{0, 0, 0, 68, 1, 1},
                   {60, 0, 0, 8, 1, 1},
                   {0, 8, 0, 4, 1, 1},
                   {0, 0, 4, 4, 1, 1},
                   {0, 1, 0, 4, 8, 1},
                   {0, 0, 1, 4, 1, 4},
                   {SIZE_MAX - 3, 0, 0, 8, 1, 1},
                   {0, SIZE_MAX, 0, 4, 2, 1}};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        CUDA_MEMCPY3D bad = box_out(array, found, 64, 8, 4);
        bad.srcXInBytes = outside[i].x;
        bad.srcY = outside[i].y;
        bad.srcZ = outside[i].z;
        bad.WidthInBytes = outside[i].width;
        bad.Height = outside[i].height;
        bad.Depth = outside[i].depth;
        bad.dstPitch = 128;
        FAILS(cuMemcpy3D(&bad), CUDA_ERROR_INVALID_VALUE);
    }
}

static void planes(void **state)
{
    CUarray array = make_array(32, 16, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0),
            other = make_array(32, 16, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0);
    CUDA_MEMCPY2D plane = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                           .srcHost = bytes,
                           .srcPitch = 50,
                           .srcXInBytes = 3,
                           .srcY = 1,
                           .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                           .dstArray = array,
                           .dstXInBytes = 5,
                           .dstY = 2,
                           .WidthInBytes = 20,
                           .Height = 10};
    CUDA_MEMCPY2D across = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                            .srcArray = array,
                            .srcXInBytes = 5,
                            .srcY = 2,
                            .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                            .dstArray = other,
                            .dstXInBytes = 12,
                            .dstY = 6,
                            .WidthInBytes = 20,
                            .Height = 10};
    CUDA_MEMCPY2D back = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcArray = other,
                          .srcXInBytes = 12,
                          .srcY = 6,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = found,
                          .dstPitch = 20,
                          .WidthInBytes = 20,
                          .Height = 10};
    CUstream stream;
    (void)state;
    fresh();
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuMemcpy2DAsync(&plane, stream));
    OK(cuMemcpy2DAsync(&across, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpy2DUnaligned(&back));
    for (size_t y = 0; y < 10; y++)
        assert_memory_equal(found + y * 20, bytes + (y + 1) * 50 + 3, 20);
    OK(cuStreamDestroy(stream));
}

static void batched(void **state)
{
    CUarray array = make_array(8, 4, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0),
            other = make_array(8, 4, 0, CU_AD_FORMAT_UNSIGNED_INT16, 1, 0);
    CUstream stream;
    CUdeviceptr memory;
    (void)state;
    fresh();
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&memory, 128));
    OK(cuMemcpyHtoD(memory, bytes, 128));
    fill_array(array, found, 32, 4, 1);
    CUDA_MEMCPY3D_BATCH_OP op = {.src = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER},
                                 .dst = {.type = CU_MEMCPY_OPERAND_TYPE_ARRAY},
                                 .extent = {5, 2, 1},
                                 .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    op.src.op.ptr.ptr = memory;
    op.src.op.ptr.rowLength = 6;
    op.dst.op.array.array = array;
    op.dst.op.array.offset = (CUoffset3D){2, 1, 0};
    OK(cuMemcpy3DBatchAsync(1, &op, 0, stream));
    OK(cuStreamSynchronize(stream));
    const CUDA_MEMCPY3D out = box_out(array, found, 32, 4, 1);
    OK(cuMemcpy3D(&out));
    assert_memory_equal(found + 32 + 8, bytes, 20);
    assert_memory_equal(found + 64 + 8, bytes + 24, 20);
    op.dst.op.array.offset.x = 4;
    FAILS(cuMemcpy3DBatchAsync(1, &op, 0, stream), CUDA_ERROR_INVALID_VALUE);
    op.src.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
    op.src.op.array.array = other;
    op.src.op.array.offset = (CUoffset3D){0, 0, 0};
    FAILS(cuMemcpy3DBatchAsync(1, &op, 0, stream), CUDA_ERROR_INVALID_VALUE);
    op.src.op.array.array = NULL;
    FAILS(cuMemcpy3DBatchAsync(1, &op, 0, stream), CUDA_ERROR_INVALID_HANDLE);
    OK(cuStreamDestroy(stream));
}

/* In, and out again, first captured and then by hand; then the nodes get other arrays. */
static void graphs(void **state)
{
    CUarray array = make_array(64, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0),
            other = make_array(64, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0);
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode nodes[2];
    CUDA_MEMCPY3D shown;
    size_t count = 2;
    (void)state;
    fresh();
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuMemcpyHtoAAsync(array, 0, bytes, 256, stream));
    OK(cuMemcpyAtoHAsync(found, array, 0, 256, stream));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphGetNodes(graph, nodes, &count));
    assert_int_equal(count, 2);
    OK(cuGraphMemcpyNodeGetParams(nodes[0], &shown));
    assert_int_equal(shown.dstMemoryType, CU_MEMORYTYPE_ARRAY);
    assert_ptr_equal(shown.dstArray, array);
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    assert_memory_equal(found, bytes, 256);
    shown.dstArray = other;
    OK(cuGraphExecMemcpyNodeSetParams(exec, nodes[0], &shown, NULL));
    memset(found, 0, 256);
    OK(cuMemcpyHtoA(array, 0, found, 256));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    assert_int_equal(found[17], 0);
    OK(cuMemcpyAtoH(found, other, 0, 256));
    assert_memory_equal(found, bytes, 256);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuStreamDestroy(stream));
}

/* A copy that waits in a stream keeps its array: freeing waits for it. */
static void open_gate(void *data)
{
    *(volatile int *)data = 1;
}

static void freeing_waits(void **state)
{
    CUarray array = make_array(1024, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0);
    CUstream stream;
    CUdeviceptr memory;
    int done = 0;
    (void)state;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&memory, 4096));
    for (int i = 0; i < 20; i++)
        OK(cuMemcpy3DAsync(&(CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                            .srcDevice = memory,
                                            .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                            .dstArray = array,
                                            .WidthInBytes = 4096,
                                            .Height = 1,
                                            .Depth = 1},
                           stream));
    OK(cuLaunchHostFunc(stream, open_gate, &done));
    OK(cuArrayDestroy(array));
    assert_int_equal(done, 1);
    OK(cuStreamDestroy(stream));
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST_IN_CONTEXT(linear), TEST_IN_CONTEXT(boxes),
                                       TEST_IN_CONTEXT(planes), TEST_IN_CONTEXT(batched),
                                       TEST_IN_CONTEXT(graphs), TEST_IN_CONTEXT(freeing_waits)};
    return cmocka_run_group_tests_name("copies of arrays", tests, NULL, NULL);
}
