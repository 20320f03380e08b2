/* SPDX-License-Identifier: Apache-2.0 */
/* The PTX Compiler API as a program uses it. What is expected of statuses, sizes and pointers is what NVIDIA's library
 * of CUDA 13.5 gave for the same calls; messages are Millrace's own. */
#include <cuda.h>
#include <nvPTXCompiler.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"
static const char good[] = HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [p];\n"
                                "cvta.to.global.u64 %rd2, %rd1;\nst.global.u32 [%rd2], 7;\nret;\n}\n";
static const char wrong[] = HEAD ".visible .entry k(.param .u64 p)\n{\nld.param.u64 %rd1, [p];\nret;\n}\n";
static const char unresolved[] = HEAD ".extern .func f();\n.visible .entry k()\n{\ncall.uni f;\nret;\n}\n";
static const char newer_ptx[] = ".version 99.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n";
static const char newer_chip[] = ".version 8.8\n.target sm_120\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n";

static nvPTXCompilerHandle make(const char *ptx)
{
    nvPTXCompilerHandle compiler = NULL;
    assert_int_equal(nvPTXCompilerCreate(&compiler, strlen(ptx), ptx), NVPTXCOMPILE_SUCCESS);
    assert_non_null(compiler);
    return compiler;
}

static void destroy(nvPTXCompilerHandle compiler)
{
    assert_int_equal(nvPTXCompilerDestroy(&compiler), NVPTXCOMPILE_SUCCESS);
    assert_null(compiler);
}

/* Compiles with the options, NULL-terminated. */
static nvPTXCompileResult compile(nvPTXCompilerHandle compiler, const char *const *options)
{
    int count = 0;
    while (options[count])
        count++;
    return nvPTXCompilerCompile(compiler, count, options);
}
#define COMPILE(compiler, ...) compile(compiler, (const char *const[]){__VA_ARGS__, NULL})

static char *log_of(nvPTXCompilerHandle compiler, nvPTXCompileResult size_of(nvPTXCompilerHandle, size_t *),
                    nvPTXCompileResult read(nvPTXCompilerHandle, char *))
{
    size_t size = 999;
    assert_int_equal(size_of(compiler, &size), NVPTXCOMPILE_SUCCESS);
    char *log = calloc(1, size + 1);
    assert_int_equal(read(compiler, log), NVPTXCOMPILE_SUCCESS);
    assert_int_equal(size, *log ? strlen(log) + 1 : 0);
    return log;
}

static void assert_log(nvPTXCompilerHandle compiler, const char *part)
{
    char *log = log_of(compiler, nvPTXCompilerGetErrorLogSize, nvPTXCompilerGetErrorLog);
    if (part ? !strstr(log, part) : *log != '\0')
        fail_msg("the error log is: %s", log);
    free(log);
}

static void assert_no_program(nvPTXCompilerHandle compiler)
{
    size_t size = 999;
    char byte;
    assert_int_equal(nvPTXCompilerGetCompiledProgramSize(compiler, &size),
                     NVPTXCOMPILE_ERROR_COMPILER_INVOCATION_INCOMPLETE);
    assert_int_equal(size, 999);
    assert_int_equal(nvPTXCompilerGetCompiledProgram(compiler, &byte),
                     NVPTXCOMPILE_ERROR_COMPILER_INVOCATION_INCOMPLETE);
}

/* What the kernel of the compiled program stores. */
static unsigned run(nvPTXCompilerHandle compiler)
{
    CUmodule module;
    CUfunction function;
    CUdeviceptr pointer;
    unsigned value = 0;
    size_t size = 0;
    assert_int_equal(nvPTXCompilerGetCompiledProgramSize(compiler, &size), NVPTXCOMPILE_SUCCESS);
    void *program = malloc(size); /* of just that size: a sanitizer sees what reads beyond it */
    assert_int_equal(nvPTXCompilerGetCompiledProgram(compiler, program), NVPTXCOMPILE_SUCCESS);
    assert_int_equal(cuModuleLoadData(&module, program), CUDA_SUCCESS);
    free(program);
    assert_int_equal(cuModuleGetFunction(&function, module, "k"), CUDA_SUCCESS);
    assert_int_equal(cuMemAlloc(&pointer, sizeof value), CUDA_SUCCESS);
    assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&pointer}, NULL), CUDA_SUCCESS);
    assert_int_equal(cuMemcpyDtoH(&value, pointer, sizeof value), CUDA_SUCCESS);
    assert_int_equal(cuMemFree(pointer), CUDA_SUCCESS);
    assert_int_equal(cuModuleUnload(module), CUDA_SUCCESS);
    return value;
}

