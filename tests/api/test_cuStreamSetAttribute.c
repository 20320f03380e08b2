/* SPDX-License-Identifier: Apache-2.0 */
/* cuStreamGetAttribute, cuStreamSetAttribute, cuStreamCopyAttributes, cuStreamAttachMemAsync, and the capture queries.
 */
#include "stream_support.h"

static void test_synchronization_policy(void **state)
{
    (void)state;
    CUstream stream = new_stream(0), copy = new_stream(0);
    CUstreamAttrValue value = {0};
    for (int policy = CU_SYNC_POLICY_AUTO; policy <= CU_SYNC_POLICY_BLOCKING_SYNC; policy++) {
        struct gate gate = {.open = 1};
        value.syncPolicy = (CUsynchronizationPolicy)policy;
        OK(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
        value.syncPolicy = (CUsynchronizationPolicy)0;
        OK(cuStreamGetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
        assert_int_equal(value.syncPolicy, policy);
        OK(cuLaunchHostFunc(stream, gate_wait, &gate));
        OK(cuStreamSynchronize(stream));
        OK(cuStreamCopyAttributes(copy, stream));
        OK(cuStreamGetAttribute(copy, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
        assert_int_equal(value.syncPolicy, policy);
    }
    value.syncPolicy = (CUsynchronizationPolicy)9;
    FAILS(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value), CUDA_ERROR_INVALID_VALUE);
    OK(cuStreamDestroy(stream));
    OK(cuStreamDestroy(copy));
}

static void test_priority(void **state)
{
    (void)state;
    CUstream stream = new_stream(0);
    CUstreamAttrValue value = {0};
    int got = 0;
    value.priority = -1;
    OK(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_PRIORITY, &value));
    OK(cuStreamGetPriority(stream, &got));
    assert_int_equal(got, -1);
    value.priority = 0;
    OK(cuStreamGetAttribute(stream, CU_STREAM_ATTRIBUTE_PRIORITY, &value));
    assert_int_equal(value.priority, -1);
    value.priority = 1;
    OK(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_PRIORITY, &value)); /* moved into the range */
    OK(cuStreamGetPriority(stream, &got));
    assert_int_equal(got, 0);
    value.priority = -100;
    OK(cuStreamSetAttribute(CU_STREAM_PER_THREAD, CU_STREAM_ATTRIBUTE_PRIORITY, &value));
    OK(cuStreamGetPriority(CU_STREAM_PER_THREAD, &got));
    assert_int_equal(got, -5);
    value.priority = 0;
    OK(cuStreamSetAttribute(CU_STREAM_PER_THREAD, CU_STREAM_ATTRIBUTE_PRIORITY, &value));
    OK(cuStreamDestroy(stream));
}

static void test_bad(void **state)
{
    (void)state;
    CUstream stream = new_stream(0);
    CUstreamAttrValue value = {0};
    FAILS(cuStreamGetAttribute(stream, (CUstreamAttrID)77, &value), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamSetAttribute(stream, (CUstreamAttrID)77, &value), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamGetAttribute(stream, CU_STREAM_ATTRIBUTE_PRIORITY, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamGetAttribute((CUstream)FOREIGN, CU_STREAM_ATTRIBUTE_PRIORITY, &value), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuStreamCopyAttributes((CUstream)FOREIGN, stream), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuStreamCopyAttributes(stream, (CUstream)FOREIGN), CUDA_ERROR_INVALID_HANDLE);
    OK(cuStreamDestroy(stream));
}

static void test_capture_queries(void **state)
{
    (void)state;
    CUstream all[] = {new_stream(0), NULL, CU_STREAM_PER_THREAD};
    for (int i = 0; i < 3; i++) {
        CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
        OK(cuStreamIsCapturing(all[i], &status));
        assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
    }
    FAILS(cuStreamIsCapturing(all[0], NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamIsCapturing((CUstream)FOREIGN, (CUstreamCaptureStatus *)(void *)all), CUDA_ERROR_INVALID_HANDLE);
    OK(cuStreamDestroy(all[0]));
}

static void test_attach(void **state)
{
    (void)state;
    CUstream stream = new_stream(0);
    CUdeviceptr managed, device;
    OK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemAlloc(&device, 4096));
    OK(cuStreamAttachMemAsync(stream, managed, 0, CU_MEM_ATTACH_SINGLE));
    OK(cuStreamAttachMemAsync(stream, managed, 4096, CU_MEM_ATTACH_HOST));
    OK(cuStreamAttachMemAsync(NULL, managed, 0, CU_MEM_ATTACH_GLOBAL));
    FAILS(cuStreamAttachMemAsync(NULL, managed, 0, CU_MEM_ATTACH_SINGLE), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamAttachMemAsync(stream, managed, 0, 3), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamAttachMemAsync(stream, managed, 100, CU_MEM_ATTACH_HOST), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamAttachMemAsync(stream, managed + 16, 0, CU_MEM_ATTACH_HOST), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamAttachMemAsync(stream, device, 0, CU_MEM_ATTACH_HOST), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamAttachMemAsync((CUstream)FOREIGN, managed, 0, CU_MEM_ATTACH_HOST), CUDA_ERROR_INVALID_HANDLE);
    OK(cuMemFree(managed));
    OK(cuMemFree(device));
    OK(cuStreamDestroy(stream));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_synchronization_policy), cmocka_unit_test(test_priority), cmocka_unit_test(test_bad),
        cmocka_unit_test(test_capture_queries),        cmocka_unit_test(test_attach),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
