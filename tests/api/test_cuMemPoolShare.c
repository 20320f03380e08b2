/* SPDX-License-Identifier: Apache-2.0 */
/* cuMemPoolExportToShareableHandle, cuMemPoolImportFromShareableHandle, cuMemPoolExportPointer, cuMemPoolImportPointer:
 * between processes, under load, with damaged data, and when either side is killed. What hardware was asked is in
 * tests/golden/case_mempool_share.c. */
#include "ipc_support.h"

#include <sys/mman.h>

#define MIB ((size_t)1 << 20)
#define POSIX CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define WORDS 100000u

static bool send_descriptor(int socket, int descriptor)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    char byte = 'd';
    struct iovec part = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    return sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

static int receive_descriptor(int socket)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    char byte;
    int descriptor = -1;
    struct iovec part = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct cmsghdr *header = recvmsg(socket, &message, MSG_CMSG_CLOEXEC) == 1 ? CMSG_FIRSTHDR(&message) : NULL;
    if (header && header->cmsg_type == SCM_RIGHTS)
        memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    return descriptor;
}

static CUmemoryPool shareable_pool(void)
{
    CUmemPoolProps props = {
        .allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .handleTypes = POSIX, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemoryPool pool = NULL;
    return cuMemPoolCreate(&pool, &props) == CUDA_SUCCESS ? pool : NULL;
}

/* Takes a pool, then pointers; adds one to each word of what it is sent and says so, until the other side is done. */
static void role_add(int socket)
{
    struct {
        CUmemPoolPtrExportData data;
        unsigned words;
    } order;
    CUmemoryPool pool;
    role_begin();
    int descriptor = receive_descriptor(socket);
    ROLE_NEED(cuMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)descriptor, POSIX, 0) == CUDA_SUCCESS);
    close(descriptor);
    while (receive_bytes(socket, &order, sizeof order)) {
        CUdeviceptr address;
        unsigned first;
        ROLE_NEED(cuMemPoolImportPointer(&address, pool, &order.data) == CUDA_SUCCESS);
        ROLE_NEED(cuMemcpyDtoH(&first, address, 4) == CUDA_SUCCESS);
        ROLE_NEED(cuMemsetD32Async(address, first + 1, order.words, NULL) == CUDA_SUCCESS);
        ROLE_NEED(cuMemFreeAsync(address, NULL) == CUDA_SUCCESS && cuStreamSynchronize(NULL) == CUDA_SUCCESS);
        ROLE_NEED(give_turn(socket));
    }
    ROLE_NEED(cuMemPoolDestroy(pool) == CUDA_SUCCESS);
}

/* Makes a pool with an allocation that holds 4711, gives both away, and stays until it is told to go. */
static void role_own(int socket)
{
    CUmemPoolPtrExportData data;
    CUdeviceptr address = 0;
    int descriptor;
    role_begin();
    CUmemoryPool pool = shareable_pool();
    ROLE_NEED(pool && cuMemAllocFromPoolAsync(&address, 4 * WORDS, pool, NULL) == CUDA_SUCCESS &&
              cuMemsetD32(address, 4711, WORDS) == CUDA_SUCCESS);
    ROLE_NEED(cuCtxSynchronize() == CUDA_SUCCESS &&
              cuMemPoolExportToShareableHandle(&descriptor, pool, POSIX, 0) == CUDA_SUCCESS);
    ROLE_NEED(cuMemPoolExportPointer(&data, address) == CUDA_SUCCESS && send_descriptor(socket, descriptor) &&
              send_bytes(socket, &data, sizeof data));
    take_turn(socket);
}

static const struct role roles[] = {{"add", role_add}, {"own", role_own}, {0}};

/* A helper that has the pool. */
static struct helper helper_with(CUmemoryPool pool)
{
    int descriptor = -1;
    struct helper helper = helper_start("add");
    OK(cuMemPoolExportToShareableHandle(&descriptor, pool, POSIX, 0));
    assert_true(send_descriptor(helper.socket, descriptor));
    close(descriptor);
    return helper;
}

static void let_add(struct helper *helper, CUdeviceptr address, unsigned words)
{
    struct {
        CUmemPoolPtrExportData data;
        unsigned words;
    } order = {.words = words};
    OK(cuMemPoolExportPointer(&order.data, address));
    assert_true(send_bytes(helper->socket, &order, sizeof order));
    assert_true(take_turn(helper->socket));
}

