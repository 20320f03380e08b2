/* SPDX-License-Identifier: Apache-2.0 */
/* Templates whose bodies hold what can't be compiled: NVIDIA's libnvrtc (11.8, 12.9 and 13.0 were asked) looks into
 * them when something instantiates them, and not before. Without clang-19 the test is skipped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <nvrtc.h>

#define KERNEL "extern \"C\" __global__ void k(int *p) { *p = "

/* The code, or NULL; then the log. The caller frees it. */
static char *compile(const char *source, const char *standard, char **log)
{
    nvrtcProgram program;
    size_t size = 0;
    assert_int_equal(nvrtcCreateProgram(&program, source, "templates.cu", 0, NULL, NULL), NVRTC_SUCCESS);
    nvrtcResult result = nvrtcCompileProgram(program, 1, &standard);
    assert_true(result == NVRTC_SUCCESS || result == NVRTC_ERROR_COMPILATION);
    assert_int_equal(nvrtcGetProgramLogSize(program, &size), NVRTC_SUCCESS);
    *log = malloc(size);
    assert_int_equal(nvrtcGetProgramLog(program, *log), NVRTC_SUCCESS);
    char *ptx = NULL;
    if (result == NVRTC_SUCCESS) {
        assert_int_equal(nvrtcGetPTXSize(program, &size), NVRTC_SUCCESS);
        ptx = malloc(size);
        assert_int_equal(nvrtcGetPTX(program, ptx), NVRTC_SUCCESS);
    }
    nvrtcDestroyProgram(&program);
    return ptx;
}

static int no_compiler(void)
{
    const char *named = getenv("MILLRACE_CC");
    return !(named && *named) && access("/usr/bin/clang-19", X_OK) != 0;
}

static void unused_bodies(void **state)
{
    static const char *const bodies[] = {
        "template <class T> __device__ int f() { return std::is_pointer<T>::value; }\n", /* as CUB has it in CuPy 13 */
        "template <class T> __device__ int f() { return nothing(1); }\n",
        "template <class T> __device__ int f() { int *p = 3.5; int a = 1 return a; }\n",
        "template <class T> struct s { __device__ int f() { return std::nosuch<T>::value; } };\n"};
    static const char *const standards[] = {"-std=c++17", "-std=c++20"};
    (void)state;
    if (no_compiler())
        skip();
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char source[512], *log;
        strcpy(source, bodies[i]);
        strcat(source, KERNEL "41 + 1; }\n");
        char *ptx = compile(source, standards[i % 2], &log);
        if (!ptx)
            fail_msg("%s%s", bodies[i], log);
        assert_non_null(strstr(ptx, ", 42;"));
        assert_null(strstr(log, "deprecated"));
        free(ptx);
        free(log);
    }
}

/* What uses such a body is wrong, and so is what stands outside of bodies. */
static void errors(void **state)
{
    static const struct {
        const char *source, *said;
    } cases[] = {
        {"template <class T> __device__ int f() { return nothing(T(1)); }\n" KERNEL "f<int>(); }\n", "nothing"},
        {"template <class T> __device__ int f() { return junk; }\n" KERNEL "other; }\n", "other"},
        {"template <class T> struct s { std::nosuch<T> x; };\n" KERNEL "1; }\n", "nosuch"},
        {"template <class T> __device__ std::nosuch<T> f();\n" KERNEL "1; }\n", "nosuch"},
    };
    (void)state;
    if (no_compiler())
        skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *log, *ptx = compile(cases[i].source, "-std=c++17", &log);
        assert_null(ptx);
        if (!strstr(log, cases[i].said))
            fail_msg("%s", log);
        assert_null(strstr(log, "junk;"));
        free(log);
    }
}

/* Names are looked up where the template stands, as ever. */
static void two_phases(void **state)
{
    char *log;
    (void)state;
    if (no_compiler())
        skip();
    char *ptx = compile("__device__ int g(long) { return 11; }\n"
                        "template <class T> __device__ int f(T t) { return g(t) + g(1); }\n"
                        "__device__ int g(int) { return 100; }\n" KERNEL "f(1); }\n",
                        "-std=c++17", &log);
    assert_non_null(ptx);
    assert_non_null(strstr(ptx, ", 22;"));
    free(ptx);
    free(log);
}

/* What NVIDIA's library (13.0) has a warning for, and clang an error: a class before its member's name, a jump past an
 * initialiser. */
static void warned_of(void **state)
{
    static const char source[] =
        "struct s { int x; __device__ s::s() : x(41) {} __device__ int s::get() const; };\n"
        "__device__ int s::get() const { return x; }\n"
        "__device__ int late(int kind) {\n"
        "  switch (kind) { case 0: const int one = 1; return one; case 1: int two = kind + 1; return two; }\n"
        "  if (kind > 5) goto end; int three = 3; kind += three;\nend: return kind; }\n" KERNEL
    "s().get() + late(p[1]); }\n";
    char *log;
    (void)state;
    if (no_compiler())
        skip();
    char *ptx = compile(source, "-std=c++17", &log);
    if (!ptx)
        fail_msg("%s", log);
    assert_non_null(strstr(ptx, ".entry k("));
    free(ptx);
    free(log);
    ptx = compile("struct s { int s::f() { return nothing; } };\n", "-std=c++17", &log);
    assert_null(ptx);
    assert_non_null(strstr(log, "templates.cu(1)"));
    free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(unused_bodies), cmocka_unit_test(warned_of),
                                       cmocka_unit_test(errors), cmocka_unit_test(two_phases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
