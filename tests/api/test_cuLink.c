/* SPDX-License-Identifier: Apache-2.0 */
/* Links: one input, and several that refer to each other, come out as an image that loads; other kinds are refused;
 * logs and files. */
#include "api_support.h"

#define PTX PTX_HEAD PTX_STORE

static CUlinkState make(void)
{
    CUlinkState link = NULL;
    OK(cuLinkCreate(0, NULL, NULL, &link));
    return link;
}

static void one_input(void **state)
{
    CUlinkState link = make();
    CUmodule module;
    void *image = NULL;
    size_t size = 0;
    (void)state;
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, PTX, sizeof PTX, "store.ptx", 0, NULL, NULL));
    OK(cuLinkComplete(link, &image, &size));
    assert_non_null(image);
    assert_true(size >= sizeof PTX);
    OK(cuModuleLoadData(&module, image));
    OK(cuLinkDestroy(link));
    check_store(module, 6);
    FAILS(cuLinkDestroy(link), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuLinkComplete(link, &image, &size), CUDA_ERROR_INVALID_HANDLE);
}

/* Containers that have PTX for newer devices alone are taken, as a module's is; so is what they are linked to. Texts
 * for such devices are not. */
static void for_newer_devices(void **state)
{
    static const char other[] = ".version 8.7\n.target sm_120\n.address_size 64\n.visible .func nothing() { ret; }\n";
    static const char store[] = ".version 8.7\n.target sm_120\n.address_size 64\n" PTX_STORE;
    struct newer images[] = {newer_of(store), newer_of(other)};
    CUlinkState link = make();
    CUmodule module;
    void *image = NULL;
    size_t size = 0;
    (void)state;
    for (int i = 0; i < 2; i++)
        OK(cuLinkAddData(link, CU_JIT_INPUT_FATBINARY, &images[i], sizeof images[i], NULL, 0, NULL, NULL));
    OK(cuLinkComplete(link, &image, &size));
    assert_true(size > 0);
    OK(cuModuleLoadData(&module, image));
    check_store(module, 9);
    OK(cuModuleUnload(module));
    OK(cuLinkDestroy(link));
    link = make();
    FAILS(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)store, sizeof store, NULL, 0, NULL, NULL),
          CUDA_ERROR_INVALID_PTX);
    OK(cuLinkDestroy(link));
}

/* NVIDIA's nvcc -rdc=true puts its device runtime into programs, as PTX for newer devices. It calls functions that no
 * driver but NVIDIA's has; what grids need of it is linked in its place, and is for this device. */
static void nvidias_device_runtime(void **state)
{
    static const char user[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                               ".extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 scope);\n"
                               ".visible .entry k(.param .u64 out)\n{\n.param .b32 scope; .param .b64 handle;\n"
                               ".reg .b64 %d<3>;\nst.param.b32 [scope], 1;\n"
                               "call.uni (handle), cudaCGGetIntrinsicHandle, (scope);\n"
                               "ld.param.b64 %d1, [handle];\nld.param.u64 %d2, [out];\nst.u64 [%d2], %d1;\nret;\n}\n";
    static const char theirs[] = ".version 8.7\n.target sm_120\n.address_size 64\n"
                                 ".extern .func (.param .b32 r) cnpSetLastError(.param .b32 a);\n"
                                 ".visible .func (.param .b32 r) cudaSomething()\n{\n.param .b32 given, got;\n"
                                 ".reg .b32 %r1;\nst.param.b32 [given], 1;\n"
                                 "call.uni (got), cnpSetLastError, (given);\nld.param.b32 %r1, [got];\n"
                                 "st.param.b32 [r], %r1;\nret;\n}\n";
    struct newer runtime = newer_of(theirs);
    CUlinkState link = make();
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr out;
    uint64_t handle = 0;
    void *image = NULL;
    size_t size = 0;
    (void)state;
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)user, sizeof user, NULL, 0, NULL, NULL));
    OK(cuLinkAddData(link, CU_JIT_INPUT_FATBINARY, &runtime, sizeof runtime, NULL, 0, NULL, NULL));
    OK(cuLinkComplete(link, &image, &size));
    OK(cuModuleLoadData(&module, image));
    OK(cuModuleGetFunction(&kernel, module, "k"));
    OK(cuMemAlloc(&out, sizeof handle));
    OK(cuLaunchCooperativeKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&out}));
    OK(cuMemcpyDtoH(&handle, out, sizeof handle));
    assert_true(handle != 0);
    OK(cuMemFree(out));
    OK(cuModuleUnload(module));
    OK(cuLinkDestroy(link));
}

