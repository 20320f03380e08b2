/* SPDX-License-Identifier: Apache-2.0 */
/* Links: one input comes out as an image that loads; several, and inputs of other kinds, are refused; logs and files. */
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
    CUdeviceptr to;
    unsigned value = 6;
    void *image = NULL, *params[] = { &to, &value };
    size_t size = 0;
    (void)state;
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, PTX, sizeof PTX, "store.ptx", 0, NULL, NULL));
    OK(cuLinkComplete(link, &image, &size));
    assert_non_null(image);
    assert_true(size >= sizeof PTX);
    OK(cuModuleLoadData(&module, image));
    OK(cuLinkDestroy(link));
    OK(cuMemAlloc(&to, 4));
    OK(cuLaunchKernel(get_function(module, "store"), 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cuCtxSynchronize());
    assert_int_equal(read_word(to), 6);
    FAILS(cuLinkDestroy(link), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuLinkComplete(link, &image, &size), CUDA_ERROR_INVALID_HANDLE);
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
    OK(cuLinkDestroy(link));
}

static void what_cannot_be_linked(void **state)
{
    CUlinkState link = make();
    void *image = WILD(void *);
    size_t size = 5;
    char bytes[16] = { 0 };
    (void)state;
    FAILS(cuLinkComplete(link, &image, &size), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLinkAddData(link, CU_JIT_INPUT_CUBIN, bytes, sizeof bytes, NULL, 0, NULL, NULL), CUDA_ERROR_NO_BINARY_FOR_GPU);
    FAILS(cuLinkAddData(link, (CUjitInputType)99, bytes, sizeof bytes, NULL, 0, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLinkAddData(link, CU_JIT_INPUT_PTX, NULL, 5, NULL, 0, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLinkAddData(link, CU_JIT_INPUT_PTX, bytes, 0, NULL, 0, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLinkAddData(WILD(CUlinkState), CU_JIT_INPUT_PTX, bytes, 1, NULL, 0, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuLinkAddData(NULL, CU_JIT_INPUT_PTX, bytes, 1, NULL, 0, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, PTX, sizeof PTX, NULL, 0, NULL, NULL));
    FAILS(cuLinkAddData(link, CU_JIT_INPUT_PTX, PTX_HEAD PTX_EMPTY, sizeof PTX_HEAD PTX_EMPTY, NULL, 0, NULL, NULL),
          CUDA_ERROR_NOT_SUPPORTED);
    FAILS(cuLinkComplete(link, &image, &size), CUDA_ERROR_NOT_SUPPORTED);
    assert_ptr_equal(image, WILD(void *));
    OK(cuLinkDestroy(link));
    FAILS(cuLinkCreate(0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLinkCreate(1, NULL, NULL, &link), CUDA_ERROR_INVALID_VALUE);
}

/* Buffers that cuLinkCreate was given receive what adding an input says. */
static void logs(void **state)
{
    static const char broken[] = PTX_HEAD ".visible .entry broken()\n{\n    frobnicate.u32 %r1;\n    ret;\n}\n";
    char log[512] = "untouched";
    CUjit_option names[] = { CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES }, unknown = (CUjit_option)999;
    void *values[] = { log, (void *)sizeof log };
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
        TEST_IN_CONTEXT(one_input), TEST_IN_CONTEXT(sizes_count), TEST_IN_CONTEXT(a_file), TEST_IN_CONTEXT(what_cannot_be_linked),
        TEST_IN_CONTEXT(logs),
    };
    return cmocka_run_group_tests_name("cuLink", tests, NULL, NULL);
}
