/* SPDX-License-Identifier: Apache-2.0 */
/* Each operation of each program is asked for from a place in the code of its own, so that whoever sees the call stack
 * (a tool that observes the driver) can say which operation of which program it was.
 *
 * The number of an operation is written in digits of 16. For each digit a function calls itself, from one of 16 places.
 * So a stack has a return address for each digit, the last digit's outermost; tests/random/by_race.py reads them. */
#include <link.h>
#include <stdio.h>

#include "run.h"

enum { BASE = 16, DIGITS = 5 };

unsigned run_program_number;
static int learning = -1;              /* the digit whose place is to be noted */
static uintptr_t place[BASE], loaded;  /* inside of the calling instructions, less where the program was loaded */

/* `rest`: what is left of the number, its last digit first. The statements behind the calls keep them apart. */
__attribute__((noinline)) static CUresult from_place(run_step *step, struct run *run, int index, unsigned rest,
                                                     int digits)
{
    CUresult status;
    if (learning >= 0 && digits < DIGITS)
        place[learning] = (uintptr_t)__builtin_return_address(0) - 1 - loaded;
    if (digits == 0)
        return step(run, index);
#define PLACE(n) \
    case n: \
        status = from_place(step, run, index, rest / BASE, digits - 1); \
        __asm__ volatile("" : : "i"(n) : "memory"); \
        break;
    switch (rest % BASE) {
        PLACE(0)
        PLACE(1)
        PLACE(2)
        PLACE(3)
        PLACE(4)
        PLACE(5)
        PLACE(6)
        PLACE(7)
        PLACE(8)
        PLACE(9)
        PLACE(10)
        PLACE(11)
        PLACE(12)
        PLACE(13)
        PLACE(14)
        PLACE(15)
    default:
        return CUDA_ERROR_UNKNOWN;
    }
#undef PLACE
    return status;
}

static CUresult no_step(struct run *run, int index)
{
    (void)run;
    (void)index;
    return CUDA_SUCCESS;
}

/* The program itself comes first. */
static int note_loaded(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    (void)data;
    loaded = info->dlpi_addr;
    return 1;
}

void run_tell_places(void)
{
    (void)dl_iterate_phdr(note_loaded, NULL);
    printf("random: places");
    for (int digit = 0; digit < BASE; digit++) {
        learning = digit;
        (void)from_place(no_step, NULL, 0, (unsigned)digit, 1);
        printf(" %ju", (uintmax_t)place[digit]);
    }
    learning = -1;
    printf(", operations %d\n", OPS);
}

CUresult run_from_place(run_step *step, struct run *run, int index)
{
    return from_place(step, run, index, (run_program_number - 1) * OPS + (unsigned)index, DIGITS);
}
