/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of CPython, read by the layouts that its public headers give for each version. What is taken for a code object
 * is used only if its type says that it is one. */
#include "libs/observer/python.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libs/observer/modules.h"

enum { NONE = 0xffff, NAMES = 4096, NAMED = 8192 };

/* Offsets in bytes. Up to 3.10 a frame is an object and has the index of its last instruction; from 3.11 on it is a
 * record that points to it. 3.11 and 3.12 have one step between the thread and its frame. */
struct layout {
    unsigned minor;
    uint16_t thread_frame, step; /* step: NONE where the thread points to the frame */
    uint16_t previous, code, at, owner; /* of a frame; owner NONE: has none */
    uint16_t instructions, filename, name, first_line; /* of code; instructions NONE: `at` is an index */
    uint16_t text; /* of a string of ASCII characters: where they begin */
    unsigned unit; /* bytes of what an index counts */
};

static const struct layout layouts[] = {
    {8, 24, NONE, 24, 32, 104, NONE, NONE, 104, 112, 40, 48, 1},
    {9, 24, NONE, 24, 32, 104, NONE, NONE, 104, 112, 40, 48, 1},
    {10, 24, NONE, 24, 32, 96, NONE, NONE, 104, 112, 40, 48, 2},
    {11, 56, 8, 48, 32, 56, 69, 184, 112, 128, 72, 48, 1},
    {12, 56, 0, 8, 0, 56, 70, 192, 112, 128, 68, 40, 1},
    {13, 72, NONE, 8, 0, 56, 70, 200, 112, 128, 68, 40, 1},
};

enum { OWNED_BY_C = 3, OBJECT_TYPE = 8, STRING_LENGTH = 16, CODE_LENGTH = 16, STRING_STATE = 32, LONGEST = 4096 };
/* Of a string's state: the width of its characters, and whether they lie behind the head and are ASCII. */
enum { KIND_SHIFT = 2, KIND_MASK = 7, COMPACT = 1 << 5, ASCII = 1 << 6 };

struct interpreter {
    const struct layout *layout;
    const void *code_type;
    void *(*thread)(void);
    int (*line)(void *code, int at);
    int (*initialized)(void);
    uint32_t module;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the search for an interpreter */
static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER; /* guards the names that are kept, and `named` */
static struct interpreter found;
static _Atomic(struct interpreter *) interpreter;
static struct named {
    struct obs_python_place place;
    struct obs_python_frame frame;
} named[NAMED]; /* places by hash, the last of each; place.code NULL: none */
static _Atomic uint32_t searched; /* the modules that were there at the last search, */
static _Atomic unsigned long long searched_loads; /* and how often the loader had loaded something then */

static const void *pointer_at(const void *base, unsigned offset)
{
    const void *value;
    memcpy(&value, (const char *)base + offset, sizeof value);
    return value;
}

static int int_at(const void *base, unsigned offset)
{
    int value;
    memcpy(&value, (const char *)base + offset, sizeof value);
    return value;
}

/* An interpreter in `library` (a handle of dlopen) that can be read. */
static bool look_in(void *library)
{
    const char *(*version)(void) = (const char *(*)(void))dlsym(library, "Py_GetVersion");
    unsigned major, minor;
    if (!version || sizeof(void *) != 8)
        return false;
    const char *text = version();
    if (sscanf(text, "%u.%u", &major, &minor) != 2 || major != 3 || strstr(text, "free-threading"))
        return false;
    struct interpreter one = {.code_type = dlsym(library, "PyCode_Type"),
                              .thread = (void *(*)(void))dlsym(library, "PyGILState_GetThisThreadState"),
                              .line = (int (*)(void *, int))dlsym(library, "PyCode_Addr2Line"),
                              .initialized = (int (*)(void))dlsym(library, "Py_IsInitialized")};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].minor == minor)
            one.layout = &layouts[i];
    if (!one.layout || !one.code_type || !one.thread || !one.line || !one.initialized || dlsym(library, "_Py_RefTotal"))
        return false;
    one.module = obs_module_at((uintptr_t)one.line);
    found = one;
    atomic_store_explicit(&interpreter, &found, memory_order_release);
    return true;
}

