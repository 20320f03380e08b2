/* SPDX-License-Identifier: Apache-2.0 */
/* How stacks are taken and kept.
 *
 * To unwind a stack takes microseconds, and programs call from the same places over and over. So each thread remembers
 * the stacks it has had, with the places in memory where the return addresses lay. If those places hold the same
 * addresses, it is the same stack: frame by frame, the same code at the same depth has its return address in the same
 * place. Reading stops at the first difference, so that only memory of frames that are there is read. */
#include "libs/observer/sites.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#include "base/mutex.h"
#include "libs/observer/modules.h"
#include "libs/observer/python.h"

#if defined(__has_attribute) && __has_attribute(no_sanitize)
#define READS_STACKS __attribute__((no_sanitize("address")))
#else
#define READS_STACKS
#endif

enum { LEAST_REMEMBERED = 128, MOST_REMEMBERED = 4096, CHUNK = 1024, CHUNKS = 4096 }; /* remembered: powers of two */

struct slot {
    const uintptr_t *at;
    uintptr_t value;
};

/* A stack that this thread has had; count 0: none. */
struct remembered {
    const void *at;
    uintptr_t top;
    uint64_t python, unloads;
    uint32_t site, count;
    struct slot slots[OBS_SITE_DEPTH];
};

struct walk {
    uintptr_t top;                       /* frames that begin below it are the observer's own */
    uintptr_t before;                    /* where the last frame began */
    size_t count;
    uintptr_t addresses[OBS_SITE_DEPTH]; /* inside of the calling instructions */
    struct slot slots[OBS_SITE_DEPTH];
    bool told_again;                     /* every return address was found in memory */
};

struct stack {
    uint64_t hash;
    uint32_t count;
    struct obs_frame frames[];
};

/* The stacks that a thread remembers. A stack whose entry is taken puts the old one out; after as many of these as
 * there are entries, an empty table of twice the size takes its place. */
struct memory {
    uint32_t size, put_out;
    struct remembered entries[];
};

static _Thread_local struct memory *mine;
static pthread_key_t at_thread_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* guards the table and the names; stacks are read without it */
static struct stack **chunks[CHUNKS];
static _Atomic uint32_t stacks;
static uint32_t *table; /* of sites by hash, 0: free; a power of two, at most half full */
static size_t table_size;

static void forget(void *memory)
{
    mine = NULL;
    free(memory);
}

static void make_key(void)
{
    pthread_key_create(&at_thread_end, forget);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

/* One word of the thread's stack. */
READS_STACKS static uintptr_t word(const uintptr_t *at)
{
    return *(const volatile uintptr_t *)at;
}

/* Called for each frame, innermost first. The frame's stack pointer is where its callee's frame ends; its return
 * address lies right below on x86-64, and somewhere in the callee's frame on other machines. */
READS_STACKS static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *out)
{
    struct walk *walk = out;
    uintptr_t pointer = _Unwind_GetCFA(context);
    int exact = 0;
    uintptr_t address = _Unwind_GetIPInfo(context, &exact);
    if (pointer >= walk->top && address) {
        bool found = false;
        for (const uintptr_t *at = (const uintptr_t *)pointer - 1; !found && !exact && (uintptr_t)at >= walk->before;
             at--)
            if (word(at) == address) {
                walk->slots[walk->count] = (struct slot){at, address};
                found = true;
            }
        walk->told_again = walk->told_again && found;
        walk->addresses[walk->count++] = address - !exact;
    }
    walk->before = pointer;
    return walk->count < OBS_SITE_DEPTH ? _URC_NO_REASON : _URC_END_OF_STACK;
}

size_t obs_site_frames(uint32_t site, const struct obs_frame **out)
{
    if (site == 0 || site > atomic_load_explicit(&stacks, memory_order_acquire))
        return 0;
    const struct stack *stack = chunks[(site - 1) / CHUNK][(site - 1) % CHUNK];
    *out = stack->frames;
    return stack->count;
}

