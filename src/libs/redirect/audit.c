/* SPDX-License-Identifier: Apache-2.0 */
/* libmillrace-audit.so: an rtld-audit library (man 7 rtld-audit), which `millrace run` names in LD_AUDIT. The loader calls it whenever it looks for
 * an object and whenever it has mapped one. It lets programs in that carry NVIDIA's runtime library inside, or that name a folder of
 * NVIDIA's libraries:
 *
 *   - a library that Millrace has is taken from Millrace's folder (libraries.h);
 *   - calls of a runtime library that an object carries go to Millrace's libcudart (object.h).
 *
 * The loader runs this library in a namespace of its own, with its own C library. The program's threads are not known to that library: what it keeps for each
 * thread has its first value there, so neither <ctype.h> nor scanf may be used, whose tables are pointers that are set when a thread starts. It watches no calls,
 * so none costs more than without it. */
#include <link.h>
#include <string.h>

#include "base/log.h"
#include "libs/redirect/libraries.h"
#include "libs/redirect/object.h"

#define EXPORT __attribute__((visibility("default")))

/* Marks an object of Millrace's: its libraries, which may ask for one of NVIDIA's by its path (MILLRACE_NVRTC). Other objects' cookies are
 * their redirections, or NULL. */
static char ours;

EXPORT unsigned la_version(unsigned version)
{
    mr_log_setup();
    mr_libraries_setup();
    /* The hooks below are the same in all versions of the interface. */
    return version < LAV_CURRENT ? version : LAV_CURRENT;
}

EXPORT char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag)
{
    if (flag != LA_SER_ORIG || *cookie == (uintptr_t)&ours)
        return (char *)name;
    const char *path = mr_library_for(name);
    if (!path || strcmp(path, name) == 0)
        return (char *)name;
    mr_log(MR_LOG_DEBUG, "%s is taken from %s", name, path);
    return (char *)path;
}

EXPORT unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
    *cookie = 0;
    if (namespace != LM_ID_BASE)
        return 0;
    if (mr_library_is_ours(map->l_name))
        *cookie = (uintptr_t)&ours;
    else
        *cookie = (uintptr_t)mr_redirect_object(map);
    return 0; /* no symbol's binding is watched */
}

EXPORT unsigned la_objclose(uintptr_t *cookie)
{
    if (*cookie && *cookie != (uintptr_t)&ours)
        mr_redirection_end((struct mr_redirection *)*cookie);
    *cookie = 0;
    return 0;
}
