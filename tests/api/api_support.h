/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of devices, contexts, modules and launches share: short checks, a context, PTX texts. */
#ifndef TESTS_API_API_SUPPORT_H
#define TESTS_API_API_SUPPORT_H

#include <cuda.h>
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

#define OK(call) assert_int_equal(call, CUDA_SUCCESS)
#define FAILS(call, status) assert_int_equal(call, status)

/* A handle that was never given out. */
#define WILD(type) ((type)(uintptr_t)0x7f0000001230u)

/* Makes a context and leaves it current; for set-up and tear-down of a test. */
static inline int begin_context(void **state)
{
    CUcontext context;
    if (cuInit(0) != CUDA_SUCCESS || cuCtxCreate_v4(&context, NULL, 0, 0) != CUDA_SUCCESS)
        return -1;
    *state = context;
    return 0;
}

static inline int end_context(void **state)
{
    return cuCtxDestroy_v2(*state) == CUDA_SUCCESS ? 0 : -1;
}

#define TEST_IN_CONTEXT(function) cmocka_unit_test_setup_teardown(function, begin_context, end_context)

#define PTX_HEAD ".version 7.0\n.target sm_75\n.address_size 64\n"

/* store(u32 *to, u32 value): *to = value. */
#define PTX_STORE \
    ".visible .entry store(.param .u64 to, .param .u32 value)\n{\n" \
    "    .reg .b64 %rd<3>;\n    .reg .b32 %r<2>;\n" \
    "    ld.param.u64 %rd1, [to];\n    cvta.to.global.u64 %rd2, %rd1;\n    ld.param.u32 %r1, [value];\n" \
    "    st.global.u32 [%rd2], %r1;\n    ret;\n}\n"

/* increase(): adds 1 to the variable counter, once for each thread. */
#define PTX_COUNTER \
    ".visible .global .align 4 .u32 counter = 7;\n.global .align 4 .b8 hidden[12];\n" \
    ".visible .entry increase()\n{\n    .reg .b32 %r<2>;\n    .reg .b64 %rd<2>;\n" \
    "    mov.u64 %rd1, counter;\n    atom.global.add.u32 %r1, [%rd1], 1;\n    ret;\n}\n"

#define PTX_EMPTY ".visible .entry empty()\n{\n    ret;\n}\n"

/* bounded: at most 64 threads, 1024 bytes of static shared memory. exactly: blocks of 32 threads only. */
#define PTX_BOUNDED \
    ".visible .entry bounded(.param .u64 to)\n.maxntid 64, 1, 1\n{\n    .shared .align 4 .b8 room[1024];\n" \
    "    .reg .b64 %rd<3>;\n    .reg .b32 %r<2>;\n    ld.param.u64 %rd1, [to];\n    cvta.to.global.u64 %rd2, %rd1;\n" \
    "    mov.u32 %r1, %ntid.x;\n    st.shared.u32 [room], %r1;\n    ld.shared.u32 %r1, [room];\n" \
    "    st.global.u32 [%rd2], %r1;\n    ret;\n}\n" \
    ".visible .entry exactly()\n.reqntid 32, 1, 1\n{\n    ret;\n}\n"

static inline CUmodule load_module(const char *ptx)
{
    CUmodule module = NULL;
    OK(cuModuleLoadData(&module, ptx));
    assert_non_null(module);
    return module;
}

static inline CUfunction get_function(CUmodule module, const char *name)
{
    CUfunction function = NULL;
    OK(cuModuleGetFunction(&function, module, name));
    assert_non_null(function);
    return function;
}

/* A new file with this text; its name goes to `path`, which has room for 256 bytes. The caller unlinks it. */
static inline void write_temporary(char *path, const char *text)
{
    const char *folder = getenv("TMPDIR");
    snprintf(path, 256, "%s/millrace-test-XXXXXX", folder && *folder ? folder : "/tmp");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static inline unsigned read_word(CUdeviceptr address)
{
    unsigned word = 0;
    OK(cuMemcpyDtoH_v2(&word, address, sizeof word));
    return word;
}

/* A fat binary of one text for a newer device than any test has. */
struct newer {
    struct {
        unsigned magic;
        unsigned short version, size;
        unsigned long long rest;
    } head;
    struct {
        unsigned short kind, version;
        unsigned size;
        unsigned long long body;
        unsigned others[3], target, more[8];
    } entry;
    char body[1024];
};

static inline struct newer newer_of(const char *text)
{
    struct newer image = {.head = {0xba55ed50u, 1, 16, sizeof image.entry + sizeof image.body},
                          .entry = {.kind = 1, .version = 0x101, .size = 64, .body = sizeof image.body, .target = 120}};
    assert_true(strlen(text) < sizeof image.body);
    strcpy(image.body, text);
    return image;
}

/* Runs the kernel of PTX_STORE in this module, and looks at what it has stored. */
static inline void check_store(CUmodule module, unsigned value)
{
    CUdeviceptr to;
    OK(cuMemAlloc_v2(&to, sizeof value));
    void *params[] = {&to, &value};
    OK(cuLaunchKernel(get_function(module, "store"), 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    assert_int_equal(read_word(to), value);
    OK(cuMemFree_v2(to));
}

#endif