/* The text need not end in NUL when its size is given. */
static void sizes_count(void **state)
{
    char *text = malloc(sizeof PTX - 1);
    CUlinkState link = make();
    (void)state;
    assert_non_null(text);
    memcpy(text, PTX, sizeof PTX - 1);
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, text, sizeof PTX - 1, NULL, 0, NULL, NULL));
    free(text);
    void *image;
    CUmodule module;
    OK(cuLinkComplete(link, &image, NULL));
    OK(cuModuleLoadData(&module, image));
    OK(cuLinkDestroy(link));
}

static void a_file(void **state)
{
    char path[256];
    CUlinkState link = make();
    void *image;
    size_t size;
    (void)state;
    write_temporary(path, PTX);
    CUresult status = cuLinkAddFile(link, CU_JIT_INPUT_PTX, path, 0, NULL, NULL);
    unlink(path);
    assert_int_equal(status, CUDA_SUCCESS);
    OK(cuLinkComplete(link, &image, &size));
    FAILS(cuLinkAddFile(link, CU_JIT_INPUT_PTX, "/nowhere/nothing", 0, NULL, NULL), CUDA_ERROR_FILE_NOT_FOUND);
    FAILS(cuLinkAddFile(link, CU_JIT_INPUT_PTX, NULL, 0, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLinkAddFile(link, CU_JIT_INPUT_PTX, "/dev/null", 0, NULL, NULL), CUDA_ERROR_INVALID_IMAGE);
    OK(cuLinkDestroy(link));
}

static void what_cannot_be_linked(void **state)
{
    CUlinkState link = make();
    void *image = WILD(void *);
    size_t size = 5;
    char bytes[16] = {0};
    (void)state;
    FAILS(cuLinkComplete(link, &image, &size), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLinkAddData(link, CU_JIT_INPUT_CUBIN, bytes, sizeof bytes, NULL, 0, NULL, NULL),
          CUDA_ERROR_NO_BINARY_FOR_GPU);
    FAILS(cuLinkAddData(link, CU_JIT_INPUT_OBJECT, bytes, sizeof bytes, NULL, 0, NULL, NULL), CUDA_ERROR_INVALID_IMAGE);
    FAILS(cuLinkAddData(link, CU_JIT_INPUT_LIBRARY, PTX, sizeof PTX, NULL, 0, NULL, NULL), CUDA_ERROR_INVALID_IMAGE);
    FAILS(cuLinkAddData(link, (CUjitInputType)99, bytes, sizeof bytes, NULL, 0, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLinkAddData(link, CU_JIT_INPUT_PTX, NULL, 5, NULL, 0, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLinkAddData(link, CU_JIT_INPUT_PTX, bytes, 0, NULL, 0, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLinkAddData(WILD(CUlinkState), CU_JIT_INPUT_PTX, bytes, 1, NULL, 0, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuLinkAddData(NULL, CU_JIT_INPUT_PTX, bytes, 1, NULL, 0, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, PTX, sizeof PTX, NULL, 0, NULL, NULL));
    FAILS(cuLinkAddData(link, CU_JIT_INPUT_PTX, PTX, sizeof PTX, NULL, 0, NULL, NULL), CUDA_ERROR_UNKNOWN);
    assert_ptr_equal(image, WILD(void *));
    OK(cuLinkDestroy(link));
    FAILS(cuLinkCreate(0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLinkCreate(1, NULL, NULL, &link), CUDA_ERROR_INVALID_VALUE);
}

/* A kernel calls a function of another input; each has a variable of its own called x; a weak function gives way. */
static void several_inputs(void **state)
{
    static const char caller[] = PTX_HEAD
        ".extern .func (.param .b32 r) twice(.param .b32 a);\n.global .u32 x = 5;\n"
        ".weak .func (.param .b32 r) more(.param .b32 a)\n{\n    st.param.b32 [r], 1; ret;\n}\n"
        ".visible .entry k(.param .u64 out)\n{\n    .reg .b32 %r<5>; .reg .b64 %rd<2>;\n    ld.param.u64 %rd1, [out];\n"
        "    ld.global.u32 %r1, [x];\n    { .param .b32 p; .param .b32 q; st.param.b32 [p], %r1;\n"
        "      call (q), twice, (p); ld.param.b32 %r2, [q]; st.param.b32 [p], %r2; call (q), more, (p); ld.param.b32 %r3, [q]; }\n"
        "    st.global.u32 [%rd1], %r3; ret;\n}\n"
        ".section .debug_loc\n{\n.b8 7,0\n.b32 .debug_info+4\n}\n.section .debug_str {\nL1:\n.b8 65\n}\n";
    static const char callee[] = PTX_HEAD
        ".file 1 \"a.c\"\n.section .debug_info\n{\n.b8 1\n}\n.global .u32 x = 7;\n.visible .func (.param .b32 r) twice(.param .b32 a)\n{\n"
        "    .reg .b32 %r<4>; ld.param.b32 %r1, [a]; ld.global.u32 %r2, [x]; mad.lo.u32 %r3, %r1, 2, %r2;\n"
        "    st.param.b32 [r], %r3; ret;\n}\n"
        ".visible .func (.param .b32 r) more(.param .b32 a)\n{\n    .reg .b32 %r<3>; ld.param.b32 %r1, [a];\n"
        "    add.u32 %r2, %r1, 100; st.param.b32 [r], %r2; ret;\n}\n";
    CUlinkState link = make();
    CUmodule module;
    CUdeviceptr to;
    void *image, *params[] = {&to};
    size_t size;
    char log[512] = "";
    CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    (void)state;
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)caller, sizeof caller, NULL, 0, NULL, NULL));
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)callee, sizeof callee, NULL, 0, NULL, NULL));
    OK(cuLinkComplete(link, &image, &size));
    OK(cuModuleLoadData(&module, image));
    OK(cuMemAlloc(&to, 4));
    OK(cuLaunchKernel(get_function(module, "k"), 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cuCtxSynchronize());
    assert_int_equal(read_word(to), 5 * 2 + 7 + 100);
    OK(cuMemFree(to));
    OK(cuModuleUnload(module));
    OK(cuLinkDestroy(link));
    OK(cuLinkCreate(2, names, values, &link));
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)caller, sizeof caller, NULL, 0, NULL, NULL));
    FAILS(cuLinkComplete(link, &image, &size), CUDA_ERROR_UNKNOWN);
    assert_non_null(strstr(log, "twice"));
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)callee, sizeof callee, NULL, 0, NULL, NULL));
    OK(cuLinkComplete(link, &image, &size));
    FAILS(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)callee, sizeof callee, NULL, 0, NULL, NULL),
          CUDA_ERROR_UNKNOWN);
    assert_non_null(strstr(log, "multiple definition of 'twice'"));
    OK(cuLinkDestroy(link));
}

