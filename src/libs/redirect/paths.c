/* SPDX-License-Identifier: Apache-2.0 */
/* Which path takes the place of which. */
#include "libs/redirect/paths.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/settings.h"
#include "libs/redirect/libraries.h"

static const char dev[] = "/dev/nvidia", proc[] = "/proc/driver/nvidia";

/* "" where Millrace's folder lacks it, or MILLRACE_KEEP lists it. */
static char assembler[PATH_MAX], driver_folder[PATH_MAX], driver_version[PATH_MAX];
static unsigned devices; /* device files to show; 0: none, not even nvidiactl */

/* Whether it was told: a bit for each kind of answer. Atomic. */
enum { TOLD_DEVICES = 1, TOLD_DRIVER = 2, TOLD_ASSEMBLER = 4 };
static unsigned told;

/* Sets `path` to a companion: under the folder of an installed Millrace, or of a build. */
static void find(char path[PATH_MAX], const char *installed, const char *built)
{
    char candidate[PATH_MAX + 64];
    const char *places[] = {installed, built};
    for (unsigned i = 0; i < 2; i++) {
        snprintf(candidate, sizeof candidate, "%s/%s", mr_redirect_folder(), places[i]);
        if (access(candidate, R_OK) == 0 && realpath(candidate, path))
            return;
    }
    *path = '\0';
}

void mr_paths_setup(void)
{
    if (!*mr_redirect_folder())
        return;
    if (!mr_redirect_keeps("ptxas"))
        find(assembler, "../bin/ptxas", "../bin/ptxas");
    if (!mr_redirect_keeps("devices")) {
        devices = mr_setting_devices();
        find(driver_folder, "millrace/proc", "proc");
        find(driver_version, "millrace/proc/version", "proc/version");
    }
}

/* Whether `rest` is the number of a device that there is, as the kernel module writes it. */
static bool is_device(const char *rest)
{
    char *end;
    if (*rest < '0' || *rest > '9' || (*rest == '0' && rest[1]))
        return false;
    return strtoull(rest, &end, 10) < devices && !*end;
}

static const char *answer(const char *path, const char *with, unsigned kind)
{
    if (!*with)
        return path;
    if (!(__atomic_fetch_or(&told, kind, __ATOMIC_RELAXED) & kind))
        mr_log(MR_LOG_INFO, "%s: the program gets %s in its place", path, with);
    return with;
}

static const char *for_look(const char *path)
{
    if (strncmp(path, dev, sizeof dev - 1) == 0) {
        const char *rest = path + sizeof dev - 1;
        bool shown = devices > 0 && (strcmp(rest, "ctl") == 0 || strcmp(rest, "-uvm") == 0 || is_device(rest));
        return shown ? answer(path, "/dev/null", TOLD_DEVICES) : path;
    }
    if (strncmp(path, proc, sizeof proc - 1) == 0) {
        const char *rest = path + sizeof proc - 1;
        if (strcmp(rest, "/version") == 0)
            return answer(path, driver_version, TOLD_DRIVER);
        if (!*rest || strcmp(rest, "/") == 0)
            return answer(path, driver_folder, TOLD_DRIVER);
    }
    return path;
}

/* Wheels of NVIDIA's and Triton have their assembler in a folder below one named nvidia. Others, such as the one of a
 * toolkit that is building for a GPU, are left alone. */
static const char *for_start(const char *path)
{
    const char *file = strrchr(path, '/');
    if (!file || (strcmp(file, "/ptxas") != 0 && strcmp(file, "/ptxas-blackwell") != 0) || !strstr(path, "/nvidia/"))
        return path;
    return answer(path, assembler, TOLD_ASSEMBLER);
}

const char *mr_path_for(const char *path, enum mr_path_use use)
{
    if (!path || *path != '/')
        return path;
    return use == MR_PATH_STARTED ? for_start(path) : path[1] == 'd' || path[1] == 'p' ? for_look(path) : path;
}
