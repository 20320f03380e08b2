/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA's C++ headers, CCCL: thrust/, cub/, cuda/std/.
 *
 * They are not part of Millrace, and their licence lets anybody have them. Debian's packages put them where compilers
 * look. A package of PyPI puts them among the modules of a Python: they are looked for beside other modules whose
 * headers the command line names (PyTorch's, when it builds an extension), and beside the python3 in PATH, which a
 * virtual environment puts first. MILLRACE_CCCL names another folder. A toolkit's copy is taken only if the source's
 * own -I names it.
 *
 * In CUDA 13 they lie in a folder "cccl" among the toolkit's headers, and sources may write <cccl/cuda/std/utility>, as
 * CUTLASS does. So the folder above is searched as well, last of all. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/settings.h"
#include "shim.h"

static bool has_headers(const char *folder)
{
    char path[PATH_MAX];
    return snprintf(path, sizeof path, "%s/thrust/version.h", folder) < (int)sizeof path && access(path, R_OK) == 0;
}

/* The folder of a Python's modules, which match `modules`, in which a package has the headers. */
static bool find_among(const char *modules, char found[PATH_MAX])
{
    static const char *const places[] = {"nvidia/cu13/include/cccl", "nvidia/cuda_cccl/include",
                                         "cuda/cccl/headers/include"};
    bool good = false;
    for (size_t i = 0; i < sizeof places / sizeof *places && !good; i++) {
        char pattern[PATH_MAX];
        glob_t matches;
        if (snprintf(pattern, sizeof pattern, "%s/%s", modules, places[i]) >= (int)sizeof pattern)
            continue;
        if (glob(pattern, 0, NULL, &matches) == 0) {
            for (size_t j = matches.gl_pathc; j > 0 && !good; j--) {
                const char *match = matches.gl_pathv[j - 1];
                good = has_headers(match) && snprintf(found, PATH_MAX, "%s", match) < PATH_MAX;
            }
            globfree(&matches);
        }
    }
    return good;
}

/* Whether a path means itself as a pattern. */
static bool is_plain(const char *path)
{
    return !strpbrk(path, "*?[\\");
}

/* Below `root`, where a Python is installed. */
static bool find_below(const char *root, char found[PATH_MAX])
{
    char modules[PATH_MAX];
    return is_plain(root) &&
           snprintf(modules, sizeof modules, "%s/lib/python3*/site-packages", root) < (int)sizeof modules &&
           find_among(modules, found);
}

/* Among the modules that have a folder of headers on the command line. */
static bool find_by_headers(const struct mr_words *words, char found[PATH_MAX])
{
    static const char *const names[] = {"/site-packages/", "/dist-packages/"};
    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->items[i];
        size_t option = *word != '-' ? 0 : strncmp(word, "-I", 2) == 0 ? 2 : strlen("-isystem");
        const char *folder = strlen(word) > option ? word + option : "";
        for (size_t j = 0; j < sizeof names / sizeof *names; j++) {
            const char *modules = strstr(folder, names[j]);
            char path[PATH_MAX];
            if (modules &&
                snprintf(path, sizeof path, "%.*s", (int)(modules - folder + (long)strlen(names[j]) - 1), folder) <
                    (int)sizeof path &&
                is_plain(path) && find_among(path, found))
                return true;
        }
    }
    return false;
}

/* Below the folder over the one in PATH that has python3. */
static bool find_by_python(char found[PATH_MAX])
{
    const char *path = getenv("PATH");
    while (path && *path) {
        char folder[PATH_MAX], program[PATH_MAX + 16];
        size_t length = strcspn(path, ":");
        snprintf(folder, sizeof folder, "%.*s", (int)(length < sizeof folder ? length : 0), path);
        snprintf(program, sizeof program, "%s/python3", folder);
        char *slash = strrchr(folder, '/');
        if (*folder == '/' && slash > folder && access(program, X_OK) == 0) {
            *slash = '\0';
            return find_below(folder, found);
        }
        path += length + (path[length] == ':');
    }
    return false;
}

static bool find(const struct request *request, char found[PATH_MAX])
{
    const char *named = mr_setting_text(MR_SETTING_CCCL), *home = getenv("HOME");
    char user[PATH_MAX];
    if (*named)
        return snprintf(found, PATH_MAX, "%s", named) < PATH_MAX;
    if (find_by_headers(&request->both, found) || find_by_python(found))
        return true;
    return home && *home == '/' && snprintf(user, sizeof user, "%s/.local", home) < (int)sizeof user &&
           find_below(user, found);
}

/* The folder above `found`, by which <cccl/…> is found, if that is its name. */
static void add_folder_above(const char *found, struct mr_words *words)
{
    char above[PATH_MAX];
    size_t length = strlen(found);
    while (length > 1 && found[length - 1] == '/')
        length--;
    if (length > 5 && strncmp(found + length - 5, "/cccl", 5) == 0 &&
        snprintf(above, sizeof above, "%.*s", (int)(length - 5), found) < (int)sizeof above) {
        mr_words_add(words, "-idirafter", "");
        mr_words_add(words, above, "");
    }
}

void cccl_words(const struct request *request, struct mr_words *words)
{
    static char found[PATH_MAX]; /* looked for once: a source is compiled several times */
    static bool looked;
    if (!looked && !find(request, found))
        *found = '\0';
    looked = true;
    if (*found) {
        /* Before the folders of the system, where a toolkit may have older parts of CCCL (nv/target); unless the whole
         * of it is there, as a package of Debian's. */
        bool whole = has_headers("/usr/include") || has_headers("/usr/local/include");
        mr_words_add(words, whole ? "-idirafter" : "-isystem", "");
        mr_words_add(words, found, "");
        add_folder_above(found, words);
    }
}

/* The first word of a list for make that is a name within CCCL, as it is written where no compiler finds it. */
static bool missing_in(const char *list, char name[PATH_MAX])
{
    static const char *const begins[] = {"thrust/", "cub/", "cuda/", "nv/target"};
    for (const char *at = list; *(at += strspn(at, " \t\n\\"));) {
        size_t length = strcspn(at, " \t\n");
        for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
            if (strncmp(at, begins[i], strlen(begins[i])) == 0 && length < PATH_MAX && access(at, F_OK) != 0) {
                snprintf(name, PATH_MAX, "%.*s", (int)length, at);
                return true;
            }
        at += length;
    }
    return false;
}

void cccl_explain(const struct request *request, const struct mr_words *common, const char *source)
{
    struct mr_words words = {.items = NULL};
    struct mr_text list = {.data = NULL};
    char name[PATH_MAX], *depends = step_file(request, source, ".missing.d");
    words_add_all(&words, common);
    /* Preprocessing alone: headers that are nowhere are listed by name, and are no error. */
    const char *const last[] = {"-w", "-M", "-MG", "-MF", depends, "--", source};
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        mr_words_add(&words, last[i], "");
    if (!request->dry_run && step_run(request, &words, NULL) == 0 && file_read(depends, &list) &&
        missing_in(mr_text_chars(&list), name))
        fprintf(
            stderr,
            "nvcc (Millrace): note: %s is one of NVIDIA's C++ headers (CCCL), which are not part of Millrace. Debian has them as libthrust-dev, libcub-dev "
            "and libcu++-dev, PyPI as nvidia-cuda-cccl; MILLRACE_CCCL, or -I, names the folder of another copy.\n",
            name);
    unlink(depends);
    mr_text_clear(&list);
    mr_words_clear(&words);
    mr_free(depends);
}
