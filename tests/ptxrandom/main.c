/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Seeds to PTX programs to verdicts, on whatever libcuda the loader finds.
 *
 *     ptx_random [--from S] [--seeds N] [--seed S] [--calls C] [--seconds T] [--level L] [--print] [--dry] [--shrink]
 *
 * --from, --seeds  the seeds S to S + N - 1 (by default 1, 100)
 * --calls          functions of all kinds, recursion, calls under guards. real: what NVIDIA's assembler takes
 *                  together; any: all that the manual allows. A seed means another program then
 * --seconds        stop after so long; what --shrink has by then is printed
 * --level          how much the driver's compiler shall optimise, 0 to 4 (by default 4); -: not said, as by most
 * programs
 * --print          write the PTX to standard output
 * --dry            draw and calculate, but run nothing
 * --shrink         take statements out of a program that fails for as long as it still does, and print what is left
 *
 * Ends with 0 if all is well, 1 after a difference, 2 if there is no driver.
 */
#include <cuda.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "program.h"

#define UNSAID UINT32_MAX
struct options {
    u64 from, seeds;
    double seconds;
    unsigned level;
    enum calls calls;
    bool print, dry, shrink;
};

static struct program program;
static struct memory wanted, got;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static char *text_of(const struct program *p)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        abort();
    put_program(file, p);
    fclose(file);
    return text;
}

/* What memory holds before: something else in each word, but in the results one pattern. */
static void begin_memory(struct memory *memory, u64 seed)
{
    u64 state = seed + 7;
    memset(memory, 0xcc, sizeof *memory);
    for (size_t i = 0; i < sizeof memory->own / 8; i++) {
        u64 bits = draw_bits(&state);
        memcpy((uint8_t *)memory->own + i * 8, &bits, 8);
    }
    for (size_t i = 0; i < sizeof memory->spread / 4; i++)
        memory->spread[i] = (u32)draw_bits(&state);
    for (unsigned i = 0; i < SUMS; i++)
        memory->sums[i] = (u32)draw_bits(&state);
    memset(&memory->sums[SUMS], 0, LOCK_WORDS * sizeof(u32));
}

/* Runs the program; false with a message if the driver would not. */
static bool run(const struct program *p, struct memory *memory, const struct options *options, bool quiet)
{
    static char log[4096];
    char *text = text_of(p);
    CUjit_option keys[3] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_OPTIMIZATION_LEVEL};
    void *values[3] = {log, (void *)sizeof log, (void *)(uintptr_t)options->level};
    CUmodule module = NULL;
    CUfunction function;
    CUdeviceptr in = 0, all = 0;
    log[0] = '\0';
    CUresult status = cuModuleLoadDataEx(&module, text, options->level == UNSAID ? 2 : 3, keys, values);
    free(text);
    if (status == CUDA_SUCCESS)
        status = cuModuleGetFunction(&function, module, "k");
    if (status == CUDA_SUCCESS)
        status = cuMemAlloc(&in, sizeof p->input);
    if (status == CUDA_SUCCESS)
        status = cuMemAlloc(&all, sizeof *memory);
    if (status == CUDA_SUCCESS)
        status = cuMemcpyHtoD(in, p->input, sizeof p->input);
    if (status == CUDA_SUCCESS)
        status = cuMemcpyHtoD(all, memory, sizeof *memory);
    CUdeviceptr own = all + offsetof(struct memory, own), spread = all + offsetof(struct memory, spread),
                sums = all + offsetof(struct memory, sums);
    u32 param = p->param;
    void *params[] = {&in, &all, &own, &spread, &sums, &param};
    if (status == CUDA_SUCCESS)
        status = cuLaunchKernel(function, p->grid, 1, 1, p->block[0], p->block[1], p->block[2], 0, NULL, params, NULL);
    if (status == CUDA_SUCCESS)
        status = cuCtxSynchronize();
    if (status == CUDA_SUCCESS)
        status = cuMemcpyDtoH(memory, all, sizeof *memory);
    if (status != CUDA_SUCCESS && !quiet)
        printf("ptx_random: seed %llu: status %d\n%s\n", (unsigned long long)p->seed, (int)status, log);
    if (in)
        cuMemFree(in);
    if (all)
        cuMemFree(all);
    if (module)
        cuModuleUnload(module);
    return status == CUDA_SUCCESS;
}

/* The first difference as a line; false if there is none. */
static bool differs(const struct program *p, char *what, size_t size)
{
    unsigned all = p->threads * p->grid;
    for (unsigned t = 0; t < THREADS_MAX; t++)
        for (unsigned i = 0; i < CLASSES * REGS; i++)
            if (wanted.out[t][i] != got.out[t][i]) {
                snprintf(what, size, "thread %u of block %u: %%%c%u is %#llx, must be %#llx", t % p->threads,
                         t / p->threads, "rdhfgp"[i / REGS], i % REGS, (unsigned long long)got.out[t][i],
                         (unsigned long long)wanted.out[t][i]);
                return true;
            }
    for (unsigned t = 0; t < THREADS_MAX; t++)
        for (unsigned i = 0; i < OWN_BYTES; i++)
            if (wanted.own[t][i] != got.own[t][i]) {
                snprintf(what, size, "own byte %u of thread %u is %#x, must be %#x", i, t, got.own[t][i],
                         wanted.own[t][i]);
                return true;
            }
    for (unsigned i = 0; i < SPREAD_WORDS * THREADS_MAX; i++)
        if (wanted.spread[i] != got.spread[i]) {
            snprintf(what, size, "spread word %u of thread %u is %#x, must be %#x", i / all, i % all, got.spread[i],
                     wanted.spread[i]);
            return true;
        }
    for (unsigned i = 0; i < SUMS + LOCK_WORDS; i++)
        if (wanted.sums[i] != got.sums[i]) {
            snprintf(what, size, "sum %u is %#x, must be %#x", i, got.sums[i], wanted.sums[i]);
            return true;
        }
    return false;
}

