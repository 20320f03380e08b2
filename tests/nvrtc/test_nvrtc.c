/* SPDX-License-Identifier: Apache-2.0 */
/* libnvrtc from outside: statuses, logs, names, headers, hostile options, threads, and kernels that run. The statuses
 * are those that NVIDIA's library gave to the same calls. Kernels that run need the compiler; without clang-19 the
 * tests that compile are skipped. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include <cuda.h>
#include <nvrtc.h>

static const char good_source[] =
    "template <class T> __global__ void fill(T *p, T value) { p[threadIdx.x] = value + T(threadIdx.x); }\n"
    "namespace deep { __device__ int variable = 7; __constant__ float table[4]; __global__ void empty(int) {} }\n"
    "extern \"C\" __global__ void plain(int *p) { *p = deep::variable; }\n";

static bool have_compiler(void)
{
    const char *named = getenv("MILLRACE_CC");
    return (named && *named) || access("/usr/bin/clang-19", X_OK) == 0;
}

static int begin(void **state)
{
    (void)state;
    if (!have_compiler())
        skip();
    return 0;
}

static nvrtcProgram program_of(const char *source, const char *name)
{
    nvrtcProgram program = NULL;
    assert_int_equal(nvrtcCreateProgram(&program, source, name, 0, NULL, NULL), NVRTC_SUCCESS);
    return program;
}

static char *log_of(nvrtcProgram program)
{
    size_t size = 0;
    assert_int_equal(nvrtcGetProgramLogSize(program, &size), NVRTC_SUCCESS);
    char *log = malloc(size);
    assert_int_equal(nvrtcGetProgramLog(program, log), NVRTC_SUCCESS);
    assert_int_equal(strlen(log) + 1, size);
    return log;
}

static char *ptx_of(nvrtcProgram program)
{
    size_t size = 0;
    assert_int_equal(nvrtcGetPTXSize(program, &size), NVRTC_SUCCESS);
    char *ptx = malloc(size);
    assert_int_equal(nvrtcGetPTX(program, ptx), NVRTC_SUCCESS);
    return ptx;
}

static void log_has(nvrtcProgram program, const char *text)
{
    char *log = log_of(program);
    if (!strstr(log, text))
        fail_msg("'%s' is not in the log: %s", text, log);
    free(log);
}

/* Statuses. */

static void bad_arguments(void **state)
{
    (void)state;
    nvrtcProgram program = NULL;
    const char *word = "-w";
    size_t size;
    int number;
    char byte;
    assert_int_equal(nvrtcCreateProgram(NULL, "", NULL, 0, NULL, NULL), NVRTC_ERROR_INVALID_PROGRAM);
    assert_int_equal(nvrtcCreateProgram(&program, NULL, NULL, 0, NULL, NULL), NVRTC_ERROR_INVALID_INPUT);
    assert_int_equal(nvrtcCreateProgram(&program, "", NULL, -1, NULL, NULL), NVRTC_ERROR_INVALID_INPUT);
    assert_int_equal(nvrtcCreateProgram(&program, "", NULL, 1, NULL, &word), NVRTC_ERROR_INVALID_INPUT);
    assert_int_equal(nvrtcDestroyProgram(NULL), NVRTC_ERROR_INVALID_PROGRAM);
    assert_int_equal(nvrtcDestroyProgram(&program), NVRTC_ERROR_INVALID_PROGRAM);
    assert_int_equal(nvrtcCompileProgram(NULL, 0, NULL), NVRTC_ERROR_INVALID_PROGRAM);
    assert_int_equal(nvrtcGetPTXSize(NULL, &size), NVRTC_ERROR_INVALID_PROGRAM);
    assert_int_equal(nvrtcGetCUBIN(NULL, &byte), NVRTC_ERROR_INVALID_PROGRAM);
    assert_int_equal(nvrtcVersion(NULL, &number), NVRTC_ERROR_INVALID_INPUT);
    assert_int_equal(nvrtcGetNumSupportedArchs(NULL), NVRTC_ERROR_INVALID_INPUT);
    assert_int_equal(nvrtcGetSupportedArchs(NULL), NVRTC_ERROR_INVALID_INPUT);
    program = program_of(good_source, NULL);
    assert_int_equal(nvrtcCompileProgram(program, -1, NULL), NVRTC_ERROR_INVALID_INPUT);
    assert_int_equal(nvrtcCompileProgram(program, 1, NULL), NVRTC_ERROR_INVALID_OPTION);
    assert_int_equal(nvrtcGetPTXSize(program, NULL), NVRTC_ERROR_INVALID_INPUT);
    assert_int_equal(nvrtcGetPTX(program, NULL), NVRTC_ERROR_INVALID_INPUT);
    assert_int_equal(nvrtcGetProgramLog(program, NULL), NVRTC_ERROR_INVALID_INPUT);
    assert_int_equal(nvrtcAddNameExpression(program, NULL), NVRTC_ERROR_INVALID_INPUT);
    assert_int_equal(nvrtcSetFlowCallback(program, NULL, NULL), NVRTC_ERROR_INVALID_INPUT);
    assert_int_equal(nvrtcGetPCHCreateStatus(program), NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED);
    assert_int_equal(nvrtcDestroyProgram(&program), NVRTC_SUCCESS);
    assert_null(program);
}

static void facts(void **state)
{
    (void)state;
    int major = 0, minor = -1, count = 0, list[64] = {0};
    assert_int_equal(nvrtcVersion(&major, &minor), NVRTC_SUCCESS);
    assert_int_equal(major, NVRTC_MAJOR);
    assert_int_equal(nvrtcGetNumSupportedArchs(&count), NVRTC_SUCCESS);
    assert_in_range(count, 1, 64);
    assert_int_equal(nvrtcGetSupportedArchs(list), NVRTC_SUCCESS);
    for (int i = 1; i < count; i++)
        assert_true(list[i - 1] < list[i]);
    assert_string_equal(nvrtcGetErrorString(NVRTC_ERROR_COMPILATION), "NVRTC_ERROR_COMPILATION");
    assert_string_equal(nvrtcGetErrorString(NVRTC_ERROR_CANCELLED), "NVRTC_ERROR_CANCELLED");
    assert_string_equal(nvrtcGetErrorString((nvrtcResult)99), "NVRTC_ERROR unknown");
}

