/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of boxes: cuMemcpy2D, cuMemcpy2DUnaligned, cuMemcpy3D, cuMemcpy3DPeer, their asynchronous and old forms,
 * against the same copy byte by byte. */
#include "memory_support.h"

enum { SIZE = 8192 };

CUresult old_create(CUcontext *context, unsigned flags, CUdevice device) __asm__("cuCtxCreate");
CUresult old_copy_2d(const void *descriptor) __asm__("cuMemcpy2D");

static unsigned char source[SIZE], expected[SIZE], result[SIZE];
static CUdeviceptr device, other;

static int boxes_begin(void **state)
{
    int status = support_begin(state);
    if (status == 0) {
        device = device_bytes(SIZE);
        other = device_bytes(SIZE);
    }
    return status;
}

static int boxes_end(void **state)
{
    cuMemFree(device);
    cuMemFree(other);
    return support_end(state);
}

/* Applies the descriptor to `source` and `expected` as plain arrays. */
static void copy_plainly(const CUDA_MEMCPY3D *box)
{
    size_t src_slice = box->srcPitch * box->srcHeight, dst_slice = box->dstPitch * box->dstHeight;
    for (size_t z = 0; z < box->Depth; z++)
        for (size_t y = 0; y < box->Height; y++)
            for (size_t x = 0; x < box->WidthInBytes; x++)
                expected[(z + box->dstZ) * dst_slice + (y + box->dstY) * box->dstPitch + x + box->dstXInBytes] =
                    source[(z + box->srcZ) * src_slice + (y + box->srcY) * box->srcPitch + x + box->srcXInBytes];
}

static void begin_copy(void)
{
    pattern_put(source, SIZE, 1);
    memset(expected, 7, SIZE);
    OK(cuMemcpyHtoD(other, source, SIZE));
    OK(cuMemsetD8(device, 7, SIZE));
}

static void check_device(void)
{
    OK(cuMemcpyDtoH(result, device, SIZE));
    assert_memory_equal(result, expected, SIZE);
}

static const CUDA_MEMCPY3D shapes[] = {
    {.srcPitch = 64, .srcHeight = 8, .dstPitch = 64, .dstHeight = 8, .WidthInBytes = 64, .Height = 8, .Depth = 4},
    {.srcPitch = 64, .srcHeight = 8, .dstPitch = 80, .dstHeight = 9, .WidthInBytes = 33, .Height = 7, .Depth = 4},
    {.srcXInBytes = 3,
     .srcY = 2,
     .srcZ = 1,
     .srcPitch = 64,
     .srcHeight = 8,
     .dstXInBytes = 5,
     .dstY = 1,
     .dstZ = 2,
     .dstPitch = 50,
     .dstHeight = 10,
     .WidthInBytes = 20,
     .Height = 5,
     .Depth = 3},
    {.srcPitch = 100, .srcHeight = 1, .dstPitch = 100, .dstHeight = 1, .WidthInBytes = 100, .Height = 1, .Depth = 1},
    {.srcPitch = 100, .srcHeight = 1, .dstPitch = 100, .dstHeight = 1, .WidthInBytes = 0, .Height = 1, .Depth = 1},
};

static void test_boxes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (int kind = 0; kind < 4; kind++) {
            CUDA_MEMCPY3D box = shapes[i];
            begin_copy();
            copy_plainly(&box);
            box.srcMemoryType = kind == 0   ? CU_MEMORYTYPE_HOST
                                : kind == 1 ? CU_MEMORYTYPE_DEVICE
                                            : CU_MEMORYTYPE_UNIFIED;
            box.srcHost = source;
            box.srcDevice = kind == 2 ? ADDRESS(source) : other;
            box.dstMemoryType = kind == 3 ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_DEVICE;
            box.dstDevice = device;
            OK(cuMemcpy3D(&box));
            check_device();
            OK(cuMemsetD8(device, 7, SIZE));
            OK(cuMemcpy3DAsync(&box, CU_STREAM_PER_THREAD));
            OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
            check_device();
        }
    }
}

static void test_back_to_host(void **state)
{
    (void)state;
    begin_copy();
    memset(result, 7, SIZE);
    CUDA_MEMCPY2D plane = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = other,
                           .srcPitch = 128,
                           .srcXInBytes = 10,
                           .srcY = 2,
                           .dstMemoryType = CU_MEMORYTYPE_HOST,
                           .dstHost = result,
                           .dstPitch = 40,
                           .dstY = 1,
                           .WidthInBytes = 30,
                           .Height = 20};
    for (int y = 0; y < 20; y++)
        memcpy(expected + (y + 1) * 40, source + (y + 2) * 128 + 10, 30);
    OK(cuMemcpy2D(&plane));
    assert_memory_equal(result, expected, SIZE);
    memset(result, 7, SIZE);
    OK(cuMemcpy2DUnaligned(&plane));
    assert_memory_equal(result, expected, SIZE);
    memset(result, 7, SIZE);
    OK(cuMemcpy2DAsync(&plane, CU_STREAM_PER_THREAD));   /* pageable: written on return */
    assert_memory_equal(result, expected, SIZE);
}