/* Allocations of all sizes, made before and after the export, at the places of freed ones too. */
static void test_to_and_fro(void **state)
{
    (void)state;
    CUmemoryPool pool = shareable_pool();
    assert_non_null(pool);
    struct helper helper = helper_with(pool);
    for (unsigned round = 0; round < 40; round++) {
        CUdeviceptr one, two;
        unsigned words = 1 + round * round * 400;
        OK(cuMemAllocFromPoolAsync(&one, 4 * (size_t)words, pool, NULL));
        OK(cuMemAllocFromPoolAsync(&two, 100, pool, NULL));
        OK(cuMemsetD32Async(one, round, words, NULL));
        OK(cuMemsetD32Async(two, 1000 + round, 25, NULL));
        OK(cuStreamSynchronize(NULL));
        let_add(&helper, one, words);
        let_add(&helper, two, 25);
        const volatile unsigned *there = (const volatile unsigned *)(uintptr_t)one;
        assert_int_equal(there[0], round + 1);
        assert_int_equal(there[words - 1], round + 1);
        assert_int_equal(*(const volatile unsigned *)(uintptr_t)two, 1001 + round);
        OK(cuMemFreeAsync(one, NULL));
        OK(cuMemFreeAsync(two, NULL));
        if (round % 7 == 0)
            OK(cuMemPoolTrimTo(pool, 0));
    }
    assert_int_equal(helper_end(&helper), 0);
    OK(cuMemPoolDestroy(pool));
}

static void test_three_importers(void **state)
{
    (void)state;
    CUmemoryPool pool = shareable_pool();
    struct helper helpers[3];
    CUdeviceptr address;
    OK(cuMemAllocFromPoolAsync(&address, 4 * WORDS, pool, NULL));
    OK(cuMemsetD32(address, 10, WORDS));
    OK(cuCtxSynchronize());
    for (int i = 0; i < 3; i++)
        helpers[i] = helper_with(pool);
    for (int round = 0; round < 10; round++)
        for (int i = 0; i < 3; i++)
            let_add(&helpers[i], address, WORDS);
    assert_int_equal(((const volatile unsigned *)(uintptr_t)address)[WORDS - 1], 40);
    for (int i = 0; i < 3; i++)
        assert_int_equal(helper_end(&helpers[i]), 0);
    OK(cuMemFreeAsync(address, NULL));
    OK(cuMemPoolDestroy(pool));
}

/* The exporter is killed: what was imported stays, and so does what the descriptor leads to. */
static void test_exporter_dies(void **state)
{
    (void)state;
    for (int round = 0; round < 10; round++) {
        CUmemPoolPtrExportData data;
        CUmemoryPool pool;
        CUdeviceptr address;
        struct helper helper = helper_start("own");
        int descriptor = receive_descriptor(helper.socket);
        assert_true(descriptor >= 0 && receive_bytes(helper.socket, &data, sizeof data));
        if (round % 2)
            kill(helper.pid, SIGKILL);
        OK(cuMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)descriptor, POSIX, 0));
        OK(cuMemPoolImportPointer(&address, pool, &data));
        if (round % 2 == 0)
            kill(helper.pid, SIGKILL);
        assert_int_equal(helper_end(&helper), 256 + SIGKILL);
        assert_int_equal(((const volatile unsigned *)(uintptr_t)address)[WORDS - 1], 4711);
        OK(cuMemsetD32(address, 1, WORDS));
        OK(cuCtxSynchronize());
        FAILS(cuMemPoolDestroy(pool), CUDA_ERROR_INVALID_VALUE);
        OK(cuMemFree(address));
        FAILS(cuMemcpyDtoD(address, address, 4), CUDA_ERROR_INVALID_VALUE);
        OK(cuMemPoolDestroy(pool));
        close(descriptor);
    }
}

