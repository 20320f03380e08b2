/* SPDX-License-Identifier: Apache-2.0 */
/* Growth: what a module costs when its text gets four and sixteen times as long, for many ways of being long. Processor
 * time of loading it, and for those with a long kernel of the first launch, which compiles (in a hurry, or, in the ways
 * called optimised, in full); a number for n, and how many times that 4n and 16n take. 4 and 16 is growth by length.
 *
 *     bench_growth [divisor of the sizes, by default 1 [way [count]]]
 *
 * With a way, that one alone; with a count, its time once. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>

#include "bench.h"

static CUdeviceptr memory;

static double processor_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static void put_begin(FILE *file)
{
    fputs(
        ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<2>;\n.reg .b32 %r<4>;\n.reg .f32 %f<3>;\n.reg .pred %p<2>;\nld.param.u64 %rd1, [p];\n"
        "mov.u32 %r1, %tid.x;\ncvt.rn.f32.u32 %f1, %r1;\nmov.f32 %f2, %f1;\nmov.u32 %r2, %r1;\n",
        file);
}

static void put_end(FILE *file)
{
    fputs("st.global.u32 [%rd1], %r1;\nst.global.f32 [%rd1], %f1;\nret;\n}\n", file);
}

static void put_entries(FILE *file, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        fprintf(file, ".visible .entry k%u() { ret; }\n", i);
}

static void put_variables(FILE *file, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        fprintf(file, ".visible .global .u32 g%u = %u;\n", i, i);
}

static void put_functions(FILE *file, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        fprintf(file, ".visible .func f%u() { ret; }\n.visible .entry k%u() { .shared .b32 s; call f%u, (); ret; }\n",
                i, i, i);
}

static void put_files(FILE *file, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        fprintf(file, ".file %u \"file%u.cu\"\n", i + 1, i);
    put_begin(file);
    for (unsigned i = 0; i < count; i++)
        fprintf(file, ".loc %u %u 1\nmov.u32 %%r1, %u;\n", i + 1, i + 1, i);
    put_end(file);
}

static void put_integers(FILE *file, unsigned count)
{
    put_begin(file);
    for (unsigned i = 0; i < count; i++)
        fprintf(file, "add.u32 %%r1, %%r1, %%r2;\nxor.b32 %%r2, %%r1, %u;\n", i);
    put_end(file);
}

static void put_floats(FILE *file, unsigned count)
{
    put_begin(file);
    for (unsigned i = 0; i < count; i++)
        fputs("mul.f32 %f1, %f1, %f2;\nadd.f32 %f2, %f1, 0f3F800000;\n", file);
    put_end(file);
}

static void put_targets(FILE *file, unsigned count)
{
    put_begin(file);
    fputs("t: .branchtargets L0", file);
    for (unsigned i = 1; i < count; i++)
        fprintf(file, ", L%u", i);
    fputs(";\nbrx.idx %r1, t;\n", file);
    for (unsigned i = 0; i < count; i++)
        fprintf(file, "L%u: add.u32 %%r1, %%r1, %u;\nbra E;\n", i, i);
    fputs("E:\n", file);
    put_end(file);
}

static void put_branches(FILE *file, unsigned count)
{
    put_begin(file);
    for (unsigned i = 0; i < count; i++)
        fprintf(file, "setp.eq.u32 %%p1, %%r1, %u;\n@%%p1 bra L%u;\nadd.u32 %%r1, %%r1, 1;\nL%u:\n", i, i, i);
    put_end(file);
}

static void put_calls(FILE *file, unsigned count)
{
    fputs(".func (.reg .u32 %a) f(.reg .u32 %b) { add.u32 %a, %b, 1; ret; }\n", file);
    put_begin(file);
    for (unsigned i = 0; i < count; i++)
        fputs("call (%r1), f, (%r1);\n", file);
    put_end(file);
}

static void put_barriers(FILE *file, unsigned count)
{
    put_begin(file);
    for (unsigned i = 0; i < count; i++)
        fputs("bar.sync 0;\n", file);
    put_end(file);
}

/* A register for each value, as compilers write: each is made of the one before and one from far back. */
static void put_registers(FILE *file, unsigned count)
{
    fprintf(file,
            ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %%rd<2>;\n.reg .b32 %%x<%u>;\nld.param.u64 %%rd1, [p];\n",
            count + 1);
    fputs("mov.u32 %x0, %tid.x;\n", file);
    for (unsigned i = 1; i <= count; i++)
        fprintf(file, "mad.lo.u32 %%x%u, %%x%u, 3, %%x%u;\n", i, i - 1, i / 2);
    fprintf(file, "st.global.u32 [%%rd1], %%x%u;\nret;\n}\n", count);
}

