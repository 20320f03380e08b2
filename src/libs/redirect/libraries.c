/* SPDX-License-Identifier: Apache-2.0 */
/* Which of NVIDIA's libraries Millrace has in their place. A version counts: one of NVIDIA's whose major version
 * Millrace does not have is left as it is. */
#include "libs/redirect/libraries.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/settings.h"

/* Stems, and the versions that Millrace has. "" is the name without a version. */
static struct library {
    const char *stem, *version;
    char *path;      /* made at first use; NULL until then */
    bool is_missing; /* it is not in the folder */
    bool is_kept;    /* MILLRACE_KEEP lists the stem */
} libraries[] = {
    {.stem = "libcuda", .version = "1"},       {.stem = "libcuda", .version = ""},
    {.stem = "libcudart", .version = "12"},    {.stem = "libcudart", .version = "13"},
    {.stem = "libcudart", .version = ""},      {.stem = "libnvrtc", .version = "11.2"},
    {.stem = "libnvrtc", .version = "12"},     {.stem = "libnvrtc", .version = "13"},
    {.stem = "libnvrtc", .version = ""},       {.stem = "libnvJitLink", .version = "12"},
    {.stem = "libnvJitLink", .version = "13"}, {.stem = "libnvJitLink", .version = ""},
    {.stem = "libnvidia-ml", .version = "1"},  {.stem = "libnvidia-ml", .version = ""},
    {.stem = "libcupti", .version = "12"},     {.stem = "libcupti", .version = "13"},
    {.stem = "libcupti", .version = ""},
#include "redirect_math.inc"
};
#define LIBRARIES (sizeof libraries / sizeof *libraries)

static char folder[PATH_MAX];

const char *mr_redirect_folder(void)
{
    return folder;
}

/* Whether `list` (names between commas) has the stem, with or without what follows ".so". */
static bool lists(const char *list, const char *stem)
{
    size_t length = strlen(stem);
    for (const char *name = list; *name;) {
        size_t room = strcspn(name, ", ");
        if (room >= length && strncmp(name, stem, length) == 0 && (room == length || name[length] == '.'))
            return true;
        name += room + (name[room] != '\0');
    }
    return false;
}

bool mr_redirect_keeps(const char *name)
{
    return lists(mr_setting_text(MR_SETTING_KEEP), name);
}

static bool has_driver(const char *where)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/libcuda.so.1", where);
    return access(path, R_OK) == 0;
}

/* The folder is the libraries': this one lies among them, or below in a folder for each kind of loader (`$LIB`), as a
 * link or, where there can't be links, as a copy. */
void mr_libraries_setup(void)
{
    Dl_info self;
    if (dladdr(&mr_libraries_setup, &self) && self.dli_fname && realpath(self.dli_fname, folder))
        *strrchr(folder, '/') = '\0';
    char above[sizeof folder];
    memcpy(above, folder, sizeof folder);
    for (unsigned up = 0; up < 5; up++) {
        if (has_driver(above)) {
            memcpy(folder, above, sizeof folder);
            break;
        }
        char *slash = strrchr(above, '/');
        if (slash)
            *slash = '\0';
    }
    for (unsigned i = 0; i < LIBRARIES; i++)
        libraries[i].is_kept = mr_redirect_keeps(libraries[i].stem);
}

bool mr_library_is_ours(const char *path)
{
    size_t length = strlen(folder);
    return length > 0 && strncmp(path, folder, length) == 0 && path[length] == '/' && !strchr(path + length + 1, '/');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hexadecimal(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* The characters behind a library's stem up to ".so": nothing, or what a wheel's packer adds: a hyphen and eight
 * hexadecimal digits. NULL if it is neither. */
static const char *behind_stem(const char *rest)
{
    if (*rest == '-') {
        for (int i = 1; i <= 8; i++)
            if (!is_hexadecimal(rest[i]))
                return NULL;
        rest += 9;
    }
    return strncmp(rest, ".so", 3) == 0 ? rest + 3 : NULL;
}

bool mr_library_is_packed(const char *path)
{
    const char *slash = strrchr(path, '/'), *dash = strchr(slash ? slash + 1 : path, '-');
    return dash && behind_stem(dash);
}

static bool is_for(const struct library *library, const char *file)
{
    size_t stem = strlen(library->stem), version = strlen(library->version);
    if (strncmp(file, library->stem, stem) != 0)
        return false;
    const char *rest = behind_stem(file + stem);
    if (!rest)
        return false;
    if (version == 0)
        return *rest == '\0';
    /* The driver's files carry its release behind ".so" (libcuda.so.580.82.07): there is one interface, version 1. */
    if (strcmp(library->stem, "libcuda") == 0 || strcmp(library->stem, "libnvidia-ml") == 0)
        return *rest == '.' && is_digit(rest[1]);
    return *rest == '.' && strncmp(rest + 1, library->version, version) == 0 &&
           (rest[1 + version] == '\0' || rest[1 + version] == '.');
}

bool mr_library_is_runtime_11(const char *name)
{
    static const struct library eleven = {.stem = "libcudart", .version = "11"};
    return is_for(&eleven, name) && !mr_redirect_keeps(eleven.stem);
}

static const char *path_of(struct library *library)
{
    if (!library->path && !library->is_missing) {
        size_t room = strlen(folder) + strlen(library->stem) + strlen(library->version) + sizeof "/.so.";
        library->path = malloc(room);
        if (!library->path)
            return NULL;
        snprintf(library->path, room, "%s/%s.so%s%s", folder, library->stem, *library->version ? "." : "",
                 library->version);
        if (access(library->path, R_OK) != 0) {
            library->is_missing = true;
            free(library->path);
            library->path = NULL;
        }
    }
    return library->path;
}

const char *mr_library_for(const char *name)
{
    const char *slash = strrchr(name, '/'), *file = slash ? slash + 1 : name;
    if (!*folder || strncmp(file, "lib", 3) != 0)
        return NULL;
    for (unsigned i = 0; i < LIBRARIES; i++)
        if (is_for(&libraries[i], file))
            return libraries[i].is_kept ? NULL : path_of(&libraries[i]);
    return NULL;
}