uint32_t obs_site_count(void)
{
    return atomic_load_explicit(&stacks, memory_order_acquire);
}

/* Texts of frames are kept once, so that their pointers tell them apart. */
static bool same_frames(const struct obs_frame *one, const struct obs_frame *other, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct obs_frame *a = &one[i], *b = &other[i];
        if (a->module != b->module || a->offset != b->offset || a->line != b->line || a->file != b->file ||
            a->function != b->function)
            return false;
    }
    return true;
}

static uint64_t hash_frames(const struct obs_frame *frames, size_t count)
{
    uint64_t hash = count;
    for (size_t i = 0; i < count; i++) {
        hash = mix(mix(mix(hash, frames[i].module), frames[i].offset), frames[i].line);
        if (frames[i].file)
            hash = mix(mix(hash, (uintptr_t)frames[i].file), (uintptr_t)frames[i].function);
    }
    return hash;
}

/* With the lock held: room for one more in the table. */
static bool grow_table(void)
{
    MR_MUTEX_HELD(&lock);
    uint32_t count = stacks;
    if (table && count + 1 <= table_size / 2)
        return true;
    size_t size = table ? table_size * 2 : 256;
    uint32_t *larger = calloc(size, sizeof *larger);
    if (!larger)
        return false;
    for (uint32_t site = 1; site <= count; site++) {
        size_t at = chunks[(site - 1) / CHUNK][(site - 1) % CHUNK]->hash & (size - 1);
        while (larger[at])
            at = (at + 1) & (size - 1);
        larger[at] = site;
    }
    free(table);
    table = larger;
    table_size = size;
    return true;
}

/* With the lock held. */
static uint32_t keep_locked(const struct obs_frame *frames, size_t count)
{
    MR_MUTEX_HELD(&lock);
    uint64_t hash = hash_frames(frames, count);
    if (!grow_table())
        return 0;
    size_t at = hash & (table_size - 1);
    for (; table[at]; at = (at + 1) & (table_size - 1)) {
        const struct stack *stack = chunks[(table[at] - 1) / CHUNK][(table[at] - 1) % CHUNK];
        if (stack->hash == hash && stack->count == count && same_frames(stack->frames, frames, count))
            return table[at];
    }
    uint32_t number = stacks;
    if (number >= CHUNK * CHUNKS)
        return 0;
    struct stack ***chunk = &chunks[number / CHUNK];
    if (!*chunk && !(*chunk = calloc(CHUNK, sizeof **chunk)))
        return 0;
    struct stack *stack = malloc(sizeof *stack + count * sizeof *frames);
    if (!stack)
        return 0;
    stack->hash = hash;
    stack->count = (uint32_t)count;
    memcpy(stack->frames, frames, count * sizeof *frames);
    (*chunk)[number % CHUNK] = stack;
    atomic_store_explicit(&stacks, number + 1, memory_order_release);
    return table[at] = number + 1;
}

/* The program's frames of a walk: native ones as far as the interpreter's, then the Python ones in its place. */
static size_t choose_frames(const struct walk *walk, const struct obs_python_place *places, size_t python,
                            struct obs_frame *out)
{
    size_t count = 0;
    uint32_t interpreter = python ? obs_python_module() : OBS_NO_MODULE;
    for (size_t i = 0; i < walk->count; i++) {
        uint32_t number = obs_module_at(walk->addresses[i]);
        const struct obs_module *module = obs_module(number);
        if (module && number == interpreter)
            break;
        if (!module || !module->hidden)
            out[count++] = (struct obs_frame){number, walk->addresses[i] - (module ? module->bias : 0), 0, NULL, NULL};
    }
    for (size_t i = 0; i < python; i++) {
        struct obs_python_frame frame;
        if (!obs_python_name(&places[i], &frame))
            break;
        out[count++] = (struct obs_frame){OBS_NO_MODULE, 0, frame.line, frame.file, frame.function};
    }
    return count;
}

