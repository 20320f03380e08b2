/* SPDX-License-Identifier: Apache-2.0 */
/* libnvJitLink as a program uses it: inputs of each kind are linked, and what comes out runs on the driver. */
#include <cuda.h>
#include <dlfcn.h>
#include <elf.h>
#include <nvJitLink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ptx/pack.h"

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
static const char caller[] = HEAD
    ".extern .func (.param .b32 r) plus(.param .b32 x);\n"
    ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<3>;\n.reg .b64 %d<3>;\nld.param.u64 %d1, [p];\n"
    "{\n.param .b32 x;\n.param .b32 r;\nst.param.b32 [x], 7;\ncall.uni (r), plus, (x);\nld.param.b32 %r1, [r];\n}\n"
    "st.global.b32 [%d1], %r1;\nret;\n}\n";
static const char callee[] = HEAD
    ".visible .func (.param .b32 r) plus(.param .b32 x)\n{\n.reg .b32 %r<3>;\nld.param.b32 %r1, [x];\nadd.s32 %r1, %r1, 35;\n"
    "st.param.b32 [r], %r1;\nret;\n}\n";
static const char broken[] = HEAD ".visible .entry k()\n{\naddd.u32 %r1, %r2;\n}\n";

static nvJitLinkHandle make(const char *first, const char *second, const char *third)
{
    const char *options[] = {first, second, third};
    nvJitLinkHandle handle = NULL;
    assert_int_equal(nvJitLinkCreate(&handle, first ? second ? third ? 3 : 2 : 1 : 0, options), NVJITLINK_SUCCESS);
    assert_non_null(handle);
    return handle;
}

static nvJitLinkResult create_status(const char *first, const char *second)
{
    const char *options[] = {first, second};
    nvJitLinkHandle handle = NULL;
    nvJitLinkResult status = nvJitLinkCreate(&handle, first ? second ? 2 : 1 : 0, options);
    assert_non_null(handle);
    assert_int_equal(nvJitLinkDestroy(&handle), NVJITLINK_SUCCESS);
    assert_null(handle);
    return status;
}

static bool error_log_has(nvJitLinkHandle handle, const char *part)
{
    size_t size = 0;
    assert_int_equal(nvJitLinkGetErrorLogSize(handle, &size), NVJITLINK_SUCCESS);
    char *log = calloc(1, size + 1);
    assert_int_equal(nvJitLinkGetErrorLog(handle, log), NVJITLINK_SUCCESS);
    bool has = strstr(log, part) != NULL;
    if (!has)
        print_message("log: %s\n", log);
    free(log);
    return has;
}

/* Loads the image and runs kernel k, which stores 42. */
static void run(const void *image)
{
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory;
    int result = 0;
    assert_int_equal(cuInit(0), CUDA_SUCCESS);
    assert_int_equal(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    assert_int_equal(cuCtxSetCurrent(context), CUDA_SUCCESS);
    assert_int_equal(cuModuleLoadData(&module, image), CUDA_SUCCESS);
    assert_int_equal(cuModuleGetFunction(&function, module, "k"), CUDA_SUCCESS);
    assert_int_equal(cuMemAlloc(&memory, 4), CUDA_SUCCESS);
    void *parameters[] = {&memory};
    assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL), CUDA_SUCCESS);
    assert_int_equal(cuMemcpyDtoH(&result, memory, 4), CUDA_SUCCESS);
    assert_int_equal(result, 42);
    cuMemFree(memory);
    cuModuleUnload(module);
    cuDevicePrimaryCtxRelease(0);
}

static void complete_and_run(nvJitLinkHandle handle)
{
    size_t size = 0;
    assert_int_equal(nvJitLinkComplete(handle), NVJITLINK_SUCCESS);
    assert_int_equal(nvJitLinkGetLinkedCubinSize(handle, &size), NVJITLINK_SUCCESS);
    void *cubin = malloc(size);
    assert_int_equal(nvJitLinkGetLinkedCubin(handle, cubin), NVJITLINK_SUCCESS);
    run(cubin);
    free(cubin);
    assert_int_equal(nvJitLinkDestroy(&handle), NVJITLINK_SUCCESS);
}

static unsigned char *pack(const char *text, unsigned capability, size_t *size)
{
    struct mr_ptx_pack_entry entry = {text, strlen(text), capability, "test"};
    unsigned char *bytes = mr_ptx_pack(&entry, 1, size);
    assert_non_null(bytes);
    return bytes;
}

