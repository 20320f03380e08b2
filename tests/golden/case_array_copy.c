/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies from and to arrays: linear, two- and three-dimensional, between arrays,
 * in streams, captured, as nodes of graphs; and what is outside of an array.
 */
#include "gold_image.h"

#include <string.h>

enum { BYTES = 1024 };

static void count_up(unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(i * 7 + 3);
}

static CUDA_MEMCPY3D to_array(const void *from, size_t pitch, CUarray array, size_t width, size_t height, size_t depth)
{
    CUDA_MEMCPY3D box;
    memset(&box, 0, sizeof box);
    box.srcMemoryType = CU_MEMORYTYPE_HOST;
    box.srcHost = from;
    box.srcPitch = pitch;
    box.srcHeight = height;
    box.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    box.dstArray = array;
    box.WidthInBytes = width;
    box.Height = height;
    box.Depth = depth;
    return box;
}

CASE(array_copy, linear)
{
    CUarray array = image_array(64, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0);
    unsigned char bytes[256], found[256] = {0};
    count_up(bytes, sizeof bytes);
    say(cuMemcpyHtoA(array, 0, bytes, 256));
    say(cuMemcpyHtoA(array, 16, bytes + 100, 8));
    say(cuMemcpyAtoH(found, array, 8, 128));
    say_hash(found, sizeof found);
}

CASE(array_copy, linear_device)
{
    CUarray array = image_array(64, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0),
            other = image_array(64, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0);
    CUdeviceptr memory = gold_alloc_words(64, 0x01020304);
    unsigned char found[256] = {0};
    NEED(cuMemsetD8(memory + 5, 0x77, 100));
    say(cuMemcpyDtoA(array, 0, memory, 256));
    say(cuMemcpyAtoA(other, 0, array, 8, 240));
    say(cuMemcpyAtoD(memory + 8, other, 4, 200));
    NEED(cuMemcpyDtoH(found, memory, 248));
    say_hash(found, 200);
}

CASE(array_copy, linear_outside)
{
    CUarray array = image_array(64, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0);
    unsigned char bytes[512] = {0};
    say(cuMemcpyHtoA(array, 0, bytes, 260));
    say(cuMemcpyHtoA(array, 256, bytes, 4));
    say(cuMemcpyAtoH(bytes, array, 252, 8));
    say(cuMemcpyAtoH(bytes, array, 0, 0));
    say(cuMemcpyAtoH(bytes, array, 300, 0));
}

CASE(array_copy, linear_uneven)
{
    CUarray array = image_array(64, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0);
    unsigned char bytes[512] = {0};
    say(cuMemcpyHtoA(array, 1, bytes, 4));
    say(cuMemcpyHtoA(array, 0, bytes, 5));
    say(cuMemcpyAtoH(bytes, array, 2, 2));
}

CASE(array_copy, linear_of_2d)
{
    CUarray array = image_array(16, 4, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0);
    unsigned char bytes[256] = {0};
    count_up(bytes, sizeof bytes);
    say(cuMemcpyHtoA(array, 0, bytes, 64));
    say(cuMemcpyAtoH(bytes, array, 0, 64));
    say(cuMemcpyHtoA(array, 0, bytes, 256));
}

CASE(array_copy, linear_null)
{
    CUarray array = image_array(64, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0);
    say(cuMemcpyHtoA(array, 0, NULL, 4));
    say(cuMemcpyAtoH(NULL, array, 0, 4));
    say(cuMemcpyAtoD(0, array, 0, 4));
    say(cuMemcpyDtoA(array, 0, 0, 4));
}

CASE(array_copy, linear_no_array, .alone = true, .allow = "CUDA_ERROR_INVALID_HANDLE CUDA_ERROR_INVALID_HANDLE",
     .why = "the documentation leaves a choice")
{
    unsigned char bytes[16] = {0};
    say(cuMemcpyHtoA(NULL, 0, bytes, 4));
    say(cuMemcpyAtoH(bytes, NULL, 0, 4));
}