/* Looks in what the program can see, then in libraries of Python that something opened for itself. */
static void search(const struct obs_modules_counts *counts)
{
    if (atomic_load_explicit(&searched_loads, memory_order_relaxed) == counts->loads)
        return;
    obs_module_at((uintptr_t)&found); /* the list is up to date */
    uint32_t count = obs_module_count();
    if (atomic_load_explicit(&searched, memory_order_relaxed) == count) {
        atomic_store_explicit(&searched_loads, counts->loads, memory_order_relaxed);
        return;
    }
    pthread_mutex_lock(&lock);
    if (!atomic_load_explicit(&interpreter, memory_order_relaxed) && !look_in(RTLD_DEFAULT))
        for (uint32_t i = 0; i < count; i++) {
            const char *path = obs_module(i)->path, *slash = strrchr(path, '/');
            if (obs_module(i)->closed || strncmp(slash ? slash + 1 : path, "libpython3", 10) != 0)
                continue;
            void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
            if (library && look_in(library))
                break; /* and it stays open */
            if (library)
                dlclose(library);
        }
    atomic_store_explicit(&searched, count, memory_order_relaxed);
    atomic_store_explicit(&searched_loads, counts->loads, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
}

uint32_t obs_python_module(void)
{
    struct interpreter *python = atomic_load_explicit(&interpreter, memory_order_acquire);
    return python ? python->module : OBS_NO_MODULE;
}

/* What tells one piece of code from another that has taken its place: its names, its first line, and its length (from
 * 3.11 on; before, how many arguments it has). */
static uint64_t check_of(const struct layout *layout, const void *code)
{
    uint64_t value = (uintptr_t)pointer_at(code, layout->filename);
    value = value * 0x9e3779b97f4a7c15u + (uintptr_t)pointer_at(code, layout->name);
    value = value * 0x9e3779b97f4a7c15u + (uintptr_t)pointer_at(code, CODE_LENGTH);
    return value * 0x9e3779b97f4a7c15u + (unsigned)int_at(code, layout->first_line);
}

size_t obs_python_walk(struct obs_python_place *out, const struct obs_modules_counts *counts)
{
    struct interpreter *python = atomic_load_explicit(&interpreter, memory_order_acquire);
    if (!python) {
        search(counts);
        python = atomic_load_explicit(&interpreter, memory_order_acquire);
    }
    if (!python || !python->initialized())
        return 0;
    const struct layout *layout = python->layout;
    const void *frame = python->thread();
    if (frame)
        frame = pointer_at(frame, layout->thread_frame);
    if (frame && layout->step != NONE)
        frame = pointer_at(frame, layout->step);
    size_t count = 0;
    for (; frame && count < OBS_PYTHON_DEPTH; frame = pointer_at(frame, layout->previous)) {
        const void *code = pointer_at(frame, layout->code);
        if (layout->owner != NONE && ((const uint8_t *)frame)[layout->owner] >= OWNED_BY_C)
            continue;
        if (!code || pointer_at(code, OBJECT_TYPE) != python->code_type)
            continue;
        intptr_t at;
        if (layout->instructions == NONE)
            at = (intptr_t)int_at(frame, layout->at) * (intptr_t)layout->unit;
        else
            at = (const char *)pointer_at(frame, layout->at) - ((const char *)code + layout->instructions);
        if (at < 0)
            continue; /* has not begun */
        out[count++] = (struct obs_python_place){code, (uint32_t)at, check_of(layout, code)};
    }
    return count;
}

/* One character of a string as UTF-8. */
static size_t put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    for (size_t i = more; i > 0; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)((more == 1 ? 0xc0 : more == 2 ? 0xe0 : 0xf0) | c);
    return more + 1;
}

/* The same text as one pointer, kept for ever; frees what it is given if it has it. NULL: memory is short. */
static const char *keep_name(char *name)
{
    static struct kept_name {
        struct kept_name *next;
        char *text;
    } *names[NAMES];
    uint32_t hash = 2166136261u;
    if (!name)
        return NULL;
    for (const char *at = name; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    struct kept_name **chain = &names[hash % NAMES], *one;
    pthread_mutex_lock(&names_lock);
    for (one = *chain; one && strcmp(one->text, name) != 0; one = one->next)
        continue;
    bool known = one != NULL;
    if (!known && (one = malloc(sizeof *one)) != NULL) {
        *one = (struct kept_name){*chain, name};
        *chain = one;
    }
    pthread_mutex_unlock(&names_lock);
    if (known || !one)
        free(name);
    return one ? one->text : NULL;
}

/* A copy of a Python string: its first LONGEST characters. NULL: memory is short. Strings that are laid out otherwise
 * (which no name of code is) are "?". */
static char *copy_string(const struct layout *layout, const void *string)
{
    int state = string ? int_at(string, STRING_STATE) : 0;
    unsigned width = (unsigned)state >> KIND_SHIFT & (unsigned)KIND_MASK;
    if (!(state & COMPACT) || (width != 1 && width != 2 && width != 4))
        return strdup("?");
    size_t length = (size_t)pointer_at(string, STRING_LENGTH);
    if (length > LONGEST)
        length = LONGEST;
    /* Other characters begin behind two more words, three up to 3.11. */
    unsigned head = layout->text + (state & ASCII ? 0 : layout->minor >= 12 ? 16 : 24);
    const char *from = (const char *)string + head;
    char *copy = malloc(length * 4 + 1), *to = copy;
    if (!copy)
        return NULL;
    for (size_t i = 0; i < length; i++) {
        uint32_t c = 0;
        memcpy(&c, from + i * width, width);
        to += put_utf8(to, c);
    }
    *to = 0;
    return copy;
}

static bool name_place(const struct interpreter *python, const struct obs_python_place *place,
                       struct obs_python_frame *out)
{
    const char *file = keep_name(copy_string(python->layout, pointer_at(place->code, python->layout->filename)));
    const char *function = keep_name(copy_string(python->layout, pointer_at(place->code, python->layout->name)));
    if (!file || !function)
        return false;
    int line = python->line((void *)place->code, (int)place->at);
    *out = (struct obs_python_frame){file, function, line > 0 ? (uint32_t)line : 0};
    return true;
}

bool obs_python_name(const struct obs_python_place *place, struct obs_python_frame *out)
{
    uint64_t hash = (place->check ^ place->at ^ (uintptr_t)place->code >> 4) * 0x9e3779b97f4a7c15u;
    struct named *entry = &named[hash >> 32 & (NAMED - 1)];
    pthread_mutex_lock(&names_lock);
    bool known = entry->place.code == place->code && entry->place.at == place->at && entry->place.check == place->check;
    if (known)
        *out = entry->frame;
    pthread_mutex_unlock(&names_lock);
    if (known)
        return true;
    if (!name_place(atomic_load_explicit(&interpreter, memory_order_acquire), place, out))
        return false;
    pthread_mutex_lock(&names_lock);
    *entry = (struct named){*place, *out};
    pthread_mutex_unlock(&names_lock);
    return true;
}
