/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many registers a thread may have: directives, options of the load, options of the link, and which goes before
 * which; what follows for launches.
 *
 * The kernel keeps more numbers at once than the limit allows, so that its registers are the limit itself.  Where they
 * are far more, NVIDIA's compiler may choose to keep hardly any (32 registers), so some rows say how many.
 */
#include "gold.h"

#include <stdio.h>
#include <string.h>

enum { NUMBERS = 300, TEXT = 1 << 17 };

/* Rows leave out what they don't need. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

struct rule {
    const char *name; /* "registers.…" */
    const char *directives;
    unsigned count;
    CUjit_option options[4];
    unsigned values[4];
    const char *allow;
    int kept;         /* how many numbers the kernel keeps at once, NUMBERS if 0 */
};

#define REGS CU_JIT_MAX_REGISTERS
#define THREADS CU_JIT_THREADS_PER_BLOCK
#define MOST CU_JIT_MAX_THREADS_PER_BLOCK
#define BLOCKS CU_JIT_MIN_CTA_PER_SM
#define OVER CU_JIT_OVERRIDE_DIRECTIVE_VALUES
static const char why[] = "here no kernel has so many registers that a block of 1024, or of its bound, has no room";

/* Each number is loaded, and stored behind all loads. On its way it goes through three more registers, since what
 * Millrace reports is reckoned from the registers in PTX. */
static const char *kernel(char *text, const char *name, const char *directives, int kept)
{
    int length = snprintf(
        text, TEXT,
        ".visible .entry %s(.param .u64 p)\n%s\n{\n    .reg .b64 %%rd<2>;\n    .reg .b32 %%r<1200>;\n    ld.param.u64 %%rd1, [p];\n",
        name, directives);
    for (int i = 0; i < kept; i++)
        length += snprintf(text + length, (size_t)(TEXT - length), "    ld.volatile.global.u32 %%r%d, [%%rd1+%d];\n", i,
                           4 * i);
    for (int i = kept; i < 4 * kept; i++)
        length += snprintf(text + length, (size_t)(TEXT - length), "    mov.b32 %%r%d, %%r%d;\n", i, i - kept);
    for (int i = kept; i-- > 0;)
        length += snprintf(text + length, (size_t)(TEXT - length), "    st.volatile.global.u32 [%%rd1+%d], %%r%d;\n",
                           4 * i, i + 3 * kept);
    snprintf(text + length, (size_t)(TEXT - length), "    ret;\n}\n");
    return text;
}

static const char *module_text(const char *name, const char *directives, int kept)
{
    static char whole[TEXT + 64], body[TEXT];
    snprintf(whole, sizeof whole, ".version 7.0\n.target sm_75\n.address_size 64\n%s",
             kernel(body, name, directives, kept ? kept : NUMBERS));
    return whole;
}

static int attribute(CUfunction function, CUfunction_attribute which)
{
    int value = -1;
    NEED(cuFuncGetAttribute(&value, which, function));
    return value;
}

static void apply(const struct gold_case *self)
{
    static const unsigned blocks[] = {32, 96, 256, 512, 672, 1024};
    const struct rule *rule = self->data;
    CUmodule module;
    CUfunction function;
    CUjit_option options[4];
    void *values[4];
    for (unsigned i = 0; i < rule->count; i++) {
        options[i] = rule->options[i];
        values[i] = (void *)(uintptr_t)rule->values[i];
    }
    CUresult status = cuModuleLoadDataEx(&module, module_text("many", rule->directives, rule->kept), rule->count,
                                         rule->count ? options : NULL, rule->count ? values : NULL);
    say(status);
    if (status != CUDA_SUCCESS)
        return;
    NEED(cuModuleGetFunction(&function, module, "many"));
    say_value("registers", attribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS));
    say_value("threads", attribute(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
    CUdeviceptr numbers = gold_alloc(4 * NUMBERS);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        int active = -1;
        say_int(blocks[i]);
        status = cuOccupancyMaxActiveBlocksPerMultiprocessor(&active, function, (int)blocks[i], 0);
        if (status != CUDA_SUCCESS)
            say(status);
        say_value("active", active);
        status = cuLaunchKernel(function, 1, 1, 1, blocks[i], 1, 1, 0, NULL, (void *[]){&numbers}, NULL);
        if (status != CUDA_SUCCESS)
            say(status);
    }
    NEED(cuCtxSynchronize());
    NEED(cuModuleUnload(module));
}

#define FREE "CUDA_SUCCESS registers=64 threads=1024 *"