CASE(array_copy, linear_async)
{
    CUarray array = image_array(64, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    unsigned char bytes[256], found[256] = {0};
    count_up(bytes, sizeof bytes);
    say(cuMemcpyHtoAAsync(array, 0, bytes, 256, stream));
    say(cuMemcpyAtoHAsync(found, array, 4, 200, stream));
    say(cuStreamSynchronize(stream));
    say_hash(found, sizeof found);
}

CASE(array_copy, plane)
{
    CUarray array = image_array(16, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0);
    unsigned char bytes[BYTES], found[512];
    CUDA_MEMCPY2D plane;
    count_up(bytes, sizeof bytes);
    memset(found, 0, sizeof found);
    image_fill(array, bytes, 64, 8, 1);
    memset(&plane, 0, sizeof plane);
    plane.srcMemoryType = CU_MEMORYTYPE_HOST;
    plane.srcHost = bytes;
    plane.srcXInBytes = 3;
    plane.srcY = 1;
    plane.srcPitch = 50;
    plane.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    plane.dstArray = array;
    plane.dstXInBytes = 8;
    plane.dstY = 2;
    plane.WidthInBytes = 40;
    plane.Height = 5;
    say(cuMemcpy2D(&plane));
    image_read(array, found, 64, 8, 1);
    say_hash(found, sizeof found);
    plane.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    plane.srcArray = array;
    plane.dstXInBytes = 0;
    plane.srcXInBytes = 12;
    say(cuMemcpy2DUnaligned(&plane));
}

CASE(array_copy, plane_outside)
{
    CUarray array = image_array(16, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0);
    unsigned char bytes[BYTES] = {0};
    CUDA_MEMCPY2D plane;
    memset(&plane, 0, sizeof plane);
    plane.srcMemoryType = CU_MEMORYTYPE_HOST;
    plane.srcHost = bytes;
    plane.srcPitch = 64;
    plane.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    plane.dstArray = array;
    plane.WidthInBytes = 64;
    plane.Height = 9;
    say(cuMemcpy2D(&plane));
    plane.Height = 4;
    plane.dstY = 5;
    say(cuMemcpy2D(&plane));
    plane.dstY = 4;
    plane.dstXInBytes = 4;
    say(cuMemcpy2D(&plane));
    plane.WidthInBytes = 60;
    say(cuMemcpy2D(&plane));
    plane.dstXInBytes = 2;
    plane.WidthInBytes = 40;
    say(cuMemcpy2D(&plane));
    plane.dstXInBytes = 4;
    plane.WidthInBytes = 6;
    say(cuMemcpy2D(&plane));
    plane.dstArray = NULL;
    say(cuMemcpy2D(&plane));
}

CASE(array_copy, volume)
{
    CUarray array = image_array(6, 5, 4, CU_AD_FORMAT_UNSIGNED_INT16, 1, 0),
            other = image_array(6, 5, 4, CU_AD_FORMAT_HALF, 1, 0);
    unsigned char bytes[BYTES], found[240];
    count_up(bytes, sizeof bytes);
    memset(found, 0, sizeof found);
    image_fill(array, bytes, 12, 5, 4);
    image_fill(other, bytes, 12, 5, 4);
    CUDA_MEMCPY3D box = to_array(NULL, 0, other, 8, 3, 2);
    box.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    box.srcArray = array;
    box.srcXInBytes = 2;
    box.srcY = 1;
    box.srcZ = 1;
    box.dstXInBytes = 4;
    box.dstY = 2;
    box.dstZ = 2;
    say(cuMemcpy3D(&box));
    image_read(other, found, 12, 5, 4);
    say_hash(found, sizeof found);
}

CASE(array_copy, volume_outside)
{
    CUarray array = image_array(6, 5, 4, CU_AD_FORMAT_UNSIGNED_INT16, 1, 0);
    unsigned char bytes[BYTES] = {0};
    CUDA_MEMCPY3D box = to_array(bytes, 12, array, 12, 5, 5);
    say(cuMemcpy3D(&box));
    box.Depth = 2;
    box.dstZ = 3;
    say(cuMemcpy3D(&box));
    box.dstZ = 2;
    say(cuMemcpy3D(&box));
    box.Depth = 0;
    say(cuMemcpy3D(&box));
}

CASE(array_copy, layers)
{
    CUarray flat = image_array(8, 0, 3, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED);
    CUarray layers = image_array(4, 4, 3, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED);
    unsigned char bytes[BYTES], found[192];
    count_up(bytes, sizeof bytes);
    CUDA_MEMCPY3D box = to_array(bytes, 32, flat, 32, 1, 3);
    say(cuMemcpy3D(&box));
    memset(found, 0, sizeof found);
    image_read(flat, found, 32, 1, 3);
    say_hash(found, sizeof found);
    box = to_array(bytes, 16, layers, 16, 4, 2);
    box.dstZ = 1;
    image_fill(layers, bytes, 16, 4, 3);
    say(cuMemcpy3D(&box));
    image_read(layers, found, 16, 4, 3);
    say_hash(found, sizeof found);
}

CASE(array_copy, element_sizes_differ)
{
    CUarray array = image_array(8, 4, 0, CU_AD_FORMAT_UNSIGNED_INT16, 1, 0),
            other = image_array(8, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0);
    CUDA_MEMCPY3D box = to_array(NULL, 0, other, 16, 2, 1);
    box.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    box.srcArray = array;
    say(cuMemcpy3D(&box));
}

CASE(array_copy, of_device_memory)
{
    CUarray array = image_array(8, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0);
    CUdeviceptr memory = gold_alloc_words(64, 0x01020304);
    unsigned char found[128];
    CUDA_MEMCPY3D box = to_array(NULL, 32, array, 32, 4, 1);
    box.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    box.srcDevice = memory;
    NEED(cuMemsetD8(memory + 3, 9, 50));
    say(cuMemcpy3D(&box));
    box.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
    say(cuMemcpy3D(&box));
    image_read(array, found, 32, 4, 1);
    say_hash(found, sizeof found);
}

CASE(array_copy, peer_form)
{
    CUarray array = image_array(8, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0);
    unsigned char bytes[128], found[128];
    CUDA_MEMCPY3D_PEER box;
    count_up(bytes, sizeof bytes);
    memset(&box, 0, sizeof box);
    box.srcMemoryType = CU_MEMORYTYPE_HOST;
    box.srcHost = bytes;
    box.srcPitch = 32;
    box.srcHeight = 4;
    box.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    box.dstArray = array;
    box.dstContext = gold_context();
    box.srcContext = gold_context();
    box.WidthInBytes = 32;
    box.Height = 4;
    box.Depth = 1;
    say(cuMemcpy3DPeer(&box));
    image_read(array, found, 32, 4, 1);
    say_hash(found, sizeof found);
}

CASE(array_copy, batch)
{
    CUarray array = image_array(8, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr memory = gold_alloc_words(64, 0x01020304);
    unsigned char found[128];
    CUDA_MEMCPY3D_BATCH_OP op;
    NEED(cuMemsetD8(memory + 3, 9, 50));
    memset(&op, 0, sizeof op);
    op.src.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    op.src.op.ptr.ptr = memory;
    op.dst.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
    op.dst.op.array.array = array;
    op.dst.op.array.offset.x = 2;
    op.dst.op.array.offset.y = 1;
    op.extent.width = 5;
    op.extent.height = 3;
    op.extent.depth = 1;
    op.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    NEED(cuMemsetD8(memory + 200, 0, 8));
    memset(found, 0, sizeof found);
    image_fill(array, found, 32, 4, 1);
    NEED(cuCtxSynchronize()); /* the stream doesn't wait for the legacy stream */
    say(cuMemcpy3DBatchAsync(1, &op, 0, stream));
    say(cuStreamSynchronize(stream));
    image_read(array, found, 32, 4, 1);
    say_hash(found, sizeof found);
    op.extent.width = 7;
    say(cuMemcpy3DBatchAsync(1, &op, 0, stream));
}

/* A graph that copies into an array and out of it again. */
CASE(array_copy, node)
{
    CUarray array = image_array(8, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0);
    unsigned char bytes[128], found[128];
    CUgraph graph;
    CUgraphNode in, out;
    CUgraphExec exec;
    count_up(bytes, sizeof bytes);
    memset(found, 0, sizeof found);
    NEED(cuGraphCreate(&graph, 0));
    CUDA_MEMCPY3D box = to_array(bytes, 32, array, 32, 4, 1);
    say(cuGraphAddMemcpyNode(&in, graph, NULL, 0, &box, gold_context()));
    CUDA_MEMCPY3D back;
    memset(&back, 0, sizeof back);
    back.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    back.srcArray = array;
    back.dstMemoryType = CU_MEMORYTYPE_HOST;
    back.dstHost = found;
    back.dstPitch = 32;
    back.dstHeight = 4;
    back.WidthInBytes = 32;
    back.Height = 4;
    back.Depth = 1;
    say(cuGraphAddMemcpyNode(&out, graph, &in, 1, &back, gold_context()));
    CUDA_MEMCPY3D shown;
    say(cuGraphMemcpyNodeGetParams(in, &shown));
    say_if("array", shown.dstMemoryType == CU_MEMORYTYPE_ARRAY && shown.dstArray == array);
    NEED(cuGraphInstantiate(&exec, graph, 0));
    say(cuGraphLaunch(exec, gold_stream(0)));
    say(cuCtxSynchronize());
    say_hash(found, sizeof found);
}

CASE(array_copy, node_wrong)
{
    CUarray array = image_array(8, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0);
    unsigned char bytes[256] = {0};
    CUgraph graph;
    CUgraphNode node;
    NEED(cuGraphCreate(&graph, 0));
    CUDA_MEMCPY3D box = to_array(bytes, 32, array, 32, 5, 1);
    say(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &box, gold_context()));
    box.Height = 4;
    box.dstXInBytes = 4;
    say(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &box, gold_context()));
}

