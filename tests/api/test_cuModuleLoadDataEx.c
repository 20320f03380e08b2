/* SPDX-License-Identifier: Apache-2.0 */
/* The just-in-time compiler's options: logs, sizes that are written back, what is accepted and what is not. */
#include "api_support.h"

#define BROKEN PTX_HEAD ".visible .entry broken()\n{\n    frobnicate.u32 %r1;\n    ret;\n}\n"

static void logs_end_and_sizes_come_back(void **state)
{
    char info[256], error[1024];
    CUjit_option names[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER,
                            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {info, (void *)sizeof info, error, (void *)sizeof error};
    CUmodule module;
    (void)state;
    memset(info, 'x', sizeof info);
    memset(error, 'x', sizeof error);
    OK(cuModuleLoadDataEx(&module, PTX_HEAD PTX_EMPTY, 4, names, values));
    assert_non_null(memchr(info, 0, sizeof info));
    assert_non_null(memchr(error, 0, sizeof error));
    assert_true((uintptr_t)values[1] == strlen(info) || (uintptr_t)values[1] == strlen(info) + 1);
    OK(cuModuleUnload(module));

    values[1] = (void *)sizeof info;
    values[3] = (void *)sizeof error;
    FAILS(cuModuleLoadDataEx(&module, BROKEN, 4, names, values), CUDA_ERROR_INVALID_PTX);
    assert_non_null(strstr(error, "6")); /* the line */
    assert_non_null(strstr(error, "frobnicate"));
    assert_true((uintptr_t)values[3] == strlen(error) || (uintptr_t)values[3] == strlen(error) + 1);
}

static void every_size_of_log_is_respected(void **state)
{
    char log[64];
    CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER};
    CUmodule module;
    (void)state;
    for (size_t room = 0; room < 40; room++) {
        void *values[] = {(void *)room, log};
        memset(log, 'x', sizeof log);
        FAILS(cuModuleLoadDataEx(&module, BROKEN, 2, names, values), CUDA_ERROR_INVALID_PTX);
        for (size_t i = room; i < sizeof log; i++)
            assert_int_equal(log[i], 'x');
        if (room)
            assert_non_null(memchr(log, 0, room));
    }
}

static void a_size_without_a_buffer_is_harmless(void **state)
{
    CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {(void *)100, (void *)100};
    CUmodule module;
    (void)state;
    FAILS(cuModuleLoadDataEx(&module, BROKEN, 2, names, values), CUDA_ERROR_INVALID_PTX);
}

static void hints_are_accepted(void **state)
{
    static const struct {
        CUjit_option name;
        uintptr_t value;
    } rows[] = {
        {CU_JIT_MAX_REGISTERS, 32},
        {CU_JIT_THREADS_PER_BLOCK, 128},
        {CU_JIT_OPTIMIZATION_LEVEL, 2},
        {CU_JIT_OPTIMIZATION_LEVEL, 9},
        {CU_JIT_TARGET_FROM_CUCONTEXT, 0},
        {CU_JIT_TARGET, CU_TARGET_COMPUTE_80},
        {CU_JIT_FALLBACK_STRATEGY, 0},
        {CU_JIT_GENERATE_DEBUG_INFO, 1},
        {CU_JIT_LOG_VERBOSE, 1},
        {CU_JIT_GENERATE_LINE_INFO, 1},
        {CU_JIT_CACHE_MODE, 1},
        {CU_JIT_FAST_COMPILE, 1},
        {CU_JIT_MIN_CTA_PER_SM, 2},
        {CU_JIT_SPLIT_COMPILE, 0},
    };
    CUmodule module;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CUjit_option name = rows[i].name;
        void *value = (void *)rows[i].value;
        OK(cuModuleLoadDataEx(&module, PTX_HEAD PTX_EMPTY, 1, &name, &value));
        OK(cuModuleUnload(module));
    }
}

