/* SPDX-License-Identifier: Apache-2.0 */
/* cuMemExportToShareableHandle, cuMemImportFromShareableHandle: memory of two processes.
 *
 * The other process is this program again, started with a socket as its descriptor 3. It gets a descriptor, imports it,
 * looks for what is in the first word, writes a word, and answers; or kills itself while it holds the memory. */
#include "vmm_support.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SOCKET = 3, WRITE_AND_END = 'w', WRITE_AND_DIE = 'd' };

static bool descriptor_send(int socket, char what, int descriptor)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec text = {&what, 1};
    struct msghdr message = {
        .msg_iov = &text, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    memset(&control, 0, sizeof control);
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(sizeof descriptor);
    memcpy(CMSG_DATA(&control.header), &descriptor, sizeof descriptor);
    return sendmsg(socket, &message, 0) == 1;
}

static int descriptor_receive(int socket, char *what)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec text = {what, 1};
    struct msghdr message = {
        .msg_iov = &text, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    int descriptor = -1;
    if (recvmsg(socket, &message, 0) == 1 && CMSG_FIRSTHDR(&message))
        memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptor);
    return descriptor;
}

#define MUST(condition) \
    do { \
        if (!(condition)) \
            return __LINE__ % 200 + 1; \
    } while (0)

static int be_the_other(void)
{
    char what = 0;
    int descriptor = descriptor_receive(SOCKET, &what);
    CUmemGenericAllocationHandle handle, bad;
    CUdeviceptr address;
    CUmemAccessDesc description = {.location = on_device, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    unsigned word = 0;
    MUST(support_begin(NULL) == 0);
    MUST(cuMemImportFromShareableHandle(&bad, (void *)(uintptr_t)SOCKET, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) ==
         CUDA_ERROR_UNKNOWN);
    MUST(cuMemImportFromShareableHandle(&handle, (void *)(uintptr_t)descriptor,
                                        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) == CUDA_SUCCESS);
    MUST(ftruncate(descriptor, 0) != 0); /* nobody can take the pages away from the others */
    close(descriptor);
    MUST(cuMemAddressReserve(&address, 2 * UNIT, 0, 0, 0) == CUDA_SUCCESS);
    MUST(cuMemMap(address, 2 * UNIT, 0, handle, 0) == CUDA_SUCCESS);
    MUST(cuMemSetAccess(address, 2 * UNIT, &description, 1) == CUDA_SUCCESS);
    MUST(cuMemcpyDtoH(&word, address, 4) == CUDA_SUCCESS && word == 41);
    MUST(cuMemsetD32(address + UNIT, 42, 8) == CUDA_SUCCESS && cuCtxSynchronize() == CUDA_SUCCESS);
    MUST(write(SOCKET, &what, 1) == 1);
    if (what == WRITE_AND_DIE)
        raise(SIGKILL);
    MUST(cuMemUnmap(address, 2 * UNIT) == CUDA_SUCCESS && cuMemRelease(handle) == CUDA_SUCCESS);
    return 0;
}

static const char *program;

/* Starts the other process and sends it the memory; its exit status as of wait. */
static int let_the_other(char what, int descriptor)
{
    int ends[2], status = 0;
    char answer = 0;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (dup2(ends[1], SOCKET) == SOCKET)
            execl(program, program, "--other", (char *)NULL);
        _exit(99);
    }
    close(ends[1]);
    assert_true(descriptor_send(ends[0], what, descriptor));
    assert_int_equal(read(ends[0], &answer, 1), 1);
    assert_int_equal(answer, what);
    assert_int_equal(waitpid(child, &status, 0), child);
    close(ends[0]);
    return status;
}