static void put_memory(FILE *file, unsigned count)
{
    put_begin(file);
    for (unsigned i = 0; i < count; i++)
        fprintf(file, "ld.global.u32 %%r2, [%%rd1+%u];\nadd.u32 %%r1, %%r1, %%r2;\nst.global.u32 [%%rd1+%u], %%r1;\n",
                i * 4 % 1024, i * 12 % 1024);
    put_end(file);
}

/* Loops one after the other, whose rounds each lane counts for itself. */
static void put_loops(FILE *file, unsigned count)
{
    put_begin(file);
    for (unsigned i = 0; i < count; i++)
        fprintf(file,
                "and.b32 %%r2, %%r1, 3;\nL%u: add.u32 %%r1, %%r1, %u;\nsub.u32 %%r2, %%r2, 1;\n"
                "setp.gt.s32 %%p1, %%r2, 0;\n@%%p1 bra L%u;\n",
                i, i, i);
    put_end(file);
}

static const struct {
    const char *name;
    void (*put)(FILE *file, unsigned count);
    unsigned count;
    enum { LOADED, LAUNCHED, OPTIMISED } what;
} ways[] = {
    {"entries", put_entries, 3125, LOADED},
    {"variables", put_variables, 3125, LOADED},
    {"functions", put_functions, 3125, LOADED},
    {"files", put_files, 3125, LOADED},
    {"integer_pairs", put_integers, 1250, LAUNCHED},
    {"float_pairs", put_floats, 1250, LAUNCHED},
    {"targets", put_targets, 625, LAUNCHED},
    {"branches", put_branches, 250, LAUNCHED},
    {"calls", put_calls, 500, LAUNCHED},
    {"barriers", put_barriers, 125, LAUNCHED},
    {"registers", put_registers, 1250, LAUNCHED},
    {"memory", put_memory, 250, LAUNCHED},
    {"loops", put_loops, 125, LAUNCHED},
    {"optimised_pairs", put_floats, 625, OPTIMISED},
    {"optimised_branches", put_branches, 125, OPTIMISED},
    {"optimised_targets", put_targets, 125, OPTIMISED},
    {"optimised_barriers", put_barriers, 62, OPTIMISED},
    {"optimised_calls", put_calls, 125, OPTIMISED},
    {"optimised_registers", put_registers, 625, OPTIMISED},
    {"optimised_memory", put_memory, 125, OPTIMISED},
    {"optimised_loops", put_loops, 62, OPTIMISED},
};
#define WAYS (sizeof ways / sizeof *ways)

static double measure(size_t way, unsigned count)
{
    CUmodule module;
    CUfunction function;
    CUjit_option level = CU_JIT_OPTIMIZATION_LEVEL;
    void *most = (void *)(uintptr_t)4;
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    if (!file)
        exit(1);
    fputs(".version 7.0\n.target sm_75\n.address_size 64\n", file);
    ways[way].put(file, count);
    fclose(file);
    double begin = processor_ms();
    CHECK(cuModuleLoadDataEx(&module, text, ways[way].what == OPTIMISED, &level, &most));
    if (ways[way].what != LOADED) {
        void *params[] = {&memory};
        CHECK(cuModuleGetFunction(&function, module, "k"));
        CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
        CHECK(cuCtxSynchronize());
    }
    double taken = processor_ms() - begin;
    CHECK(cuModuleUnload(module));
    free(text);
    return taken;
}

static void print_way(size_t way, unsigned divisor)
{
    unsigned count = ways[way].count / divisor;
    double once = measure(way, count), four = measure(way, count * 4), sixteen = measure(way, count * 16);
    printf("growth_%s_n %u\ngrowth_%s_ms %.2f\ngrowth_%s_4n %.2f\ngrowth_%s_16n %.2f\n", ways[way].name, count,
           ways[way].name, once, ways[way].name, four / once, ways[way].name, sixteen / once);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    unsigned divisor = argc > 1 && atoi(argv[1]) > 0 ? (unsigned)atoi(argv[1]) : 1;
    setenv("MILLRACE_CACHE", "off", 1); /* what is measured is making code */
    setenv("MILLRACE_OPTIMISE_AFTER", "1000000000", 0); /* and the thread that makes better code stays out of it */
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemAlloc(&memory, 4096));
    measure(4, 10); /* opens the compiler */
    measure(1, 50000); /* makes the records of the address space */
    for (size_t way = 0; way < WAYS; way++) {
        if (argc > 2 && strcmp(argv[2], ways[way].name) != 0)
            continue;
        if (argc > 3)
            printf("growth_%s_once_ms %.2f\n", ways[way].name, measure(way, (unsigned)atoi(argv[3])));
        else
            print_way(way, divisor);
    }
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        printf("growth_peak_mb %ld\n", usage.ru_maxrss / 1024);
    CHECK(cuDevicePrimaryCtxRelease(device));
    return 0;
}
