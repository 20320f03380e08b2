/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of copies, in the forms of CUDA 12.8 and 13.0. */
#include "memory_support.h"

CUresult old_batch(CUdeviceptr *to, CUdeviceptr *from, size_t *sizes, size_t count, CUmemcpyAttributes *attributes,
                   size_t *indices, size_t attribute_count, size_t *failed,
                   CUstream stream) __asm__("cuMemcpyBatchAsync");
CUresult old_box_batch(size_t count, CUDA_MEMCPY3D_BATCH_OP *ops, size_t *failed, unsigned long long flags,
                       CUstream stream) __asm__("cuMemcpy3DBatchAsync");

enum { SIZE = 1000 };

static CUstream stream;

static int batch_begin(void **state)
{
    return support_begin(state) || cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) ? -1 : 0;
}

static int batch_end(void **state)
{
    cuStreamDestroy(stream);
    return support_end(state);
}

static void test_linear(void **state)
{
    (void)state;
    char out[SIZE], in[SIZE] = {0}, second[SIZE] = {0};
    CUdeviceptr device = device_bytes(SIZE);
    CUdeviceptr to[] = {device, ADDRESS(in), ADDRESS(second)}, from[] = {ADDRESS(out), device, device};
    size_t sizes[] = {SIZE, SIZE, SIZE / 2}, indices[] = {0, 2};
    CUmemcpyAttributes attributes[] = {{.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL},
                                       {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM}};
    pattern_put(out, SIZE, 1);
    OK(cuMemcpyBatchAsync(to, from, sizes, 3, attributes, indices, 2, stream));
    OK(cuStreamSynchronize(stream));
    assert_true(pattern_is(in, SIZE, 1));
    assert_true(pattern_is(second, SIZE / 2, 1));
    assert_int_equal(second[SIZE / 2], 0);
    OK(cuMemFree(device));
}

static void test_access_order(void **state)
{
    (void)state;
    struct gate gate;
    static char early[SIZE], late[SIZE];
    CUdeviceptr one = device_bytes(SIZE), two = device_bytes(SIZE);
    CUdeviceptr to[] = {one, two}, from[] = {ADDRESS(early), ADDRESS(late)};
    size_t sizes[] = {SIZE, SIZE}, indices[] = {0, 1};
    CUmemcpyAttributes attributes[] = {{.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL},
                                       {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM}};
    gate_put(&gate, stream);
    memset(early, 1, SIZE);
    memset(late, 1, SIZE);
    OK(cuMemcpyBatchAsync(to, from, sizes, 2, attributes, indices, 2, stream));
    memset(early, 2, SIZE);
    memset(late, 2, SIZE);
    gate_open(&gate);
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH(early, one, SIZE));
    OK(cuMemcpyDtoH(late, two, SIZE));
    assert_int_equal(early[5], 1);
    assert_int_equal(late[5], 2);
    OK(cuMemFree(one));
    OK(cuMemFree(two));
}

static void test_linear_bad(void **state)
{
    (void)state;
    char local[16] = {0};
    CUdeviceptr device = device_bytes(16);
    CUdeviceptr to[] = {device, device}, from[] = {ADDRESS(local), ADDRESS(local)};
    size_t sizes[] = {16, 17}, zero = 0, one = 1, failed = 99;
    CUmemcpyAttributes good = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_ANY}, bad = {0};
    FAILS(cuMemcpyBatchAsync(to, from, sizes, 2, &good, &zero, 1, stream), CUDA_ERROR_INVALID_VALUE);
    FAILS(old_batch(to, from, sizes, 2, &good, &zero, 1, &failed, stream), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(failed, 1);
    FAILS(old_batch(to, from, sizes, 1, &bad, &zero, 1, &failed, stream), CUDA_ERROR_INVALID_VALUE);
    assert_true(failed == SIZE_MAX);
    FAILS(cuMemcpyBatchAsync(to, from, sizes, 0, &good, &zero, 1, stream), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpyBatchAsync(to, from, sizes, 1, &good, &one, 1, stream), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpyBatchAsync(to, from, sizes, 1, NULL, NULL, 0, stream), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpyBatchAsync(NULL, from, sizes, 1, &good, &zero, 1, stream), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpyBatchAsync(to, from, sizes, 1, &good, &zero, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemcpyBatchAsync(to, from, sizes, 1, &good, &zero, 1, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuMemFree(device));
}

static void test_boxes(void **state)
{
    (void)state;
    unsigned char out[SIZE], in[SIZE];
    CUdeviceptr device = device_bytes(SIZE);
    size_t failed = 99;
    CUDA_MEMCPY3D_BATCH_OP ops[2] = {{.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, .extent = {10, 4, 2}}};
    ops[0].src.type = ops[0].dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    ops[0].src.op.ptr.ptr = ADDRESS(out);
    ops[0].src.op.ptr.rowLength = 32;
    ops[0].src.op.ptr.layerHeight = 6;
    ops[0].dst.op.ptr.ptr = device;
    ops[1] = ops[0];
    ops[1].src = ops[0].dst;
    ops[1].dst.op.ptr.ptr = ADDRESS(in);
    pattern_put(out, SIZE, 1);
    memset(in, 0, SIZE);
    OK(cuMemcpy3DBatchAsync(2, ops, 0, stream));
    OK(cuStreamSynchronize(stream));
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < 4; y++)
            assert_memory_equal(in + (z * 4 + y) * 10, out + z * 192 + y * 32, 10);
    assert_int_equal(in[80], 0);
    ops[1].src.op.ptr.ptr = device + SIZE - 8;
    FAILS(old_box_batch(2, ops, &failed, 0, stream), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(failed, 1);
    FAILS(cuMemcpy3DBatchAsync(1, ops, 1, stream), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpy3DBatchAsync(1, NULL, 0, stream), CUDA_ERROR_INVALID_VALUE);
    ops[0].src.op.ptr.rowLength = 9;
    FAILS(cuMemcpy3DBatchAsync(1, ops, 0, stream), CUDA_ERROR_INVALID_VALUE);
    OK(cuStreamSynchronize(stream));
    OK(cuMemFree(device));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_access_order),
        cmocka_unit_test(test_linear_bad),
        cmocka_unit_test(test_boxes),
    };
    return cmocka_run_group_tests(tests, batch_begin, batch_end);
}
