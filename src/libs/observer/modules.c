/* SPDX-License-Identifier: Apache-2.0 */
/* Modules in the order in which they were first seen. The loader counts what it loads and unloads; the list is compared
 * with the loader's when those counts have changed. A library that is loaded again is another module. */
#include "libs/observer/modules.h"
#include "base/mutex.h"

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 64, CHUNKS = 1024 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows; chunks and count are read without it */
static struct obs_module *chunks[CHUNKS];
static _Atomic uint32_t count;
static bool seen[CHUNK * CHUNKS];
static unsigned long long known_loads, known_unloads;

static struct obs_module *module_of(uint32_t number)
{
    return &chunks[number / CHUNK][number % CHUNK];
}

const struct obs_module *obs_module(uint32_t number)
{
    return number < atomic_load_explicit(&count, memory_order_acquire) ? module_of(number) : NULL;
}

uint32_t obs_module_count(void)
{
    return atomic_load_explicit(&count, memory_order_acquire);
}

static int counts_of_first(struct dl_phdr_info *info, size_t size, void *out)
{
    (void)size;
    *(struct obs_modules_counts *)out = (struct obs_modules_counts){info->dlpi_adds, info->dlpi_subs};
    return 1;
}

struct obs_modules_counts obs_modules_counts(void)
{
    struct obs_modules_counts counts = {0, 0};
    dl_iterate_phdr(counts_of_first, &counts);
    return counts;
}

/* The driver and what comes with it. The name is that of the file, without its version. */
static bool is_hidden(const char *path)
{
    static const char *const names[] = {"libcuda.so", "libcudart.so", "libmillrace-", "libcublas", "libcufft",
                                        "libcurand",  "libcusolver",  "libcusparse",  "libcudnn",  "libnccl"};
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* The build-id is a note whose owner is "GNU", in one of the segments of notes. */
static void read_build_id(struct obs_module *module, const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_NOTE)
            continue;
        const char *at = (const char *)(info->dlpi_addr + segment->p_vaddr), *end = at + segment->p_memsz;
        size_t align = segment->p_align == 8 ? 8 : 4;
        while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
            const ElfW(Nhdr) *note = (const void *)at;
            const char *name = at + sizeof *note;
            size_t name_room = (note->n_namesz + align - 1) & ~(align - 1);
            size_t data_room = (note->n_descsz + align - 1) & ~(align - 1);
            size_t left = (size_t)(end - name);
            if (name_room > left || note->n_descsz > left - name_room)
                break;
            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(name, "GNU", 4) == 0 &&
                note->n_descsz <= OBS_BUILD_ID_MAX) {
                memcpy(module->build_id, name + name_room, note->n_descsz);
                module->build_id_size = note->n_descsz;
                return;
            }
            if (data_room > left - name_room)
                break;
            at = name + name_room + data_room;
        }
    }
}

static void range_of(const struct dl_phdr_info *info, uintptr_t *first, uintptr_t *end)
{
    *first = UINTPTR_MAX;
    *end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD)
            continue;
        if (from < *first)
            *first = from;
        if (from + segment->p_memsz > *end)
            *end = from + segment->p_memsz;
    }
}

static bool same_module(const struct obs_module *one, const struct obs_module *other)
{
    return one->first == other->first && one->end == other->end && one->build_id_size == other->build_id_size &&
           memcmp(one->build_id, other->build_id, one->build_id_size) == 0 && strcmp(one->path, other->path) == 0;
}

static void append(const struct obs_module *found)
{
    uint32_t number = atomic_load_explicit(&count, memory_order_relaxed);
    if (number >= CHUNK * CHUNKS)
        return;
    if (!chunks[number / CHUNK] && !(chunks[number / CHUNK] = calloc(CHUNK, sizeof **chunks)))
        return;
    struct obs_module *module = module_of(number);
    *module = *found;
    module->path = strdup(found->path);
    if (!module->path)
        return;
    module->hidden = is_hidden(found->path);
    seen[number] = true;
    atomic_store_explicit(&count, number + 1, memory_order_release);
}

/* Called for each module that the loader has, with its list locked. */
static int note_module(struct dl_phdr_info *info, size_t size, void *nth)
{
    (void)size;
    char self[PATH_MAX];
    struct obs_module found = {.path = (char *)info->dlpi_name, .bias = info->dlpi_addr};
    known_loads = info->dlpi_adds;
    known_unloads = info->dlpi_subs;
    if ((*(unsigned *)nth)++ == 0 && (!found.path || !*found.path)) { /* the program, which the loader doesn't name */
        ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
        self[length > 0 ? length : 0] = 0;
        found.path = self;
    }
    if (!found.path)
        found.path = (char *)"";
    if (*found.path != '/' && strchr(found.path, '/') && realpath(found.path, self))
        found.path = self; /* the command may run in another folder */
    range_of(info, &found.first, &found.end);
    read_build_id(&found, info);
    for (uint32_t i = count; i-- > 0;)
        if (!module_of(i)->closed && same_module(module_of(i), &found)) {
            seen[i] = true;
            return 0;
        }
    append(&found);
    return 0;
}

/* With the lock held: compares the list with the loader's. A library that went and came back between two looks, to the
 * same place, is one module: its addresses mean the same if the file is the same. */
static void look_again(void)
{
    MR_MUTEX_HELD(&lock);
    unsigned nth = 0;
    memset(seen, 0, count);
    dl_iterate_phdr(note_module, &nth);
    for (uint32_t i = 0; i < count; i++)
        if (!seen[i])
            module_of(i)->closed = true;
}

uint32_t obs_module_at(uintptr_t address)
{
    uint32_t found = OBS_NO_MODULE;
    struct obs_modules_counts counts = obs_modules_counts();
    pthread_mutex_lock(&lock);
    if (counts.loads != known_loads || counts.unloads != known_unloads)
        look_again();
    for (uint32_t i = count; found == OBS_NO_MODULE && i-- > 0;)
        if (!module_of(i)->closed && address >= module_of(i)->first && address < module_of(i)->end)
            found = i;
    pthread_mutex_unlock(&lock);
    return found;
}
