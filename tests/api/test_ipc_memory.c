/* SPDX-License-Identifier: Apache-2.0 */
/* cuIpcGetMemHandle, cuIpcOpenMemHandle, cuIpcCloseMemHandle: between processes, under load, with damaged handles, by
 * other users. What hardware was asked is in tests/golden/case_ipc_memory.c. */
#include "ipc_support.h"

#define WORDS (1u << 20)
#define LAZY CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS

/* Each thread counts its own word up, one at a time. */
static const char count_ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry count(.param .u64 words, .param .u32 times)\n{\n"
    ".reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<5>;\n"
    "ld.param.u64 %rd0, [words]; ld.param.u32 %r0, [times]; cvta.to.global.u64 %rd1, %rd0;\n"
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;\n"
    "mul.wide.u32 %rd2, %r4, 4; add.u64 %rd3, %rd1, %rd2;\n"
    "again:\n"
    "ld.volatile.global.u32 %r5, [%rd3]; add.u32 %r6, %r5, 1; st.volatile.global.u32 [%rd3], %r6;\n"
    "sub.u32 %r0, %r0, 1; setp.ne.u32 %p0, %r0, 0;\n"
    "@%p0 bra again;\n"
    "ret;\n}\n";

/* All threads add to one word, one at a time for the whole machine. */
static const char atomic_ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry add(.param .u64 word, .param .u32 times)\n{\n"
    ".reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %rd<3>;\n"
    "ld.param.u64 %rd0, [word]; ld.param.u32 %r0, [times]; cvta.to.global.u64 %rd1, %rd0;\n"
    "again:\n"
    "atom.global.add.u32 %r1, [%rd1], 1;\n"
    "sub.u32 %r0, %r0, 1; setp.ne.u32 %p0, %r0, 0;\n"
    "@%p0 bra again;\n"
    "ret;\n}\n";

enum { ADD_BLOCKS = 16, ADD_THREADS = 64, ADD_TIMES = 50, ADD_LAUNCHES = 20 };

static bool add_often(CUdeviceptr word)
{
    CUmodule module;
    CUfunction add;
    unsigned times = ADD_TIMES;
    void *params[] = {&word, &times};
    bool good = cuModuleLoadData(&module, atomic_ptx) == CUDA_SUCCESS &&
                cuModuleGetFunction(&add, module, "add") == CUDA_SUCCESS;
    for (int i = 0; i < ADD_LAUNCHES && good; i++)
        good = cuLaunchKernel(add, ADD_BLOCKS, 1, 1, ADD_THREADS, 1, 1, 0, NULL, params, NULL) == CUDA_SUCCESS;
    return good && cuCtxSynchronize() == CUDA_SUCCESS && cuModuleUnload(module) == CUDA_SUCCESS;
}

static void role_add(int socket)
{
    CUipcMemHandle handle;
    CUdeviceptr word = 0;
    role_begin();
    ROLE_NEED(receive_bytes(socket, &handle, sizeof handle) && cuIpcOpenMemHandle(&word, handle, LAZY) == CUDA_SUCCESS);
    ROLE_NEED(give_turn(socket) && take_turn(socket));
    ROLE_NEED(add_often(word));
}

/* Opens what it is sent, answers with the status and the first and last word, adds one to the first, closes, until the
 * other side is done. */
static void role_open(int socket)
{
    struct {
        CUipcMemHandle handle;
        size_t words;
    } order;
    role_begin();
    while (receive_bytes(socket, &order, sizeof order)) {
        unsigned answer[3] = {0};
        CUdeviceptr address;
        answer[0] = (unsigned)cuIpcOpenMemHandle(&address, order.handle, LAZY);
        if (answer[0] == CUDA_SUCCESS) {
            ROLE_NEED(cuMemcpyDtoH(&answer[1], address, 4) == CUDA_SUCCESS);
            ROLE_NEED(cuMemcpyDtoH(&answer[2], address + 4 * (order.words - 1), 4) == CUDA_SUCCESS);
            ROLE_NEED(cuMemsetD32(address, answer[1] + 1, 1) == CUDA_SUCCESS);
            ROLE_NEED(cuIpcCloseMemHandle(address) == CUDA_SUCCESS);
        }
        ROLE_NEED(send_bytes(socket, answer, sizeof answer));
    }
}

/* The same as another user of the machine. */
static void role_stranger(int socket)
{
    role_begin();
    ROLE_NEED(setgid(65534) == 0 && setuid(65534) == 0);
    role_open(socket);
}

/* Exports an allocation and stays until it is told to go. */
static void role_export(int socket)
{
    CUipcMemHandle handle;
    role_begin();
    CUdeviceptr address = 0;
    ROLE_NEED(cuMemAlloc(&address, 4 * 100000) == CUDA_SUCCESS && cuMemsetD32(address, 4711, 100000) == CUDA_SUCCESS &&
              cuCtxSynchronize() == CUDA_SUCCESS);
    ROLE_NEED(cuIpcGetMemHandle(&handle, address) == CUDA_SUCCESS && send_bytes(socket, &handle, sizeof handle));
    take_turn(socket);
}

static const struct role roles[] = {
    {"open", role_open}, {"stranger", role_stranger}, {"export", role_export}, {"add", role_add}, {NULL, NULL}};

/* What the helper says of a handle: its status; the words go to `answer`. */
static CUresult ask(struct helper *helper, const CUipcMemHandle *handle, size_t words, unsigned answer[3])
{
    struct {
        CUipcMemHandle handle;
        size_t words;
    } order = {*handle, words};
    assert_true(send_bytes(helper->socket, &order, sizeof order));
    assert_true(receive_bytes(helper->socket, answer, 3 * sizeof *answer));
    return (CUresult)answer[0];
}

static unsigned word_at(CUdeviceptr address)
{
    unsigned word;
    OK(cuMemcpyDtoH(&word, address, sizeof word));
    return word;
}

/* Sizes from a byte to many megabytes, packed or not; both sides see the same bytes. */
static void test_sizes(void **state)
{
    static const size_t words[] = {1, 1000, 1024, 1025, 100000, 524288, 524289, 5000000};
    unsigned answer[3];
    (void)state;
    struct helper helper = helper_start("open");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        CUipcMemHandle handle;
        CUdeviceptr address = device_bytes(words[i] * 4);
        OK(cuMemsetD32(address, 77 + (unsigned)i, words[i]));
        OK(cuCtxSynchronize());
        OK(cuIpcGetMemHandle(&handle, address));
        FAILS(ask(&helper, &handle, words[i], answer), CUDA_SUCCESS);
        assert_int_equal(answer[1], 77 + i);
        assert_int_equal(answer[2], 77 + i);
        assert_int_equal(word_at(address), 78 + i);
        OK(cuMemFree(address));
        FAILS(ask(&helper, &handle, words[i], answer), CUDA_ERROR_INVALID_VALUE);
    }
    assert_int_equal(helper_end(&helper), 0);
}

/* Kernels of three processes add to one word at the same time. */
static void test_atomics_across(void **state)
{
    CUipcMemHandle handle;
    struct helper helper[2];
    (void)state;
    CUdeviceptr word = device_bytes(4096);
    OK(cuMemsetD32(word, 0, 1024));
    OK(cuCtxSynchronize());
    OK(cuIpcGetMemHandle(&handle, word));
    for (int i = 0; i < 2; i++) {
        helper[i] = helper_start("add");
        assert_true(send_bytes(helper[i].socket, &handle, sizeof handle) && take_turn(helper[i].socket));
    }
    for (int i = 0; i < 2; i++)
        assert_true(give_turn(helper[i].socket));
    assert_true(add_often(word));
    for (int i = 0; i < 2; i++)
        assert_int_equal(helper_end(&helper[i]), 0);
    assert_int_equal(word_at(word), 3 * ADD_BLOCKS * ADD_THREADS * ADD_TIMES * ADD_LAUNCHES);
    OK(cuMemFree(word));
}

/* Kernels write to every page while the memory becomes shared; no write is lost. */
static void test_export_while_kernels_write(void **state)
{
    enum { TIMES = 400, ROUNDS = 3 };
    CUmodule module;
    CUfunction count;
    CUstream stream[2];
    (void)state;
    OK(cuModuleLoadData(&module, count_ptx));
    OK(cuModuleGetFunction(&count, module, "count"));
    unsigned *words = malloc(WORDS * sizeof *words);
    assert_non_null(words);
    for (int i = 0; i < 2; i++)
        OK(cuStreamCreate(&stream[i], CU_STREAM_NON_BLOCKING));
    for (int round = 0; round < ROUNDS; round++) {
        CUipcMemHandle handle;
        unsigned times = TIMES;
        CUdeviceptr address = device_bytes(WORDS * 4);
        OK(cuMemsetD32(address, 0, WORDS));
        OK(cuCtxSynchronize());
        for (unsigned i = 0; i < 2; i++) {
            CUdeviceptr half = address + i * (WORDS / 2) * 4;
            void *params[] = {&half, &times};
            OK(cuLaunchKernel(count, WORDS / 2 / 256, 1, 1, 256, 1, 1, 0, stream[i], params, NULL));
        }
        struct timespec nap = {0, 1000000 * (round + 1)};
        nanosleep(&nap, NULL);
        OK(cuIpcGetMemHandle(&handle, address));
        OK(cuCtxSynchronize());
        OK(cuMemcpyDtoH(words, address, WORDS * sizeof *words));
        for (unsigned i = 0; i < WORDS; i++)
            assert_int_equal(words[i], TIMES);
        OK(cuMemFree(address));
    }
    free(words);
    for (int i = 0; i < 2; i++)
        OK(cuStreamDestroy(stream[i]));
    OK(cuModuleUnload(module));
}

/* Copies on the calling threads write while others export. */
struct writer {
    CUdeviceptr address;
    _Atomic int stop;
    unsigned last;
};

static void *write_often(void *data)
{
    struct writer *writer = data;
    cuCtxSetCurrent(the_context);
    while (!atomic_load(&writer->stop)) {
        writer->last++;
        if (cuMemcpyHtoD(writer->address, &writer->last, sizeof writer->last) != CUDA_SUCCESS)
            return (void *)1;
        unsigned seen = 0;
        if (cuMemcpyDtoH(&seen, writer->address, sizeof seen) != CUDA_SUCCESS || seen != writer->last)
            return (void *)1;
    }
    return NULL;
}

static void test_export_while_threads_copy(void **state)
{
    (void)state;
    for (int round = 0; round < 30; round++) {
        CUipcMemHandle handle;
        struct writer writer[2] = {{.address = device_bytes(3u << 20)}};
        writer[1].address = writer[0].address + (2u << 20);
        pthread_t thread[2];
        for (int i = 0; i < 2; i++)
            assert_int_equal(pthread_create(&thread[i], NULL, write_often, &writer[i]), 0);
        struct timespec nap = {0, 300000};
        nanosleep(&nap, NULL);
        OK(cuIpcGetMemHandle(&handle, writer[0].address));
        for (int i = 0; i < 2; i++) {
            void *result;
            atomic_store(&writer[i].stop, 1);
            assert_int_equal(pthread_join(thread[i], &result), 0);
            assert_null(result);
            assert_int_equal(word_at(writer[i].address), writer[i].last);
        }
        OK(cuMemFree(writer[0].address));
    }
}

/* A handle with any one bit changed, cut, or of noise, is refused. */
static void test_damaged_handles(void **state)
{
    unsigned answer[3], seed = 12345;
    CUipcMemHandle handle, bad;
    (void)state;
    CUdeviceptr address = device_bytes(8192);
    OK(cuIpcGetMemHandle(&handle, address));
    struct helper helper = helper_start("open");
    for (unsigned bit = 0; bit < 8 * sizeof handle; bit++) {
        bad = handle;
        ((unsigned char *)&bad)[bit / 8] ^= (unsigned char)(1u << bit % 8);
        FAILS(ask(&helper, &bad, 1, answer), CUDA_ERROR_INVALID_VALUE);
    }
    for (int i = 0; i < 1000; i++) {
        for (size_t j = 0; j < sizeof bad; j++)
            ((unsigned char *)&bad)[j] = (unsigned char)((seed = seed * 1103515245 + 12345) >> 16);
        FAILS(ask(&helper, &bad, 1, answer), CUDA_ERROR_INVALID_VALUE);
    }
    OK(cuMemsetD32(address, 5, 2048));
    OK(cuCtxSynchronize());
    FAILS(ask(&helper, &handle, 2048, answer), CUDA_SUCCESS);
    assert_int_equal(answer[1], 5);
    assert_int_equal(helper_end(&helper), 0);
    OK(cuMemFree(address));
}

static void test_other_user(void **state)
{
    unsigned answer[3];
    CUipcMemHandle handle;
    (void)state;
    if (geteuid() != 0)
        skip();
    CUdeviceptr address = device_bytes(8192);
    OK(cuIpcGetMemHandle(&handle, address));
    struct helper helper = helper_start("stranger");
    FAILS(ask(&helper, &handle, 1, answer), CUDA_ERROR_MAP_FAILED);
    assert_int_equal(helper_end(&helper), 0);
    OK(cuMemFree(address));
}

/* A forked child has memory of threads that it hasn't got: LeakSanitizer, which asks this, would call it lost. */
static bool in_forked_child;
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return in_forked_child;
}

