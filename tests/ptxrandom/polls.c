/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Random PTX that waits. A kernel's threads (or warps, or blocks) stand in a random order, and each waits for some of
 * those before it: for their words to be there, from which it makes its own. What a thread waits with is drawn: how its
 * loop loads, how it is left (by what was loaded, by a count that is lowered behind a branch on it, by a state, from a
 * function, …), what is around it. What must come out is calculated without any waiting.
 *
 *     ptx_polls [--from S] [--seeds N] [--seed S] [--level L] [--ordered] [--print]
 *
 * --from, --seeds, --seed, --level, --print  as of ptx_random
 * --ordered  no loops that load plainly and have no fence: NVIDIA's compiler may move such loads out of their loop
 *
 * Ends with 0 if all is well, 1 after a difference, 2 if there is no driver. A program that waits for ever is what the
 * test's time limit is for.
 */
#include <cuda.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "polls.h"

struct options {
    u64 from, seeds;
    unsigned level;
    bool ordered, print;
};
#define UNSAID UINT32_MAX

static struct polls polls;
static u64 state;

static u32 below(u32 n)
{
    return (u32)((draw_bits(&state) >> 11) % n);
}

/* Threads of one number don't wait for each other. */
static u32 unit_of(const struct polls *p, u32 t)
{
    u32 warps = (p->threads + 31) / 32;
    switch (p->grain) {
    case WARP_GRAIN:
        return t / p->threads * warps + t % p->threads / 32;
    case BLOCK_GRAIN:
        return t / p->threads;
    default:
        return t;
    }
}

static void draw_order(u32 *order, u32 count)
{
    for (u32 i = 0; i < count; i++)
        order[i] = i;
    for (u32 i = count; i-- > 1;) {
        u32 j = below(i + 1), other = order[i];
        order[i] = order[j];
        order[j] = other;
    }
}

/* Half of those that a thread may wait for are of its block. */
static u32 draw_other(const struct polls *p, u32 t, u32 all)
{
    u32 first = t / p->threads * p->threads;
    return p->grain == SHARED_GRAIN || below(2) ? first + below(p->threads) : below(all);
}

static void draw_deps(struct polls *p)
{
    static u32 order[THREADS_ALL];
    u32 all = p->grid * p->threads;
    for (u32 phase = 0; phase < p->phases; phase++) {
        draw_order(order, all);
        for (u32 t = 0; t < all; t++) {
            u32 at = phase * all + t;
            for (u32 k = 0; k < DEPS; k++) {
                u32 other = draw_other(p, t, all), mine = unit_of(p, t), theirs = unit_of(p, other);
                bool earlier = phase && below(3) == 0;
                if (mine != theirs && (earlier || order[theirs] < order[mine]))
                    p->dep[at][p->count[at]++] = (earlier ? below(phase) : phase) * all + other;
            }
        }
    }
}

static void draw_polls(struct polls *p, const struct options *options, u64 seed)
{
    static const u32 shapes[] = {1, 2, 7, 32, 33, 64, 96, 128, 160};
    memset(p, 0, sizeof *p);
    state = seed * UINT64_C(0x2545f4914f6cdd1d) + 5;
    p->seed = seed;
    p->threads = shapes[below(sizeof shapes / sizeof *shapes)];
    p->grid = 1 + below(BLOCKS_MAX);
    while (p->grid * p->threads > THREADS_ALL)
        p->grid--;
    p->phases = 1 + below(PHASES_MAX);
    p->grain = below(GRAINS);
    p->way = below(WAYS);
    do
        p->load = below(LOADS);
    while ((options->ordered && p->load == PLAIN) || (p->grain == SHARED_GRAIN && p->load == NO_CACHE));
    p->store = below(STORES);
    p->generic = below(3) == 0 || p->way == BY_LOOK || p->way == BY_WAIT;
    p->meets_before = p->grain == SHARED_GRAIN || below(4) == 0;
    p->meets_behind = below(4) == 0 && p->way != BY_EXIT;
    p->scratch = below(4) == 0;
    p->parted = below(4) == 0;
    if (p->way == BY_EXIT)
        p->phases = 1;
    /* Of a loop that calls what stores nobody knows that it waits. */
    if (p->way == BY_LOOK && p->load == PLAIN)
        p->scratch = false;
    for (u32 t = 0; t < THREADS_ALL; t++)
        p->own[t] = (u32)draw_bits(&state);
    draw_deps(p);
}

/* Each word, once all that it waits for is known. */
static void calculate(struct polls *p)
{
    u32 all = p->grid * p->threads, words = all * p->phases;
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 at = 0; at < words; at++) {
            u32 sum = p->own[at % all] + at / all, k = 0;
            for (; !p->wanted[at] && k < p->count[at] && p->wanted[p->dep[at][k]]; k++)
                sum += p->wanted[p->dep[at][k]];
            if (!p->wanted[at] && k == p->count[at]) {
                p->wanted[at] = sum | READY;
                changed = true;
            }
        }
    }
}

/* What the thread writes besides: its word, with that of the next thread of its block where they meet. */
static u32 wanted_out(const struct polls *p, u32 at)
{
    u32 all = p->grid * p->threads, t = at % all, first = t / p->threads * p->threads;
    u32 next = at - t + first + (t - first + 1) % p->threads;
    return p->wanted[at] + (p->meets_behind ? p->wanted[next] : 0);
}

/* ---- running ---- */

