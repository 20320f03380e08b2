/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of one grid that wait for each other by plain loads, in loops that look like others: on hardware all blocks of such a grid run at once, and
 * here, on two workers, the later ones begin when nothing moves any more. */
#include "api_support.h"

enum { BLOCKS = 12 };

/* Each of the blocks adds one to the first word, and waits until it is the number of blocks. The loop also stores something, for all that anybody knows to the
 * same place, so that the load stays in it. */
#define KERNEL(poll)                                                                                                                                  \
    ".visible .entry meet(.param .u64 word, .param .u64 other)\n{\n .reg .b64 %d<3>; .reg .b32 %r<9>; .reg .pred %p<3>;\n ld.param.u64 %d0, [word];\n"  \
    " ld.param.u64 %d1, [other];\n mov.u32 %r3, %nctaid.x;\n atom.global.add.u32 %r0, [%d0], 1;\nagain:\n" poll                                         \
    " setp.lt.u32 %p0, %r1, %r3;\n @%p0 bra again;\n ret;\n}\n"

static void meet(const char *ptx)
{
    CUmodule module;
    CUfunction function;
    CUdeviceptr words, other;
    unsigned here = 0;
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&function, module, "meet"));
    OK(cuMemAlloc(&words, 64));
    OK(cuMemsetD8(words, 0, 64));
    other = words + 16;
    OK(cuLaunchKernel(function, BLOCKS, 1, 1, 1, 1, 1, 0, NULL, (void *[]){ &words, &other }, NULL));
    OK(cuMemcpyDtoH(&here, words, sizeof here));
    assert_int_equal(here, BLOCKS);
    OK(cuMemFree(words));
    OK(cuModuleUnload(module));
}

static void test_loads_in_the_loop(void **state)
{
    (void)state;
    meet(PTX_HEAD KERNEL(" st.global.u32 [%d1], %r3;\n ld.global.u32 %r1, [%d0];\n"));
}

/* A function that loads, which nobody expects to wait. */
static void test_a_call_in_the_loop(void **state)
{
    (void)state;
    meet(PTX_HEAD ".func (.reg .b32 value) look(.reg .b64 at, .reg .b64 other)\n{\n st.global.u32 [other], 1;\n ld.global.u32 value, [at];\n ret;\n}\n"
        KERNEL(" call (%r1), look, (%d0, %d1);\n"));
}

int main(void)
{
    setenv("MILLRACE_WORKERS", "2", 1);
    const struct CMUnitTest tests[] = {
        TEST_IN_CONTEXT(test_loads_in_the_loop),
        TEST_IN_CONTEXT(test_a_call_in_the_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
