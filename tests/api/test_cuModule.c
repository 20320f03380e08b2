/* SPDX-License-Identifier: Apache-2.0 */
/* Modules: loading in every way, functions, variables, unloading, wrong input. */
#include <sys/stat.h>

#include "api_support.h"

#define PTX PTX_HEAD PTX_COUNTER PTX_STORE PTX_EMPTY

static void load_and_unload(void **state)
{
    CUmodule module = load_module(PTX), again;
    (void)state;
    OK(cuModuleUnload(module));
    FAILS(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
    OK(cuModuleLoadDataEx(&again, PTX, 0, NULL, NULL));
    OK(cuModuleUnload(again));
    OK(cuModuleLoadFatBinary(&again, PTX));
    OK(cuModuleUnload(again));
}

static void load_from_a_file(void **state)
{
    char path[256];
    CUmodule module;
    (void)state;
    write_temporary(path, PTX);
    CUresult status = cuModuleLoad(&module, path);
    unlink(path);
    assert_int_equal(status, CUDA_SUCCESS);
    get_function(module, "empty");
    OK(cuModuleUnload(module));
    FAILS(cuModuleLoad(&module, "/nowhere/nothing.ptx"), CUDA_ERROR_FILE_NOT_FOUND);
    FAILS(cuModuleLoad(&module, ""), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuModuleLoad(&module, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuModuleLoad(NULL, path), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuModuleLoad(&module, "/tmp"), CUDA_ERROR_OUT_OF_MEMORY);
    FAILS(cuModuleLoad(&module, "/dev/null"), CUDA_ERROR_INVALID_IMAGE);
    assert_int_equal(mkfifo(path, 0600), 0); /* nobody writes into it */
    status = cuModuleLoad(&module, path);
    unlink(path);
    FAILS(status, CUDA_ERROR_FILE_NOT_FOUND);
}

/* A fat binary whose PTX is for newer devices alone. Nobody has chosen the devices here, so it is taken; not where the
 * program asks for code for an older one. */
static void ptx_for_newer_devices(void **state)
{
    static const char text[] = ".version 8.7\n.target sm_120\n.address_size 64\n" PTX_STORE;
    struct newer image = newer_of(text);
    CUjit_option option = CU_JIT_TARGET;
    void *value = (void *)(uintptr_t)CU_TARGET_COMPUTE_80;
    CUmodule module;
    int version = 0;
    (void)state;
    FAILS(cuModuleLoadDataEx(&module, &image, 1, &option, &value), CUDA_ERROR_NO_BINARY_FOR_GPU);
    OK(cuModuleLoadData(&module, &image));
    OK(cuFuncGetAttribute(&version, CU_FUNC_ATTRIBUTE_PTX_VERSION, get_function(module, "store")));
    assert_int_equal(version, 120);
    check_store(module, 7);
    OK(cuModuleUnload(module));
    FAILS(cuModuleLoadData(&module, text), CUDA_ERROR_INVALID_PTX);
}

static void wrong_images(void **state)
{
    static const char *const texts[] = {"", "hello", "\177ELF", ".target sm_75\n", PTX_HEAD "nonsense\n"};
    CUmodule module = WILD(CUmodule);
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char room[256] = ""; /* a loader may read on past a short text */
        strcpy(room, texts[i]);
        CUresult status = cuModuleLoadData(&module, room);
        assert_true(status == CUDA_ERROR_INVALID_IMAGE || status == CUDA_ERROR_INVALID_PTX ||
                    status == CUDA_ERROR_NO_BINARY_FOR_GPU);
    }
    FAILS(cuModuleLoadData(&module, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuModuleLoadData(NULL, PTX), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuModuleLoadFatBinary(&module, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_ptr_equal(module, WILD(CUmodule));
    FAILS(cuModuleUnload(NULL), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuModuleUnload(WILD(CUmodule)), CUDA_ERROR_INVALID_HANDLE);
}

static void functions(void **state)
{
    CUmodule module = load_module(PTX);
    CUfunction one = get_function(module, "empty"), other[8] = {NULL}, function;
    unsigned count = 0;
    (void)state;
    assert_ptr_equal(get_function(module, "empty"), one);
    FAILS(cuModuleGetFunction(&function, module, "missing"), CUDA_ERROR_NOT_FOUND);
    FAILS(cuModuleGetFunction(&function, module, "counter"), CUDA_ERROR_NOT_FOUND);
    FAILS(cuModuleGetFunction(&function, module, ""), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuModuleGetFunction(&function, module, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuModuleGetFunction(NULL, module, "empty"), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuModuleGetFunction(&function, NULL, "empty"), CUDA_ERROR_INVALID_HANDLE);
    OK(cuModuleGetFunctionCount(&count, module));
    assert_int_equal(count, 3);
    FAILS(cuModuleGetFunctionCount(NULL, module), CUDA_ERROR_INVALID_VALUE);
    OK(cuModuleEnumerateFunctions(other, 2, module));
    assert_non_null(other[1]);
    assert_null(other[2]);
    OK(cuModuleEnumerateFunctions(other, 8, module));
    assert_non_null(other[2]);
    assert_null(other[3]);
    OK(cuModuleEnumerateFunctions(other, 0, module));
    FAILS(cuModuleEnumerateFunctions(NULL, 2, module), CUDA_ERROR_INVALID_VALUE);
    OK(cuModuleUnload(module));
    FAILS(cuModuleGetFunction(&function, module, "empty"), CUDA_ERROR_INVALID_HANDLE);
}

static void variables(void **state)
{
    CUmodule module = load_module(PTX), twin = load_module(PTX);
    CUdeviceptr address = 0, twin_address = 0;
    size_t size = 0;
    (void)state;
    OK(cuModuleGetGlobal(&address, &size, module, "counter"));
    assert_int_equal(size, 4);
    assert_int_equal(read_word(address), 7);
    OK(cuModuleGetGlobal(&twin_address, NULL, twin, "counter"));
    assert_int_not_equal(address, twin_address);
    OK(cuModuleGetGlobal(NULL, &size, module, "hidden"));
    assert_int_equal(size, 12);
    OK(cuLaunchKernel(get_function(module, "increase"), 3, 1, 1, 50, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
    assert_int_equal(read_word(address), 157);
    assert_int_equal(read_word(twin_address), 7);
    FAILS(cuModuleGetGlobal(NULL, NULL, module, "counter"), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuModuleGetGlobal(&address, &size, module, "missing"), CUDA_ERROR_NOT_FOUND);
    FAILS(cuModuleGetGlobal(&address, &size, module, "empty"), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuModuleGetGlobal(&address, &size, module, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuModuleGetGlobal(&address, &size, NULL, "counter"), CUDA_ERROR_INVALID_HANDLE);
    OK(cuModuleUnload(module));
    OK(cuModuleUnload(twin));
}

static void references_do_not_exist(void **state)
{
    CUmodule module = load_module(PTX);
    CUtexref texture;
    CUsurfref surface;
    (void)state;
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    FAILS(cuModuleGetTexRef(&texture, module, "counter"), CUDA_ERROR_NOT_FOUND);
    FAILS(cuModuleGetSurfRef(&surface, module, "counter"), CUDA_ERROR_NOT_FOUND);
    FAILS(cuModuleGetTexRef(NULL, module, "counter"), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuModuleGetTexRef(&texture, WILD(CUmodule), "counter"), CUDA_ERROR_INVALID_HANDLE);
    OK(cuModuleUnload(module));
}

static void the_context_owns_them(void **state)
{
    CUcontext other;
    CUfunction function;
    (void)state;
    CUmodule outside = load_module(PTX);
    OK(cuCtxCreate(&other, NULL, 0, 0));
    CUmodule module = load_module(PTX);
    OK(cuModuleGetFunction(&function, outside, "empty")); /* named by its handle, whatever is current */
    OK(cuCtxDestroy(other));
    FAILS(cuModuleGetFunction(&function, module, "empty"), CUDA_ERROR_INVALID_HANDLE);
    OK(cuModuleUnload(outside));
}

static void loading_mode(void **state)
{
    CUmoduleLoadingMode mode;
    (void)state;
    OK(cuModuleGetLoadingMode(&mode));
    assert_int_equal(mode, CU_MODULE_LAZY_LOADING);
    FAILS(cuModuleGetLoadingMode(NULL), CUDA_ERROR_INVALID_VALUE);
}

static size_t resident_pages(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    size_t pages = 0;
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*s %zu", &pages), 1);
    fclose(file);
    return pages;
}

/* A large variable is zero, also where another one was, and its pages are not touched at load. */
static void large_variables_are_fresh_pages(void **state)
{
    static const char text[] = PTX_HEAD
        ".visible .global .align 16 .b8 plain[536870912];\n.visible .global .align 16 .b8 begun[536870912] = { 1, 2 };\n";
    static const char small[] = PTX_HEAD ".visible .global .align 16 .b8 plain[5000001];\n";
    CUdeviceptr plain, begun;
    size_t bytes;
    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        size_t before = resident_pages();
        CUmodule module = load_module(text);
        size_t after = resident_pages();
        assert_true(after < before + (size_t)(64 << 20) / 4096);
        OK(cuModuleGetGlobal(&plain, &bytes, module, "plain"));
        assert_int_equal(bytes, 536870912);
        OK(cuModuleGetGlobal(&begun, &bytes, module, "begun"));
        for (size_t at = 0; at < bytes; at += 1 << 22)
            assert_int_equal(*(unsigned *)(plain + at), 0);
        assert_int_equal(*(unsigned *)begun, 0x201);
        assert_int_equal(*(unsigned *)(begun + 4), 0);
        assert_int_equal(*(unsigned *)(begun + bytes - 4), 0);
        OK(cuMemsetD8(plain, 0xab, 1 << 24));
        OK(cuMemsetD8(begun, 0xab, 1 << 24));
        OK(cuModuleUnload(module));
    }
    for (int turn = 0; turn < 4; turn++) {
        CUmodule module = load_module(small);
        OK(cuModuleGetGlobal(&plain, &bytes, module, "plain"));
        for (size_t at = 0; at < bytes; at++)
            assert_int_equal(*(unsigned char *)(plain + at), 0);
        OK(cuMemsetD8(plain, 0xab, bytes));
        OK(cuModuleUnload(module));
    }
}

/* As driver 580 does on an H100: what can't be launched is loaded and told. */
static void local_memory_has_a_limit(void **state)
{
    static const struct {
        unsigned long bytes;
        CUresult load, launch;
    } sizes[] = {{65536, CUDA_SUCCESS, CUDA_SUCCESS},
                 {600000, CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE},
                 {33554432, CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE},
                 {1ul << 31, CUDA_ERROR_INVALID_PTX, CUDA_SUCCESS},
                 {1ul << 33, CUDA_ERROR_INVALID_PTX, CUDA_SUCCESS}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int called = 0; called < 2; called++) {
            char text[512];
            CUmodule module;
            int told;
            snprintf(
                text, sizeof text,
                PTX_HEAD
                "%s { .local .align 16 .b8 a[%lu]; .reg .b64 %%at; mov.u64 %%at, a; st.local.u64 [%%at], %%at; ret; }\n%s",
                called ? ".func has()" : ".visible .entry k()", sizes[i].bytes,
                called ? ".visible .entry k() { call has, (); ret; }\n" : "");
            FAILS(cuModuleLoadData(&module, text), sizes[i].load);
            if (sizes[i].load != CUDA_SUCCESS)
                continue;
            CUfunction function = get_function(module, "k");
            OK(cuFuncGetAttribute(&told, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function));
            assert_int_equal(told, sizes[i].bytes);
            FAILS(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), sizes[i].launch);
            OK(cuCtxSynchronize());
            OK(cuModuleUnload(module));
        }
}

/* A thread has the local variables of one chain of calls at a time, the longest one's at most. Rings count nothing, a
 * call through a pointer as much as the largest function that it may come to: all of this is as on an H100. */
static void local_memory_adds_up_along_calls(void **state)
{
#define HAS(name, bytes, calls) \
    ".func " name "() { .local .align 16 .b8 a[" bytes \
    "]; .reg .pred %p; .reg .b32 %r; .reg .b64 %at; mov.u64 %at, a; st.local.u64 [%at], %at;\n" \
    "mov.u32 %r, %tid.y; setp.ne.u32 %p, %r, 0; @%p bra E;\n" calls "\nE: ret; }\n"
#define KERNEL(calls) \
    ".visible .entry k() { .local .align 16 .b8 a[1024]; .reg .b64 %at; mov.u64 %at, a; st.local.u64 [%at], %at;\n" calls \
    "\nret; }\n"
    static const struct {
        const char *text;
        int bytes;
        CUresult launch;
    } cases[] = {
        {HAS("f", "2000", "") HAS("g", "3008", "call f, ();") KERNEL("call g, ();"), 1024 + 3008 + 2000, CUDA_SUCCESS},
        {HAS("f", "2000", "") HAS("g", "3008", "") KERNEL("call f, (); call g, ();"), 1024 + 3008, CUDA_SUCCESS},
        {HAS("f", "300000", "") HAS("g", "300000", "") KERNEL("call f, (); call g, ();"), 1024 + 300000, CUDA_SUCCESS},
        {HAS("f", "300000", "") HAS("g", "300000", "call f, ();") HAS("h", "16", "call g, ();") KERNEL("call h, ();"),
         1024 + 16 + 600000, CUDA_ERROR_INVALID_VALUE},
        {".func g();\n" HAS("f", "2000", "call g, ();") HAS("g", "4000", "call f, ();") HAS("h", "16", "call g, ();")
             KERNEL("call h, ();"),
         1024 + 16, -1},
        {HAS("f", "2000", "") HAS("g", "4000", "")
             KERNEL("t: .callprototype () _ (); .reg .b64 %f; mov.u64 %f, f; mov.u64 %f, g; call (), %f, (), t;"),
         1024 + 4000, CUDA_SUCCESS},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2048];
        int told;
        snprintf(text, sizeof text, PTX_HEAD "%s", cases[i].text);
        CUmodule module = load_module(text);
        CUfunction function = get_function(module, "k");
        OK(cuFuncGetAttribute(&told, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function));
        assert_int_equal(told, cases[i].bytes);
        if (cases[i].launch != (CUresult)-1)
            FAILS(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), cases[i].launch);
        OK(cuCtxSynchronize());
        OK(cuModuleUnload(module));
    }
#undef HAS
#undef KERNEL
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_CONTEXT(load_and_unload),
        TEST_IN_CONTEXT(large_variables_are_fresh_pages),
        TEST_IN_CONTEXT(local_memory_has_a_limit),
        TEST_IN_CONTEXT(local_memory_adds_up_along_calls),
        TEST_IN_CONTEXT(load_from_a_file),
        TEST_IN_CONTEXT(ptx_for_newer_devices),
        TEST_IN_CONTEXT(wrong_images),
        TEST_IN_CONTEXT(functions),
        TEST_IN_CONTEXT(variables),
        TEST_IN_CONTEXT(references_do_not_exist),
        TEST_IN_CONTEXT(the_context_owns_them),
        TEST_IN_CONTEXT(loading_mode),
    };
    return cmocka_run_group_tests_name("cuModule", tests, NULL, NULL);
}