static void the_wall_time_is_a_float(void **state)
{
    CUjit_option name = CU_JIT_WALL_TIME;
    void *value = NULL;
    CUmodule module;
    float milliseconds;
    (void)state;
    OK(cuModuleLoadDataEx(&module, PTX_HEAD PTX_EMPTY, 1, &name, &value));
    memcpy(&milliseconds, &value, sizeof milliseconds);
    assert_true(milliseconds > 0 && milliseconds < 1e6f);
    OK(cuModuleUnload(module));
}

static void wrong_options(void **state)
{
    CUjit_option unknown = (CUjit_option)999, level = CU_JIT_OPTIMIZATION_LEVEL, strategy = CU_JIT_FALLBACK_STRATEGY,
                 names = CU_JIT_GLOBAL_SYMBOL_NAMES;
    void *value = (void *)77;
    CUmodule module;
    (void)state;
    FAILS(cuModuleLoadDataEx(&module, PTX_HEAD PTX_EMPTY, 1, &unknown, &value), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuModuleLoadDataEx(&module, PTX_HEAD PTX_EMPTY, 1, &strategy, &value), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuModuleLoadDataEx(&module, PTX_HEAD PTX_EMPTY, 1, &names, &value), CUDA_ERROR_NOT_SUPPORTED);
    FAILS(cuModuleLoadDataEx(&module, PTX_HEAD PTX_EMPTY, 1, NULL, &value), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuModuleLoadDataEx(&module, PTX_HEAD PTX_EMPTY, 1, &level, NULL), CUDA_ERROR_INVALID_VALUE);
}

/* As an H100 answers: a module for debugging takes no level but 0. */
static void levels_of_debugging(void **state)
{
    static const char text[] =
        ".version 7.0\n.target sm_75, debug\n.address_size 64\n.visible .entry k()\n{\n ret;\n}\n";
    char error[300] = "";
    CUjit_option names[] = {CU_JIT_OPTIMIZATION_LEVEL, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    CUmodule module;
    (void)state;
    OK(cuModuleLoadData(&module, text));
    OK(cuModuleUnload(module));
    for (uintptr_t level = 0; level <= 4; level++) {
        void *values[] = {(void *)level, error, (void *)sizeof error};
        if (level == 0) {
            OK(cuModuleLoadDataEx(&module, text, 3, names, values));
            OK(cuModuleUnload(module));
            assert_string_equal(error, "");
        } else {
            FAILS(cuModuleLoadDataEx(&module, text, 3, names, values), CUDA_ERROR_INVALID_PTX);
            assert_non_null(strstr(error, "debugging is not supported"));
        }
    }
}

/* The device is 8.0: code for chips of its major capability that are not above it runs there. The refusal is what an
 * H200 answers. */
static void targets(void **state)
{
    static const struct {
        unsigned target;
        CUresult status;
    } rows[] = {
        {CU_TARGET_COMPUTE_80, CUDA_SUCCESS},
        {CU_TARGET_COMPUTE_75, CUDA_ERROR_INVALID_SOURCE},
        {CU_TARGET_COMPUTE_86, CUDA_ERROR_INVALID_SOURCE},
        {CU_TARGET_COMPUTE_90, CUDA_ERROR_INVALID_SOURCE},
        {CU_TARGET_COMPUTE_90A, CUDA_ERROR_INVALID_SOURCE},
        {CU_TARGET_COMPUTE_120, CUDA_ERROR_INVALID_SOURCE},
        {CU_TARGET_COMPUTE_100F, CUDA_ERROR_INVALID_SOURCE},
        {0, CUDA_ERROR_INVALID_VALUE},
        {81, CUDA_ERROR_INVALID_VALUE},
        {0x10050, CUDA_ERROR_INVALID_VALUE},
    };
    char info[64] = "old", error[64] = "old";
    CUjit_option names[] = {CU_JIT_TARGET, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    CUmodule module;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        void *values[] = {(void *)(uintptr_t)rows[i].target, info, (void *)sizeof info, error, (void *)sizeof error};
        FAILS(cuModuleLoadDataEx(&module, PTX_HEAD PTX_EMPTY, 5, names, values), rows[i].status);
        if (rows[i].status == CUDA_SUCCESS)
            OK(cuModuleUnload(module));
        if (rows[i].status == CUDA_ERROR_INVALID_SOURCE)
            assert_true(info[0] == 0 && error[0] != 0 && (uintptr_t)values[4] > 0);
    }
    /* A link may be for another chip. */
    CUlinkState link;
    void *value = (void *)CU_TARGET_COMPUTE_90;
    OK(cuLinkCreate(1, names, &value, &link));
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)(PTX_HEAD PTX_EMPTY), sizeof PTX_HEAD PTX_EMPTY, "one", 0, NULL,
                     NULL));
    OK(cuLinkDestroy(link));
}