static void test_importer_dies(void **state)
{
    (void)state;
    CUmemoryPool pool = shareable_pool();
    CUdeviceptr address;
    OK(cuMemAllocFromPoolAsync(&address, 4 * WORDS, pool, NULL));
    OK(cuMemsetD32(address, 0, WORDS));
    OK(cuCtxSynchronize());
    for (int round = 0; round < 10; round++) {
        struct helper helper = helper_with(pool);
        struct {
            CUmemPoolPtrExportData data;
            unsigned words;
        } order = {.words = WORDS};
        OK(cuMemPoolExportPointer(&order.data, address));
        assert_true(send_bytes(helper.socket, &order, sizeof order));
        if (round % 2)
            assert_true(take_turn(helper.socket));
        kill(helper.pid, SIGKILL);
        assert_int_equal(helper_end(&helper), 256 + SIGKILL);
        OK(cuMemsetD32(address, 5, WORDS));
        OK(cuCtxSynchronize());
        assert_int_equal(((const volatile unsigned *)(uintptr_t)address)[WORDS - 1], 5);
    }
    OK(cuMemFreeAsync(address, NULL));
    OK(cuMemPoolDestroy(pool));
}

/* Each bit of the data flipped in turn, and descriptors of other things. */
static void test_damaged(void **state)
{
    (void)state;
    CUmemPoolPtrExportData data, damaged;
    CUmemoryPool pool = shareable_pool(), imported, other = NULL;
    CUdeviceptr address, got;
    int descriptor, memory = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    OK(cuMemPoolExportToShareableHandle(&descriptor, pool, POSIX, 0));
    OK(cuMemPoolImportFromShareableHandle(&imported, (void *)(intptr_t)descriptor, POSIX, 0));
    OK(cuMemAllocFromPoolAsync(&address, 5000, pool, NULL));
    OK(cuMemPoolExportPointer(&data, address));
    for (unsigned bit = 0; bit < 56 * 8; bit++) {
        damaged = data;
        damaged.reserved[bit / 8] ^= (unsigned char)(1u << bit % 8);
        FAILS(cuMemPoolImportPointer(&got, imported, &damaged), CUDA_ERROR_INVALID_VALUE);
    }
    OK(cuMemPoolImportPointer(&got, imported, &data));
    OK(cuMemFree(got));
    assert_int_equal(ftruncate(memory, 64 << 20), 0);
    FAILS(cuMemPoolImportFromShareableHandle(&other, (void *)(intptr_t)memory, POSIX, 0), CUDA_ERROR_UNKNOWN);
    assert_int_equal(fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL), 0);
    FAILS(cuMemPoolImportFromShareableHandle(&other, (void *)(intptr_t)memory, POSIX, 0), CUDA_ERROR_UNKNOWN);
    assert_int_equal(ftruncate(descriptor, 0), -1); /* nobody takes pages away from the others */
    close(memory);
    close(descriptor);
    OK(cuMemPoolDestroy(imported));
    OK(cuMemFreeAsync(address, NULL));
    OK(cuMemPoolDestroy(pool));
}

static void test_nothing_left(void **state)
{
    (void)state;
    unsigned before = count_descriptors(), files = count_shared_files();
    for (int i = 0; i < 50; i++) {
        CUmemoryPool pool = shareable_pool(), imported;
        CUmemPoolPtrExportData data;
        CUdeviceptr address, got;
        int descriptor;
        OK(cuMemPoolExportToShareableHandle(&descriptor, pool, POSIX, 0));
        OK(cuMemAllocFromPoolAsync(&address, MIB, pool, NULL));
        OK(cuMemPoolExportPointer(&data, address));
        OK(cuMemPoolImportFromShareableHandle(&imported, (void *)(intptr_t)descriptor, POSIX, 0));
        OK(cuMemPoolImportPointer(&got, imported, &data));
        OK(cuMemFreeAsync(got, NULL));
        OK(cuMemFreeAsync(address, NULL));
        OK(cuStreamSynchronize(NULL));
        OK(cuMemPoolDestroy(imported));
        OK(cuMemPoolDestroy(pool));
        close(descriptor);
    }
    assert_int_equal(count_descriptors(), before);
    assert_int_equal(count_shared_files(), files);
}

int main(int argc, char **argv)
{
    role_run(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_to_and_fro),    cmocka_unit_test(test_three_importers),
        cmocka_unit_test(test_exporter_dies), cmocka_unit_test(test_importer_dies),
        cmocka_unit_test(test_damaged),       cmocka_unit_test(test_nothing_left),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
