/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each entry point before cuInit, without a current context, with a destroyed one,
 * with a good one and with one where a kernel has failed, with four sets of arguments that ask for nothing sensible:
 * which complaint comes first. The answers are in each_state.def; on a machine with
 * a GPU the program prints what differs there. An answer that is said to differ and
 * doesn't is told. With an argument it prints all answers, in the form of the table.
 */
#include <cuda.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BEFORE_INIT, NO_CONTEXT, DESTROYED, CURRENT, FAILED, STATES };
/* Of handles all are NULL. */
enum { ZEROS, POINTERS_TO_ZEROS, BAD_NUMBERS, BAD_FLAGS, SETS };
enum { PARAMS = 14, ROOM = 4096, BAD = 0x7ff00000, CRASHES = -1, NO_ANSWER = -2, FEW = 400 };

#define SEVERAL(x) {x, x, x, x}

/* `kinds` has one letter for each parameter: a pointer, a handle (also an address on the device), a number, flags.
 * `differs` has bit 4 * state + set. */
static const struct row {
    const char *name, *kinds;
    short answers[STATES][SETS];
    unsigned long differs;
} rows[] = {
#include "each_state.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

/* Shared with the process of each state, which may end where it shouldn't. */
struct answers {
    int at;
    short of[ROWS][STATES][SETS];
};

typedef CUresult (*entry)(uintptr_t, ...);

/* Every entry point is called as if it took whole words: on the machines that this is for, arguments lie in the same
 * registers. */
static __attribute__((no_sanitize("undefined"))) CUresult call(entry function, const char *kinds, int set)
{
    static unsigned char memory[PARAMS][ROOM];
    uintptr_t a[PARAMS] = {0};
    memset(memory, 0, sizeof memory);
    for (int i = 0; kinds[i]; i++) {
        if (kinds[i] == 'p' && (set == POINTERS_TO_ZEROS || set == BAD_FLAGS))
            a[i] = (uintptr_t)memory[i];
        if ((kinds[i] == 'f' && set >= BAD_NUMBERS) || (kinds[i] == 'n' && set == BAD_NUMBERS))
            a[i] = BAD;
    }
    return function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12]);
}

static void *destroy(void *context)
{
    return cuCtxDestroy(context) == CUDA_SUCCESS ? context : NULL;
}

/* A kernel that stores at address 0 spoils the current context. */
static int spoil(void)
{
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { .reg .b64 a; mov.b64 a, 0; st.global.b32 [a], 1; ret; }\n";
    CUmodule module;
    CUfunction kernel;
    return cuModuleLoadData(&module, text) == CUDA_SUCCESS &&
           cuModuleGetFunction(&kernel, module, "k") == CUDA_SUCCESS &&
           cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) == CUDA_SUCCESS &&
           cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS;
}

static CUcontext make(int state)
{
    CUcontext context = NULL;
    pthread_t other;
    if (cuCtxCreate_v2(&context, 0, 0) != CUDA_SUCCESS)
        return NULL;
    if (state == DESTROYED && (pthread_create(&other, NULL, destroy, context) || pthread_join(other, NULL)))
        return NULL;
    if (state == FAILED && !spoil())
        return NULL;
    return context;
}

/* Makes `wanted` the current context, or another of its state where the last call has taken that away. A context that a
 * call has made is destroyed: a device has memory for some dozens. (After a fault that is no longer sure to end.) NULL:
 * none could be made. */
static CUcontext enter(int state, CUcontext wanted)
{
    CUcontext now = NULL, popped;
    while (cuCtxGetCurrent(&now) == CUDA_SUCCESS && now && now != wanted && cuCtxPopCurrent(&popped) == CUDA_SUCCESS)
        if (state < FAILED)
            cuCtxDestroy(popped);
    if (state <= NO_CONTEXT || (now && now == wanted))
        return wanted;
    if (state >= CURRENT && wanted && cuCtxSetCurrent(wanted) == CUDA_SUCCESS)
        return wanted;
    return make(state);
}

static void ask(int state, struct answers *answers)
{
    CUcontext context = NULL;
    if (state != BEFORE_INIT && cuInit(0) != CUDA_SUCCESS)
        return;
    for (; answers->at < ROWS * SETS; answers->at++) {
        const struct row *row = &rows[answers->at / SETS];
        entry function = (entry)(uintptr_t)dlsym(RTLD_DEFAULT, row->name);
        int set = answers->at % SETS;
        if (!function || (state == BEFORE_INIT && strcmp(row->name, "cuInit") == 0))
            continue;
        if (state != BEFORE_INIT)
            context = enter(state, context);
        if (state > NO_CONTEXT && !context)
            continue; /* what comes without a context is no answer for this state */
        answers->of[answers->at / SETS][state][set] = CRASHES;
        answers->of[answers->at / SETS][state][set] = (short)call(function, row->kinds, set);
    }
}

static void print(const struct row *row, const short answers[STATES][SETS])
{
    printf("{ \"%s\", \"%s\", {", row->name, row->kinds);
    for (int state = 0; state < STATES; state++) {
        const short *a = answers[state];
        if (a[0] == a[1] && a[0] == a[2] && a[0] == a[3])
            printf("%sSEVERAL(%d)", state ? ", " : " ", a[0]);
        else
            printf("%s{ %d, %d, %d, %d }", state ? ", " : " ", a[0], a[1], a[2], a[3]);
    }
    printf(" }, %#lx },\n", row->differs);
}

/* Returns how many of the row's answers are wrong. */
static int compare(const struct row *row, const short answers[STATES][SETS])
{
    static const char *const states[] = {"before cuInit", "no context", "destroyed context", "current context",
                                         "failed context"};
    static const char *const sets[] = {"zeros", "pointers to zeros", "bad numbers", "bad flags"};
    int wrong = 0;
    for (int i = 0; i < STATES * SETS; i++) {
        int state = i / SETS, set = i % SETS, right = row->answers[state][set], answer = answers[state][set];
        int same = answer == right || (right == CRASHES && answer != CRASHES);
        if (answer == NO_ANSWER || same == !(row->differs >> i & 1))
            continue;
        wrong++;
        printf("%s, %s, %s: %d, hardware %d%s\n", row->name, states[state], sets[set], answer, right,
               same ? ", which is said to differ" : "");
    }
    return wrong;
}

int main(int argc, char **argv)
{
    (void)argv;
    struct answers *answers = mmap(NULL, sizeof *answers, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int wrong = 0, ended = 0, asked = 0;
    if (answers == MAP_FAILED)
        return 1;
    for (int i = 0; i < ROWS * STATES * SETS; i++)
        answers->of[i / STATES / SETS][i / SETS % STATES][i % SETS] = NO_ANSWER;
    for (int state = 0; state < STATES; state++) {
        for (answers->at = 0; answers->at < ROWS * SETS && ended < FEW;) {
            pid_t child = fork();
            if (child == 0) {
                ask(state, answers);
                _exit(0);
            }
            if (child < 0 || waitpid(child, NULL, 0) != child)
                return 1;
            ended += answers->at < ROWS * SETS;
            answers->at++;
        }
    }
    for (int i = 0; i < ROWS; i++) {
        if (argc > 1)
            print(&rows[i], answers->of[i]);
        else
            wrong += compare(&rows[i], answers->of[i]);
        for (int k = 0; k < STATES * SETS; k++)
            asked += answers->of[i][k / SETS][k % SETS] != NO_ANSWER;
    }
    if (argc == 1)
        printf("%d calls, %d answers are wrong\n", asked, wrong);
    return wrong != 0 || asked < ROWS * SETS;
}
