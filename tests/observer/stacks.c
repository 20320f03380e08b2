/* SPDX-License-Identifier: Apache-2.0 */
/* stacks FOLDER PLUGIN: takes call stacks in functions that are called, inlined, and in a library that is closed again,
 * and leaves them as made-up findings. Fails if the same place gives two sites, or two places one. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "libs/observer/finding.h"
#include "libs/observer/results.h"
#include "libs/observer/sites.h"

enum { FINDINGS = 2 };
static struct mr_finding findings[FINDINGS];

const char *obs_finding_kind_name(enum mr_finding_kind kind)
{
    return kind == MR_FINDING_RACE ? "race" : "use-after-free";
}

const char *obs_finding_tool_name(enum mr_finding_kind kind)
{
    return obs_finding_is_of_mem(kind) ? "mem" : "race";
}

size_t obs_finding_count(void)
{
    return FINDINGS;
}

const struct mr_finding *obs_finding(size_t index)
{
    return index < FINDINGS ? &findings[index] : NULL;
}

void obs_race_summary(struct mr_race_summary *out)
{
    *out = (struct mr_race_summary){.operations = 7, .coarse = 2};
}

__attribute__((noinline)) static uint32_t take(void)
{
    uint32_t site = obs_site_here(__builtin_return_address(0));
    __asm__ volatile("" ::: "memory");
    return site;
}

static inline __attribute__((always_inline)) uint32_t inlined(void)
{
    return take() + 0;
}

__attribute__((noinline)) static uint32_t outer(void)
{
    uint32_t site = inlined();
    __asm__ volatile("" ::: "memory");
    return site;
}

__attribute__((noinline)) static uint32_t deep(int depth)
{
    uint32_t site = depth ? deep(depth - 1) : outer();
    __asm__ volatile("" ::: "memory");
    return site;
}

/* A stack for each number of WAYS bits: the next call stands in the one place or the other. */
enum { WAYS = 10 };

__attribute__((noinline)) static uint32_t by_way(unsigned way, int bits)
{
    uint32_t site;
    if (bits == 0)
        return outer();
    /* Between lines of their own, so that no compiler makes one call of the two. */
    if (way & 1) {
        __asm__ volatile("# before one" ::: "memory");
        site = by_way(way >> 1, bits - 1);
        __asm__ volatile("# behind one" ::: "memory");
    } else {
        __asm__ volatile("# before the other" ::: "memory");
        site = by_way(way >> 1, bits - 1);
        __asm__ volatile("# behind the other" ::: "memory");
    }
    return site;
}

/* More stacks than a thread remembers at first: each is told apart, and known again. */
static bool many_ways(void)
{
    static uint32_t sites[1 << WAYS];
    volatile int rounds = 3; /* one call in the code, not three */
    for (volatile int round = 0; round < rounds; round++)
        for (volatile unsigned way = 0; way < 1 << WAYS; way++) {
            uint32_t site = by_way(way, WAYS);
            if (!site || (round && site != sites[way]) || (way && site == sites[way - 1]))
                return false;
            sites[way] = site;
        }
    return obs_site_count() >= 1 << WAYS;
}

/* As programs that have the runtime library inside call: its functions are no part of the report. Those that NVIDIA's
 * calls itself have names of this kind. */
__attribute__((noinline)) uint32_t libcudart_static_58f95088c96b(void);
__attribute__((noinline)) uint32_t libcudart_static_58f95088c96b(void)
{
    uint32_t site = obs_site_here(__builtin_return_address(0));
    __asm__ volatile("# as no other" ::: "memory");
    return site;
}

__attribute__((noinline)) uint32_t cudaMemsetAsync(void);
__attribute__((noinline)) uint32_t cudaMemsetAsync(void)
{
    uint32_t site = libcudart_static_58f95088c96b();
    __asm__ volatile("# as no other" ::: "memory");
    return site;
}

uint32_t by_clang(uint32_t (*function)(void)); /* by_clang.c */

static void *in_thread(void *unused)
{
    (void)unused;
    return (void *)(uintptr_t)by_clang(cudaMemsetAsync);
}

__attribute__((noinline)) static uint32_t in_plugin(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    uint32_t (*function)(uint32_t (*)(void)) =
        library ? (uint32_t (*)(uint32_t (*)(void)))dlsym(library, "plugin") : NULL;
    uint32_t site = function ? function(take) : 0;
    if (library)
        dlclose(library);
    return site;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    uint32_t first, same = 0, other[2], taken[3] = {0};
    volatile int rounds = 3; /* one call in the code, not three */
    for (volatile int i = 0; i < rounds; i++)
        taken[i] = outer();
    first = taken[0];
    for (int i = 0; i < 3; i++)
        same += taken[i] == first;
    other[0] = deep(3);
    other[1] = deep(4);
    pthread_t thread;
    void *result = NULL;
    if (pthread_create(&thread, NULL, in_thread, NULL) != 0 || pthread_join(thread, &result) != 0)
        return 1;
    uint32_t plugin = 0, again = 0;
    for (volatile int i = 0; i < rounds; i++) {
        again = plugin;
        plugin = in_plugin(argv[2]);
    }
    if (same != 3 || !first || !plugin || other[0] == other[1] || other[0] == first || (uintptr_t)result == first ||
        again == 0) {
        fprintf(stderr, "sites: %u %u %u %u %u\n", first, other[0], other[1], (unsigned)(uintptr_t)result, plugin);
        return 1;
    }
    if (!many_ways()) {
        fprintf(stderr, "sites: stacks of many ways are not told apart\n");
        return 1;
    }
    findings[0] = (struct mr_finding){
        .kind = MR_FINDING_RACE,
        .number = 1,
        .first = 0x1010,
        .end = 0x1020,
        .further = 4,
        .earlier = {.what = MR_SIDE_KERNEL,
                    .call = "cuLaunchKernel",
                    .site = first,
                    .number = 5,
                    .thread = 1,
                    .stream_kind = MR_STREAM_MADE,
                    .stream = 3,
                    .kernel = "_Z5scalePfi",
                    .how = MR_ACCESS_WRITE},
        .later = {.what = MR_SIDE_COPY,
                  .call = "cuMemcpyDtoHAsync",
                  .site = plugin,
                  .number = 6,
                  .thread = 1,
                  .stream_kind = MR_STREAM_NONBLOCKING,
                  .stream = 4,
                  .how = MR_ACCESS_READ},
        .allocation = {.number = 1, .base = 0x1000, .size = 64, .call = "cuMemAlloc", .site = other[0]},
        .missing = "stream 4 does not wait for the kernel",
        .advice = "record an event \"after\" the launch",
    };
    findings[1] = (struct mr_finding){
        .kind = MR_FINDING_USE_AFTER_FREE,
        .number = 2,
        .first = 0x2000,
        .end = 0x2004,
        .earlier = {.what = MR_SIDE_FREE, .call = "cuMemFree", .site = other[1], .number = 7, .thread = 1},
        .later = {.what = MR_SIDE_FILL,
                  .call = "cuMemsetD8Async",
                  .site = (uint32_t)(uintptr_t)result,
                  .number = 8,
                  .thread = 2,
                  .stream_kind = MR_STREAM_LEGACY,
                  .how = MR_ACCESS_WRITE},
    };
    if (!obs_results_write(argv[1], "exit", NULL)) {
        perror(argv[1]);
        return 4;
    }
    return 0;
}