/* What the verbose log says of a kernel is what its attributes say, in the words of ptxas -v: programs look for them.
 */
static void the_verbose_log_tells_what_kernels_use(void **state)
{
    static const char text[] = PTX_HEAD
        ".global .align 4 .b8 room[12];\n.const .align 4 .b8 numbers[20];\n" PTX_STORE PTX_BOUNDED
        ".visible .entry local()\n{\n    .local .align 4 .b8 stack[48];\n    .reg .b32 %r<2>;\n    mov.u32 %r1, 1;\n    st.local.u32 [stack], %r1;\n    ret;\n}\n";
    static const char *const names[] = {"store", "bounded", "exactly", "local"};
    char log[4096], all[4096];
    CUjit_option options[] = {CU_JIT_LOG_VERBOSE, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {(void *)1, log, (void *)sizeof log};
    CUmodule module;
    CUfunction function;
    (void)state;
    OK(cuModuleLoadDataEx(&module, text, 3, options, values));
    assert_non_null(strstr(log, "ptxas info    : 12 bytes gmem, 20 bytes cmem[3]\n"));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int registers, shared, local;
        char head[128], line[128], more[64] = "";
        function = NULL;
        OK(cuModuleGetFunction(&function, module, names[i]));
        OK(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
        OK(cuFuncGetAttribute(&shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function));
        OK(cuFuncGetAttribute(&local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function));
        assert_int_equal(shared, strcmp(names[i], "bounded") == 0 ? 1024 : 0);
        assert_true(strcmp(names[i], "local") == 0 ? local >= 48 : local == 0);
        snprintf(
            head, sizeof head,
            "ptxas info    : Function properties for %s\n    %d bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n",
            names[i], local);
        if (shared)
            snprintf(more, sizeof more, ", %d bytes smem", shared);
        if (local)
            snprintf(more, sizeof more, ", %d bytes cumulative stack size", local);
        snprintf(line, sizeof line, "ptxas info    : Used %d registers, used 0 barriers%s%s\n", registers, more,
                 i == 0   ? ", 12 bytes cmem[0]"
                 : i == 1 ? ", 8 bytes cmem[0]"
                          : "");
        snprintf(all, sizeof all, "ptxas info    : Compiling entry function '%s' for 'sm_80'\n%s%s", names[i], head,
                 line);
        assert_non_null(strstr(log, all));
    }
    assert_int_equal((uintptr_t)values[2], strlen(log) + 1);
    OK(cuModuleUnload(module));
    /* Without the option there is nothing to say. */
    values[0] = (void *)0;
    values[2] = (void *)sizeof log;
    OK(cuModuleLoadDataEx(&module, text, 3, options, values));
    assert_string_equal(log, "");
    OK(cuModuleUnload(module));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_CONTEXT(logs_end_and_sizes_come_back),
        TEST_IN_CONTEXT(every_size_of_log_is_respected),
        TEST_IN_CONTEXT(a_size_without_a_buffer_is_harmless),
        TEST_IN_CONTEXT(hints_are_accepted),
        TEST_IN_CONTEXT(the_wall_time_is_a_float),
        TEST_IN_CONTEXT(wrong_options),
        TEST_IN_CONTEXT(levels_of_debugging),
        TEST_IN_CONTEXT(targets),
        TEST_IN_CONTEXT(the_verbose_log_tells_what_kernels_use),
    };
    return cmocka_run_group_tests_name("cuModuleLoadDataEx", tests, NULL, NULL);
}
