/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each entry point on a thread without a current context: which complaint comes
 * first. The answers are in no_context.def; on a machine with a GPU the program
 * prints what differs there. A row that is said to differ and doesn't is told.
 */
#include <cuda.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { PARAMS = 14, ROOM = 4096, NOT_ASKED = -1 };

static const struct row {
    const char *name, *kinds;
    int answers[2];
    int differs;
} rows[] = {
#include "no_context.def"
};

typedef CUresult (*entry)(uintptr_t, ...);

/* Every entry point is called as if it took whole words: on the machines that this is for, arguments lie in the same registers. */
static __attribute__((no_sanitize("undefined"))) CUresult call(entry function, const char *kinds, int pointers)
{
    static unsigned char memory[PARAMS][ROOM];
    uintptr_t a[PARAMS] = {0};
    memset(memory, 0, sizeof memory);
    for (int i = 0; kinds[i]; i++)
        a[i] = kinds[i] == 'p' && pointers ? (uintptr_t)memory[i] : 0;
    return function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12]);
}

/* Calls that make a context, or drop one, leave none behind. */
static void leave_contexts(void)
{
    CUcontext now = NULL, popped;
    while (cuCtxGetCurrent(&now) == CUDA_SUCCESS && now && cuCtxPopCurrent(&popped) == CUDA_SUCCESS) {
    }
}

int main(void)
{
    int asked = 0, wrong = 0;
    if (cuInit(0) != CUDA_SUCCESS)
        return 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *row = &rows[i];
        entry function = (entry)(uintptr_t)dlsym(RTLD_DEFAULT, row->name);
        int same = 1;
        for (int pointers = 0; function && pointers < 2; pointers++) {
            if (row->answers[pointers] == NOT_ASKED)
                continue;
            leave_contexts();
            int answer = (int)call(function, row->kinds, pointers);
            asked++;
            if (answer == row->answers[pointers])
                continue;
            same = 0;
            if (!row->differs)
                printf("%s with %s: %d, hardware %d\n", row->name, pointers ? "pointers to zeros" : "zeros", answer, row->answers[pointers]);
        }
        wrong += !function || same == row->differs;
        if (!function || (same && row->differs))
            printf("%s %s\n", row->name, function ? "doesn't differ any more" : "is missing");
    }
    printf("%d calls, %d entry points are wrong\n", asked, wrong);
    return wrong != 0;
}