static void before_and_after(void **state)
{
    (void)state;
    nvrtcProgram program = program_of(good_source, "good.cu");
    const char *lowered = NULL;
    size_t size = 77;
    assert_int_equal(nvrtcGetPTXSize(program, &size), NVRTC_SUCCESS);
    assert_int_equal(size, 1);
    assert_int_equal(nvrtcGetLoweredName(program, "plain", &lowered), NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION);
    assert_int_equal(nvrtcCompileProgram(program, 0, NULL), NVRTC_SUCCESS);
    assert_int_equal(nvrtcGetLoweredName(program, "plain", &lowered), NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID);
    assert_int_equal(nvrtcAddNameExpression(program, "plain"), NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION);
    assert_int_equal(nvrtcGetCUBINSize(program, &size), NVRTC_SUCCESS);
    assert_int_equal(size, 0);
    assert_int_equal(nvrtcGetLTOIRSize(program, &size), NVRTC_SUCCESS);
    assert_int_equal(size, 0);
    assert_int_equal(nvrtcCompileProgram(program, 0, NULL), NVRTC_SUCCESS);
    assert_int_equal(nvrtcDestroyProgram(&program), NVRTC_SUCCESS);
}

/* Options. */

static void options_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "--bogus",
        "bogus",
        "@/etc/passwd",
        "-fplugin=/tmp/evil.so",
        "-Xclang",
        "-load",
        "-Wl,-z",
        "; touch hostile",
        "$(touch hostile)",
        "-o",
        "-o/tmp/x",
        "-arch=sm_13",
        "-arch=sm_80;",
        "-arch=compute_80a",
        "-arch=compute_90f",
        "-arch=compute_90b",
        "-arch=sm_999",
        "-arch",
        "-std=c++99",
        "--fmad=maybe",
        "-maxrregcount=abc",
        "-D",
        "-I=",
        "-dlto=true",
        "--optix-ir",
        "--create-pch=x",
        "--time=x",
        "-###",
        "-D@/etc/passwd",
        "-U@/etc/passwd",
        "--config=/tmp/x",
        "-specs=x",
        "-B/tmp",
        "-ccc-print-phases",
        "-mllvm",
        "-cc1",
        "-imacros",
        "-include",
        "/etc/passwd",
        "; rm -rf /",
        "--use_fast_mathx",
        "-Garbage",
        "---w",
        "-wrong",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        nvrtcProgram program = program_of(good_source, NULL);
        nvrtcResult result = nvrtcCompileProgram(program, 1, &bad[i]);
        if (result != NVRTC_ERROR_INVALID_OPTION)
            fail_msg("'%s' gave %s", bad[i], nvrtcGetErrorString(result));
        log_has(program, "nvrtc: error: ");
        nvrtcDestroyProgram(&program);
    }
    const char *null_word = NULL;
    nvrtcProgram program = program_of(good_source, NULL);
    assert_int_equal(nvrtcCompileProgram(program, 1, &null_word), NVRTC_ERROR_INVALID_OPTION);
    nvrtcDestroyProgram(&program);
    assert_int_not_equal(access("hostile", F_OK), 0);
}

static void options_taken(void **state)
{
    (void)state;
    static const char *const words[] = {"-arch",
                                        "compute_70",
                                        " -DA=1 ",
                                        "--define-macro=B=2",
                                        "-D",
                                        "C=3",
                                        "--std=c++20",
                                        "-use_fast_math",
                                        "-lineinfo",
                                        "--fmad=false",
                                        "-maxrregcount=32",
                                        "--ptxas-options=-v",
                                        "-rdc=true",
                                        "-I.",
                                        "--include-path",
                                        "/nowhere",
                                        "-UZ",
                                        "-w",
                                        "--pch",
                                        "-ewp",
                                        "-dopt=on",
                                        "--expt-relaxed-constexpr",
                                        "-default-device"};
    nvrtcProgram program = program_of(
        "int helper() { return A + B + C; }\n__device__ int got;\n__global__ void k() { got = helper(); }\n", NULL);
    nvrtcResult result = nvrtcCompileProgram(program, sizeof words / sizeof *words, words);
    char *log = log_of(program), *ptx = ptx_of(program);
    if (result != NVRTC_SUCCESS)
        fail_msg("%s: %s", nvrtcGetErrorString(result), log);
    assert_non_null(strstr(ptx, ".target sm_70"));
    free(ptx);
    free(log);
    nvrtcDestroyProgram(&program);
}

/* -v of the assembler's: told for a device that there is, where NVIDIA's library runs its assembler. */
static void what_kernels_use(void **state)
{
    (void)state;
    static const char source[] =
        "__constant__ int table[16];\n"
        "extern \"C\" __global__ void twice(int *p) { __shared__ int s[32]; s[threadIdx.x] = p[threadIdx.x] * table[1]; __syncthreads(); *p = s[*p]; }\n";
    static const char *const ways[][3] = {
        {"-arch=sm_80", "--ptxas-options=-v"}, {"-arch=sm_80", "--ptxas-options", "--verbose"},
        {"-arch=sm_80", "-Xptxas", "-O3,-v"},  {"-arch=sm_80", "-Xptxas=-v -w"},
        {"-arch=sm_80", "-Xptxas=-O3"},        {"-arch=compute_80", "-Xptxas=-v"}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        nvrtcProgram program = program_of(source, "twice.cu");
        assert_int_equal(nvrtcCompileProgram(program, ways[i][2] ? 3 : 2, ways[i]), NVRTC_SUCCESS);
        if (i < 4) {
            log_has(
                program,
                "ptxas info    : 0 bytes gmem, 64 bytes cmem[3]\nptxas info    : Compiling entry function 'twice' for 'sm_80'\n");
            log_has(
                program,
                "ptxas info    : Function properties for twice\n    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\nptxas info    : Used ");
            log_has(program, " registers, used 1 barriers, 128 bytes smem, 8 bytes cmem[0]\n");
        } else {
            char *log = log_of(program);
            assert_string_equal(log, "");
            free(log);
        }
        nvrtcDestroyProgram(&program);
    }
    static const char *const bad[] = {"--ptxas-options=--unknown-of-ours", "-Xptxas=-v,-fplugin", "-Xptxas= "};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        nvrtcProgram program = program_of(source, "twice.cu");
        assert_int_equal(nvrtcCompileProgram(program, 1, &bad[i]), NVRTC_ERROR_INVALID_OPTION);
        log_has(program, "ptxas-options");
        nvrtcDestroyProgram(&program);
    }
}