/* Buffers that cuLinkCreate was given receive what adding an input says. */
static void logs(void **state)
{
    static const char broken[] = PTX_HEAD ".visible .entry broken()\n{\n    frobnicate.u32 %r1;\n    ret;\n}\n";
    char log[512] = "untouched";
    CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES}, unknown = (CUjit_option)999;
    void *values[] = {log, (void *)sizeof log};
    CUlinkState link;
    (void)state;
    OK(cuLinkCreate(2, names, values, &link));
    assert_string_equal(log, "untouched");
    names[0] = names[1] = unknown; /* was copied */
    FAILS(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)broken, sizeof broken, NULL, 0, NULL, NULL),
          CUDA_ERROR_INVALID_PTX);
    assert_non_null(strstr(log, "frobnicate"));
    OK(cuLinkDestroy(link));
    FAILS(cuLinkCreate(1, &unknown, values, &link), CUDA_ERROR_INVALID_VALUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_CONTEXT(one_input), TEST_IN_CONTEXT(for_newer_devices),      TEST_IN_CONTEXT(sizes_count),
        TEST_IN_CONTEXT(a_file),    TEST_IN_CONTEXT(what_cannot_be_linked),  TEST_IN_CONTEXT(several_inputs),
        TEST_IN_CONTEXT(logs),      TEST_IN_CONTEXT(nvidias_device_runtime),
    };
    return cmocka_run_group_tests_name("cuLink", tests, NULL, NULL);
}