/* A small pageable box is read before the call returns. */
static void test_staged(void **state)
{
    (void)state;
    struct gate gate;
    CUstream stream;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (size_t i = 0; i < 3; i++) {
        CUDA_MEMCPY3D box = shapes[i];
        begin_copy();
        copy_plainly(&box);
        box.srcMemoryType = CU_MEMORYTYPE_HOST;
        box.srcHost = source;
        box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        box.dstDevice = device;
        OK(cuCtxSynchronize());
        gate_put(&gate, stream);
        OK(cuMemcpy3DAsync(&box, stream));
        memset(source, 0, SIZE);
        gate_open(&gate);
        OK(cuStreamSynchronize(stream));
        check_device();
    }
    OK(cuStreamDestroy(stream));
}

static void test_pitch_zero(void **state)
{
    (void)state;
    begin_copy();
    memcpy(expected, source, 48 * 4);
    CUDA_MEMCPY2D plane = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                           .srcHost = source,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = device,
                           .WidthInBytes = 48,
                           .Height = 4};
    OK(cuMemcpy2D(&plane));
    check_device();
}

static void test_peer(void **state)
{
    (void)state;
    begin_copy();
    memcpy(expected, source, 64 * 8);
    CUDA_MEMCPY3D_PEER box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                              .srcDevice = other,
                              .srcContext = the_context,
                              .srcPitch = 64,
                              .srcHeight = 8,
                              .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                              .dstDevice = device,
                              .dstContext = the_context,
                              .dstPitch = 64,
                              .dstHeight = 8,
                              .WidthInBytes = 64,
                              .Height = 8,
                              .Depth = 1};
    OK(cuMemcpy3DPeer(&box));
    check_device();
    OK(cuMemcpy3DPeerAsync(&box, NULL));
    box.srcContext = (CUcontext)(uintptr_t)0x1234567;
    FAILS(cuMemcpy3DPeer(&box), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuMemcpy3DPeer(NULL), CUDA_ERROR_INVALID_VALUE);
}

static void test_old_form(void **state)
{
    (void)state;
    /* The descriptor of CUDA 2: sizes and device addresses of 32 bits. */
    struct {
        unsigned src_x, src_y;
        CUmemorytype src_type;
        const void *src_host;
        unsigned src_device;
        CUarray src_array;
        unsigned src_pitch, dst_x, dst_y;
        CUmemorytype dst_type;
        void *dst_host;
        unsigned dst_device;
        CUarray dst_array;
        unsigned dst_pitch, width, height;
    } plane = {.src_type = CU_MEMORYTYPE_HOST,
               .src_host = source,
               .src_pitch = 64,
               .dst_type = CU_MEMORYTYPE_HOST,
               .dst_host = result,
               .dst_pitch = 32,
               .width = 32,
               .height = 10};
    begin_copy();
    memset(result, 0, SIZE);
    CUcontext first;
    FAILS(old_copy_2d(&plane),
          CUDA_ERROR_INVALID_CONTEXT); /* as on hardware: only in a context that the first interface made */
    OK(old_create(&first, 0, 0));
    OK(old_copy_2d(&plane));
    for (int y = 0; y < 10; y++)
        assert_memory_equal(result + y * 32, source + y * 64, 32);
    FAILS(old_copy_2d(NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuCtxDestroy(first));
}

static void test_bad(void **state)
{
    (void)state;
    const CUDA_MEMCPY3D good = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                .srcHost = source,
                                .srcPitch = 64,
                                .srcHeight = 4,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = device,
                                .dstPitch = 64,
                                .dstHeight = 4,
                                .WidthInBytes = 64,
                                .Height = 4,
                                .Depth = 4};
    CUDA_MEMCPY3D bad[12];
    for (int i = 0; i < 12; i++)
        bad[i] = good;
    bad[0].srcPitch = 63;
    bad[1].dstPitch = 63;
    bad[2].srcHeight = 3;
    bad[3].dstY = 1;
    bad[4].dstZ = 1000;
    bad[5].Depth = 1000;
    bad[6].srcMemoryType = (CUmemorytype)9;
    bad[7].srcHost = NULL;
    bad[8].dstDevice = 0;
    bad[9].dstXInBytes = 1;
    bad[10].srcZ = SIZE_MAX;
    bad[11].dstZ = SIZE_MAX / 256 + 1;   /* the offset wraps to 0 */
    OK(cuMemcpy3D(&good));
    for (int i = 0; i < 12; i++)
        FAILS(cuMemcpy3D(&bad[i]), CUDA_ERROR_INVALID_VALUE);
    CUDA_MEMCPY3D array = good;
    array.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    FAILS(cuMemcpy3D(&array), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpy3D(NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpy3DAsync(&good, (CUstream)(uintptr_t)0x1234567), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuMemcpy2D(NULL), CUDA_ERROR_INVALID_VALUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boxes),      cmocka_unit_test(test_back_to_host), cmocka_unit_test(test_staged),
        cmocka_unit_test(test_pitch_zero), cmocka_unit_test(test_peer),         cmocka_unit_test(test_old_form),
        cmocka_unit_test(test_bad),
    };
    return cmocka_run_group_tests(tests, boxes_begin, boxes_end);
}