/* Values that would mean something to a shell or to the compiler stay values. */
static void values_stay_values(void **state)
{
    (void)state;
    static const char *const words[] = {"-I@/etc/passwd", "-DX=$(touch hostile);`touch hostile`",
                                        "-I-fplugin=/tmp/evil.so", "-D", "Y= -load"};
    nvrtcProgram program = program_of(good_source, "@/etc/passwd");
    assert_int_equal(nvrtcCompileProgram(program, sizeof words / sizeof *words, words), NVRTC_SUCCESS);
    nvrtcDestroyProgram(&program);
    static const char *const include[] = {"--pre-include=@/etc/passwd"};
    program = program_of(good_source, "x.cu");
    assert_int_equal(nvrtcCompileProgram(program, 1, include), NVRTC_ERROR_COMPILATION);
    log_has(program, "cannot open source file \"./@/etc/passwd\"");
    nvrtcDestroyProgram(&program);
    assert_int_not_equal(access("hostile", F_OK), 0);
}

/* -ftz=true is about floats, as it is with NVIDIA's headers: subnormal halves are numbers (CuPy compiles everything so,
 * and counts what is not zero). */
static void halves_are_not_flushed(void **state)
{
    (void)state;
    static const char *const options[] = {"-ftz=true", "-arch=compute_80"};
    nvrtcProgram program = program_of(
        "#include <cuda_fp16.h>\n__global__ void k(__half *a, __half2 *b, float *f, int *n) {\n"
        "a[0] = a[1] + a[2]; a[3] = a[4] * a[5]; n[0] = a[6] != a[7]; n[1] = a[8] < a[9]; f[0] = a[10]; b[0] = __hadd2(b[1], b[2]); n[2] = __half2int_rn(a[11]);\n"
        "n[3] = __hgt(a[12], a[13]); f[1] = f[2] * f[3]; }\n",
        "halves.cu");
    assert_int_equal(nvrtcCompileProgram(program, 2, options), NVRTC_SUCCESS);
    char *ptx = ptx_of(program);
    assert_non_null(strstr(ptx, "mul.ftz.f32"));
    assert_null(strstr(ptx, ".ftz.f16"));
    assert_null(strstr(ptx, "ftz.f32.f16"));
    free(ptx);
    nvrtcDestroyProgram(&program);
}

/* A value that no process can be started with is told, however long it is. */
static void very_long_values(void **state)
{
    (void)state;
    size_t size = 3000000;
    char *word = malloc(size + 1);
    assert_non_null(word);
    memset(word, '7', size);
    memcpy(word, "-DX=", 4);
    word[size] = 0;
    const char *words[] = {word};
    nvrtcProgram program = program_of(good_source, NULL);
    assert_int_equal(nvrtcCompileProgram(program, 1, words), NVRTC_ERROR_BUILTIN_OPERATION_FAILURE);
    log_has(program, "cannot start the compiler");
    nvrtcDestroyProgram(&program);
    word[1000] = 0;
    program = program_of(good_source, NULL);
    assert_int_equal(nvrtcCompileProgram(program, 1, words), NVRTC_SUCCESS);
    nvrtcDestroyProgram(&program);
    free(word);
}

/* Logs. */

static void errors_have_places(void **state)
{
    (void)state;
    nvrtcProgram program =
        program_of("// one\n__global__ void k() { int x = undefined_thing; }\n", "folder/broken kernel.cu");
    const char *lowered;
    assert_int_equal(nvrtcCompileProgram(program, 0, NULL), NVRTC_ERROR_COMPILATION);
    log_has(program, "folder/broken kernel.cu(2): error: ");
    log_has(program, "undefined_thing; }\n                              ^");
    log_has(program, "1 error detected in the compilation of \"folder/broken kernel.cu\".");
    assert_int_equal(nvrtcGetLoweredName(program, "k", &lowered), NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION);
    nvrtcDestroyProgram(&program);
    program = program_of("#warning look here\nenum e { A }; constexpr e other = (e)-1;\n"
                         "__global__ void k(int n, float *p) { float f[] = {n, 1e300}; *p = f[0] + other; }\n",
                         NULL);
    assert_int_equal(nvrtcCompileProgram(program, 0, NULL), NVRTC_SUCCESS);
    log_has(program, "default_program(1): warning: ");
    log_has(program, "default_program(3): warning: ");
    nvrtcDestroyProgram(&program);
    /* Jitify and CuPy read the words about a header. */
    program = program_of("\n#include <missing/one.h>\n", "broken.cu");
    assert_int_equal(nvrtcCompileProgram(program, 0, NULL), NVRTC_ERROR_COMPILATION);
    log_has(program, "broken.cu(2): catastrophic error: cannot open source file \"missing/one.h\"\n#include");
    nvrtcDestroyProgram(&program);
    program = program_of("__global__ void k() {\n    int unused;\n}\n", NULL);
    assert_int_equal(nvrtcCompileProgram(program, 0, NULL), NVRTC_SUCCESS);
    log_has(program, "default_program(2): warning: ");
    nvrtcDestroyProgram(&program);
}

/* Names. */

static void names_are_lowered(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"fill<float>", "_Z4fillIfEvPT_S0_"},
        {"&fill<int>", "_Z4fillIiEvPT_S0_"},
        {"  &  fill< double >", "_Z4fillIdEvPT_S0_"},
        {"deep::empty", "_ZN4deep5emptyEi"},
        {"&deep::variable", "_ZN4deep8variableE"},
        {"deep::table", "_ZN4deep5tableE"},
        {"plain", "plain"},
    };
    nvrtcProgram program = program_of(good_source, "names.cu");
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_int_equal(nvrtcAddNameExpression(program, pairs[i][0]), NVRTC_SUCCESS);
    assert_int_equal(nvrtcCompileProgram(program, 0, NULL), NVRTC_SUCCESS);
    char *ptx = ptx_of(program);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const char *lowered = NULL;
        assert_int_equal(nvrtcGetLoweredName(program, pairs[i][0], &lowered), NVRTC_SUCCESS);
        assert_string_equal(lowered, pairs[i][1]);
        assert_non_null(strstr(ptx, lowered));
    }
    assert_null(strstr(ptx, "mr_nvrtc_name"));
    free(ptx);
    nvrtcDestroyProgram(&program);
    program = program_of(good_source, "names.cu");
    nvrtcAddNameExpression(program, "nobody<int>");
    assert_int_equal(nvrtcCompileProgram(program, 0, NULL), NVRTC_ERROR_COMPILATION);
    log_has(program, "__nv_name_map(1): error: ");
    nvrtcDestroyProgram(&program);
}