CASE(array_copy, captured)
{
    CUarray array = image_array(64, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    unsigned char bytes[256], found[256] = {0};
    CUgraph graph;
    CUgraphNode nodes[4];
    CUgraphExec exec;
    size_t count = 4;
    CUDA_MEMCPY3D shown;
    count_up(bytes, sizeof bytes);
    NEED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    say(cuMemcpyHtoAAsync(array, 0, bytes, 256, stream));
    say(cuMemcpyAtoHAsync(found, array, 4, 200, stream));
    say(cuStreamEndCapture(stream, &graph));
    say(cuGraphGetNodes(graph, nodes, &count));
    say_int((long long)count);
    say(cuGraphMemcpyNodeGetParams(nodes[0], &shown));
    say_int(shown.dstMemoryType);
    say_if("array", shown.dstArray == array);
    NEED(cuGraphInstantiate(&exec, graph, 0));
    NEED(cuGraphLaunch(exec, stream));
    NEED(cuStreamSynchronize(stream));
    say_hash(found, sizeof found);
}

CASE(array_copy, create_in_capture, .alone = true)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    const CUDA_ARRAY3D_DESCRIPTOR desc = {16, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    CUarray array;
    CUgraph graph;
    NEED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    say(cuArray3DCreate(&array, &desc));
    say(cuStreamEndCapture(stream, &graph));
}

CASE(array_copy, destroy_in_capture, .alone = true)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUarray array = image_array(16, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0);
    CUtexObject texture = image_texture(array, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
    CUgraph graph;
    NEED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    say(cuTexObjectDestroy(texture));
    say(cuArrayDestroy(array));
    say(cuStreamEndCapture(stream, &graph));
}
