/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at an object. Most carry no runtime library, and that must cost next to nothing: one that does opens the
 * driver by name, so an object that doesn't import dlsym is passed over without a look at its file. */
#include "libs/redirect/loaded.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "libs/redirect/libraries.h"
#include "libs/redirect/patch.h"
#include "libs/redirect/slots.h"
#include "libs/redirect/symbols.h"

/* An object's dynamic section, as the loader has it. */
struct dynamic {
    const char *strings;
    const ElfW(Sym) * symbols;
    const uint32_t *gnu, *hash; /* its hash tables; NULL: it has none of that kind */
    size_t undefined; /* symbols that may be undefined: these come first; 0: not known */
    const char *name; /* by which others ask for it; "": it has none */
    bool needs_runtime;
};

/* The loader has added the object's address to pointers in the dynamic section, unless that can't be written to. */
static const void *pointer_of(const struct link_map *map, uintptr_t value)
{
    return (const void *)(value < map->l_addr ? map->l_addr + value : value);
}

/* The number of symbols before the first that the hash table holds. A table that holds none doesn't tell. */
static size_t count_before(const uint32_t *table)
{
    uint32_t buckets = table[0], words = table[2];
    const uint32_t *bucket = table + 4 + 2 * (size_t)words;
    for (uint32_t i = 0; i < buckets; i++)
        if (bucket[i])
            return table[1];
    return 0;
}

static bool read_dynamic(const struct link_map *map, struct dynamic *out)
{
    *out = (struct dynamic){.name = ""};
    if (!map->l_ld)
        return false;
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_STRTAB)
            out->strings = pointer_of(map, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_SYMTAB)
            out->symbols = pointer_of(map, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_GNU_HASH)
            out->gnu = pointer_of(map, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_HASH)
            out->hash = pointer_of(map, entry->d_un.d_ptr);
    }
    if (!out->strings || !out->symbols || (!out->gnu && !out->hash))
        return false;
    out->undefined = out->gnu ? count_before(out->gnu) : out->hash[1]; /* hash[1]: the number of all symbols */
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_SONAME)
            out->name = out->strings + entry->d_un.d_val;
        else if (entry->d_tag == DT_NEEDED && strncmp(out->strings + entry->d_un.d_val, "libcudart", 9) == 0)
            out->needs_runtime = true;
    return true;
}

static bool may_import(const struct dynamic *dynamic, const char *name)
{
    if (dynamic->undefined == 0)
        return true;
    for (size_t i = 1; i < dynamic->undefined; i++)
        if (dynamic->symbols[i].st_shndx == SHN_UNDEF &&
            strcmp(dynamic->strings + dynamic->symbols[i].st_name, name) == 0)
            return true;
    return false;
}

static bool defines(const struct dynamic *dynamic, size_t index, const char *name)
{
    const ElfW(Sym) *symbol = &dynamic->symbols[index];
    return symbol->st_shndx != SHN_UNDEF && strcmp(dynamic->strings + symbol->st_name, name) == 0;
}

/* A search as the loader makes it (DT_GNU_HASH): most objects don't have the name, and its filter of bits says so. */
static bool gnu_has(const struct dynamic *dynamic, const char *name)
{
    enum { WORD_BITS = sizeof(ElfW(Addr)) * 8 };
    const uint32_t *table = dynamic->gnu, buckets = table[0], first = table[1], words = table[2], shift = table[3];
    const ElfW(Addr) *filter = (const ElfW(Addr) *)(table + 4);
    const uint32_t *bucket = (const uint32_t *)(filter + words), *chain = bucket + buckets;
    uint32_t hash = 5381;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        hash = hash * 33 + *c;
    if (buckets == 0 || words == 0)
        return false;
    ElfW(Addr) bits = filter[hash / WORD_BITS % words];
    if (!(bits >> hash % WORD_BITS & 1) || !(bits >> (hash >> shift) % WORD_BITS & 1))
        return false;
    for (uint32_t i = bucket[hash % buckets]; i >= first && i != 0; i++) {
        if ((chain[i - first] | 1) == (hash | 1) && defines(dynamic, i, name))
            return true;
        if (chain[i - first] & 1)
            break;
    }
    return false;
}