static void test_versions(void **state)
{
    (void)state;
    unsigned major = 0, minor = 99;
    int count = 0, pairs[100][2], chips[100];
    assert_int_equal(nvPTXCompilerGetVersion(&major, &minor), NVPTXCOMPILE_SUCCESS);
    assert_int_equal(major, 13);
    assert_int_equal(minor, 0);
    assert_int_equal(nvPTXCompilerGetNumSupportedVersions(&count), NVPTXCOMPILE_SUCCESS);
    assert_int_equal(count, 49);
    assert_int_equal(nvPTXCompilerGetSupportedVersions(pairs), NVPTXCOMPILE_SUCCESS);
    assert_int_equal(pairs[0][0] * 10 + pairs[0][1], 10);
    assert_int_equal(pairs[18][0] * 10 + pairs[18][1], 51);
    assert_int_equal(pairs[48][0] * 10 + pairs[48][1], 95);
    assert_int_equal(nvPTXCompilerGetNumSupportedArchs(&count), NVPTXCOMPILE_SUCCESS);
    assert_in_range(count, 13, 100);
    assert_int_equal(nvPTXCompilerGetSupportedArchs(chips), NVPTXCOMPILE_SUCCESS);
    for (int i = 1; i < count; i++)
        assert_true(chips[i - 1] < chips[i]);
    assert_int_equal(chips[0], 50);
    assert_int_equal(nvPTXCompilerGetVersion(NULL, &minor), NVPTXCOMPILE_ERROR_INVALID_INPUT);
    assert_int_equal(nvPTXCompilerGetNumSupportedVersions(NULL), NVPTXCOMPILE_ERROR_INVALID_INPUT);
    assert_int_equal(nvPTXCompilerGetSupportedVersions(NULL), NVPTXCOMPILE_ERROR_INVALID_INPUT);
    assert_int_equal(nvPTXCompilerGetNumSupportedArchs(NULL), NVPTXCOMPILE_ERROR_INVALID_INPUT);
    assert_int_equal(nvPTXCompilerGetSupportedArchs(NULL), NVPTXCOMPILE_ERROR_INVALID_INPUT);
}

static void test_handles(void **state)
{
    (void)state;
    nvPTXCompilerHandle compiler = (nvPTXCompilerHandle)1;
    size_t size;
    assert_int_equal(nvPTXCompilerCreate(&compiler, 0, ""), NVPTXCOMPILE_ERROR_INVALID_INPUT);
    assert_int_equal(nvPTXCompilerCreate(&compiler, 5, NULL), NVPTXCOMPILE_ERROR_INVALID_INPUT);
    assert_ptr_equal(compiler, (nvPTXCompilerHandle)1);
    compiler = NULL;
    assert_int_equal(nvPTXCompilerDestroy(&compiler), NVPTXCOMPILE_ERROR_INVALID_COMPILER_HANDLE);
    assert_int_equal(nvPTXCompilerCompile(NULL, 0, NULL), NVPTXCOMPILE_ERROR_INVALID_COMPILER_HANDLE);
    assert_int_equal(nvPTXCompilerGetErrorLogSize(NULL, &size), NVPTXCOMPILE_ERROR_INVALID_COMPILER_HANDLE);
    assert_int_equal(nvPTXCompilerGetInfoLogSize(NULL, &size), NVPTXCOMPILE_ERROR_INVALID_COMPILER_HANDLE);
    assert_int_equal(nvPTXCompilerGetCompiledProgramSize(NULL, &size), NVPTXCOMPILE_ERROR_INVALID_COMPILER_HANDLE);
    compiler = make(good);
    assert_log(compiler, NULL);
    assert_no_program(compiler);
    assert_int_equal(nvPTXCompilerCompile(compiler, 1, NULL), NVPTXCOMPILE_ERROR_INVALID_INPUT);
    assert_int_equal(nvPTXCompilerGetErrorLogSize(compiler, NULL), NVPTXCOMPILE_ERROR_INVALID_INPUT);
    destroy(compiler);
}

