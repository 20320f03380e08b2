/* SPDX-License-Identifier: Apache-2.0 */
/* cuMemAddressReserve, cuMemAddressFree: addresses without memory. */
#include "vmm_support.h"

static void test_ranges_do_not_overlap(void **state)
{
    enum { COUNT = 64 };
    CUdeviceptr got[COUNT];
    size_t size[COUNT];
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        size[i] = (i % 5 + 1) * UNIT;
        got[i] = addresses(size[i]);
        assert_int_equal(got[i] % UNIT, 0);
        for (size_t j = 0; j < i; j++)
            assert_true(got[i] + size[i] <= got[j] || got[j] + size[j] <= got[i]);
    }
    for (size_t i = 0; i < COUNT; i += 2)
        OK(cuMemAddressFree(got[i], size[i]));
    for (size_t i = 0; i < COUNT; i += 2)
        got[i] = addresses(size[i]);
    for (size_t i = 0; i < COUNT; i++)
        OK(cuMemAddressFree(got[i], size[i]));
}

static void test_alignment(void **state)
{
    CUdeviceptr between = addresses(UNIT), address;
    (void)state;
    for (size_t alignment = 1; alignment <= (size_t)1 << 34; alignment *= 2) {
        OK(cuMemAddressReserve(&address, 3 * UNIT, alignment, 0, 0));
        assert_int_equal(address % alignment, 0);
        OK(cuMemAddressFree(address, 3 * UNIT));
    }
    OK(cuMemAddressFree(between, UNIT));
    FAILS(cuMemAddressReserve(&address, UNIT, 3 * UNIT, 0, 0), CUDA_ERROR_INVALID_VALUE);
}

static void test_hint(void **state)
{
    CUdeviceptr first = addresses(8 * UNIT), address;
    (void)state;
    OK(cuMemAddressFree(first, 8 * UNIT));
    OK(cuMemAddressReserve(&address, 2 * UNIT, 0, first + 2 * UNIT, 0));
    assert_int_equal(address, first + 2 * UNIT);
    CUdeviceptr other;
    OK(cuMemAddressReserve(&other, 2 * UNIT, 0, first + 2 * UNIT, 0));
    assert_int_not_equal(other, address);
    OK(cuMemAddressFree(other, 2 * UNIT));
    OK(cuMemAddressReserve(&other, 2 * UNIT, 0, first + UNIT, 0));
    assert_true(other + 2 * UNIT <= address || other >= address + 2 * UNIT);
    OK(cuMemAddressFree(other, 2 * UNIT));
    /* Far outside of what there is: taken as a hint, no more. */
    OK(cuMemAddressReserve(&other, 2 * UNIT, 0, UNIT, 0));
    OK(cuMemAddressFree(other, 2 * UNIT));
    FAILS(cuMemAddressReserve(&other, UNIT, 0, first + 4096, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAddressFree(address, 2 * UNIT));
}

static void test_bad(void **state)
{
    CUdeviceptr address = 77;
    (void)state;
    FAILS(cuMemAddressReserve(NULL, UNIT, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemAddressReserve(&address, 0, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemAddressReserve(&address, UNIT + 4096, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemAddressReserve(&address, UNIT, 0, 0, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemAddressReserve(&address, (size_t)1 << 60, 0, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
    FAILS(cuMemAddressReserve(&address, SIZE_MAX & ~(UNIT - 1), 0, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(address, 77);
    address = addresses(4 * UNIT);
    FAILS(cuMemAddressFree(address, 2 * UNIT), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemAddressFree(address + UNIT, 3 * UNIT), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemAddressFree(address, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemAddressFree(address, SIZE_MAX), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAddressFree(address, 4 * UNIT));
    FAILS(cuMemAddressFree(address, 4 * UNIT), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemAddressFree(0, UNIT), CUDA_ERROR_INVALID_VALUE);
}

static void test_is_no_memory(void **state)
{
    CUdeviceptr address = addresses(UNIT);
    unsigned word = 1;
    int type = 9;
    (void)state;
    FAILS(cuMemcpyHtoD(address, &word, sizeof word), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemsetD32(address, 1, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemHostRegister((void *)(uintptr_t)address, UNIT, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAddressFree(address, UNIT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ranges_do_not_overlap), cmocka_unit_test(test_alignment),
                                       cmocka_unit_test(test_hint), cmocka_unit_test(test_bad),
                                       cmocka_unit_test(test_is_no_memory)};
    return cmocka_run_group_tests_name("cuMemAddressReserve", tests, support_begin, support_end);
}
