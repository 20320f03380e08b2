/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Kernels compiled by clang, against the same text run thread by thread on the
 * host: see codegen_kernels.h. The arguments are the PTX files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codegen_rig.h"

#pragma GCC diagnostic ignored "-Wimplicit-fallthrough"
#include "codegen_kernels.h"

u32 host_thread;

#define INPUTS 1024u
#define THREADS 480u

static u32 input[INPUTS] __attribute__((aligned(64)));
static const char *path;

typedef void host_kernel(const u32 *in, u32 *out, u32 n);

static void compare(struct rig *rig, const char *name, host_kernel *host, unsigned blocks, unsigned threads)
{
    u32 expected[THREADS + 32], actual[THREADS + 32];
    struct {
        const u32 *in;
        u32 *out;
        u32 n;
    } params = {input, actual, INPUTS};
    memset(expected, 0xaa, sizeof expected);
    memset(actual, 0xaa, sizeof actual);
    for (host_thread = 0; host_thread < blocks * threads; host_thread++)
        host(input, expected, INPUTS);
    rig_run(rig, name, blocks, threads, &params, 20);
    for (unsigned i = 0; i < THREADS + 32; i++)
        if (expected[i] != actual[i])
            fail_msg("%s in %s, variant %u, %u x %u: thread %u gives %#x, expected %#x", name, path, rig_variant,
                     blocks, threads, i, actual[i], expected[i]);
}

static struct rig *rig;

static void one(const char *name, host_kernel *host)
{
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        compare(rig, name, host, 2, 96);
        compare(rig, name, host, 2, 192);
        compare(rig, name, host, 3, 50);
        compare(rig, name, host, 1, 1);
    }
    rig_variant = 0;
}

#define X(name) \
    static void test_##name(void **unused) \
    { \
        (void)unused; \
        one(#name, name); \
    }
ALL_KERNELS(X)
#undef X

int main(int argc, char **argv)
{
    int failed = 0;
    for (u32 i = 0; i < INPUTS; i++)
        input[i] = mix(i * 77 + 5);
    const struct CMUnitTest tests[] = {
#define X(name) cmocka_unit_test(test_##name),
        ALL_KERNELS(X)
#undef X
    };
    for (int i = 1; i < argc; i++) {
        path = argv[i];
        rig = rig_open_file(path);
        failed += cmocka_run_group_tests(tests, NULL, NULL);
        rig_close(rig);
    }
    return failed;
}
