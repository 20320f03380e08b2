/* SPDX-License-Identifier: Apache-2.0 */
/* libmillrace-audit.so: an rtld-audit library (man 7 rtld-audit), which `millrace run` names in LD_AUDIT. The loader
 * calls it whenever it looks for an object and whenever it has mapped one. It lets programs in that carry NVIDIA's
 * runtime library inside, or that name a folder of NVIDIA's libraries:
 *
 *   - a library that Millrace has is taken from Millrace's folder (libraries.h);
 *   - calls of a runtime library that an object carries go to Millrace's libcudart (loaded.h);
 *   - functions of it that a Python module hands out by capsules go there, too (python.h);
 *   - NVIDIA's libnvvm, which compiles for any machine, makes PTX in place of its LTO code (nvvm.h);
 *   - the PTX Compiler API in a library that makes machine code is Millrace's (ptxcompiler.h);
 *   - an MPI library says that it takes device pointers (mpi.h);
 *   - files that a GPU's kernel module would have are there for the program (paths.h).
 *
 * The loader runs this library in a namespace of its own, with its own C library. The program's threads are not known
 * to that library: what it keeps for each thread has its first value there, so neither <ctype.h> nor scanf may be used,
 * whose tables are pointers that are set when a thread starts. It hears of each symbol of the C library once, when it
 * is bound; no other call costs more than without it. */
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "libs/redirect/calls.h"
#include "libs/redirect/libraries.h"
#include "libs/redirect/loaded.h"
#include "libs/redirect/mpi.h"
#include "libs/redirect/nvvm.h"
#include "libs/redirect/paths.h"
#include "libs/redirect/ptxcompiler.h"
#include "libs/redirect/python.h"

#define EXPORT __attribute__((visibility("default")))

/* Marks an object of Millrace's: its libraries, which may ask for one of NVIDIA's by its path (MILLRACE_NVRTC). Other
 * objects' cookies are their redirections, or NULL. */
static char ours;

/* The C library's cookie: its symbols' bindings are watched. */
static char c_library;

/* The cookie of a Python module that may carry a runtime library with no symbols: its PyInit_… is watched. */
static char python_module;

/* The cookie of NVIDIA's libnvvm: what is looked up in it is watched. */
static char nvvm;

/* The cookie of a library that exports the PTX Compiler API: what is looked up in it is watched. */
static char ptxcompiler;

/* The cookie of an MPI library: what is looked up in it is watched. */
static char mpi;

/* The program's first object; all others of its namespace are behind it. NULL until the loader has told of it. */
static const struct link_map *program;

static bool is_c_library(const char *path)
{
    const char *file = strrchr(path, '/');
    return file && strcmp(file, "/libc.so.6") == 0;
}

EXPORT unsigned la_version(unsigned version)
{
    mr_log_setup();
    mr_libraries_setup();
    mr_paths_setup();
    /* The hooks below are the same in all versions of the interface. */
    return version < LAV_CURRENT ? version : LAV_CURRENT;
}

/* Whether the program has loaded Millrace's library at `path`. The loader's lock is held. */
static bool is_loaded(const char *path)
{
    struct stat wanted, found;
    if (stat(path, &wanted) != 0)
        return false;
    for (const struct link_map *map = program; map; map = map->l_next)
        if (mr_library_is_ours(map->l_name) && stat(map->l_name, &found) == 0 && found.st_dev == wanted.st_dev &&
            found.st_ino == wanted.st_ino)
            return true;
    return false;
}

/* The loader notes a library under the name that was asked for, by which it looks for the versions of symbols, when it
 * maps it. If the library is there already, it notes the path that this function answers instead. So a name that is not
 * the library's own (a packer's) stays as it is then, and the path stands for the first file of that name that the
 * loader would open: it finds that it has that file, and notes the name. */
EXPORT char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag)
{
    bool begins = flag == LA_SER_ORIG;
    if (*cookie == (uintptr_t)&ours || (!begins && !mr_library_is_packed(name)))
        return (char *)name;
    const char *path = mr_library_for(name);
    if (!path || strcmp(path, name) == 0)
        return (char *)name;
    bool by_folder = mr_library_is_packed(name) && is_loaded(path);
    if (begins ? by_folder && !strchr(name, '/') : !by_folder)
        return (char *)name;
    mr_log(MR_LOG_DEBUG, "%s is taken from %s", name, path);
    return (char *)path;
}

EXPORT unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
    *cookie = 0;
    if (namespace != LM_ID_BASE)
        return 0;
    if (!program)
        program = map;
    if (mr_library_is_ours(map->l_name)) {
        *cookie = (uintptr_t)&ours;
        return 0;
    }
    if (is_c_library(map->l_name)) {
        *cookie = (uintptr_t)&c_library;
        return LA_FLG_BINDTO;
    }
    if (mr_nvvm_is(map->l_name)) {
        *cookie = (uintptr_t)&nvvm;
        return LA_FLG_BINDFROM | LA_FLG_BINDTO;
    }
    if (mr_mpi_is(map->l_name)) {
        *cookie = (uintptr_t)&mpi;
        return LA_FLG_BINDFROM | LA_FLG_BINDTO;
    }
    *cookie = (uintptr_t)mr_redirect_object(map);
    if (!*cookie && mr_python_may_carry(map->l_name)) {
        *cookie = (uintptr_t)&python_module;
        return LA_FLG_BINDFROM | LA_FLG_BINDTO;
    }
    if (!*cookie && mr_ptxcompiler_is(map)) {
        *cookie = (uintptr_t)&ptxcompiler;
        return LA_FLG_BINDFROM | LA_FLG_BINDTO;
    }
    return LA_FLG_BINDFROM;
}

/* Only for symbols of the C library, of Python modules, of libnvvm, of PTX compilers and of MPI libraries, which other
 * objects than Millrace's ask for. */
EXPORT uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to, unsigned *flags,
                              const char *name)
{
    (void)index, (void)from, (void)flags;
    if (*to == (uintptr_t)&python_module)
        return mr_python_symbol(name, symbol->st_value);
    if (*to == (uintptr_t)&nvvm)
        return mr_nvvm_symbol(name, symbol->st_value);
    if (*to == (uintptr_t)&ptxcompiler)
        return mr_ptxcompiler_symbol(name, symbol->st_value);
    if (*to == (uintptr_t)&mpi)
        return mr_mpi_symbol(name, symbol->st_value);
    return mr_call_for(name, symbol->st_value);
}

EXPORT unsigned la_objclose(uintptr_t *cookie)
{
    bool is_mark = *cookie == (uintptr_t)&ours || *cookie == (uintptr_t)&c_library ||
                   *cookie == (uintptr_t)&python_module || *cookie == (uintptr_t)&nvvm ||
                   *cookie == (uintptr_t)&ptxcompiler || *cookie == (uintptr_t)&mpi;
    if (*cookie && !is_mark)
        mr_redirection_end((struct mr_redirection *)*cookie);
    *cookie = 0;
    return 0;
}