static int exported(CUmemGenericAllocationHandle handle)
{
    int descriptor = -1;
    OK(cuMemExportToShareableHandle(&descriptor, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    assert_true(descriptor >= 0);
    return descriptor;
}

static void between_processes(char what, bool dies)
{
    CUmemGenericAllocationHandle handle = memory_of(2 * UNIT, shared_memory());
    CUdeviceptr address = mapped(handle, 2 * UNIT);
    OK(cuMemsetD32(address, 41, 4));
    OK(cuCtxSynchronize());
    int descriptor = exported(handle);
    int status = let_the_other(what, descriptor);
    assert_true(dies ? WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(descriptor);
    assert_int_equal(word_at(address + UNIT + 28), 42);
    OK(cuMemRelease(handle));
    unmapped(address, 2 * UNIT);
}

static void test_another_process(void **state)
{
    (void)state;
    between_processes(WRITE_AND_END, false);
}

static void test_a_process_that_is_killed(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        between_processes(WRITE_AND_DIE, true);
}

static void test_in_one_process(void **state)
{
    CUmemGenericAllocationHandle other;
    CUmemAllocationProp told;
    size_t before, after, total;
    int again;
    (void)state;
    CUmemGenericAllocationHandle handle = memory_of(UNIT, shared_memory());
    CUdeviceptr one = mapped(handle, UNIT);
    OK(cuMemsetD32(one, 6, 1));
    int descriptor = exported(handle);
    assert_true(fcntl(descriptor, F_GETFD) & FD_CLOEXEC);
    OK(cuMemGetInfo(&before, &total));
    OK(cuMemImportFromShareableHandle(&other, (void *)(uintptr_t)descriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(descriptor);
    assert_int_not_equal(handle, other);
    OK(cuMemRelease(handle));
    unmapped(one, UNIT);
    CUdeviceptr two = mapped(other, UNIT);
    assert_int_equal(word_at(two), 6);
    OK(cuMemGetAllocationPropertiesFromHandle(&told, other));
    assert_int_equal(told.requestedHandleTypes, CU_MEM_HANDLE_TYPE_NONE);
    FAILS(cuMemExportToShareableHandle(&again, other, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
          CUDA_ERROR_INVALID_VALUE);
    OK(cuMemGetInfo(&after, &total));
    assert_int_equal(before, after); /* still in use, and counted once */
    OK(cuMemRelease(other));
    unmapped(two, UNIT);
    OK(cuMemGetInfo(&after, &total));
    assert_int_equal(after - before, UNIT);
}

static CUresult import(int descriptor)
{
    CUmemGenericAllocationHandle handle = 77;
    CUresult status = cuMemImportFromShareableHandle(&handle, (void *)(uintptr_t)descriptor,
                                                     CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    assert_int_equal(handle, 77);
    return status;
}

/* Descriptors that look more and more like the right thing. */
static void test_garbage(void **state)
{
    int zero = open("/dev/zero", O_RDWR), file = memfd_create("x", 0), sealed = memfd_create("x", MFD_ALLOW_SEALING);
    char label[4096];
    (void)state;
    FAILS(import(-1), CUDA_ERROR_UNKNOWN);
    FAILS(import(9999), CUDA_ERROR_UNKNOWN);
    FAILS(import(zero), CUDA_ERROR_UNKNOWN);
    FAILS(import(file), CUDA_ERROR_UNKNOWN);
    assert_int_equal(ftruncate(sealed, UNIT + 4096), 0);
    assert_int_equal(fcntl(sealed, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
    FAILS(import(sealed), CUDA_ERROR_UNKNOWN);
    /* A right label, but a size that is not the file's. */
    CUmemGenericAllocationHandle handle = memory_of(2 * UNIT, shared_memory());
    int real = exported(handle);
    assert_int_equal(pread(real, label, sizeof label, 2 * UNIT), sizeof label);
    assert_int_equal(pwrite(sealed, label, sizeof label, UNIT), sizeof label);
    FAILS(import(sealed), CUDA_ERROR_UNKNOWN);
    /* A label that was tampered with. */
    label[20] ^= 1;
    assert_int_equal(pwrite(real, label, sizeof label, 2 * UNIT), sizeof label);
    FAILS(import(real), CUDA_ERROR_UNKNOWN);
    OK(cuMemRelease(handle));
    close(real);
    close(zero);
    close(file);
    close(sealed);
}

static void test_bad(void **state)
{
    CUmemGenericAllocationHandle handle = memory_of(UNIT, device_memory()), shared = memory_of(UNIT, shared_memory()),
                                 other;
    int descriptor = -77;
    (void)state;
    FAILS(cuMemExportToShareableHandle(&descriptor, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
          CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemExportToShareableHandle(&descriptor, shared, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 1),
          CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemExportToShareableHandle(&descriptor, shared, CU_MEM_HANDLE_TYPE_WIN32, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemExportToShareableHandle(NULL, shared, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
          CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemExportToShareableHandle(&descriptor, 0, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
          CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(descriptor, -77);
    FAILS(cuMemImportFromShareableHandle(NULL, NULL, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
          CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemImportFromShareableHandle(&other, NULL, CU_MEM_HANDLE_TYPE_NONE), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemImportFromShareableHandle(&other, NULL, CU_MEM_HANDLE_TYPE_WIN32), CUDA_ERROR_NOT_SUPPORTED);
    OK(cuMemRelease(handle));
    OK(cuMemRelease(shared));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_another_process), cmocka_unit_test(test_a_process_that_is_killed),
        cmocka_unit_test(test_in_one_process), cmocka_unit_test(test_garbage), cmocka_unit_test(test_bad)};
    if (argc == 2 && !strcmp(argv[1], "--other"))
        return be_the_other();
    program = argv[0];
    return cmocka_run_group_tests_name("cuMemExportToShareableHandle", tests, support_begin, support_end);
}
