/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pools and allocations that two processes share.
 *
 * A case begins before cuInit (.bare), forks a peer, and only then do both
 * initialise the driver.  The peer does what it is told over a socket pair,
 * one request and one reply at a time, so that a case reads as one program in
 * which some calls are made elsewhere.  A peer that stays silent for ten
 * seconds, or is gone, answers -1.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif
#include "gold.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
#define POSIX CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

enum op {
    IMPORT_POOL,
    IMPORT_POINTER,
    READ_WORD,
    WRITE_WORD,
    FREE,
    FREE_ASYNC,
    FREE_ASYNC_SYNC,
    DESTROY_POOL,
    ALLOC,
    GET_ATTRIBUTE,
    SET_ATTRIBUTE,
    SET_CURRENT,
    TRIM,
    EXPORT_POINTER,
    EXPORT_POOL,
    GET_ACCESS,
    SET_ACCESS,
    POOL_OF,
    RANGE,
    FIRST_WORD_ASYNC,
    HANDLES
};

struct request {
    enum op op;
    CUdeviceptr address;
    long long value;
    CUmemPoolPtrExportData data;
};

struct reply {
    int status;
    long long value;
    CUdeviceptr address;
    CUmemPoolPtrExportData data;
};

static int line = -1;
static pid_t peer;

/* ---- the peer's side ---- */

static CUmemoryPool imported;

/* What is asked of an address. */
static void answer_of_memory(const struct request *in, struct reply *out)
{
    unsigned word = (unsigned)in->value;
    cuuint64_t wide = 0;
    CUmemoryPool of = NULL;
    size_t size = 0;
    switch (in->op) {
    case READ_WORD:
        out->status = cuMemcpyDtoH(&word, in->address, 4);
        out->value = word;
        break;
    case WRITE_WORD:
        out->status = cuMemcpyHtoD(in->address, &word, 4);
        if (out->status == CUDA_SUCCESS)
            out->status = cuCtxSynchronize();
        break;
    case FIRST_WORD_ASYNC:
        out->status = cuMemsetD32Async(in->address, word, 1, NULL);
        if (out->status == CUDA_SUCCESS)
            out->status = cuStreamSynchronize(NULL);
        break;
    case FREE:
        out->status = cuMemFree(in->address);
        break;
    case FREE_ASYNC:
        out->status = cuMemFreeAsync(in->address, NULL);
        break;
    case FREE_ASYNC_SYNC:
        out->status = cuMemFreeAsync(in->address, NULL);
        if (out->status == CUDA_SUCCESS)
            out->status = cuStreamSynchronize(NULL);
        break;
    case EXPORT_POINTER:
        out->status = cuMemPoolExportPointer(&out->data, in->address);
        break;
    case POOL_OF:
        out->status = cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, in->address);
        out->value = of == imported;
        break;
    case RANGE:
        out->status = cuMemGetAddressRange(&out->address, &size, in->address);
        out->value = (long long)size;
        break;
    case HANDLES:
        out->status = cuPointerGetAttribute(&wide, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, in->address);
        out->value = (long long)wide;
        break;
    default:
        break;
    }
}

/* What is asked of the imported pool. */
static void answer(const struct request *in, int fd, struct reply *out)
{
    CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    CUmemAccessDesc access = {.location = location, .flags = (CUmemAccess_flags)in->value};
    CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    cuuint64_t wide = 0;
    int shared = -1;
    switch (in->op) {
    case IMPORT_POOL:
        out->status = cuMemPoolImportFromShareableHandle(&imported, (void *)(intptr_t)fd, POSIX, 0);
        break;
    case IMPORT_POINTER:
        out->data = in->data;
        out->status = cuMemPoolImportPointer(&out->address, imported, &out->data);
        break;
    case DESTROY_POOL:
        out->status = cuMemPoolDestroy(imported);
        break;
    case ALLOC:
        out->status = cuMemAllocFromPoolAsync(&out->address, 4096, imported, NULL);
        break;
    case GET_ATTRIBUTE:
        out->status = cuMemPoolGetAttribute(imported, (CUmemPool_attribute)in->value, &wide);
        out->value = (long long)wide;
        break;
    case SET_ATTRIBUTE:
        out->status = cuMemPoolSetAttribute(imported, (CUmemPool_attribute)in->value, &wide);
        break;
    case SET_CURRENT:
        out->status = cuDeviceSetMemPool(0, imported);
        break;
    case TRIM:
        out->status = cuMemPoolTrimTo(imported, 0);
        break;
    case EXPORT_POOL:
        out->status = cuMemPoolExportToShareableHandle(&shared, imported, POSIX, 0);
        break;
    case GET_ACCESS:
        out->status = cuMemPoolGetAccess(&flags, imported, &location);
        out->value = flags;
        break;
    case SET_ACCESS:
        out->status = cuMemPoolSetAccess(imported, &access, 1);
        break;
    default:
        answer_of_memory(in, out);
        break;
    }
}