/* An object whose one section of note holds the container. */
static unsigned char *make_object(const void *container, size_t container_size, size_t *size)
{
    static const char names[] = "\0.shstrtab\0__nv_relfatbin";
    size_t at_names = sizeof(Elf64_Ehdr), at_data = (at_names + sizeof names + 7) / 8 * 8,
           at_table = at_data + container_size;
    Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                       .e_type = ET_REL,
                       .e_machine = EM_X86_64,
                       .e_version = EV_CURRENT,
                       .e_shoff = at_table,
                       .e_ehsize = sizeof head,
                       .e_shentsize = sizeof(Elf64_Shdr),
                       .e_shnum = 3,
                       .e_shstrndx = 1};
    Elf64_Shdr sections[3] = {
        {.sh_type = SHT_NULL},
        {.sh_name = 1, .sh_type = SHT_STRTAB, .sh_offset = at_names, .sh_size = sizeof names},
        {.sh_name = 11, .sh_type = SHT_PROGBITS, .sh_offset = at_data, .sh_size = container_size, .sh_addralign = 8}};
    *size = at_table + sizeof sections;
    unsigned char *bytes = calloc(1, *size);
    memcpy(bytes, &head, sizeof head);
    memcpy(bytes + at_names, names, sizeof names);
    memcpy(bytes + at_data, container, container_size);
    memcpy(bytes + at_table, sections, sizeof sections);
    return bytes;
}

static unsigned char *make_archive(const void *object, size_t object_size, size_t *size)
{
    char head[69];
    snprintf(head, sizeof head, "!<arch>\n%-16s%-12s%-6s%-6s%-8s%-10zu`\n", "a.o/", "0", "0", "0", "644", object_size);
    *size = 68 + object_size;
    unsigned char *bytes = malloc(*size);
    memcpy(bytes, head, 68);
    memcpy(bytes + 68, object, object_size);
    return bytes;
}

static void test_versions(void **state)
{
    unsigned major = 0, minor = 77;
    assert_int_equal(nvJitLinkVersion(&major, &minor), NVJITLINK_SUCCESS);
    assert_int_equal(major, 12);
    assert_int_equal(minor, 2);
    assert_int_equal(nvJitLinkVersion(NULL, &minor), NVJITLINK_ERROR_NULL_INPUT);
    (void)state;
}