struct arrays {
    u32 words[WORDS], deps[WORDS][DEPS], counts[WORDS], own[THREADS_ALL], out[WORDS], scratch[THREADS_ALL];
};
static struct arrays before, after;

static void fill_arrays(const struct polls *p)
{
    u32 all = p->grid * p->threads;
    memset(&before, 0, sizeof before);
    memcpy(before.counts, p->count, sizeof before.counts);
    memcpy(before.own, p->own, sizeof before.own);
    for (u32 at = 0; at < all * p->phases; at++)
        for (u32 k = 0; k < p->count[at]; k++) {
            u32 dep = p->dep[at][k];
            before.deps[at][k] = p->grain == SHARED_GRAIN ? dep / all * p->threads + dep % all % p->threads : dep;
        }
}

static char *text_of(const struct polls *p)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        abort();
    put_polls(file, p);
    fclose(file);
    return text;
}

static CUresult launch(const struct polls *p, const struct options *options, char *log, size_t log_size)
{
    CUjit_option keys[3] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_OPTIMIZATION_LEVEL};
    void *values[3] = {log, (void *)log_size, (void *)(uintptr_t)options->level};
    CUmodule module = NULL;
    CUfunction function;
    CUdeviceptr all = 0;
    char *text = text_of(p);
    CUresult status = cuModuleLoadDataEx(&module, text, options->level == UNSAID ? 2 : 3, keys, values);
    free(text);
    if (status == CUDA_SUCCESS)
        status = cuModuleGetFunction(&function, module, "polls");
    if (status == CUDA_SUCCESS)
        status = cuMemAlloc(&all, sizeof before);
    if (status == CUDA_SUCCESS)
        status = cuMemcpyHtoD(all, &before, sizeof before);
    CUdeviceptr words = all + offsetof(struct arrays, words), deps = all + offsetof(struct arrays, deps),
                counts = all + offsetof(struct arrays, counts), own = all + offsetof(struct arrays, own),
                out = all + offsetof(struct arrays, out), scratch = all + offsetof(struct arrays, scratch);
    void *params[] = {&words, &deps, &counts, &own, &out, &scratch};
    if (status == CUDA_SUCCESS)
        status = cuLaunchKernel(function, p->grid, 1, 1, p->threads, 1, 1, 0, NULL, params, NULL);
    if (status == CUDA_SUCCESS)
        status = cuMemcpyDtoH(&after, all, sizeof after);
    if (all)
        cuMemFree(all);
    if (module)
        cuModuleUnload(module);
    return status;
}

static bool is_right(const struct polls *p, const struct options *options)
{
    static char log[4096];
    u32 all = p->grid * p->threads;
    log[0] = '\0';
    CUresult status = launch(p, options, log, sizeof log);
    if (status != CUDA_SUCCESS) {
        printf("ptx_polls: seed %llu: status %d\n%s\n", (unsigned long long)p->seed, (int)status, log);
        return false;
    }
    for (u32 at = 0; at < all * p->phases; at++)
        if (after.out[at] != wanted_out(p, at)) {
            printf("ptx_polls: seed %llu: thread %u of block %u, phase %u: %#x, must be %#x\n",
                   (unsigned long long)p->seed, at % all % p->threads, at % all / p->threads, at / all, after.out[at],
                   wanted_out(p, at));
            return false;
        }
    return true;
}

static bool read_options(int count, char **words, struct options *options)
{
    *options = (struct options){.from = 1, .seeds = 100, .level = 4};
    for (int i = 1; i < count; i++) {
        const char *word = words[i], *value = i + 1 < count ? words[i + 1] : NULL;
        if (strcmp(word, "--ordered") == 0) {
            options->ordered = true;
        } else if (strcmp(word, "--print") == 0) {
            options->print = true;
        } else if (value && (strcmp(word, "--from") == 0 || strcmp(word, "--seed") == 0)) {
            options->from = strtoull(words[++i], NULL, 10);
            options->seeds = strcmp(word, "--seed") ? options->seeds : 1;
        } else if (value && strcmp(word, "--seeds") == 0) {
            options->seeds = strtoull(words[++i], NULL, 10);
        } else if (value && strcmp(word, "--level") == 0) {
            options->level = strcmp(words[++i], "-") ? (unsigned)strtoul(words[i], NULL, 10) : UNSAID;
        } else {
            return false;
        }
    }
    return true;
}

int main(int count, char **words)
{
    struct options options;
    CUdevice device;
    CUcontext context;
    if (!read_options(count, words, &options)) {
        fprintf(stderr, "usage: ptx_polls [--from S] [--seeds N] [--seed S] [--level L] [--ordered] [--print]\n");
        return 1;
    }
    if (cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, 0) != CUDA_SUCCESS ||
        cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS || cuCtxSetCurrent(context) != CUDA_SUCCESS) {
        fprintf(stderr, "ptx_polls: there is no driver\n");
        return 2;
    }
    for (u64 seed = options.from; seed < options.from + options.seeds; seed++) {
        draw_polls(&polls, &options, seed);
        calculate(&polls);
        fill_arrays(&polls);
        if (options.print)
            put_polls(stdout, &polls);
        fflush(stdout);
        /* Said before, for who finds a program that does not end. */
        fprintf(stderr, "\rptx_polls: seed %llu ", (unsigned long long)seed);
        if (!is_right(&polls, &options))
            return 1;
    }
    printf("\nptx_polls: %llu programs from seed %llu are right\n", (unsigned long long)options.seeds,
           (unsigned long long)options.from);
    return 0;
}
