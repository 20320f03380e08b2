/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links of several PTX inputs: which symbol of which input is meant, and what is
 * said where one is missing or there twice.
 */
#include "gold.h"

#include <string.h>

#define HEAD ".version 7.0\n.target sm_75\n.address_size 64\n"
#define CALLER \
    HEAD ".extern .func (.param .b32 r) helper(.param .b32 a);\n" \
         ".visible .entry k(.param .u64 out, .param .u32 v)\n{\n" \
         "    .reg .b32 %r<4>; .reg .b64 %rd<4>;\n" \
         "    ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd2, %rd1; ld.param.u32 %r1, [v];\n" \
         "    { .param .b32 p; .param .b32 q; st.param.b32 [p], %r1;\n" \
         "      call.uni (q), helper, (p); ld.param.b32 %r2, [q]; }\n" \
         "    st.global.u32 [%rd2], %r2; ret;\n}\n"
/* A device function that multiplies by N. */
#define FUNCTION(linkage, name, n) \
    linkage " .func (.param .b32 r) " name "(.param .b32 a)\n{\n" \
            "    .reg .b32 %r<3>; ld.param.b32 %r1, [a]; mul.lo.u32 %r2, %r1, " n ";\n" \
            "    st.param.b32 [r], %r2; ret;\n}\n"
#define KERNEL(name, variable) \
    ".visible .entry " name "(.param .u64 out, .param .u32 v)\n{\n" \
    "    .reg .b32 %r<3>; .reg .b64 %rd<4>;\n" \
    "    ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd2, %rd1;\n" \
    "    ld.global.u32 %r1, [" variable "]; st.global.u32 [%rd2], %r1; ret;\n}\n"

/* Links the texts (up to three), says each status, and what kernel NAME then stores when given 7. */
static void link_and_run(const char *name, const char *a, const char *b, const char *c, const char *logged)
{
    const char *texts[] = {a, b, c};
    static char log[8192];
    log[0] = 0;
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(size_t)sizeof log};
    CUlinkState link;
    NEED(cuLinkCreate(2, options, values, &link));
    CUresult status = CUDA_SUCCESS;
    for (int i = 0; i < 3 && texts[i] && status == CUDA_SUCCESS; i++)
        say(status =
                cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)texts[i], strlen(texts[i]) + 1, NULL, 0, NULL, NULL));
    void *image = NULL;
    size_t size = 0;
    if (status == CUDA_SUCCESS)
        say(status = cuLinkComplete(link, &image, &size));
    if (logged)
        say_if("logged", strstr(log, logged) != NULL);
    if (status == CUDA_SUCCESS) {
        CUmodule module;
        CUfunction function;
        say(cuModuleLoadData(&module, image));
        NEED(cuModuleGetFunction(&function, module, name));
        CUdeviceptr out = gold_alloc_words(1, 0);
        unsigned value = 7;
        void *params[] = {&out, &value};
        NEED(gold_launch(function, 1, NULL, params));
        NEED(cuCtxSynchronize());
        say_int(gold_word(out));
        NEED(cuModuleUnload(module));
        NEED(cuMemFree(out));
    }
    NEED(cuLinkDestroy(link));
}