static void serve(int fd)
{
    gold_child_begin(false);
    for (;;) {
        struct request in;
        struct reply out;
        memset(&out, 0, sizeof out);
        union {
            struct cmsghdr header;
            char bytes[CMSG_SPACE(sizeof(int))];
        } control;
        struct iovec part = {&in, sizeof in};
        struct msghdr message = {
            .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
        if (recvmsg(fd, &message, 0) != (ssize_t)sizeof in)
            _exit(0);
        int passed = -1;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        if (header && header->cmsg_type == SCM_RIGHTS)
            memcpy(&passed, CMSG_DATA(header), sizeof passed);
        answer(&in, passed, &out);
        if (passed >= 0)
            close(passed);
        if (send(fd, &out, sizeof out, MSG_NOSIGNAL) != (ssize_t)sizeof out)
            _exit(0);
    }
}

/* ---- the case's side ---- */

/* Starts the peer, then the driver on this side. */
static void begin(void)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
        gold_stop("socketpair");
    peer = fork();
    if (peer < 0)
        gold_stop("fork");
    if (peer == 0) {
        close(ends[0]);
        serve(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    line = ends[0];
    struct timeval limit = {.tv_sec = 10};
    setsockopt(line, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    gold_child_begin(false);
}

static struct reply tell_with(struct request in, int fd)
{
    struct reply out = {.status = -1};
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {&in, sizeof in};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &fd, sizeof fd);
    }
    if (sendmsg(line, &message, MSG_NOSIGNAL) != (ssize_t)sizeof in ||
        recv(line, &out, sizeof out, 0) != (ssize_t)sizeof out)
        out.status = -1;
    return out;
}

static struct reply tell(enum op op, CUdeviceptr address, long long value)
{
    return tell_with((struct request){.op = op, .address = address, .value = value}, -1);
}

static void end(void)
{
    close(line);
    int status = 0;
    while (waitpid(peer, &status, 0) < 0 && errno == EINTR)
        ;
    say_if("peer_well", WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void say_reply(struct reply reply)
{
    say((CUresult)reply.status);
}

static CUmemoryPool shared_pool(void)
{
    CUmemPoolProps props;
    memset(&props, 0, sizeof props);
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.handleTypes = POSIX;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CUmemoryPool pool;
    NEED(cuMemPoolCreate(&pool, &props));
    return pool;
}

static int export_pool(CUmemoryPool pool)
{
    int fd = -1;
    NEED(cuMemPoolExportToShareableHandle(&fd, pool, POSIX, 0));
    return fd;
}

/* A pool that the peer has imported; its descriptor is closed again on both sides. */
static CUmemoryPool give_pool(void)
{
    CUmemoryPool pool = shared_pool();
    int fd = export_pool(pool);
    struct reply reply = tell_with((struct request){.op = IMPORT_POOL}, fd);
    close(fd);
    gold_need((CUresult)reply.status, "import in the peer");
    return pool;
}

static CUdeviceptr take(CUmemoryPool pool, size_t size)
{
    CUdeviceptr address;
    NEED(cuMemAllocFromPoolAsync(&address, size, pool, NULL));
    NEED(cuMemsetD32Async(address, 100, size / 4, NULL));
    NEED(cuStreamSynchronize(NULL));
    return address;
}

static struct reply give_pointer(CUdeviceptr address)
{
    struct request in = {.op = IMPORT_POINTER};
    NEED(cuMemPoolExportPointer(&in.data, address));
    return tell_with(in, -1);
}

static CUdeviceptr given(CUdeviceptr address)
{
    struct reply reply = give_pointer(address);
    gold_need((CUresult)reply.status, "import of a pointer");
    return reply.address;
}

/* ---- exporting ---- */

CASE(mempool_share, export_pool, .alone = true)
{
    CUmemoryPool pool = shared_pool();
    int fd = -1;
    say(cuMemPoolExportToShareableHandle(&fd, pool, POSIX, 0));
    say_if("descriptor", fd >= 0 && fcntl(fd, F_GETFD) >= 0);
    say_if("close_on_exec", fd >= 0 && (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    int second = -1;
    say(cuMemPoolExportToShareableHandle(&second, pool, POSIX, 0));
    say_if("differ", second >= 0 && second != fd);
    close(fd);
    close(second);
    say(cuMemPoolDestroy(pool));
}

CASE(mempool_share, export_bad, .alone = true)
{
    CUmemoryPool pool = shared_pool();
    int fd = -1;
    say(cuMemPoolExportToShareableHandle(NULL, pool, POSIX, 0));
    say(cuMemPoolExportToShareableHandle(&fd, NULL, POSIX, 0));
    say(cuMemPoolExportToShareableHandle(&fd, pool, CU_MEM_HANDLE_TYPE_NONE, 0));
    say(cuMemPoolExportToShareableHandle(&fd, pool, CU_MEM_HANDLE_TYPE_WIN32, 0));
    say(cuMemPoolExportToShareableHandle(&fd, pool, (CUmemAllocationHandleType)3, 0));
    say(cuMemPoolExportToShareableHandle(&fd, pool, POSIX, 1));
    say_int(fd);
}

CASE(mempool_share, export_unshareable, .alone = true)
{
    CUmemPoolProps props;
    memset(&props, 0, sizeof props);
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CUmemoryPool pool = NULL, plain = NULL;
    NEED(cuMemPoolCreate(&pool, &props));
    NEED(cuDeviceGetDefaultMemPool(&plain, 0));
    int fd = -1;
    say(cuMemPoolExportToShareableHandle(&fd, pool, POSIX, 0));
    say(cuMemPoolExportToShareableHandle(&fd, plain, POSIX, 0));
    CUmemPoolPtrExportData data;
    CUdeviceptr address = take(pool, 4096);
    say(cuMemPoolExportPointer(&data, address));
}

CASE(mempool_share, export_pointer_bad, .alone = true)
{
    CUmemoryPool pool = shared_pool();
    CUdeviceptr address = take(pool, 4096), plain = gold_alloc(4096);
    CUmemPoolPtrExportData data;
    int local = 0;
    say(cuMemPoolExportPointer(NULL, address));
    say(cuMemPoolExportPointer(&data, 0));
    say(cuMemPoolExportPointer(&data, plain));
    say(cuMemPoolExportPointer(&data, (CUdeviceptr)(uintptr_t)&local));
    say(cuMemPoolExportPointer(&data, address + 256));
    say(cuMemPoolExportPointer(&data, address));
    NEED(cuMemFreeAsync(address, NULL));
    NEED(cuStreamSynchronize(NULL));
    say(cuMemPoolExportPointer(&data, address));
}

CASE(mempool_share, import_bad, .alone = true)
{
    CUmemoryPool pool = shared_pool(), other = NULL;
    int fd = export_pool(pool), pipes[2];
    if (pipe(pipes) != 0)
        gold_stop("pipe");
    say(cuMemPoolImportFromShareableHandle(NULL, (void *)(intptr_t)fd, POSIX, 0));
    say(cuMemPoolImportFromShareableHandle(&other, (void *)(intptr_t)fd, POSIX, 1));
    say(cuMemPoolImportFromShareableHandle(&other, (void *)(intptr_t)fd, CU_MEM_HANDLE_TYPE_NONE, 0));
    say(cuMemPoolImportFromShareableHandle(&other, (void *)(intptr_t)fd, CU_MEM_HANDLE_TYPE_WIN32, 0));
    say(cuMemPoolImportFromShareableHandle(&other, (void *)(intptr_t)-1, POSIX, 0));
    say(cuMemPoolImportFromShareableHandle(&other, (void *)(intptr_t)1000, POSIX, 0));
    say(cuMemPoolImportFromShareableHandle(&other, (void *)(intptr_t)pipes[0], POSIX, 0));
    int file = memfd_create("gold", 0);
    if (ftruncate(file, 65536) == 0)
        say(cuMemPoolImportFromShareableHandle(&other, (void *)(intptr_t)file, POSIX, 0));
}

CASE(mempool_share, import_in_same_process, .alone = true)
{
    CUmemoryPool pool = shared_pool(), other = NULL;
    int fd = export_pool(pool);
    say(cuMemPoolImportFromShareableHandle(&other, (void *)(intptr_t)fd, POSIX, 0));
    say_if("same", other == pool);
    CUdeviceptr address = take(pool, 4096), again = 0;
    CUmemPoolPtrExportData data;
    say(cuMemPoolExportPointer(&data, address));
    if (other) {
        say(cuMemPoolImportPointer(&again, other, &data));
        say_if("same", again == address);
    }
}

/* ---- importing ---- */

CASE(mempool_share, read_and_write, .bare = true)
{
    begin();
    CUmemoryPool pool = give_pool();
    CUdeviceptr address = take(pool, 4096);
    struct reply reply = give_pointer(address);
    say_reply(reply);
    struct reply word = tell(READ_WORD, reply.address, 0);
    say_reply(word);
    say_int(word.value);
    say_reply(tell(WRITE_WORD, reply.address + 8, 77));
    say_int(gold_word(address + 8));
    say_reply(tell(FIRST_WORD_ASYNC, reply.address, 78));
    say_int(gold_word(address));
    say_reply(tell(FREE, reply.address, 0));
    say(cuMemFreeAsync(address, NULL));
    say(cuStreamSynchronize(NULL));
    say_reply(tell(DESTROY_POOL, 0, 0));
    say(cuMemPoolDestroy(pool));
    end();
}

CASE(mempool_share, free_async_in_peer, .bare = true)
{
    begin();
    CUmemoryPool pool = give_pool();
    CUdeviceptr address = take(pool, 4096), there = given(address);
    say_reply(tell(FREE_ASYNC_SYNC, there, 0));
    say_reply(tell(FREE_ASYNC, there, 0));
    say_int(gold_word(address));
    say(cuMemFreeAsync(address, NULL));
    say(cuStreamSynchronize(NULL));
    end();
}

CASE(mempool_share, allocated_after_export, .bare = true)
{
    begin();
    CUmemoryPool pool = give_pool();
    CUdeviceptr small = take(pool, 512), large = take(pool, 100 * MIB);
    CUdeviceptr there_small = given(small), there_large = given(large);
    say_reply(tell(WRITE_WORD, there_small, 5));
    say_reply(tell(WRITE_WORD, there_large + 100 * MIB - 4, 6));
    say_int(gold_word(small));
    say_int(gold_word(large + 100 * MIB - 4));
    end();
}

CASE(mempool_share, allocated_before_export, .bare = true)
{
    begin();
    CUmemoryPool pool = shared_pool();
    CUdeviceptr address = take(pool, 4096);
    int fd = export_pool(pool);
    say_reply(tell_with((struct request){.op = IMPORT_POOL}, fd));
    CUdeviceptr there = given(address);
    struct reply word = tell(READ_WORD, there, 0);
    say_int(word.value);
    end();
}

CASE(mempool_share, imported_twice, .bare = true)
{
    begin();
    CUmemoryPool pool = give_pool();
    CUdeviceptr address = take(pool, 4096);
    struct reply one = give_pointer(address), two = give_pointer(address);
    say_reply(one);
    say_reply(two);
    say_if("same", one.address == two.address);
    say_reply(tell(FREE, one.address, 0));
    if (two.status == CUDA_SUCCESS) {
        struct reply word = tell(READ_WORD, two.address, 0);
        say_reply(word);
    }
    end();
}

CASE(mempool_share, imported_again_after_free, .bare = true)
{
    begin();
    CUmemoryPool pool = give_pool();
    CUdeviceptr address = take(pool, 4096);
    CUdeviceptr there = given(address);
    say_reply(tell(FREE, there, 0));
    struct reply again = give_pointer(address);
    say_reply(again);
    if (again.status == CUDA_SUCCESS)
        say_int(tell(READ_WORD, again.address, 0).value);
    end();
}

CASE(mempool_share, two_pointers, .bare = true)
{
    begin();
    CUmemoryPool pool = give_pool();
    CUdeviceptr a = take(pool, 4096), b = take(pool, 4096);
    CUdeviceptr there_a = given(a), there_b = given(b);
    say_if("differ", there_a != there_b);
    NEED(cuMemsetD32(a, 1, 1));
    NEED(cuMemsetD32(b, 2, 1));
    NEED(cuCtxSynchronize());
    say_int(tell(READ_WORD, there_a, 0).value);
    say_int(tell(READ_WORD, there_b, 0).value);
    say_reply(tell(FREE, there_a, 0));
    say_int(tell(READ_WORD, there_b, 0).value);
    end();
}

CASE(mempool_share, imported_pool_refuses, .bare = true)
{
    begin();
    CUmemoryPool pool = give_pool();
    CUdeviceptr address = take(pool, 4096), there = given(address);
    say_reply(tell(ALLOC, 0, 0));
    say_reply(tell(SET_CURRENT, 0, 0));
    say_reply(tell(TRIM, 0, 0));
    say_reply(tell(EXPORT_POOL, 0, 0));
    say_reply(tell(EXPORT_POINTER, there, 0));
    end();
}

CASE(mempool_share, imported_pool_attributes, .bare = true)
{
    begin();
    CUmemoryPool pool = give_pool();
    CUdeviceptr address = take(pool, 4096);
    for (int attribute = 1; attribute <= 8; attribute++) {
        struct reply reply = tell(GET_ATTRIBUTE, 0, attribute);
        say_reply(reply);
        say_int(reply.value);
    }
    say_reply(give_pointer(address));
    for (int attribute = 5; attribute <= 8; attribute++) {
        struct reply reply = tell(GET_ATTRIBUTE, 0, attribute);
        say_reply(reply);
        say_int(reply.value);
    }
    for (int attribute = 1; attribute <= 8; attribute++)
        say_reply(tell(SET_ATTRIBUTE, 0, attribute));
    end();
}

CASE(mempool_share, imported_pool_access, .bare = true)
{
    begin();
    give_pool();
    struct reply reply = tell(GET_ACCESS, 0, 0);
    say_reply(reply);
    say_int(reply.value);
    say_reply(tell(SET_ACCESS, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    say_reply(tell(SET_ACCESS, 0, CU_MEM_ACCESS_FLAGS_PROT_READ));
    say_reply(tell(SET_ACCESS, 0, CU_MEM_ACCESS_FLAGS_PROT_NONE));
    end();
}

CASE(mempool_share, imported_pointer_facts, .bare = true)
{
    begin();
    CUmemoryPool pool = give_pool();
    CUdeviceptr address = take(pool, 5000), there = given(address);
    struct reply reply = tell(POOL_OF, there, 0);
    say_reply(reply);
    say_if("its_pool", reply.value == 1);
    reply = tell(RANGE, there + 100, 0);
    say_reply(reply);
    say_if("start", reply.address == there);
    say_value("size", reply.value);
    reply = tell(HANDLES, there, 0);
    say_reply(reply);
    say_int(reply.value);
    end();
}

CASE(mempool_share, import_pointer_bad, .bare = true)
{
    begin();
    CUmemoryPool pool = give_pool();
    struct request in = {.op = IMPORT_POINTER};
    say_reply(tell_with(in, -1));
    memset(&in.data, 0xff, sizeof in.data);
    say_reply(tell_with(in, -1));
    CUdeviceptr address = take(pool, 4096), out = 0;
    CUmemPoolPtrExportData data;
    NEED(cuMemPoolExportPointer(&data, address));
    say(cuMemPoolImportPointer(&out, NULL, &data));
    say(cuMemPoolImportPointer(NULL, pool, &data));
    say(cuMemPoolImportPointer(&out, pool, NULL));
    end();
}

CASE(mempool_share, import_pointer_into_own_pool, .alone = true)
{
    CUmemoryPool pool = shared_pool();
    CUdeviceptr address = take(pool, 4096), out = 0;
    CUmemPoolPtrExportData data;
    NEED(cuMemPoolExportPointer(&data, address));
    say(cuMemPoolImportPointer(&out, pool, &data));
}

CASE(mempool_share, import_pointer_of_other_pool, .bare = true)
{
    begin();
    give_pool();
    CUmemoryPool other = shared_pool();
    CUdeviceptr address = take(other, 4096);
    say_reply(give_pointer(address));
    end();
}

CASE(mempool_share, import_freed_pointer, .bare = true)
{
    begin();
    CUmemoryPool pool = give_pool();
    CUdeviceptr address = take(pool, 4096);
    struct request in = {.op = IMPORT_POINTER};
    NEED(cuMemPoolExportPointer(&in.data, address));
    NEED(cuMemFreeAsync(address, NULL));
    NEED(cuStreamSynchronize(NULL));
    say_reply(tell_with(in, -1));
    end();
}

CASE(mempool_share, pool_destroyed_by_importer, .bare = true)
{
    begin();
    CUmemoryPool pool = give_pool();
    CUdeviceptr address = take(pool, 4096), there = given(address);
    say_reply(tell(DESTROY_POOL, 0, 0));
    struct reply reply = tell(READ_WORD, there, 0);
    say_reply(reply);
    say_int(reply.value);
    say_reply(tell(FREE, there, 0));
    say_int(gold_word(address));
    end();
}

CASE(mempool_share, pool_destroyed_by_exporter, .bare = true,
     .allow = "CUDA_SUCCESS CUDA_SUCCESS CUDA_SUCCESS CUDA_SUCCESS 0 CUDA_SUCCESS peer_well=yes",
     .why = "what freed memory holds is nobody's matter")
{
    begin();
    CUmemoryPool pool = give_pool();
    CUdeviceptr address = take(pool, 4096), there = given(address);
    say(cuMemFreeAsync(address, NULL));
    say(cuStreamSynchronize(NULL));
    say(cuMemPoolDestroy(pool));
    struct reply reply = tell(READ_WORD, there, 0);
    say_reply(reply);
    say_int(reply.value);
    say_reply(tell(FREE, there, 0));
    end();
}

CASE(mempool_share, freed_by_exporter_first, .bare = true)
{
    begin();
    CUmemoryPool pool = give_pool();
    CUdeviceptr address = take(pool, 4096), there = given(address);
    say(cuMemFreeAsync(address, NULL));
    say(cuStreamSynchronize(NULL));
    say_reply(tell(FREE, there, 0));
    say(cuMemPoolDestroy(pool));
    end();
}

CASE(mempool_share, importer_killed, .bare = true)
{
    begin();
    CUmemoryPool pool = give_pool();
    CUdeviceptr address = take(pool, 4096), there = given(address);
    say_reply(tell(WRITE_WORD, there, 9));
    kill(peer, SIGKILL);
    waitpid(peer, NULL, 0);
    say_int(gold_word(address));
    say(cuMemFreeAsync(address, NULL));
    say(cuStreamSynchronize(NULL));
    CUdeviceptr next = 0;
    say(cuMemAllocFromPoolAsync(&next, 4096, pool, NULL));
    say(cuMemPoolDestroy(pool));
    say(cuCtxSynchronize());
}

CASE(mempool_share, descriptor_outlives_pool, .bare = true)
{
    begin();
    CUmemoryPool pool = shared_pool();
    int fd = export_pool(pool);
    say(cuMemPoolDestroy(pool));
    say_reply(tell_with((struct request){.op = IMPORT_POOL}, fd));
    close(fd);
    end();
}
