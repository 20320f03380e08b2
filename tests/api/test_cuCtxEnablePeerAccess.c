/* SPDX-License-Identifier: Apache-2.0 */
/* Peer access between two devices, and copies from one to the other. */
#include "memory_support.h"

static void test_questions(void **state)
{
    (void)state;
    int value = 9;
    OK(cuDeviceCanAccessPeer(&value, 0, 1));
    assert_int_equal(value, 1);
    OK(cuDeviceCanAccessPeer(&value, 1, 1));
    assert_int_equal(value, 0);
    FAILS(cuDeviceCanAccessPeer(&value, 0, 2), CUDA_ERROR_INVALID_DEVICE);
    FAILS(cuDeviceCanAccessPeer(NULL, 0, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1));
    assert_int_equal(value, 1);
    OK(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, 1, 0));
    FAILS(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0), CUDA_ERROR_INVALID_DEVICE);
    FAILS(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 7), CUDA_ERROR_INVALID_DEVICE);
    FAILS(cuDeviceGetP2PAttribute(&value, (CUdevice_P2PAttribute)99, 0, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuDeviceGetP2PAttribute(NULL, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1), CUDA_ERROR_INVALID_VALUE);
}

static void test_access(void **state)
{
    (void)state;
    CUcontext other, third;
    CUdeviceptr here = device_bytes(64), there;
    int value = 0;
    OK(cuCtxCreate(&other, NULL, 0, 1));
    OK(cuMemAlloc(&there, 64));
    OK(cuMemsetD32(there, 42, 16));
    OK(cuCtxSynchronize());
    OK(cuCtxCreate(&third, NULL, 0, 0));
    OK(cuCtxSetCurrent(the_context));
    FAILS(cuCtxEnablePeerAccess(other, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuCtxEnablePeerAccess(the_context, 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    FAILS(cuCtxEnablePeerAccess((CUcontext)(uintptr_t)0x55, 0), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuCtxEnablePeerAccess(third, 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    FAILS(cuCtxDisablePeerAccess(other), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    OK(cuCtxEnablePeerAccess(other, 0));
    FAILS(cuCtxEnablePeerAccess(other, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    OK(cuMemcpyPeer(here, the_context, there, other, 64));
    OK(cuMemcpyDtoH(&value, here + 60, 4));
    assert_int_equal(value, 42);
    OK(cuCtxDisablePeerAccess(other));
    FAILS(cuCtxDisablePeerAccess(other), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    FAILS(cuCtxDisablePeerAccess((CUcontext)(uintptr_t)0x55), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxDestroy(other));
    OK(cuCtxDestroy(third));
    OK(cuCtxSetCurrent(the_context));
    OK(cuMemFree(here));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_questions), cmocka_unit_test(test_access)};
    setenv("MILLRACE_DEVICES", "2", 1);
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
