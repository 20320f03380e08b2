/* SPDX-License-Identifier: Apache-2.0 */
/* Finding LAPACK's functions, and memory for workspaces. */
#include "libs/cusolver/lapack.h"

#include <pthread.h>
#include <stdio.h>

#include "libs/math/work.h"

struct mr_lapack mr_lapack;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_open;

static bool find(void **functions, const char *real, const char *complex)
{
    static const char letters[] = "sdcz";
    for (int type = 0; type < MR_CPU_TYPES; type++) {
        const char *name = type < MR_CPU_C ? real : complex;
        char symbol[32];
        snprintf(symbol, sizeof symbol, "%c%s_", letters[type], name);
        if (*name && !mr_cpu_find(&functions[type], symbol))
            return false;
    }
    return true;
}

static void open_once(void)
{
    if (!mr_cpu_open())
        return;
#define MR_LAPACK(name, real, complex, params) \
    if (!find((void **)mr_lapack.name, real, complex)) \
        return;
#include "libs/cusolver/lapack.def"
#undef MR_LAPACK
    is_open = true;
}

bool mr_lapack_open(void)
{
    pthread_once(&once, open_once);
    return is_open;
}

bool mr_room_open(struct mr_room *room, const char *function, size_t bytes)
{
    room->at = mr_math_scratch(0, bytes);
    room->end = room->at + bytes;
    if (!room->at)
        mr_math_short_of_memory(function);
    return room->at != NULL;
}

void *mr_room_take(struct mr_room *room, size_t bytes)
{
    char *piece = room->at;
    room->at += MR_ROOM(bytes);
    if (room->at > room->end)
        __builtin_trap(); /* the pieces are larger than their caller said */
    return piece;
}

int mr_lapack_answer(enum mr_cpu_type type, const void *first)
{
    double size = type == MR_CPU_S || type == MR_CPU_C ? (double)*(const float *)first : *(const double *)first;
    return size < 1 ? 1 : (int)(size * 1.0001) + 1;
}
