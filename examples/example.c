/* SPDX-License-Identifier: Apache-2.0 */
/* What the examples share; see example.h. */
#include "example.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void example_check(CUresult status, const char *call, const char *file, int line)
{
    if (status == CUDA_SUCCESS)
        return;
    const char *name = "an unknown status", *text = "";
    cuGetErrorName(status, &name);
    cuGetErrorString(status, &text);
    fprintf(stderr, "%s:%d: %s gave %s: %s\n", file, line, call, name, text);
    exit(1);
}

void example_require(int condition, const char *message)
{
    if (condition)
        return;
    fprintf(stderr, "wrong result: %s\n", message);
    exit(1);
}

double example_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void example_fill(float *array, size_t length, unsigned seed)
{
    unsigned state = seed * 2654435761u + 1;
    for (size_t i = 0; i < length; i++) {
        state = state * 1664525u + 1013904223u;
        array[i] = (float)(int)state / 2147483648.0f;
    }
}

int example_option(int argc, char **argv, const char *name, int initial)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], name) != 0)
            continue;
        char *end;
        long value = i + 1 < argc ? strtol(argv[i + 1], &end, 10) : 0;
        if (i + 1 < argc && *end == '\0' && value > 0 && value < 1000000000)
            return (int)value;
        fprintf(stderr, "%s needs a number above 0\n", name);
        exit(2);
    }
    return initial;
}