/* Headers. */

static void headers_in_memory(void **state)
{
    (void)state;
    static const char *const texts[] = {"#pragma once\n#include \"inner.h\"\n#define OUTER (INNER + 1)\n",
                                        "#define INNER 41\n", "#define UP 1\n", "nonsense here;\n"};
    static const char *const names[] = {"lib/outer.h", "lib/inner.h", "../up.h", "bad \"name\".h"};
    nvrtcProgram program = NULL;
    assert_int_equal(nvrtcCreateProgram(&program,
                                        "#include <lib/outer.h>\n#include \"lib/outer.h\"\n#include \"../up.h\"\n"
                                        "__global__ void k(int *p) { *p = OUTER + UP; }\n",
                                        NULL, 3, texts, names),
                     NVRTC_SUCCESS);
    nvrtcResult result = nvrtcCompileProgram(program, 0, NULL);
    if (result != NVRTC_SUCCESS)
        fail_msg("%s", log_of(program));
    char *ptx = ptx_of(program);
    assert_non_null(strstr(ptx, ", 43;"));
    free(ptx);
    nvrtcDestroyProgram(&program);
    assert_int_equal(
        nvrtcCreateProgram(&program, "#include \"bad.h\"\n", "top.cu", 1, &texts[3], (const char *const[]){"bad.h"}),
        NVRTC_SUCCESS);
    assert_int_equal(nvrtcCompileProgram(program, 0, NULL), NVRTC_ERROR_COMPILATION);
    log_has(program, "\nbad.h(1): error: ");
    nvrtcDestroyProgram(&program);
    static const char *const far[] = {"/tmp/absolute.h", "", "../../../../../../../../../out.h",
                                      "a/../../../../../../../../../../out.h", "folder/"};
    for (size_t i = 0; i < sizeof far / sizeof *far; i++)
        assert_int_equal(nvrtcCreateProgram(&program, "", NULL, 1, texts, &far[i]), NVRTC_ERROR_INVALID_INPUT);
}

/* Headers found as jitify finds them: compiled again with each one that was missing. Only the first failure has seen
 * more than the preprocessor. */
static void headers_looked_for(void **state)
{
    (void)state;
    static const char *const names[] = {"one.h", "deep/two.h", "three.h"};
    static const char *const texts[] = {"#pragma once\nint one;\n#include \"deep/two.h\"\n",
                                        "#define TWO 2\n\n#include <three.h>\n", "#define THREE 3\n"};
    static const char *const places[] = {"top.cu(2): ", "one.h(3): ", "deep/two.h(3): "};
    static const char source[] = "\n#include \"one.h\"\n__global__ void k(int *p) { *p = TWO + THREE + WHAT; }\n";
    static const char *const words[] = {"-default-device", "-DWHAT=37"};
    nvrtcProgram program = NULL;
    for (int known = 0; known < 4; known++) {
        assert_int_equal(nvrtcCreateProgram(&program, source, "top.cu", known, texts, names), NVRTC_SUCCESS);
        nvrtcResult result = nvrtcCompileProgram(program, 2, words);
        if (known < 3) {
            assert_int_equal(result, NVRTC_ERROR_COMPILATION);
            char line[200];
            snprintf(line, sizeof line, "%scatastrophic error: cannot open source file \"%s\"\n", places[known],
                     names[known]);
            log_has(program, line);
            log_has(program, "\n1 error detected in the compilation of \"top.cu\".\n");
        } else {
            if (result != NVRTC_SUCCESS)
                fail_msg("%s", log_of(program));
            char *ptx = ptx_of(program);
            assert_non_null(strstr(ptx, ", 42;"));
            free(ptx);
        }
        nvrtcDestroyProgram(&program);
    }
    /* After a missing header, a source whose fault is another. */
    assert_int_equal(nvrtcCreateProgram(&program, source, "top.cu", 2, texts, names), NVRTC_SUCCESS);
    assert_int_equal(nvrtcCompileProgram(program, 2, words), NVRTC_ERROR_COMPILATION);
    nvrtcDestroyProgram(&program);
    assert_int_equal(nvrtcCreateProgram(&program, source, "top.cu", 3, texts, names), NVRTC_SUCCESS);
    assert_int_equal(nvrtcCompileProgram(program, 1, words), NVRTC_ERROR_COMPILATION);
    log_has(program, "top.cu(3): error: use of undeclared identifier 'WHAT'");
    nvrtcDestroyProgram(&program);
}

/* A client that brings NVIDIA's header of half precision gets ours, which is written for this compiler; any other
 * header is its own. */
static void our_headers_first(void **state)
{
    (void)state;
    char folder[4096], word[4200];
    /* The second is as CCCL has it for NVRTC, in a folder of its own. */
    static const char *const names[] = {"cuda_fp16.h", "cuda/__barrier/barrier_block_scope.h", "own.h"};
    static const char *const texts[] = {
        "#error not this one\n", "struct at { int x; };\nstatic_assert(!(&(((at *) 0)->x)), \"not the first\");\n",
        "#define VALUE 4711\n"};
    snprintf(folder, sizeof folder, "%s/brought%d", getenv("MR_TEST_FOLDER") ? getenv("MR_TEST_FOLDER") : ".",
             (int)getpid());
    for (int i = 0; i < 3; i++) {
        static const char *const below[] = {"", "/cuda", "/cuda/__barrier"};
        snprintf(word, sizeof word, "%s%s", folder, below[i]);
        assert_int_equal(mkdir(word, 0700), 0);
    }
    for (int i = 0; i < 3; i++) {
        snprintf(word, sizeof word, "%s/%s", folder, names[i]);
        FILE *file = fopen(word, "w");
        fputs(texts[i], file);
        fclose(file);
    }
    snprintf(word, sizeof word, "-I%s", folder);
    const char *words[] = {word};
    nvrtcProgram program = program_of(
        "#include <cuda_fp16.h>\n#include <cuda/__barrier/barrier_block_scope.h>\n#include <own.h>\n__global__ void k(int *p, __half h) { *p = VALUE + (int)(float)h; }\n",
        NULL);
    if (nvrtcCompileProgram(program, 1, words) != NVRTC_SUCCESS)
        fail_msg("%s", log_of(program));
    nvrtcDestroyProgram(&program);
    for (int i = 0; i < 3; i++) {
        static const char *const below[] = {"/cuda/__barrier", "/cuda", ""};
        snprintf(word, sizeof word, "%s/%s", folder, names[i]);
        unlink(word);
        snprintf(word, sizeof word, "%s%s", folder, below[i]);
        rmdir(word);
    }
    rmdir(folder);
}