/* True if the program fails: what it says is then in `what`. */
static bool fails(const struct program *p, const struct options *options, char *what, size_t size, bool quiet)
{
    begin_memory(&wanted, p->seed);
    got = wanted;
    model_run(p, &wanted);
    snprintf(what, size, "the driver refused it");
    if (options->dry)
        return false;
    return !run(p, &got, options, quiet) || differs(p, what, size);
}

#define LISTS (1 + FUNCTIONS)
/* Unlinks one statement at a time, or it and all behind it. `end`: when to stop, 0: when nothing more can go. */
static void shrink(struct program *p, const struct options *options, double end)
{
    char what[256];
    bool smaller = true;
    while (smaller) {
        smaller = false;
        for (unsigned i = 0; i < p->node_count && !(end > 0 && now() > end); i++) {
            for (unsigned k = 0; k < LISTS + 5 * p->node_count; k++) {
                struct node *n = &p->nodes[(k >= LISTS ? k - LISTS : 0) / 5];
                int *inner[] = {&n->next, &n->body, &n->other, &n->third, &n->fourth};
                int *place = k == 0 ? &p->body : k < LISTS ? &p->functions[k - 1].body : inner[(k - LISTS) % 5];
                if (*place != (int)i)
                    continue;
                *place = -1;
                if (fails(p, options, what, sizeof what, true)) {
                    smaller = true;
                    continue;
                }
                *place = p->nodes[i].next;
                if (*place >= 0 && fails(p, options, what, sizeof what, true))
                    smaller = true;
                else
                    *place = (int)i;
            }
        }
    }
}

static bool read_options(int count, char **words, struct options *options)
{
    *options = (struct options){.from = 1, .seeds = 100, .level = 4};
    for (int i = 1; i < count; i++) {
        const char *value = i + 1 < count ? words[i + 1] : NULL;
        if (strcmp(words[i], "--print") == 0)
            options->print = true;
        else if (strcmp(words[i], "--dry") == 0)
            options->dry = true;
        else if (strcmp(words[i], "--shrink") == 0)
            options->shrink = true;
        else if (value && (strcmp(words[i], "--from") == 0 || strcmp(words[i], "--seed") == 0))
            options->from = strtoull(words[++i], NULL, 10);
        else if (value && strcmp(words[i], "--seeds") == 0)
            options->seeds = strtoull(words[++i], NULL, 10);
        else if (value && strcmp(words[i], "--level") == 0)
            options->level = strcmp(words[++i], "-") ? (unsigned)strtoul(words[i], NULL, 10) : UNSAID;
        else if (value && strcmp(words[i], "--calls") == 0 && (strcmp(value, "real") == 0 || strcmp(value, "any") == 0))
            options->calls = strcmp(words[++i], "real") == 0 ? CALLS_REAL : CALLS_ANY;
        else if (value && strcmp(words[i], "--seconds") == 0)
            options->seconds = strtod(words[++i], NULL);
        else
            return false;
        if (strcmp(words[i - (value != NULL && i > 1)], "--seed") == 0)
            options->seeds = 1;
    }
    return true;
}

static bool begin_driver(void)
{
    CUdevice device;
    CUcontext context;
    return cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device, 0) == CUDA_SUCCESS &&
           cuDevicePrimaryCtxRetain(&context, device) == CUDA_SUCCESS && cuCtxSetCurrent(context) == CUDA_SUCCESS;
}

int main(int count, char **words)
{
    struct options options;
    char what[256];
    if (!read_options(count, words, &options)) {
        fprintf(
            stderr,
            "usage: ptx_random [--from S] [--seeds N] [--seed S] [--calls real|any] [--seconds T] [--level L] [--print] [--dry] [--shrink]\n");
        return 1;
    }
    if (!options.dry && !begin_driver()) {
        fprintf(stderr, "ptx_random: there is no driver\n");
        return 2;
    }
    double begin = now();
    u64 done = 0;
    for (u64 seed = options.from; seed < options.from + options.seeds; seed++, done++) {
        if (options.seconds > 0 && now() - begin > options.seconds)
            break;
        draw_program(&program, seed, options.calls);
        if (options.print)
            put_program(stdout, &program);
        if (!fails(&program, &options, what, sizeof what, false))
            continue;
        printf("ptx_random: seed %llu: %s\n", (unsigned long long)seed, what);
        if (options.shrink) {
            shrink(&program, &options, options.seconds > 0 ? begin + options.seconds : 0);
            fails(&program, &options, what, sizeof what, true);
            printf("ptx_random: shrunk: %s\n", what);
            put_program(stdout, &program);
        }
        static const char *const calls[] = {"", " --calls real", " --calls any"};
        printf("ptx_random: repeat with --seed %llu%s --print, or --shrink\n", (unsigned long long)seed,
               calls[options.calls]);
        return 1;
    }
    printf("ptx_random: %llu programs from seed %llu are right (%.1f s)\n", (unsigned long long)done,
           (unsigned long long)options.from, now() - begin);
    return 0;
}