static void test_options_that_are_taken(void **state)
{
    (void)state;
    static const char *const words[] = {"-O0",
                                        "-O3",
                                        "-O9",
                                        "--opt-level=2",
                                        "-maxrregcount=32",
                                        "-g",
                                        "-lineinfo",
                                        "--generate-line-info",
                                        "-c",
                                        "--compile-only",
                                        "--warn-on-spills",
                                        "-warn-spills",
                                        "-Werror",
                                        "--warning-as-error",
                                        "-w",
                                        "-m64",
                                        "--machine=64",
                                        "--def-load-cache=ca",
                                        "--entry=k",
                                        "--position-independent-code=true",
                                        "--split-compile=2",
                                        "--fmad=false",
                                        "--suppress-stack-size-warning",
                                        "-arch=sm_90",
                                        "--output-file=x"};
    nvPTXCompilerHandle compiler = make(good);
    assert_int_equal(nvPTXCompilerCompile(compiler, 0, NULL), NVPTXCOMPILE_SUCCESS);
    assert_int_equal(run(compiler), 7);
    assert_int_equal(COMPILE(compiler, "--gpu-name", "sm_80"), NVPTXCOMPILE_SUCCESS);
    assert_int_equal(COMPILE(compiler, "-arch=sm_90a"), NVPTXCOMPILE_SUCCESS);
    assert_int_equal(COMPILE(compiler, "-arch=sm_100f"), NVPTXCOMPILE_SUCCESS);
    assert_int_equal(COMPILE(compiler, "-arch=sm_80", "-e", "k"), NVPTXCOMPILE_SUCCESS);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (COMPILE(compiler, "-arch=sm_80", words[i]) != NVPTXCOMPILE_SUCCESS)
            fail_msg("%s", words[i]);
        assert_log(compiler, NULL);
    }
    assert_int_equal(run(compiler), 7);
    destroy(compiler);
}

static void test_what_kernels_use(void **state)
{
    (void)state;
    nvPTXCompilerHandle compiler = make(good);
    assert_int_equal(COMPILE(compiler, "-arch=sm_80", "--verbose"), NVPTXCOMPILE_SUCCESS);
    char *log = log_of(compiler, nvPTXCompilerGetInfoLogSize, nvPTXCompilerGetInfoLog);
    assert_non_null(strstr(log, "ptxas info    : Compiling entry function 'k' for"));
    assert_non_null(strstr(log, "ptxas info    : Used"));
    free(log);
    assert_int_equal(COMPILE(compiler, "-arch=sm_80"), NVPTXCOMPILE_SUCCESS);
    log = log_of(compiler, nvPTXCompilerGetInfoLogSize, nvPTXCompilerGetInfoLog);
    assert_string_equal(log, ""); /* the first compilation's is gone */
    free(log);
    destroy(compiler);
}

