/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that look for headers themselves, as those with Jitify inside do: they compile, read in the log which header
 * is missing, hand it along and compile again. Such a program brings headers of the C++ library of its own, and the
 * host's must not be found in their place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <nvrtc.h>

#define PREINCLUDE "jitify_preinclude.h"

struct header {
    const char *name, *text;
};

static int begin(void **state)
{
    (void)state;
    const char *named = getenv("MILLRACE_CC");
    if (!(named && *named) && access("/usr/bin/clang-19", X_OK) != 0)
        skip();
    return 0;
}

/* The log of a compilation with these headers; what came of it in *result. The caller frees the log. */
static char *compile(const char *source, const struct header *headers, int count, nvrtcResult *result)
{
    const char *names[8] = {NULL}, *texts[8] = {NULL},
               *words[] = {("--pre-include=" PREINCLUDE), "-default-device", "-std=c++17"};
    bool jitify = count > 0 && strcmp(headers[0].name, PREINCLUDE) == 0;
    nvrtcProgram program;
    size_t size;
    for (int i = 0; i < count; i++) {
        names[i] = headers[i].name;
        texts[i] = headers[i].text;
    }
    assert_int_equal(nvrtcCreateProgram(&program, source, "top.cu", count, texts, names), NVRTC_SUCCESS);
    *result = nvrtcCompileProgram(program, jitify ? 3 : 2, jitify ? words : words + 1);
    assert_int_equal(nvrtcGetProgramLogSize(program, &size), NVRTC_SUCCESS);
    char *log = malloc(size);
    assert_int_equal(nvrtcGetProgramLog(program, log), NVRTC_SUCCESS);
    nvrtcDestroyProgram(&program);
    return log;
}

static void is_missing(const char *source, const struct header *headers, int count, const char *place, const char *name)
{
    nvrtcResult result;
    char *log = compile(source, headers, count, &result), wanted[200];
    snprintf(wanted, sizeof wanted, "%s: catastrophic error: cannot open source file \"%s\"\n", place, name);
    const char *at = strstr(log, "cannot open source file"), *line = strstr(log, wanted);
    if (result != NVRTC_ERROR_COMPILATION || !line || at != strstr(line, "cannot open source file"))
        fail_msg("wanted %sgot %s", wanted, log);
    free(log);
}

static void compiles(const char *source, const struct header *headers, int count)
{
    nvrtcResult result;
    char *log = compile(source, headers, count, &result);
    if (result != NVRTC_SUCCESS) {
        fputs(log, stderr);
        fail_msg("%s does not compile", source);
    }
    free(log);
}

/* The host has all of these. */
static void the_hosts_headers(void **state)
{
    (void)state;
    static const char source[] =
        "#include <iostream>\n#include <stdint.h>\n#include <cstddef>\n"
        "struct pair { int a, b; };\n"
        "__global__ void k(int *p) { new (p) pair{STREAM, (int)sizeof(int64_t)}; pair *q = new pair; p[1] = q->a; delete q;\n"
        "    for (int i : std::initializer_list<int>{1, 2}) p[i] = i; }\n";
    static const struct header headers[] = {
        {PREINCLUDE, "#define PRE 1\n"},
        {"iostream", "#if !PRE\n#error not included before\n#endif\n#define STREAM 1\n"},
        {"stdint.h", "typedef signed long long int64_t;\n"},
        {"cstddef", "namespace std { using size_t = unsigned long; }\n"},
    };
    static const char *const places[] = {NULL, "top.cu(1)", "top.cu(2)", "top.cu(3)"};
    for (int known = 1; known < 4; known++)
        is_missing(source, headers, known, places[known], headers[known].name);
    compiles(source, headers, 4);
    /* A program without Jitify finds the host's. */
    compiles(
        "#include <type_traits>\n#include <cstddef>\n__global__ void k(std::size_t *p) { *p = std::is_same<int, int>::value; }\n",
        NULL, 0);
}

/* Headers of ours, which every program finds. */
static void our_headers(void **state)
{
    (void)state;
    static const struct header headers[] = {{PREINCLUDE, ""}, {"math.h", ""},   {"cstring", ""},
                                            {"stdint.h", ""}, {"limits.h", ""}, {"string.h", ""}};
    static const char source[] =
        "#include <new>\n#include <initializer_list>\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cuda_fp8.h>\n"
        "#include <cuda_fp6.h>\n#include <cuda_fp4.h>\n#include <mma.h>\n#include <cuda_pipeline.h>\n#include <cuComplex.h>\n"
        "#include <cuda_awbarrier_primitives.h>\n#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n"
        "#include <cooperative_groups/scan.h>\n#include <cooperative_groups/memcpy_async.h>\n#include <curand_kernel.h>\n"
        "#include <vector_functions.h>\n#include <math_constants.h>\n#include <cuda_runtime.h>\n#include <library_types.h>\n"
        "__global__ void k(__half *p, curandState *s)\n"
        "{ *p = __float2half(curand_uniform(s) + cuCabsf(make_cuFloatComplex(3, 4))); }\n";
    compiles(source, headers, 6);
    compiles(source, NULL, 0);
}

/* One that is there by a shorter name: clang names it, and goes on with it. */
static void a_name_that_is_near(void **state)
{
    (void)state;
    static const char source[] = "#include \"a/b/deep.h\"\n__global__ void k(int *p) { *p = DEEP; }\n";
    static const struct header headers[] = {
        {"a/b/deep.h", "#include \"../util.h\"\n#define DEEP UTIL\n"},
        {"util.h", "#define UTIL 1\n"},
        {"a/util.h", "#define UTIL 2\n"},
    };
    is_missing(source, headers, 2, "a/b/deep.h(1)", "../util.h");
    compiles(source, headers, 3);
}

/* CUB has a function that the device headers declare, for hosts or, in its older versions, for both sides. */
static void cub_as_it_was(void **state)
{
    (void)state;
    compiles("namespace cub { inline cudaError_t SyncStream(cudaStream_t) { return cudaSuccess; }\n"
             "template <class T> cudaError_t wait(T s) { return SyncStream(s); } }\n"
             "__global__ void k(int *p) { *p = cub::wait((cudaStream_t)0); }\n",
             NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_hosts_headers, begin),
        cmocka_unit_test_setup(our_headers, begin),
        cmocka_unit_test_setup(a_name_that_is_near, begin),
        cmocka_unit_test_setup(cub_as_it_was, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
