/* SPDX-License-Identifier: Apache-2.0 */
/* The cuDevice functions: two devices, what each says of itself, wrong ordinals and outputs. */
#include "api_support.h"

#include <stdio.h>

#define DEVICES 2

static int set_up(void **state)
{
    (void)state;
    setenv("MILLRACE_DEVICES", "2", 1);
    setenv("MILLRACE_COMPUTE_CAPABILITY", "8.6", 1);
    setenv("MILLRACE_MEMORY", "1G", 1);
    return cuInit(0) == CUDA_SUCCESS ? 0 : -1;
}

static void count_and_get(void **state)
{
    int count = 0;
    CUdevice device = -1;
    (void)state;
    OK(cuDeviceGetCount(&count));
    assert_int_equal(count, DEVICES);
    FAILS(cuDeviceGetCount(NULL), CUDA_ERROR_INVALID_VALUE);
    for (int i = 0; i < DEVICES; i++) {
        OK(cuDeviceGet(&device, i));
        assert_int_equal(device, i);
    }
    FAILS(cuDeviceGet(&device, DEVICES), CUDA_ERROR_INVALID_DEVICE);
    FAILS(cuDeviceGet(&device, -1), CUDA_ERROR_INVALID_DEVICE);
    FAILS(cuDeviceGet(NULL, 0), CUDA_ERROR_INVALID_VALUE);
}

static void names(void **state)
{
    char name[128] = "", shortened[8];
    (void)state;
    OK(cuDeviceGetName(name, sizeof name, 0));
    assert_memory_equal(name, "Millrace", 8);
    memset(shortened, 'x', sizeof shortened);
    OK(cuDeviceGetName(shortened, 5, 0));
    assert_string_equal(shortened, "Mill");
    assert_int_equal(shortened[5], 'x');
    FAILS(cuDeviceGetName(NULL, 10, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuDeviceGetName(name, 0, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuDeviceGetName(name, -1, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuDeviceGetName(name, sizeof name, 7), CUDA_ERROR_INVALID_DEVICE);
}

static void identifiers(void **state)
{
    CUuuid one, again, other;
    char text[16], luid[8];
    unsigned mask;
    CUdevice device = -1;
    (void)state;
    OK(cuDeviceGetUuid(&one, 0));
    OK(cuDeviceGetUuid(&again, 0));
    OK(cuDeviceGetUuid(&other, 1));
    assert_memory_equal(&one, &again, sizeof one);
    assert_memory_not_equal(&one, &other, sizeof one);
    FAILS(cuDeviceGetUuid(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuDeviceGetUuid(&one, 9), CUDA_ERROR_INVALID_DEVICE);
    FAILS(cuDeviceGetLuid(luid, &mask, 0), CUDA_ERROR_NOT_SUPPORTED);
    for (int i = 0; i < DEVICES; i++) {
        OK(cuDeviceGetPCIBusId(text, sizeof text, i));
        OK(cuDeviceGetByPCIBusId(&device, text));
        assert_int_equal(device, i);
        int bus = -1;
        char expected[16];
        OK(cuDeviceGetAttribute(&bus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, i));
        snprintf(expected, sizeof expected, "0000:%02X:00.0", (unsigned)bus);
        assert_string_equal(text, expected);
    }
    FAILS(cuDeviceGetPCIBusId(text, 4, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuDeviceGetPCIBusId(NULL, 16, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuDeviceGetPCIBusId(text, 16, 9), CUDA_ERROR_INVALID_DEVICE);
    static const char *const wrong[] = {"", "nonsense", "0000:", "0000:01:00.0x", ":::"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        FAILS(cuDeviceGetByPCIBusId(&device, wrong[i]), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuDeviceGetByPCIBusId(&device, "ffff:ff:1f.7"), CUDA_ERROR_INVALID_DEVICE);
    FAILS(cuDeviceGetByPCIBusId(&device, "0000:00:00.0"), CUDA_ERROR_INVALID_DEVICE);
    FAILS(cuDeviceGetByPCIBusId(NULL, "0000:01:00.0"), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuDeviceGetByPCIBusId(&device, NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuDeviceGetByPCIBusId(&device, "01:00"));
    assert_int_equal(device, 0);
}

static void sizes(void **state)
{
    size_t bytes = 0, width = 0;
    (void)state;
    OK(cuDeviceTotalMem(&bytes, 1));
    assert_int_equal(bytes, (size_t)1 << 30);
    FAILS(cuDeviceTotalMem(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuDeviceTotalMem(&bytes, -1), CUDA_ERROR_INVALID_DEVICE);
    OK(cuDeviceGetTexture1DLinearMaxWidth(&width, CU_AD_FORMAT_FLOAT, 4, 0));
    assert_int_equal(width, 268435456);
    FAILS(cuDeviceGetTexture1DLinearMaxWidth(&width, CU_AD_FORMAT_FLOAT, 3, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuDeviceGetTexture1DLinearMaxWidth(&width, (CUarray_format)0x7777, 1, 0), CUDA_ERROR_INVALID_VALUE);
}

static void attributes(void **state)
{
    int value = 0, major = 0, minor = 0;
    CUdevprop properties;
    (void)state;
    for (int i = 1; i < CU_DEVICE_ATTRIBUTE_MAX; i++)
        OK(cuDeviceGetAttribute(&value, (CUdevice_attribute)i, 1));
    FAILS(cuDeviceGetAttribute(&value, (CUdevice_attribute)0, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuDeviceGetAttribute(&value, (CUdevice_attribute)100000, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuDeviceGetAttribute(&value, (CUdevice_attribute)-1, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuDeviceGetAttribute(NULL, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 5), CUDA_ERROR_INVALID_DEVICE);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    assert_int_equal(value, 32);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0));
    assert_int_equal(value, 99 * 1024);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 0));
    assert_true(value > 0);
    OK(cuDeviceComputeCapability(&major, &minor, 0));
    assert_int_equal(major * 10 + minor, 86);
    OK(cuDeviceGetProperties(&properties, 0));
    assert_int_equal(properties.maxThreadsPerBlock, 1024);
    assert_int_equal(properties.SIMDWidth, 32);
    FAILS(cuDeviceGetProperties(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuDeviceComputeCapability(&major, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    value = 9;
    OK(cuDeviceGetExecAffinitySupport(&value, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 0));
    assert_int_equal(value, 0);
    FAILS(cuDeviceGetExecAffinitySupport(NULL, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 0), CUDA_ERROR_INVALID_VALUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(count_and_get), cmocka_unit_test(names),      cmocka_unit_test(identifiers),
        cmocka_unit_test(sizes),         cmocka_unit_test(attributes),
    };
    return cmocka_run_group_tests_name("cuDevice", tests, set_up, NULL);
}