static uint32_t keep(const struct walk *walk, const struct obs_python_place *places, size_t python)
{
    struct obs_frame frames[OBS_SITE_DEPTH + OBS_PYTHON_DEPTH];
    size_t count = choose_frames(walk, places, python, frames);
    if (count == 0)
        return 0;
    pthread_mutex_lock(&lock);
    uint32_t site = keep_locked(frames, count);
    pthread_mutex_unlock(&lock);
    return site;
}

/* An empty memory in place of the thread's own. False: memory is short, and the thread keeps what it has. */
static bool renew_memory(uint32_t size)
{
    struct memory *made = calloc(1, sizeof *made + size * sizeof *made->entries);
    if (!made || pthread_setspecific(at_thread_end, made) != 0) {
        free(made);
        return false;
    }
    made->size = size;
    free(mine);
    mine = made;
    return true;
}

/* Where the thread remembers the stack of this hash. NULL: memory is short, and stacks are unwound each time. */
static struct remembered *remembered_at(uint64_t hash)
{
    if (!mine) {
        pthread_once(&once, make_key);
        if (!renew_memory(LEAST_REMEMBERED))
            return NULL;
    }
    return &mine->entries[hash & (mine->size - 1)];
}

READS_STACKS static bool still_holds(const struct remembered *entry)
{
    for (uint32_t i = 0; i < entry->count; i++)
        if (word(entry->slots[i].at) != entry->slots[i].value)
            return false;
    return entry->count > 0;
}

__attribute__((noinline)) uint32_t obs_site_at(const void *at)
{
    struct obs_python_place places[OBS_PYTHON_DEPTH];
    struct obs_modules_counts counts = obs_modules_counts();
    size_t python = obs_python_walk(places, &counts), from = 0;
    struct walk walk = {.top = (uintptr_t)__builtin_dwarf_cfa(), .before = UINTPTR_MAX};
    _Unwind_Backtrace(note_frame, &walk);
    while (from < walk.count && walk.addresses[from] != (uintptr_t)at)
        from++;
    if (from == walk.count)
        return obs_site_of(at);
    walk.count -= from;
    memmove(walk.addresses, walk.addresses + from, walk.count * sizeof *walk.addresses);
    return keep(&walk, places, python);
}

uint32_t obs_site_of(const void *at)
{
    struct walk walk = {.count = 1, .addresses = {(uintptr_t)at}};
    return at ? keep(&walk, NULL, 0) : 0;
}

__attribute__((noinline)) uint32_t obs_site_here(const void *at)
{
    struct obs_python_place places[OBS_PYTHON_DEPTH];
    uintptr_t top = (uintptr_t)__builtin_dwarf_cfa();
    struct obs_modules_counts counts = obs_modules_counts();
    size_t python = obs_python_walk(places, &counts);
    uint64_t python_hash = python;
    for (size_t i = 0; i < python; i++)
        python_hash = mix(mix(mix(python_hash, (uintptr_t)places[i].code), places[i].at), places[i].check);
    uint64_t unloads = counts.unloads, hash = mix(mix(mix(0, (uintptr_t)at), top), python_hash);
    struct remembered *entry = remembered_at(hash);
    if (entry && entry->at == at && entry->top == top && entry->python == python_hash && entry->unloads == unloads &&
        still_holds(entry))
        return entry->site;
    struct walk walk = {.top = top, .before = UINTPTR_MAX, .told_again = true};
    _Unwind_Backtrace(note_frame, &walk);
    uint32_t site = keep(&walk, places, python);
    if (entry && walk.told_again && site) {
        if (entry->count && ++mine->put_out > mine->size && mine->size < MOST_REMEMBERED &&
            renew_memory(mine->size * 2))
            entry = remembered_at(hash);
        *entry = (struct remembered){at, top, python_hash, unloads, site, (uint32_t)walk.count, {{NULL, 0}}};
        memcpy(entry->slots, walk.slots, walk.count * sizeof *walk.slots);
    }
    return site;
}