/* What NVRTC has without an include, and what it has not: sources define fixed-size integers of their own, and headers
 * that look for the host's compiler must not find one. The rest of the test is what CuPy's headers do under
 * --device-as-default-execution-space. */
static void what_sources_expect(void **state)
{
    (void)state;
    static const char source[] =
        "#if defined(__clang__) || defined(__GNUC__) || defined(__GLIBCXX__) || !defined(__CUDACC_RTC__)\n#error a host compiler\n#endif\n"
        "#include <cassert>\n#include <driver_types.h>\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
        "using int64_t = signed long long;\nusing uint64_t = unsigned long long;\nusing intptr_t = int64_t;\n"
        "cudaError_t status() { return cudaSuccess; }\n"
        "#ifndef __NV_BUILTIN_INITIALIZER_LIST\n#error no lists\n#endif\n"
        "template <cudaSharedMemConfig = cudaSharedMemBankSizeFourByte, class T> cudaStream_t stream_of(T) { return cudaStreamLegacy; }\n"
        "typedef cudaDataType types[sizeof(cudaDeviceProp)];\n"
        "namespace thrust { namespace cub { using namespace ::cub; } template <class T> cudaError_t wait(T p) { return cub::SyncStream(p); } }\n" /* as Thrust has it */
        "extern \"C\" __device__ void *__cuda_syscall_aligned_malloc(size_t, size_t);\n" /* as CCCL declares it */
        "struct view { int sum = 0; view(const std::initializer_list<int> list) { for (int i : list) sum += i; } };\n"
        "float wide(const volatile __half &h) { return __half(__half_raw(h)); }\n"
        "float wide(const volatile __nv_bfloat16 &b) { return __nv_bfloat16(__nv_bfloat16_raw(b)); }\n"
        "extern \"C\" __global__ void k(int *p, __half *h, __nv_bfloat16 *b)\n"
        "{\n    clock_t now = clock();\n    assert(p && now != -1);\n"
        "    p[0] = view({1, 2, (int)status()}).sum + (int)wide(*h) + (int)wide(*b) + (int)__isGridConstant(p) + (__cuda_syscall_aligned_malloc(8, 8) == nullptr);\n}\n";
    static const char *const words[] = {"--std=c++17", "--device-as-default-execution-space", "-ftz=true",
                                        "-arch=sm_80"};
    nvrtcProgram program = program_of(source, "kern.cu");
    if (nvrtcCompileProgram(program, 4, words) != NVRTC_SUCCESS)
        fail_msg("%s", log_of(program));
    char *ptx = ptx_of(program);
    assert_non_null(strstr(ptx, "__assertfail"));
    /* What the headers define is for this source alone: nothing of it is in the code unless it is used, and then
     * inlined. */
    assert_null(strstr(ptx, ".visible .func  (.param .b32 func_retval0) _Z7mr_wide"));
    assert_null(strstr(ptx, "__hadd"));
    free(ptx);
    /* CuPy takes all bytes of a cubin but the last, which must not matter. */
    size_t size = 0;
    assert_int_equal(nvrtcGetCUBINSize(program, &size), NVRTC_SUCCESS);
    char *cubin = malloc(size);
    assert_int_equal(nvrtcGetCUBIN(program, cubin), NVRTC_SUCCESS);
    assert_true(size > 16 && cubin[size - 1] == '\0');
    free(cubin);
    nvrtcDestroyProgram(&program);
}

/* Sources bring their own atomic sums for architectures that have none: the double's below 60 is the programming
 * guide's, and CuPy's atomics.cuh has it. */
