/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that are not implemented: they look at context and handles as they would if they were, then refuse; outputs
 * stay untouched. */
#include "api_support.h"

static void the_context_comes_first(void **state)
{
    CUarray array = WILD(CUarray);
    (void)state;
    OK(cuInit(0));
    FAILS(cuGraphicsSubResourceGetMappedArray(&array, NULL, 0, 0), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuGraphicsUnregisterResource(NULL), CUDA_ERROR_INVALID_CONTEXT);
    assert_ptr_equal(array, WILD(CUarray));
}

static void then_handles_then_the_refusal(void **state)
{
    CUarray array = WILD(CUarray);
    CUexternalMemory memory = WILD(CUexternalMemory);
    (void)state;
    FAILS(cuGraphicsSubResourceGetMappedArray(&array, WILD(CUgraphicsResource), 0, 0), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuImportExternalMemory(&memory, NULL), CUDA_ERROR_NOT_SUPPORTED);
    assert_ptr_equal(array, WILD(CUarray));
    assert_ptr_equal(memory, WILD(CUexternalMemory));
}

/* Multicast objects are several devices' memory behind one address. The attribute says that there are none. */
static void multicast_is_refused(void **state)
{
    CUmulticastObjectProp properties = {.numDevices = 1, .size = (size_t)2 << 20};
    CUmemGenericAllocationHandle handle = 77;
    size_t granularity = 77;
    int supported = 77;
    (void)state;
    OK(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0));
    assert_int_equal(supported, 0);
    FAILS(cuMulticastCreate(&handle, &properties), CUDA_ERROR_NOT_SUPPORTED);
    FAILS(cuMulticastGetGranularity(&granularity, &properties, CU_MULTICAST_GRANULARITY_MINIMUM),
          CUDA_ERROR_NOT_SUPPORTED);
    FAILS(cuMulticastAddDevice(handle, 0), CUDA_ERROR_NOT_SUPPORTED);
    FAILS(cuMulticastBindMem(handle, 0, 78, 0, 4096, 0), CUDA_ERROR_NOT_SUPPORTED);
    FAILS(cuMulticastBindAddr(handle, 0, 0x1000, 4096, 0), CUDA_ERROR_NOT_SUPPORTED);
    FAILS(cuMulticastUnbind(handle, 0, 0, 4096), CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(handle, 77);
    assert_int_equal(granularity, 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_context_comes_first),
                                       TEST_IN_CONTEXT(then_handles_then_the_refusal),
                                       TEST_IN_CONTEXT(multicast_is_refused)};
    return cmocka_run_group_tests_name("refusing stubs", tests, NULL, NULL);
}