/* A forked child neither answers for its parent nor takes anything from it. */
static void test_fork(void **state)
{
    unsigned answer[3];
    CUipcMemHandle handle;
    (void)state;
    CUdeviceptr address = device_bytes(8192);
    OK(cuMemsetD32(address, 9, 2048));
    OK(cuCtxSynchronize());
    OK(cuIpcGetMemHandle(&handle, address));
    pid_t child = fork();
    if (child == 0) {
        CUdeviceptr opened;
        in_forked_child = true;
        bool refused = cuIpcOpenMemHandle(&opened, handle, LAZY) == CUDA_ERROR_NOT_INITIALIZED &&
                       cuIpcGetMemHandle(&handle, address) == CUDA_ERROR_NOT_INITIALIZED &&
                       cuMemFree(address) == CUDA_ERROR_NOT_INITIALIZED;
        exit(refused ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    struct helper helper = helper_start("open");
    FAILS(ask(&helper, &handle, 2048, answer), CUDA_SUCCESS);
    assert_int_equal(answer[1], 9);
    assert_int_equal(helper_end(&helper), 0);
    assert_int_equal(word_at(address), 10);
    OK(cuMemFree(address));
}

/* The memory of a process that has gone stays for those who have it open, and is nobody else's any more. */
static void test_exporter_dies(void **state)
{
    (void)state;
    for (int killed = 0; killed < 2; killed++) {
        CUipcMemHandle handle;
        CUdeviceptr address, again;
        struct helper helper = helper_start("export");
        assert_true(receive_bytes(helper.socket, &handle, sizeof handle));
        OK(cuIpcOpenMemHandle(&address, handle, LAZY));
        if (killed)
            kill(helper.pid, SIGKILL);
        helper_end(&helper);
        assert_int_equal(word_at(address + 4 * 99999), 4711);
        OK(cuMemsetD32(address, 4712, 100000));
        assert_int_equal(word_at(address), 4712);
        OK(cuIpcOpenMemHandle(&again, handle, LAZY));   /* it is open: no need to ask anybody */
        assert_int_equal(again, address);
        OK(cuIpcCloseMemHandle(address));
        OK(cuIpcCloseMemHandle(address));
        FAILS(cuIpcOpenMemHandle(&address, handle, LAZY), CUDA_ERROR_INVALID_HANDLE);
        FAILS(cuIpcCloseMemHandle(address), CUDA_ERROR_INVALID_VALUE);
    }
}

/* Descriptors, files and address space after many rounds are what they were. */
static void test_nothing_left(void **state)
{
    unsigned answer[3];
    size_t free_before, free_after, total;
    (void)state;
    struct helper helper = helper_start("open");
    struct helper exporter = helper_start("export");
    CUipcMemHandle theirs;
    assert_true(receive_bytes(exporter.socket, &theirs, sizeof theirs));
    unsigned descriptors = 0;
    OK(cuMemGetInfo(&free_before, &total));
    for (int round = 0; round < 200; round++) {
        CUipcMemHandle handle;
        CUdeviceptr opened, address = device_bytes(100000 + 5000 * (size_t)round);
        OK(cuIpcGetMemHandle(&handle, address));
        if (round % 20 == 0)
            FAILS(ask(&helper, &handle, 1, answer), CUDA_SUCCESS);
        OK(cuIpcOpenMemHandle(&opened, theirs, LAZY));
        assert_int_equal(word_at(opened), 4711);
        OK(cuIpcCloseMemHandle(opened));
        OK(cuMemFree(address));
        if (round == 0)
            descriptors = count_descriptors();
    }
    OK(cuMemGetInfo(&free_after, &total));
    assert_int_equal(count_descriptors(), descriptors);
    assert_int_equal(count_shared_files(), 0);
    assert_int_equal(free_before, free_after);
    assert_int_equal(helper_end(&helper), 0);
    assert_int_equal(helper_end(&exporter), 0);
}

int main(int argc, char **argv)
{
    role_run(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_atomics_across),
        cmocka_unit_test(test_export_while_kernels_write),
        cmocka_unit_test(test_export_while_threads_copy),
        cmocka_unit_test(test_damaged_handles),
        cmocka_unit_test(test_other_user),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_exporter_dies),
        cmocka_unit_test(test_nothing_left),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
