/* SPDX-License-Identifier: Apache-2.0 */
/* In-memory headers as files, in a folder of the user's own that lives as long as the compilation.
 *
 * A name may have folders in it and may go up ("../common.h"): the files stand eight folders deep, and a name that goes
 * up further is refused, so none can land outside. Each file begins with a line marker, which makes messages show the
 * program's own name for it. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "libs/nvrtc/program.h"

#define DEPTH 8

/* Walks the name, counting folders down and up. */
bool mr_folder_name_good(const char *name)
{
    int depth = 0;
    if (!*name || *name == '/' || strlen(name) > 1000 || name[strlen(name) - 1] == '/')
        return false;
    for (const char *at = name; *at;) {
        size_t length = strcspn(at, "/");
        if (length == 2 && strncmp(at, "..", 2) == 0)
            depth--;
        else if (length && !(length == 1 && *at == '.'))
            depth++;
        if (depth < -DEPTH)
            return false;
        at += length;
        at += *at == '/';
    }
    return true;
}

/* Makes the folders on the way to the file `path`, whose first `from` characters are there already. */
static bool make_parents(char *path, size_t from)
{
    for (char *slash = strchr(path + from, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int made = mkdir(path, 0700);
        int reason = errno;
        *slash = '/';
        if (made != 0 && reason != EEXIST)
            return false;
    }
    return true;
}

static bool write_header(const char *search, const struct mr_header *header)
{
    char path[1200];
    int length = snprintf(path, sizeof path, "%s/%s", search, header->name);
    if (length < 0 || (size_t)length >= sizeof path || !make_parents(path, strlen(search) + 1))
        return false;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!file) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    fputs("# 1 \"", file);
    for (const char *at = header->name; *at; at++)
        if (*at == '"' || *at == '\\' || (unsigned char)*at < ' ')
            fprintf(file, "\\%03o", (unsigned char)*at);
        else
            fputc(*at, file);
    fputs("\"\n", file);
    fputs(header->text, file);
    bool good = !ferror(file);
    return fclose(file) == 0 && good;
}

bool mr_folder_make(struct mr_folder *folder, const struct _nvrtcProgram *program, struct mr_text *log)
{
    folder->root[0] = folder->search[0] = '\0';
    if (!program->header_count)
        return true;
    const char *in = getenv("TMPDIR");
    if (!in || *in != '/' || strlen(in) > 30)
        in = "/tmp";
    snprintf(folder->root, sizeof folder->root, "%s/millrace-nvrtc-XXXXXX", in);
    if (!mkdtemp(folder->root)) {
        mr_text_format(log, "nvrtc: error: cannot make a folder for the headers in %s: %s\n", in, strerror(errno));
        folder->root[0] = '\0';
        return false;
    }
    snprintf(folder->search, sizeof folder->search, "%s/d/d/d/d/d/d/d/d", folder->root);
    char path[sizeof folder->search + 2];
    snprintf(path, sizeof path, "%s/", folder->search);
    bool good = make_parents(path, strlen(folder->root) + 1);
    for (size_t i = 0; good && i < program->header_count; i++) {
        good = write_header(folder->search, &program->headers[i]);
        if (!good)
            mr_text_format(log, "nvrtc: error: cannot lay out the header \"%s\": %s\n", program->headers[i].name,
                           strerror(errno));
    }
    return good;
}

static int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *place)
{
    (void)facts, (void)kind, (void)place;
    return remove(path) != 0 && errno != ENOENT;
}

void mr_folder_remove(struct mr_folder *folder)
{
    if (folder->root[0] && nftw(folder->root, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
        mr_log(MR_LOG_INFO, "nvrtc: cannot remove %s", folder->root);
    folder->root[0] = '\0';
}