static void test_options(void **state)
{
    static const struct {
        const char *first, *second;
        nvJitLinkResult status;
    } cases[] = {
        {NULL, NULL, NVJITLINK_ERROR_MISSING_ARCH},
        {"-lto", NULL, NVJITLINK_ERROR_MISSING_ARCH},
        {"-arch=sm_80", "-bogus", NVJITLINK_ERROR_UNRECOGNIZED_OPTION},
        {"-arch=sm_80", "", NVJITLINK_ERROR_UNRECOGNIZED_OPTION},
        {"-arch=sm_80", "--verbose", NVJITLINK_ERROR_UNRECOGNIZED_OPTION},
        {"-arch", "sm_80", NVJITLINK_ERROR_UNRECOGNIZED_OPTION},
        {"-arch=banana", NULL, NVJITLINK_ERROR_UNRECOGNIZED_OPTION},
        {"-arch=sm_999", NULL, NVJITLINK_ERROR_UNRECOGNIZED_ARCH},
        {"-arch=sm_13", NULL, NVJITLINK_ERROR_UNSUPPORTED_ARCH},
        {"-arch=sm_101", NULL, NVJITLINK_ERROR_UNSUPPORTED_ARCH},
        {"-arch=sm_80a", NULL, NVJITLINK_ERROR_UNRECOGNIZED_ARCH},
        {"-arch=sm_90a", NULL, NVJITLINK_SUCCESS},
        {"-arch=sm_120f", NULL, NVJITLINK_SUCCESS},
        {"-arch=compute_80", NULL, NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS},
        {"-arch=sm_80", "-ptx", NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS},
        {"-arch=sm_80", "-O2", NVJITLINK_ERROR_UNRECOGNIZED_OPTION},
        {"-arch=sm_80", "-O3", NVJITLINK_SUCCESS},
        {"-arch=sm_80", "-lto", NVJITLINK_SUCCESS},
        {"-arch=sm_80", "-maxrregcount=32", NVJITLINK_SUCCESS},
        {"-arch=sm_80", "-Xptxas=-v", NVJITLINK_SUCCESS},
        {"-arch=sm_80", "-Xptxas=--load-plugin=x", NVJITLINK_ERROR_UNRECOGNIZED_OPTION},
        {"-arch=sm_80", "-kernels-used=k", NVJITLINK_SUCCESS},
        {"-arch=sm_80", "-ftz=true", NVJITLINK_SUCCESS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (create_status(cases[i].first, cases[i].second) != cases[i].status)
            fail_msg("%s %s: not %d", cases[i].first ? cases[i].first : "", cases[i].second ? cases[i].second : "",
                     cases[i].status);
    const char *options[] = {"-arch=sm_80", "-bogus"};
    nvJitLinkHandle handle;
    assert_int_equal(nvJitLinkCreate(&handle, 2, options), NVJITLINK_ERROR_UNRECOGNIZED_OPTION);
    assert_true(error_log_has(handle, "-bogus"));
    assert_int_equal(nvJitLinkAddData(handle, NVJITLINK_INPUT_PTX, callee, sizeof callee, "a"),
                     NVJITLINK_ERROR_UNRECOGNIZED_OPTION);
    assert_int_equal(nvJitLinkComplete(handle), NVJITLINK_ERROR_UNRECOGNIZED_OPTION);
    nvJitLinkDestroy(&handle);
    (void)state;
}

static void test_null(void **state)
{
    nvJitLinkHandle handle = NULL;
    const char *options[] = {"-arch=sm_80", NULL};
    size_t size;
    assert_int_equal(nvJitLinkCreate(NULL, 0, NULL), NVJITLINK_ERROR_NULL_INPUT);
    assert_int_equal(nvJitLinkCreate(&handle, 1, NULL), NVJITLINK_ERROR_NULL_INPUT);
    assert_int_equal(nvJitLinkCreate(&handle, 2, options), NVJITLINK_ERROR_NULL_INPUT);
    assert_int_equal(nvJitLinkDestroy(NULL), NVJITLINK_ERROR_NULL_INPUT);
    assert_int_equal(nvJitLinkDestroy(&handle), NVJITLINK_ERROR_NULL_INPUT);
    assert_int_equal(nvJitLinkAddData(NULL, NVJITLINK_INPUT_PTX, callee, sizeof callee, "a"),
                     NVJITLINK_ERROR_NULL_INPUT);
    assert_int_equal(nvJitLinkComplete(NULL), NVJITLINK_ERROR_NULL_INPUT);
    assert_int_equal(nvJitLinkGetErrorLogSize(NULL, &size), NVJITLINK_ERROR_NULL_INPUT);
    handle = make("-arch=sm_80", NULL, NULL);
    assert_int_equal(nvJitLinkAddData(handle, NVJITLINK_INPUT_PTX, NULL, 5, "a"), NVJITLINK_ERROR_NULL_INPUT);
    assert_int_equal(nvJitLinkAddData(handle, NVJITLINK_INPUT_PTX, callee, 0, "a"), NVJITLINK_ERROR_INVALID_INPUT);
    assert_int_equal(nvJitLinkAddFile(handle, NVJITLINK_INPUT_PTX, NULL), NVJITLINK_ERROR_NULL_INPUT);
    assert_int_equal(nvJitLinkGetLinkedCubinSize(handle, NULL), NVJITLINK_ERROR_NULL_INPUT);
    nvJitLinkDestroy(&handle);
    (void)state;
}

static void test_ptx(void **state)
{
    nvJitLinkHandle handle = make("-arch=sm_90", "-verbose", "-time");
    size_t size = 0;
    assert_int_equal(nvJitLinkAddData(handle, NVJITLINK_INPUT_PTX, caller, sizeof caller, NULL), NVJITLINK_SUCCESS);
    assert_int_equal(nvJitLinkAddData(handle, NVJITLINK_INPUT_ANY, callee, sizeof callee - 1, "callee.ptx"),
                     NVJITLINK_SUCCESS);
    assert_int_equal(nvJitLinkGetLinkedCubinSize(handle, &size), NVJITLINK_ERROR_INTERNAL);
    assert_int_equal(nvJitLinkComplete(handle), NVJITLINK_SUCCESS);
    assert_int_equal(nvJitLinkGetInfoLogSize(handle, &size), NVJITLINK_SUCCESS);
    assert_true(size > 1);
    assert_int_equal(nvJitLinkComplete(handle), NVJITLINK_ERROR_INTERNAL);
    assert_int_equal(nvJitLinkAddData(handle, NVJITLINK_INPUT_PTX, callee, sizeof callee, "late"),
                     NVJITLINK_ERROR_INTERNAL);
    assert_int_equal(nvJitLinkGetLinkedPtxSize(handle, &size), NVJITLINK_ERROR_INVALID_INPUT);
    assert_int_equal(nvJitLinkGetLinkedCubinSize(handle, &size), NVJITLINK_SUCCESS);
    void *cubin = malloc(size);
    assert_int_equal(nvJitLinkGetLinkedCubin(handle, cubin), NVJITLINK_SUCCESS);
    run(cubin);
    free(cubin);
    nvJitLinkDestroy(&handle);
    (void)state;
}

static void test_linked_ptx(void **state)
{
    nvJitLinkHandle handle = make("-arch=compute_80", "-lto", "-ptx");
    size_t size = 0;
    assert_int_equal(nvJitLinkAddData(handle, NVJITLINK_INPUT_PTX, caller, sizeof caller, "a"), NVJITLINK_SUCCESS);
    assert_int_equal(nvJitLinkAddData(handle, NVJITLINK_INPUT_PTX, callee, sizeof callee, "b"), NVJITLINK_SUCCESS);
    assert_int_equal(nvJitLinkComplete(handle), NVJITLINK_SUCCESS);
    assert_int_equal(nvJitLinkGetLinkedCubinSize(handle, &size), NVJITLINK_ERROR_INVALID_INPUT);
    assert_int_equal(nvJitLinkGetLinkedPtxSize(handle, &size), NVJITLINK_SUCCESS);
    char *text = malloc(size);
    assert_int_equal(nvJitLinkGetLinkedPtx(handle, text), NVJITLINK_SUCCESS);
    assert_int_equal(strlen(text) + 1, size);
    run(text);
    free(text);
    nvJitLinkDestroy(&handle);
    (void)state;
}

static void test_containers(void **state)
{
    size_t size, object_size, archive_size;
    unsigned char *container = pack(callee, 80, &size);
    unsigned char *object = make_object(container, size, &object_size);
    unsigned char *archive = make_archive(object, object_size, &archive_size);
    const struct {
        nvJitLinkInputType type;
        const void *data;
        size_t size;
    } inputs[] = {
        {NVJITLINK_INPUT_FATBIN, container, size},        {NVJITLINK_INPUT_CUBIN, container, size},
        {NVJITLINK_INPUT_ANY, container, size},           {NVJITLINK_INPUT_CUBIN, callee, sizeof callee},
        {NVJITLINK_INPUT_OBJECT, object, object_size},    {NVJITLINK_INPUT_ANY, object, object_size},
        {NVJITLINK_INPUT_LIBRARY, archive, archive_size}, {NVJITLINK_INPUT_ANY, archive, archive_size},
    };
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        nvJitLinkHandle handle = make("-arch=sm_80", NULL, NULL);
        assert_int_equal(nvJitLinkAddData(handle, NVJITLINK_INPUT_PTX, caller, sizeof caller, "caller"),
                         NVJITLINK_SUCCESS);
        assert_int_equal(nvJitLinkAddData(handle, inputs[i].type, inputs[i].data, inputs[i].size, "callee"),
                         NVJITLINK_SUCCESS);
        complete_and_run(handle);
    }
    free(archive);
    free(object);
    free(container);
    (void)state;
}

static void test_files(void **state)
{
    char path[] = "/tmp/nvjitlink-XXXXXX";
    int fd = mkstemp(path);
    nvJitLinkHandle handle = make("-arch=sm_80", NULL, NULL);
    assert_int_equal(nvJitLinkAddFile(handle, NVJITLINK_INPUT_PTX, "/nonexistent/file"), NVJITLINK_ERROR_INVALID_INPUT);
    assert_true(error_log_has(handle, "/nonexistent/file"));
    assert_int_equal(nvJitLinkAddFile(handle, NVJITLINK_INPUT_PTX, path), NVJITLINK_ERROR_INVALID_INPUT);
    assert_int_equal(write(fd, callee, sizeof callee - 1), sizeof callee - 1);
    close(fd);
    assert_int_equal(nvJitLinkAddFile(handle, NVJITLINK_INPUT_ANY, path), NVJITLINK_SUCCESS);
    assert_int_equal(nvJitLinkAddData(handle, NVJITLINK_INPUT_PTX, caller, sizeof caller, "caller"), NVJITLINK_SUCCESS);
    complete_and_run(handle);
    unlink(path);
    (void)state;
}

static void test_wrong_types(void **state)
{
    unsigned char elf[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1, [16] = 2, [18] = 190};
    static const unsigned char bitcode[] = {'B', 'C', 0xc0, 0xde, 1, 2, 3, 4};
    const struct {
        nvJitLinkInputType type;
        const void *data;
        size_t size;
        nvJitLinkResult status;
    } cases[] = {
        {NVJITLINK_INPUT_NONE, callee, sizeof callee, NVJITLINK_ERROR_INCORRECT_INPUT_TYPE},
        {(nvJitLinkInputType)77, callee, sizeof callee, NVJITLINK_ERROR_INCORRECT_INPUT_TYPE},
        {NVJITLINK_INPUT_OBJECT, callee, sizeof callee, NVJITLINK_ERROR_INCORRECT_INPUT_TYPE},
        {NVJITLINK_INPUT_LIBRARY, callee, sizeof callee, NVJITLINK_ERROR_INCORRECT_INPUT_TYPE},
        {NVJITLINK_INPUT_FATBIN, callee, sizeof callee, NVJITLINK_ERROR_INCORRECT_INPUT_TYPE},
        {NVJITLINK_INPUT_INDEX, callee, sizeof callee, NVJITLINK_ERROR_INCORRECT_INPUT_TYPE},
        {NVJITLINK_INPUT_LTOIR, bitcode, sizeof bitcode, NVJITLINK_ERROR_LTO_NOT_ENABLED},
        {NVJITLINK_INPUT_ANY, "hello world", 11, NVJITLINK_ERROR_UNRECOGNIZED_INPUT},
        {NVJITLINK_INPUT_ANY, bitcode, sizeof bitcode, NVJITLINK_ERROR_UNRECOGNIZED_INPUT},
        {NVJITLINK_INPUT_CUBIN, elf, sizeof elf, NVJITLINK_ERROR_ARCH_MISMATCH},
        {NVJITLINK_INPUT_PTX, broken, sizeof broken, NVJITLINK_ERROR_PTX_COMPILE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nvJitLinkHandle handle = make("-arch=sm_80", NULL, NULL);
        assert_int_equal(nvJitLinkAddData(handle, cases[i].type, cases[i].data, cases[i].size, "the-input"),
                         cases[i].status);
        assert_true(error_log_has(handle, "the-input"));
        nvJitLinkDestroy(&handle);
    }
    (void)state;
}

static void test_bad_links(void **state)
{
    nvJitLinkHandle handle = make("-arch=sm_80", NULL, NULL);
    assert_int_equal(nvJitLinkAddData(handle, NVJITLINK_INPUT_PTX, caller, sizeof caller, "caller"), NVJITLINK_SUCCESS);
    assert_int_equal(nvJitLinkComplete(handle), NVJITLINK_ERROR_INTERNAL);
    assert_true(error_log_has(handle, "'plus'"));
    nvJitLinkDestroy(&handle);

    handle = make("-arch=sm_80", NULL, NULL);
    assert_int_equal(nvJitLinkAddData(handle, NVJITLINK_INPUT_PTX, callee, sizeof callee, "one"), NVJITLINK_SUCCESS);
    assert_int_equal(nvJitLinkAddData(handle, NVJITLINK_INPUT_PTX, callee, sizeof callee, "two"), NVJITLINK_SUCCESS);
    assert_int_equal(nvJitLinkComplete(handle), NVJITLINK_ERROR_INTERNAL);
    assert_true(error_log_has(handle, "multiple definition of 'plus'"));
    assert_true(error_log_has(handle, "input 2 is two"));
    nvJitLinkDestroy(&handle);

    handle = make("-arch=sm_75", NULL, NULL);
    assert_int_equal(nvJitLinkAddData(handle, NVJITLINK_INPUT_PTX, callee, sizeof callee, "newer"),
                     NVJITLINK_ERROR_PTX_COMPILE);
    assert_true(error_log_has(handle, "sm_80"));
    nvJitLinkDestroy(&handle);

    handle = make("-arch=sm_80", NULL, NULL);
    assert_int_equal(nvJitLinkComplete(handle), NVJITLINK_SUCCESS);
    nvJitLinkDestroy(&handle);
    (void)state;
}

/* Bytes that are cut short or changed are refused or linked, and nothing else. */
static void test_damage(void **state)
{
    size_t size, object_size, archive_size;
    unsigned char *container = pack(callee, 80, &size);
    unsigned char *object = make_object(container, size, &object_size);
    unsigned char *archive = make_archive(object, object_size, &archive_size);
    nvJitLinkHandle handle;
    unsigned refused = 0;
    for (size_t length = 1; length < archive_size; length += length < 200 ? 1 : 13) {
        unsigned char *cut = malloc(length);
        memcpy(cut, archive, length);
        handle = make("-arch=sm_80", NULL, NULL);
        refused += nvJitLinkAddData(handle, NVJITLINK_INPUT_ANY, cut, length, "cut") != NVJITLINK_SUCCESS;
        nvJitLinkDestroy(&handle);
        free(cut);
    }
    assert_true(refused > 100);
    for (size_t at = 0; at < object_size; at += at < 64 || at >= object_size - 3 * sizeof(Elf64_Shdr) ? 1 : 17) {
        static const unsigned char values[] = {0x00, 0x7f, 0xff};
        for (size_t i = 0; i < sizeof values; i++) {
            unsigned char *changed = malloc(object_size);
            memcpy(changed, object, object_size);
            changed[at] = values[i];
            handle = make("-arch=sm_80", NULL, NULL);
            (void)nvJitLinkAddData(handle, NVJITLINK_INPUT_ANY, changed, object_size, "changed");
            nvJitLinkDestroy(&handle);
            free(changed);
        }
    }
    free(archive);
    free(object);
    free(container);
    (void)state;
}

/* The names that NVIDIA's headers call, those of each version its own. */
static void test_versioned_names(void **state)
{
    static const char *const names[] = {
        "Create",         "Destroy",          "AddData",      "AddFile",         "Complete",    "GetLinkedCubinSize",
        "GetLinkedCubin", "GetLinkedPtxSize", "GetLinkedPtx", "GetErrorLogSize", "GetErrorLog", "GetInfoLogSize",
        "GetInfoLog"};
    const char *options[] = {"-arch=sm_80"};
    unsigned last = NVJITLINK_MAJOR == 12 ? 9 : 5;
    for (unsigned minor = 0; minor <= last; minor++) {
        void *found[sizeof names / sizeof *names];
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            char name[64];
            snprintf(name, sizeof name, "__nvJitLink%s_%d_%u", names[i], NVJITLINK_MAJOR, minor);
            found[i] = dlsym(RTLD_DEFAULT, name);
            assert_non_null(found[i]);
        }
        nvJitLinkHandle handle = NULL;
        assert_int_equal(((__typeof__(nvJitLinkCreate) *)found[0])(&handle, 1, options), NVJITLINK_SUCCESS);
        assert_int_equal(((__typeof__(nvJitLinkDestroy) *)found[1])(&handle), NVJITLINK_SUCCESS);
    }
    (void)state;
}

/* The limit is written into kernels that say nothing of it themselves. */
static void test_registers(void **state)
{
    nvJitLinkHandle handle = make("-arch=sm_80", "-maxrregcount=57", NULL);
    size_t size = 0;
    assert_int_equal(nvJitLinkAddData(handle, NVJITLINK_INPUT_PTX, caller, sizeof caller, "caller"), NVJITLINK_SUCCESS);
    assert_int_equal(nvJitLinkAddData(handle, NVJITLINK_INPUT_PTX, callee, sizeof callee, "callee"), NVJITLINK_SUCCESS);
    assert_int_equal(nvJitLinkComplete(handle), NVJITLINK_SUCCESS);
    assert_int_equal(nvJitLinkGetLinkedCubinSize(handle, &size), NVJITLINK_SUCCESS);
    char *cubin = malloc(size);
    assert_int_equal(nvJitLinkGetLinkedCubin(handle, cubin), NVJITLINK_SUCCESS);
    assert_non_null(memmem(cubin, size, ".maxnreg 57", 11));
    run(cubin);
    free(cubin);
    assert_int_equal(nvJitLinkDestroy(&handle), NVJITLINK_SUCCESS);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions), cmocka_unit_test(test_options),         cmocka_unit_test(test_null),
        cmocka_unit_test(test_ptx),      cmocka_unit_test(test_linked_ptx),      cmocka_unit_test(test_containers),
        cmocka_unit_test(test_files),    cmocka_unit_test(test_wrong_types),     cmocka_unit_test(test_bad_links),
        cmocka_unit_test(test_damage),   cmocka_unit_test(test_versioned_names), cmocka_unit_test(test_registers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