static void sums_of_their_own(void **state)
{
    (void)state;
    static const char source[] =
        "#include <cuda_fp16.h>\n"
        "#if __CUDA_ARCH__ < 600\n__device__ double atomicAdd(double *a, double v) { double old = *a; *a += v + 100; return old; }\n#endif\n"
        "#if __CUDA_ARCH__ < 700\n__device__ __half atomicAdd(__half *a, __half v) { __half old = *a; *a = old + v + __half(100.0f); return old; }\n#endif\n"
        "extern \"C\" __global__ void k(double *d, __half *h) { atomicAdd(d, 1.0); atomicAdd(h, __half(1.0f)); }\n";
    static const struct {
        const char *arch;
        bool own_double, own_half;
    } cases[] = {
        {"-arch=compute_50", true, true}, {"-arch=compute_60", false, true}, {"-arch=compute_75", false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *words[] = {cases[i].arch, "--device-as-default-execution-space"};
        nvrtcProgram program = program_of(source, "kern.cu");
        if (nvrtcCompileProgram(program, 2, words) != NVRTC_SUCCESS)
            fail_msg("%s: %s", cases[i].arch, log_of(program));
        char *ptx = ptx_of(program);
        assert_int_equal(strstr(ptx, ".add.f64") == NULL, cases[i].own_double);
        assert_int_equal(strstr(ptx, "cas.b32") == NULL, cases[i].own_half);
        free(ptx);
        nvrtcDestroyProgram(&program);
    }
}

/* A header on disk that changes is noticed by the cache. */
static void changed_headers(void **state)
{
    (void)state;
    char path[4096], word[4200];
    snprintf(path, sizeof path, "%s/changing%d.h", getenv("MR_TEST_FOLDER") ? getenv("MR_TEST_FOLDER") : ".",
             (int)getpid());
    snprintf(word, sizeof word, "-I%.*s", (int)(strrchr(path, '/') - path), path);
    const char *words[] = {word};
    char source[4300];
    snprintf(source, sizeof source, "#include \"%s\"\n__global__ void k(int *p) { *p = VALUE; }\n",
             strrchr(path, '/') + 1);
    for (int value = 1001; value < 1005; value++) {
        FILE *file = fopen(path, "w");
        fprintf(file, "#define VALUE %d\n", value);
        fclose(file);
        for (int again = 0; again < 2; again++) {
            char digits[16];
            snprintf(digits, sizeof digits, ", %d;", value);
            nvrtcProgram program = program_of(source, NULL);
            assert_int_equal(nvrtcCompileProgram(program, 1, words), NVRTC_SUCCESS);
            char *ptx = ptx_of(program);
            assert_non_null(strstr(ptx, digits));
            free(ptx);
            nvrtcDestroyProgram(&program);
        }
    }
    unlink(path);
}

/* What comes out runs. */

static void run_plain(const void *image, const char *template_name)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory;
    int value = 0;
    float values[4] = {0}, first = 0.5f;
    assert_int_equal(cuInit(0), CUDA_SUCCESS);
    assert_int_equal(cuDeviceGet(&device, 0), CUDA_SUCCESS);
    assert_int_equal(cuDevicePrimaryCtxRetain(&context, device), CUDA_SUCCESS);
    assert_int_equal(cuCtxSetCurrent(context), CUDA_SUCCESS);
    assert_int_equal(cuModuleLoadData(&module, image), CUDA_SUCCESS);
    assert_int_equal(cuMemAlloc(&memory, sizeof values), CUDA_SUCCESS);
    assert_int_equal(cuModuleGetFunction(&function, module, "plain"), CUDA_SUCCESS);
    assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&memory}, NULL), CUDA_SUCCESS);
    assert_int_equal(cuMemcpyDtoH(&value, memory, sizeof value), CUDA_SUCCESS);
    assert_int_equal(value, 7);
    assert_int_equal(cuModuleGetFunction(&function, module, template_name), CUDA_SUCCESS);
    assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, NULL, (void *[]){&memory, &first}, NULL),
                     CUDA_SUCCESS);
    assert_int_equal(cuMemcpyDtoH(values, memory, sizeof values), CUDA_SUCCESS);
    for (int i = 0; i < 4; i++)
        assert_float_equal(values[i], 0.5f + (float)i, 0);
    assert_int_equal(cuMemFree(memory), CUDA_SUCCESS);
    assert_int_equal(cuModuleUnload(module), CUDA_SUCCESS);
    assert_int_equal(cuDevicePrimaryCtxRelease(device), CUDA_SUCCESS);
}

/* `alignas` behind `__shared__` where macros put them together, and in a header on disk; variables of classes with
 * constructors in shared memory, in the source and in the header, one known once the other is mended. Twice, for the
 * second answer is the cache's. What is wrong beside them is told where it is. */
static void other_spellings(void **state)
{
    (void)state;
    char folder[4096], path[4200], word[4200];
    const char *lowered = NULL;
    snprintf(folder, sizeof folder, "%s/spelt%d", getenv("MR_TEST_FOLDER") ? getenv("MR_TEST_FOLDER") : ".",
             (int)getpid());
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(path, sizeof path, "%s/spelt.h", folder);
    FILE *file = fopen(path, "w");
    fputs(
        "struct made { int x = 5; __device__ made() : x(6) {} __device__ ~made() { x = 0; } };\n"
        "template <class T> __global__ void fill(float *p, float first)\n{\n    __shared__ alignas(32) T tile[4];\n    __shared__ made one,\n        two[2];\n"
        "    one.x = 0;\n    two[1].x = 1;\n    tile[threadIdx.x] = T(threadIdx.x);\n    p[threadIdx.x] = first + tile[threadIdx.x] + (float)(one.x + two[1].x - 1);\n}\n",
        file);
    fclose(file);
    snprintf(word, sizeof word, "-I%s", folder);
    const char *words[] = {word, "-arch=sm_80", "-DROOM=__shared__", "-DWRONG=nothing"};
    static const char source[] =
        "#include <spelt.h>\n#define BY(n) alignas(n)\n#define READ(x) asm(\"mov.u32 %0, %\" #x \";\" : \"=r\"(r))\nstruct own { int x = 3; };\n"
        "extern \"C\" __global__ void plain(int *p) { __shared__ own mine; ROOM BY(64) char wide[64]; mine.x = 7 + (int)((size_t)wide % 64);"
        " int r; READ(laneid); mine.x += r; asm(\"mov.u32 %0, %ctaid.z;\" : \"=r\"(r)); *p = mine.x + r; }\n"
        "#ifdef WRONG\nextern \"C\" __global__ void wrong(int *p) { *p = WRONG; }\n#endif\n";
    for (int round = 0; round < 2; round++) {
        nvrtcProgram program = program_of(source, "spelt.cu");
        assert_int_equal(nvrtcAddNameExpression(program, "fill<float>"), NVRTC_SUCCESS);
        if (nvrtcCompileProgram(program, 3, words) != NVRTC_SUCCESS)
            fail_msg("%s", log_of(program));
        assert_int_equal(nvrtcGetLoweredName(program, "fill<float>", &lowered), NVRTC_SUCCESS);
        char *ptx = ptx_of(program);
        run_plain(ptx, lowered);
        free(ptx);
        nvrtcDestroyProgram(&program);
    }
    nvrtcProgram program = program_of(source, "spelt.cu");
    assert_int_equal(nvrtcCompileProgram(program, 4, words), NVRTC_ERROR_COMPILATION);
    log_has(program, "spelt.cu(7): error: use of undeclared identifier 'nothing'");
    nvrtcDestroyProgram(&program);
    unlink(path);
    rmdir(folder);
}

static void results_run(void **state)
{
    (void)state;
    static const char *const words[] = {"--gpu-architecture=sm_80"};
    nvrtcProgram program = program_of(good_source, "run.cu");
    const char *lowered = NULL;
    size_t size = 0;
    assert_int_equal(nvrtcAddNameExpression(program, "fill<float>"), NVRTC_SUCCESS);
    assert_int_equal(nvrtcCompileProgram(program, 1, words), NVRTC_SUCCESS);
    assert_int_equal(nvrtcGetLoweredName(program, "fill<float>", &lowered), NVRTC_SUCCESS);
    char *ptx = ptx_of(program);
    run_plain(ptx, lowered);
    free(ptx);
    assert_int_equal(nvrtcGetCUBINSize(program, &size), NVRTC_SUCCESS);
    assert_true(size > 100);
    char *cubin = malloc(size);
    assert_int_equal(nvrtcGetCUBIN(program, cubin), NVRTC_SUCCESS);
    run_plain(cubin, lowered);
    free(cubin);
    nvrtcDestroyProgram(&program);
}

