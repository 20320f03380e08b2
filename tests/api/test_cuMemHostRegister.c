/* SPDX-License-Identifier: Apache-2.0 */
/* cuMemHostRegister, cuMemHostUnregister: memory of every origin, and what is no memory. */
#include "memory_support.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

static char *pages(size_t count, int protection)
{
    char *memory = mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    assert_int_equal(mprotect(memory, count * PAGE, protection), 0);
    return memory;
}

static void use(void *memory, size_t size)
{
    unsigned on = 5;
    CUdeviceptr device;
    OK(cuMemHostRegister(memory, size, CU_MEMHOSTREGISTER_PORTABLE));
    OK(cuMemHostGetDevicePointer(&device, memory, 0));
    assert_int_equal(device, ADDRESS(memory));
    OK(cuMemsetD8(device + size - 1, 9, 1));
    assert_int_equal(((char *)memory)[size - 1], 9);
    OK(cuMemHostGetFlags(&on, memory));
    assert_int_equal(on, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
    OK(cuMemHostUnregister(memory));
}

static char in_data[3 * PAGE] = {1};

static void test_every_origin(void **state)
{
    char on_stack[3 * PAGE], *heap = malloc(200000), *shared, *untouched;
    FILE *file = tmpfile();
    (void)state;
    use(on_stack + 7, sizeof on_stack - 7);
    use(heap + 1, 150000);
    use(in_data, sizeof in_data);
    shared = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    use(shared, 4 * PAGE);
    munmap(shared, 4 * PAGE);
    untouched = pages(64, PROT_READ | PROT_WRITE);
    use(untouched, 64 * PAGE);
    munmap(untouched, 64 * PAGE);
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), 2 * PAGE), 0);
    for (int i = 0; i < 2; i++) {
        char *mapped = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, i ? MAP_PRIVATE : MAP_SHARED, fileno(file), 0);
        use(mapped, 2 * PAGE);
        munmap(mapped, 2 * PAGE);
    }
    fclose(file);
    free(heap);
}

static void test_read_only(void **state)
{
    static const char constant[PAGE] = {3};
    char *memory = pages(4, PROT_READ);
    (void)state;
    FAILS(cuMemHostRegister(memory, 4 * PAGE, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemHostRegister(memory, 4 * PAGE, CU_MEMHOSTREGISTER_READ_ONLY));
    OK(cuMemHostUnregister(memory));
    FAILS(cuMemHostRegister((void *)(uintptr_t)constant, PAGE, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(mprotect(memory + 2 * PAGE, PAGE, PROT_NONE), 0);
    FAILS(cuMemHostRegister(memory, 4 * PAGE, CU_MEMHOSTREGISTER_READ_ONLY), CUDA_ERROR_INVALID_VALUE);
    munmap(memory, 4 * PAGE);
}

static void test_not_there(void **state)
{
    char *memory = pages(8, PROT_READ | PROT_WRITE);
    (void)state;
    munmap(memory + 4 * PAGE, PAGE);
    FAILS(cuMemHostRegister(memory, 8 * PAGE, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemHostRegister(memory, 4 * PAGE, 0));
    munmap(memory, 8 * PAGE);
    OK(cuMemHostUnregister(memory));
    FAILS(cuMemHostUnregister(memory), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    FAILS(cuMemHostRegister(memory, PAGE, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemHostRegister(in_data, SIZE_MAX, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemHostRegister(in_data, (size_t)1 << 46, 0), CUDA_ERROR_OUT_OF_MEMORY);
    FAILS(cuMemHostRegister((void *)(uintptr_t)0xffff800000000000u, PAGE, 0), CUDA_ERROR_NOT_SUPPORTED);
    FAILS(cuMemHostRegister(in_data, PAGE, CU_MEMHOSTREGISTER_IOMEMORY), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemHostRegister(in_data, PAGE, 16), CUDA_ERROR_INVALID_VALUE);
}

static void test_neighbours(void **state)
{
    char *memory = pages(8, PROT_READ | PROT_WRITE);
    (void)state;
    OK(cuMemHostRegister(memory + 100, 100, 0));
    OK(cuMemHostRegister(memory + 200, 100, 0));
    OK(cuMemHostRegister(memory, 100, 0));
    FAILS(cuMemHostRegister(memory + 299, 10, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    FAILS(cuMemHostRegister(memory, 8 * PAGE, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    FAILS(cuMemHostUnregister(memory + 150), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemHostUnregister(memory + 300), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    OK(cuMemHostUnregister(memory + 100));
    OK(cuMemHostUnregister(memory));
    OK(cuMemHostUnregister(memory + 200));
    munmap(memory, 8 * PAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_origin), cmocka_unit_test(test_read_only),
                                       cmocka_unit_test(test_not_there), cmocka_unit_test(test_neighbours)};
    return cmocka_run_group_tests_name("cuMemHostRegister", tests, support_begin, support_end);
}
