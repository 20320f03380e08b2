/* SPDX-License-Identifier: Apache-2.0 */
/* The libraries of mathematics beside the CPU libraries under them: see math.h. Each library has a file. */
#include "math.h"

#include <dlfcn.h>
#include <time.h>

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

struct best {
    double wall, processor;
};

static void measure(math_operation operation, void *data, struct best *best)
{
    double processor = processor_seconds(), wall = bench_seconds();
    operation(data);
    wall = bench_seconds() - wall;
    processor = processor_seconds() - processor;
    best->wall = wall < best->wall ? wall : best->wall;
    best->processor = processor < best->processor ? processor : best->processor;
}

void math_row(const char *name, math_operation ours, math_operation direct, void *data)
{
    struct best best[2] = {{1e9, 1e9}, {1e9, 1e9}};
    ours(data);
    if (direct)
        direct(data);
    double begin = bench_seconds();
    for (int round = 0; round < 5 || (bench_seconds() - begin < 1 && round < 100); round++) {
        measure(ours, data, &best[0]);
        if (direct)
            measure(direct, data, &best[1]);
    }
    for (int i = 0; i < (direct ? 2 : 1); i++) {
        const char *whose = i ? "direct" : "ours";
        printf("math_%s_%s_ms %.4f\nmath_%s_%s_processor_ms %.4f\n", name, whose, best[i].wall * 1e3, name, whose,
               best[i].processor * 1e3);
    }
    fflush(stdout);
}

void *math_symbol(const char *library, const char *symbol)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    return handle ? dlsym(handle, symbol) : NULL;
}

int main(void)
{
    math_blas();
    math_fft();
    math_solver();
    math_sparse();
    return 0;
}