/* A managed variable of a header in memory, and another of its kind that is none: by name, on both sides, twice, for
 * the second answer is the cache's. */
static void managed_variables(void **state)
{
    (void)state;
    const char *texts[] = {"namespace deep { __device__ __managed__ int both[4] = { 1, 2, 3 }; }\n"},
               *names[] = {"both.h"}, *lowered = NULL;
    for (int round = 0; round < 2; round++) {
        nvrtcProgram program = NULL;
        assert_int_equal(
            nvrtcCreateProgram(&program,
                               "#include <both.h>\n__device__ int other = 9;\n"
                               "extern \"C\" __global__ void add() { deep::both[3] += deep::both[1] + other; }\n",
                               NULL, 1, texts, names),
            NVRTC_SUCCESS);
        assert_int_equal(nvrtcAddNameExpression(program, "deep::both"), NVRTC_SUCCESS);
        assert_int_equal(nvrtcCompileProgram(program, 0, NULL), NVRTC_SUCCESS);
        assert_int_equal(nvrtcGetLoweredName(program, "deep::both", &lowered), NVRTC_SUCCESS);
        char *ptx = ptx_of(program);
        CUdevice device;
        CUcontext context;
        CUmodule module;
        CUfunction function;
        CUdeviceptr both, other;
        unsigned managed = 7;
        assert_int_equal(cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
                             cuCtxSetCurrent(context),
                         0);
        assert_int_equal(cuModuleLoadData(&module, ptx), CUDA_SUCCESS);
        assert_int_equal(cuModuleGetGlobal(&both, NULL, module, lowered), CUDA_SUCCESS);
        assert_int_equal(cuModuleGetGlobal(&other, NULL, module, "other"), CUDA_SUCCESS);
        assert_int_equal(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, both), CUDA_SUCCESS);
        assert_int_equal(managed, 1);
        assert_int_equal(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, other), CUDA_SUCCESS);
        assert_int_equal(managed, 0);
        int *host = (int *)(uintptr_t)both;
        assert_int_equal(host[1], 2);
        host[1] = 20;
        assert_int_equal(cuModuleGetFunction(&function, module, "add"), CUDA_SUCCESS);
        assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_SUCCESS);
        assert_int_equal(cuCtxSynchronize(), CUDA_SUCCESS);
        assert_int_equal(host[3], 29);
        free(ptx);
        assert_int_equal(cuModuleUnload(module) || cuDevicePrimaryCtxRelease(device), 0);
        nvrtcDestroyProgram(&program);
    }
}

/* Tables that are const and larger than constant memory are in global memory; what the host fills stays. */
static void large_tables(void **state)
{
    (void)state;
    static const char source[] =
        "__device__ const int first[12000] = { 1, 2, 3 };\n"
        "static __device__ const double second[5000] = { 4, 5 };\n"
        "__constant__ int filled[4];\n"
        "extern \"C\" __global__ void sum(int *result, int i) { *result = first[i] + (int)second[i] + filled[i]; }\n";
    nvrtcProgram program = program_of(source, "tables.cu");
    assert_int_equal(nvrtcCompileProgram(program, 0, NULL), NVRTC_SUCCESS);
    char *ptx = ptx_of(program);
    assert_non_null(strstr(ptx, "first[48000]"));
    assert_non_null(strstr(ptx, ".const .align 4 .b8 filled[16];"));
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr result;
    int index = 1, sum = 0;
    void *arguments[] = {&result, &index};
    assert_int_equal(cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
                         cuCtxSetCurrent(context),
                     0);
    assert_int_equal(cuModuleLoadData(&module, ptx), 0);
    assert_int_equal(cuModuleGetFunction(&function, module, "sum") || cuMemAlloc(&result, 4), 0);
    assert_int_equal(
        cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL) || cuMemcpyDtoH(&sum, result, 4), 0);
    assert_int_equal(sum, 7);
    assert_int_equal(cuMemFree(result) || cuModuleUnload(module) || cuDevicePrimaryCtxRelease(device), 0);
    free(ptx);
    nvrtcDestroyProgram(&program);
}

/* Variables that only the host writes: found by name, and read as written, whatever their linkage. NVRTC 13.0 names
 * them so. */