static const struct rule rules[] = {
    {"registers.free", "", 0, {0}, {0}, FREE},
    {"registers.maxnreg_48", ".maxnreg 48", 0, {0}, {0}, NULL},
    {"registers.maxnreg_33", ".maxnreg 33", 0, {0}, {0}, NULL},
    {"registers.maxnreg_24", ".maxnreg 24", 0, {0}, {0}, NULL},
    {"registers.maxnreg_8", ".maxnreg 8", 0, {0}, {0}, NULL},
    {"registers.maxnreg_64", ".maxnreg 64", 0, {0}, {0}, NULL},
    {"registers.maxnreg_100", ".maxnreg 100", 0, {0}, {0}, FREE},
    {"registers.maxnreg_255", ".maxnreg 255", 0, {0}, {0}, FREE},
    {"registers.maxnreg_256", ".maxnreg 256", 0, {0}, {0}, FREE},
    {"registers.maxnreg_300", ".maxnreg 300", 0, {0}, {0}, FREE},
    {"registers.maxntid_1024", ".maxntid 1024", 0, {0}, {0}, NULL},
    {"registers.maxntid_800", ".maxntid 800", 0, {0}, {0}, NULL, 90},
    {"registers.maxntid_672", ".maxntid 672", 0, {0}, {0}, NULL, 90},
    {"registers.maxntid_512", ".maxntid 512", 0, {0}, {0}, NULL, 130},
    {"registers.maxntid_plane", ".maxntid 16, 16, 2", 0, {0}, {0}, NULL, 130},
    {"registers.maxntid_96", ".maxntid 96", 0, {0}, {0}, NULL, 260},
    {"registers.reqntid_512", ".reqntid 512", 0, {0}, {0}, NULL, 130},
    {"registers.reqntid_100_and_minnctapersm_9", ".reqntid 100\n.minnctapersm 9", 0, {0}, {0}, NULL},
    {"registers.maxntid_512_and_minnctapersm_4", ".maxntid 512\n.minnctapersm 4", 0, {0}, {0}, NULL},
    {"registers.maxntid_256_and_minnctapersm_3", ".maxntid 256\n.minnctapersm 3", 0, {0}, {0}, NULL, 130},
    {"registers.maxntid_160_and_minnctapersm_3", ".maxntid 160\n.minnctapersm 3", 0, {0}, {0}, NULL, 130},
    {"registers.maxntid_672_and_minnctapersm_2", ".maxntid 672\n.minnctapersm 2", 0, {0}, {0}, NULL},
    {"registers.maxntid_96_and_minnctapersm_13", ".maxntid 96\n.minnctapersm 13", 0, {0}, {0}, NULL},
    {"registers.maxntid_1024_and_minnctapersm_4", ".maxntid 1024\n.minnctapersm 4", 0, {0}, {0}, NULL},
    {"registers.maxnreg_before_maxntid", ".maxntid 512\n.maxnreg 40", 0, {0}, {0}, NULL},
    {"registers.maxnreg_200_and_maxntid_1024", ".maxntid 1024\n.maxnreg 200", 0, {0}, {0}, FREE},
    {"registers.minnctapersm_before_maxnreg", ".maxntid 512\n.minnctapersm 4\n.maxnreg 60", 0, {0}, {0}, NULL},
    {"registers.maxnreg_300_and_maxntid_1024", ".maxntid 1024\n.maxnreg 300", 0, {0}, {0}, FREE},
    {"registers.maxnreg_300_and_blocks", ".maxntid 512\n.minnctapersm 4\n.maxnreg 300", 0, {0}, {0}, NULL},
    {"registers.all_three", ".maxntid 512\n.minnctapersm 4\n.maxnreg 24", 0, {0}, {0}, NULL},
    {"registers.maxnreg_100_and_one_block", ".maxntid 1024\n.minnctapersm 1\n.maxnreg 100", 0, {0}, {0}, NULL},
    {"registers.minnctapersm_alone", ".minnctapersm 4", 0, {0}, {0}, FREE},
    {"registers.option_40", "", 1, {REGS}, {40}, NULL},
    {"registers.option_8", "", 1, {REGS}, {8}, NULL},
    {"registers.option_0", "", 1, {REGS}, {0}, NULL},
    {"registers.option_255", "", 1, {REGS}, {255}, FREE},
    {"registers.option_300", "", 1, {REGS}, {300}, FREE},
    {"registers.option_and_maxnreg", ".maxnreg 48", 1, {REGS}, {40}, NULL},
    {"registers.option_and_lower_maxnreg", ".maxnreg 32", 1, {REGS}, {40}, NULL},
    {"registers.option_and_maxnreg_300", ".maxnreg 300", 1, {REGS}, {40}, FREE},
    {"registers.option_and_maxntid", ".maxntid 512", 1, {REGS}, {40}, NULL, 130},
    {"registers.option_over_maxnreg", ".maxnreg 24", 2, {REGS, OVER}, {40, 1}, NULL},
    {"registers.option_over_maxntid", ".maxntid 512\n.minnctapersm 4", 2, {REGS, OVER}, {40, 1}, NULL},
    {"registers.option_not_over_maxnreg", ".maxnreg 24", 2, {REGS, OVER}, {40, 0}, NULL},
    {"registers.threads_1024", "", 1, {THREADS}, {1024}, NULL},
    {"registers.threads_512", "", 1, {THREADS}, {512}, FREE},
    {"registers.threads_and_maxnreg", ".maxnreg 60", 1, {THREADS}, {1024}, NULL},
    {"registers.threads_and_option", "", 2, {REGS, THREADS}, {80, 1024}, NULL},
    {"registers.threads_and_target", "", 2, {THREADS, CU_JIT_TARGET}, {256, 90}, NULL},
    {"registers.most", "", 1, {MOST}, {512}, NULL, 130},
    {"registers.most_96", "", 1, {MOST}, {96}, NULL, 260},
    {"registers.most_and_blocks", "", 2, {MOST, BLOCKS}, {512, 4}, NULL},
    {"registers.most_blocks_and_maxnreg", ".maxnreg 60", 2, {MOST, BLOCKS}, {512, 4}, NULL},
    {"registers.most_blocks_over_maxnreg", ".maxnreg 24", 3, {MOST, BLOCKS, OVER}, {512, 4, 1}, NULL},
    {"registers.most_blocks_and_maxntid", ".maxntid 512", 2, {MOST, BLOCKS}, {512, 4}, NULL},
    {"registers.most_blocks_and_higher_maxntid", ".maxntid 1024", 2, {MOST, BLOCKS}, {512, 4}, NULL},
    {"registers.most_blocks_over_higher_maxntid", ".maxntid 1024", 3, {MOST, BLOCKS, OVER}, {512, 4, 1}, NULL},
    {"registers.most_blocks_and_reqntid", ".reqntid 256", 2, {MOST, BLOCKS}, {512, 4}, NULL},
    {"registers.most_blocks_and_minnctapersm", ".minnctapersm 4", 2, {MOST, BLOCKS}, {512, 4}, NULL},
    {"registers.most_blocks_and_option", "", 3, {REGS, MOST, BLOCKS}, {40, 512, 1}, NULL},
    {"registers.blocks_alone", "", 1, {BLOCKS}, {4}, FREE},
};