static void test_failures(void **state)
{
    (void)state;
    static const struct {
        const char *ptx, *option;
        nvPTXCompileResult status;
        const char *log;
    } cases[] = {
        {good, "--nonsense", NVPTXCOMPILE_ERROR_COMPILATION_FAILURE, "unknown option --nonsense"},
        {good, "-arch sm_80", NVPTXCOMPILE_ERROR_COMPILATION_FAILURE, "unknown option -arch sm_80"},
        {good, "-arch=nonsense", NVPTXCOMPILE_ERROR_COMPILATION_FAILURE, "no such GPU: nonsense"},
        {good, "-arch=sm_12", NVPTXCOMPILE_ERROR_COMPILATION_FAILURE, "sm_12"},
        {good, "--entry=none", NVPTXCOMPILE_ERROR_COMPILATION_FAILURE, "Unknown function none"},
        {good, "--return-at-end=true", NVPTXCOMPILE_ERROR_COMPILATION_FAILURE, "no value"},
        {good, "--version", NVPTXCOMPILE_ERROR_COMPILATION_FAILURE, "--version"},
        {good, "word", NVPTXCOMPILE_ERROR_COMPILATION_FAILURE, "no option"},
        {good, "-arch=compute_80", NVPTXCOMPILE_PARSE_ONLY_SUCCESS, NULL},
        {wrong, "-arch=sm_80", NVPTXCOMPILE_ERROR_COMPILATION_FAILURE, "line 6"},
        {unresolved, "-arch=sm_80", NVPTXCOMPILE_ERROR_COMPILATION_FAILURE, "'f'"},
        {newer_ptx, "-arch=sm_80", NVPTXCOMPILE_ERROR_UNSUPPORTED_PTX_VERSION, "99.0"},
        {newer_chip, "-arch=sm_80", NVPTXCOMPILE_ERROR_COMPILATION_FAILURE, "sm_120"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nvPTXCompilerHandle compiler = make(cases[i].ptx);
        assert_int_equal(COMPILE(compiler, cases[i].option), cases[i].status);
        assert_log(compiler, cases[i].log);
        assert_no_program(compiler);
        destroy(compiler);
    }
    nvPTXCompilerHandle compiler = make(unresolved);
    assert_int_equal(COMPILE(compiler, "-arch=sm_80", "-c"), NVPTXCOMPILE_SUCCESS);
    destroy(compiler);
}

/* A length that counts the NUL, and one that ends before the text does. */
static void test_lengths(void **state)
{
    (void)state;
    nvPTXCompilerHandle compiler;
    assert_int_equal(nvPTXCompilerCreate(&compiler, sizeof good, good), NVPTXCOMPILE_SUCCESS);
    assert_int_equal(COMPILE(compiler, "-arch=sm_80"), NVPTXCOMPILE_SUCCESS);
    assert_int_equal(run(compiler), 7);
    destroy(compiler);
    assert_int_equal(nvPTXCompilerCreate(&compiler, strlen(good) - 20, good), NVPTXCOMPILE_SUCCESS);
    assert_int_equal(COMPILE(compiler, "-arch=sm_80"), NVPTXCOMPILE_ERROR_COMPILATION_FAILURE);
    assert_log(compiler, "line 9");
    destroy(compiler);
}

static int count_calls(void *payload, void *unused)
{
    assert_null(unused);
    ++*(int *)payload;
    return 0;
}

static int cancel(void *payload, void *unused)
{
    (void)payload, (void)unused;
    return 1;
}

static void test_callback(void **state)
{
    (void)state;
    int calls = 0;
    nvPTXCompilerHandle compiler = make(good);
    assert_int_equal(nvPTXCompilerSetFlowCallback(compiler, NULL, NULL), NVPTXCOMPILE_ERROR_INVALID_INPUT);
    assert_int_equal(nvPTXCompilerSetFlowCallback(NULL, cancel, NULL), NVPTXCOMPILE_ERROR_INVALID_COMPILER_HANDLE);
    assert_int_equal(nvPTXCompilerSetFlowCallback(compiler, count_calls, &calls), NVPTXCOMPILE_SUCCESS);
    assert_int_equal(COMPILE(compiler, "-arch=sm_80"), NVPTXCOMPILE_SUCCESS);
    assert_true(calls > 0);
    assert_int_equal(nvPTXCompilerSetFlowCallback(compiler, cancel, NULL), NVPTXCOMPILE_SUCCESS);
    assert_int_equal(COMPILE(compiler, "-arch=sm_80"), NVPTXCOMPILE_ERROR_CANCELLED);
    assert_log(compiler, NULL);
    assert_no_program(compiler);
    destroy(compiler);
}

static void *compile_often(void *failed)
{
    for (int i = 0; i < 20; i++) {
        nvPTXCompilerHandle compiler;
        size_t size = 0;
        bool right = nvPTXCompilerCreate(&compiler, strlen(good), good) == NVPTXCOMPILE_SUCCESS &&
                     COMPILE(compiler, i % 2 ? "-arch=sm_80" : "--nonsense") ==
                         (i % 2 ? NVPTXCOMPILE_SUCCESS : NVPTXCOMPILE_ERROR_COMPILATION_FAILURE) &&
                     nvPTXCompilerGetErrorLogSize(compiler, &size) == NVPTXCOMPILE_SUCCESS &&
                     (size > 0) == (i % 2 == 0);
        nvPTXCompilerDestroy(&compiler);
        if (!right)
            *(bool *)failed = true;
    }
    return NULL;
}

/* Compilers of several threads don't meet. */
static void test_threads(void **state)
{
    (void)state;
    pthread_t threads[4];
    bool failed[4] = {false};
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, compile_often, &failed[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_false(failed[i]);
    }
}

static int begin(void **state)
{
    (void)state;
    CUdevice device;
    CUcontext context;
    return cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
           cuCtxSetCurrent(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_handles),
        cmocka_unit_test(test_options_that_are_taken),
        cmocka_unit_test(test_what_kernels_use),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_callback),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