CASE(link_many, function_of_a_later_input)
{
    link_and_run("k", CALLER, HEAD FUNCTION(".visible", "helper", "3"), NULL, NULL);
}
CASE(link_many, function_of_an_earlier_input)
{
    link_and_run("k", HEAD FUNCTION(".visible", "helper", "3"), CALLER, NULL, NULL);
}
CASE(link_many, three_inputs)
{
    link_and_run("other", CALLER, HEAD FUNCTION(".visible", "helper", "3"),
                 HEAD ".visible .global .u32 own = 5;\n" KERNEL("other", "own"), NULL);
}
CASE(link_many, function_missing)
{
    link_and_run("k", CALLER, NULL, NULL, "helper");
}
CASE(link_many, function_missing_in_two)
{
    link_and_run("k", CALLER, HEAD ".visible .global .u32 own;\n" KERNEL("other", "own"), NULL, "helper");
}
CASE(link_many, function_not_visible)
{
    link_and_run("k", CALLER, HEAD FUNCTION("", "helper", "3"), NULL, "helper");
}
CASE(link_many, function_twice)
{
    link_and_run("k", CALLER, HEAD FUNCTION(".visible", "helper", "3"), HEAD FUNCTION(".visible", "helper", "4"),
                 "helper");
}
CASE(link_many, weak_function_twice)
{
    link_and_run("k", CALLER, HEAD FUNCTION(".weak", "helper", "3"), HEAD FUNCTION(".weak", "helper", "4"), "helper");
}
CASE(link_many, weak_before_visible)
{
    link_and_run("k", CALLER, HEAD FUNCTION(".weak", "helper", "3"), HEAD FUNCTION(".visible", "helper", "4"),
                 "helper");
}
CASE(link_many, visible_before_weak)
{
    link_and_run("k", CALLER, HEAD FUNCTION(".visible", "helper", "3"), HEAD FUNCTION(".weak", "helper", "4"),
                 "helper");
}
CASE(link_many, own_functions_of_one_name)
{
    link_and_run("k", CALLER, HEAD FUNCTION(".visible", "helper", "3") FUNCTION("", "own", "5"),
                 HEAD FUNCTION("", "own", "6"), "own");
}
CASE(link_many, kernel_twice)
{
    link_and_run("k", HEAD ".visible .global .u32 x = 1;\n" KERNEL("k", "x"),
                 HEAD ".visible .global .u32 y = 2;\n" KERNEL("k", "y"), NULL, "k");
}
CASE(link_many, variable_across)
{
    link_and_run("k", HEAD ".extern .global .u32 shared_one;\n" KERNEL("k", "shared_one"),
                 HEAD ".visible .global .u32 shared_one = 42;\n", NULL, NULL);
}
CASE(link_many, variable_missing)
{
    link_and_run("k", HEAD ".extern .global .u32 gone;\n" KERNEL("k", "gone"), NULL, NULL, "gone");
}
CASE(link_many, variable_twice)
{
    link_and_run("k", HEAD ".visible .global .u32 x = 1;\n" KERNEL("k", "x"), HEAD ".visible .global .u32 x = 2;\n",
                 NULL, "x");
}
CASE(link_many, own_variables_of_one_name)
{
    link_and_run("k", HEAD ".global .u32 x = 1;\n" KERNEL("k", "x"), HEAD ".global .u32 x = 2;\n" KERNEL("other", "x"),
                 NULL, NULL);
}
CASE(link_many, own_variables_of_one_name_the_second)
{
    link_and_run("other", HEAD ".global .u32 x = 1;\n" KERNEL("k", "x"),
                 HEAD ".global .u32 x = 2;\n" KERNEL("other", "x"), NULL, NULL);
}
CASE(link_many, weak_variable_twice)
{
    link_and_run("k", HEAD ".weak .global .u32 x = 1;\n" KERNEL("k", "x"), HEAD ".weak .global .u32 x = 2;\n", NULL,
                 NULL);
}
CASE(link_many, common_and_visible)
{
    link_and_run("k", HEAD ".common .global .u32 x;\n" KERNEL("k", "x"), HEAD ".visible .global .u32 x = 2;\n", NULL,
                 NULL);
}
CASE(link_many, common_twice)
{
    link_and_run("k", HEAD ".common .global .u32 x;\n" KERNEL("k", "x"), HEAD ".common .global .u32 x;\n", NULL, NULL);
}
CASE(link_many, address_of_anothers_variable)
{
    link_and_run("k", HEAD ".extern .global .u32 x;\n.visible .global .u64 p = generic(x);\n" KERNEL("other", "x"),
                 HEAD ".visible .global .align 4 .u32 x = 9;\n" KERNEL("k", "x"), NULL, NULL);
}
CASE(link_many, different_versions)
{
    link_and_run("k", CALLER, ".version 6.4\n.target sm_70\n.address_size 64\n" FUNCTION(".visible", "helper", "3"),
                 NULL, NULL);
}