static void static_variables(void **state)
{
    (void)state;
    static const char source[] =
        "static __constant__ int table[4];\n"
        "static __device__ int counter = 5;\n"
        "static __device__ int nobody_reads;\n"
        "namespace { __device__ int hidden = 6; }\n"
        "namespace deep { static __constant__ int inner = 7; }\n"
        "template <class T> __device__ T of_kind = 8;\n"
        "inline __device__ int shared_by_sources = 9;\n"
        "static __device__ int out = 1;\n" /* a name that PTX has for itself, too */
        "static __device__ const int fixed[3] = { 1, 2, 3 };\n"
        "static const int large[20000] = { 1, 2, 3 };\n" /* more than constant memory holds */
        "extern \"C\" __global__ void sum(int *result, int i) {\n"
        "    static __device__ int within = 10;\n"
        "    *result = table[0] + counter + hidden + deep::inner + of_kind<int> + shared_by_sources + out + fixed[i] + within;\n"
        "}\n";
    static const char *const words[] = {"-std=c++17"};
    /* Expression or NULL (the name is what the module has), name, first value. */
    static const struct {
        const char *expression, *name;
        int first;
    } variables[] = {
        {NULL, "table", 0},        {NULL, "counter", 5},       {"&hidden", NULL, 6},
        {"&deep::inner", NULL, 7}, {"&of_kind<int>", NULL, 8}, {NULL, "shared_by_sources", 9},
        {NULL, "out", 1},          {NULL, "nobody_reads", 0},  {"&counter", "counter", 5},
    };
    enum { VARIABLES = sizeof variables / sizeof *variables };
    nvrtcProgram program = program_of(source, "statics.cu");
    for (int i = 0; i < VARIABLES; i++)
        if (variables[i].expression)
            assert_int_equal(nvrtcAddNameExpression(program, variables[i].expression), NVRTC_SUCCESS);
    assert_int_equal(nvrtcCompileProgram(program, 1, words), NVRTC_SUCCESS);
    char *ptx = ptx_of(program);
    assert_null(strstr(ptx, "mr_"));
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr result, at;
    int value, i = 1, expected = 10 + 2;
    assert_int_equal(cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
                         cuCtxSetCurrent(context),
                     0);
    assert_int_equal(cuModuleLoadData(&module, ptx), CUDA_SUCCESS);
    for (int v = 0; v < VARIABLES; v++) {
        const char *name = variables[v].name;
        if (variables[v].expression) {
            assert_int_equal(nvrtcGetLoweredName(program, variables[v].expression, &name), NVRTC_SUCCESS);
            if (variables[v].name)
                assert_string_equal(name, variables[v].name);
        }
        assert_int_equal(cuModuleGetGlobal(&at, NULL, module, name), CUDA_SUCCESS);
        if (v == VARIABLES - 1)
            break; /* written before, by its name */
        assert_int_equal(cuMemcpyDtoH(&value, at, sizeof value), CUDA_SUCCESS);
        assert_int_equal(value, variables[v].first);
        value = 100 << v;
        assert_int_equal(cuMemcpyHtoD(at, &value, sizeof value), CUDA_SUCCESS);
        if (v != 7) /* nobody_reads */
            expected += value;
    }
    void *parameters[] = {&result, &i};
    assert_int_equal(cuMemAlloc(&result, sizeof value), CUDA_SUCCESS);
    assert_int_equal(cuModuleGetFunction(&function, module, "sum"), CUDA_SUCCESS);
    assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL), CUDA_SUCCESS);
    assert_int_equal(cuMemcpyDtoH(&value, result, sizeof value), CUDA_SUCCESS);
    assert_int_equal(value, expected);
    free(ptx);
    assert_int_equal(cuMemFree(result) || cuModuleUnload(module) || cuDevicePrimaryCtxRelease(device), 0);
    nvrtcDestroyProgram(&program);
}

/* Several threads, each with sources of its own. */

static void *compile_some(void *number)
{
    for (int i = 0; i < 3; i++) {
        char source[200], wanted[32];
        int value = 10000 + (int)(intptr_t)number * 100 + i;
        snprintf(source, sizeof source, "#include \"v.h\"\n__global__ void k(int *p) { *p = V + %d; }\n",
                 (int)getpid() % 7);
        snprintf(wanted, sizeof wanted, ", %d;", value + (int)getpid() % 7);
        char header[64];
        snprintf(header, sizeof header, "#define V %d\n", value);
        nvrtcProgram program;
        const char *texts[] = {header}, *names[] = {"v.h"};
        if (nvrtcCreateProgram(&program, source, NULL, 1, texts, names) != NVRTC_SUCCESS ||
            nvrtcCompileProgram(program, 0, NULL) != NVRTC_SUCCESS)
            return (void *)1;
        char *ptx = ptx_of(program);
        bool good = strstr(ptx, wanted) != NULL;
        free(ptx);
        nvrtcDestroyProgram(&program);
        if (!good)
            return (void *)2;
    }
    return NULL;
}

static void threads(void **state)
{
    (void)state;
    pthread_t thread[4];
    for (intptr_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, compile_some, (void *)i), 0);
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(thread[i], &failed);
        assert_null(failed);
    }
}

/* The compiler stopped, and the compiler missing. */

static int stop(void *payload, void *nothing)
{
    assert_null(nothing);
    ++*(int *)payload;
    return 1;
}

static void cancelled(void **state)
{
    (void)state;
    char source[100];
    int calls = 0;
    size_t size = 0;
    snprintf(source, sizeof source, "__global__ void never_kept_%d_%ld() {}", (int)getpid(), random());
    nvrtcProgram program = program_of(source, NULL);
    assert_int_equal(nvrtcSetFlowCallback(program, stop, &calls), NVRTC_SUCCESS);
    assert_int_equal(nvrtcCompileProgram(program, 0, NULL), NVRTC_ERROR_CANCELLED);
    assert_int_equal(calls, 1);
    assert_int_equal(nvrtcGetPTXSize(program, &size), NVRTC_SUCCESS);
    assert_int_equal(size, 1);
    nvrtcDestroyProgram(&program);
}

static void no_compiler(void **state)
{
    (void)state;
    const char *before = getenv("MILLRACE_CC");
    char *kept = before ? strdup(before) : NULL;
    setenv("MILLRACE_CC", "/nonexistent/clang-19", 1);
    nvrtcProgram program = program_of(good_source, NULL);
    assert_int_equal(nvrtcCompileProgram(program, 0, NULL), NVRTC_ERROR_BUILTIN_OPERATION_FAILURE);
    log_has(program, "package clang-19");
    nvrtcDestroyProgram(&program);
    if (kept)
        setenv("MILLRACE_CC", kept, 1);
    else
        unsetenv("MILLRACE_CC");
    free(kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(facts),
        cmocka_unit_test_setup(before_and_after, begin),
        cmocka_unit_test(options_refused),
        cmocka_unit_test_setup(options_taken, begin),
        cmocka_unit_test_setup(what_kernels_use, begin),
        cmocka_unit_test_setup(values_stay_values, begin),
        cmocka_unit_test_setup(halves_are_not_flushed, begin),
        cmocka_unit_test(very_long_values),
        cmocka_unit_test_setup(errors_have_places, begin),
        cmocka_unit_test_setup(names_are_lowered, begin),
        cmocka_unit_test_setup(headers_in_memory, begin),
        cmocka_unit_test_setup(headers_looked_for, begin),
        cmocka_unit_test_setup(changed_headers, begin),
        cmocka_unit_test_setup(our_headers_first, begin),
        cmocka_unit_test_setup(what_sources_expect, begin),
        cmocka_unit_test_setup(sums_of_their_own, begin),
        cmocka_unit_test_setup(results_run, begin),
        cmocka_unit_test_setup(other_spellings, begin),
        cmocka_unit_test_setup(managed_variables, begin),
        cmocka_unit_test_setup(large_tables, begin),
        cmocka_unit_test_setup(static_variables, begin),
        cmocka_unit_test_setup(threads, begin),
        cmocka_unit_test_setup(cancelled, begin),
        cmocka_unit_test(no_compiler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