static struct gold_case rule_cases[sizeof rules / sizeof *rules];
__attribute__((constructor)) static void rules_add(void)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        rule_cases[i] = (struct gold_case){.name = rules[i].name,
                                           .run = apply,
                                           .data = &rules[i],
                                           .allow = rules[i].allow,
                                           .why = rules[i].allow ? why : NULL};
    gold_register_all(rule_cases, sizeof rules / sizeof *rules);
}

/* What is written back for CU_JIT_THREADS_PER_BLOCK. */
CASE(registers, threads_told)
{
    static const unsigned asked[] = {1, 32, 100, 500, 768, 1000, 1024, 1025, 4096};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        void *value = (void *)(uintptr_t)asked[i];
        CUmodule module;
        CUresult status =
            cuModuleLoadDataEx(&module, module_text("many", ".maxnreg 32", 0), 1, (CUjit_option[]){THREADS}, &value);
        say(status);
        say_int((long long)(uintptr_t)value);
        if (status == CUDA_SUCCESS)
            NEED(cuModuleUnload(module));
    }
}

static void say_linked(unsigned count, const char *const *names, const char *const *directives)
{
    CUlinkState link;
    CUmodule module;
    CUfunction function;
    void *image;
    size_t size;
    NEED(cuLinkCreate(1, (CUjit_option[]){REGS}, (void *[]){(void *)(uintptr_t)57}, &link));
    for (unsigned i = 0; i < count; i++) {
        const char *text = module_text(names[i], directives[i], 130);
        NEED(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)text, strlen(text) + 1, names[i], 0, NULL, NULL));
    }
    say(cuLinkComplete(link, &image, &size));
    NEED(cuModuleLoadData(&module, image));
    for (unsigned i = 0; i < count; i++) {
        NEED(cuModuleGetFunction(&function, module, names[i]));
        say_int(attribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS));
    }
    NEED(cuModuleUnload(module));
    NEED(cuLinkDestroy(link));
}

CASE(registers, of_a_link)
{
    say_linked(1, (const char *const[]){"many"}, (const char *const[]){""});
}
CASE(registers, of_a_link_of_two)
{
    say_linked(2, (const char *const[]){"many", "few"}, (const char *const[]){"", ".maxnreg 30"});
}
CASE(registers, of_a_link_with_bounds)
{
    say_linked(2, (const char *const[]){"many", "bound"}, (const char *const[]){"", ".maxntid 512"});
}