bool mr_object_exports(const struct link_map *map, const char *name)
{
    struct dynamic dynamic;
    if (!read_dynamic(map, &dynamic))
        return false;
    if (dynamic.gnu)
        return gnu_has(&dynamic, name);
    for (uint32_t i = 1; i < dynamic.hash[1]; i++)
        if (defines(&dynamic, i, name))
            return true;
    return false;
}

/* Whether it imports what NVIDIA's static runtime library does and few other objects do. */
static bool may_carry_nvidias(const struct dynamic *dynamic)
{
    return may_import(dynamic, "dlvsym") && may_import(dynamic, "mkfifo") && may_import(dynamic, "sem_timedwait");
}

static bool has(const struct mr_redirect_symbols *symbols, const char *name)
{
    int number = mr_redirect_name(name);
    for (size_t i = 0; i < symbols->count; i++)
        if (symbols->functions[i].name == number)
            return true;
    return false;
}

/* The version of the runtime library that has these functions. The first name is version 12's alone; 12 dropped the
 * second, and 13 the third. */
static enum mr_redirect_version version_of(const struct mr_redirect_symbols *symbols)
{
    if (has(symbols, "cudaGetDeviceProperties_v2"))
        return MR_REDIRECT_12;
    if (has(symbols, "cudaBindTexture"))
        return MR_REDIRECT_11;
    return has(symbols, "cudaThreadExit") ? MR_REDIRECT_12 : MR_REDIRECT_13;
}

static struct mr_redirection *redirect(const struct link_map *map, int fd, const char *path,
                                       const struct mr_redirect_symbols *symbols)
{
    enum mr_redirect_version version = version_of(symbols);
    struct mr_redirection *redirection;
    size_t done = 0;
    mr_redirect_slots_setup();
    if (symbols->known)
        mr_log(MR_LOG_INFO, "%s: NVIDIA's runtime library of CUDA %s is inside, without names", path, symbols->known);
    const char *problem = mr_redirect_patch(map->l_addr, fd, symbols, version, &redirection, &done);
    if (problem)
        mr_log(MR_LOG_WARN, "%s: the runtime library inside can't be replaced, so its calls will fail: %s", path,
               problem);
    else if (done < symbols->count)
        mr_log(MR_LOG_INFO,
               "%s: %zu functions of the runtime library inside go to libcudart.so.%s; too short for that: %zu", path,
               done, mr_redirect_version_name(version), symbols->count - done);
    else
        mr_log(MR_LOG_INFO, "%s: %zu functions of the runtime library inside go to libcudart.so.%s", path, done,
               mr_redirect_version_name(version));
    return redirection;
}

struct mr_redirection *mr_redirect_object(const struct link_map *map)
{
    struct dynamic dynamic;
    struct mr_redirect_symbols symbols;
    struct mr_redirection *redirection = NULL;
    if (!read_dynamic(map, &dynamic) || !may_import(&dynamic, "dlsym"))
        return NULL;
    /* The program itself has no name here. */
    const char *path = *map->l_name ? map->l_name : "/proc/self/exe";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    const char *shown = *map->l_name ? map->l_name : "the program";
    const char *problem = mr_redirect_read(fd, mr_library_is_runtime_11(dynamic.name), &symbols);
    if (!problem && symbols.count == 0 && !symbols.is_ours && may_carry_nvidias(&dynamic))
        problem = mr_redirect_read_code(fd, &symbols);
    if (problem)
        mr_log(MR_LOG_INFO, "%s: %s; if a runtime library is inside, its calls will fail", shown, problem);
    if (symbols.misplaced)
        mr_log(
            MR_LOG_WARN,
            "%s: its symbol table has %zu functions of a runtime library that lie outside of its code; calls of them "
            "will fail",
            shown, symbols.misplaced);
    if (!problem && symbols.count > 0)
        redirection = redirect(map, fd, shown, &symbols);
    else if (!problem && !symbols.has_table && symbols.has_kernels && !symbols.is_ours && !dynamic.needs_runtime)
        /* No warning: many a program loads such a library and never calls it (PyTorch libcufile). At its first call it
         * asks for a private table, and the driver warns. */
        mr_log(MR_LOG_INFO,
               "%s: NVIDIA's runtime library may be inside, and the names of its functions are stripped, so its calls "
               "will fail; link it with -cudart shared, or don't strip it",
               shown);
    free(symbols.functions);
    close(fd);
    return redirection;
}
