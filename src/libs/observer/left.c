/* SPDX-License-Identifier: Apache-2.0 */
#include "libs/observer/left.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 1024 };

static struct {
    int file, error; /* error: errno of the first write that failed */
    char path[PATH_MAX], part[PATH_MAX + 8];
    size_t used;
    char bytes[1 << 16];
} out;

static void flush(void)
{
    for (size_t done = 0; done < out.used && !out.error;) {
        ssize_t wrote = write(out.file, out.bytes + done, out.used - done);
        if (wrote > 0)
            done += (size_t)wrote;
        else if (wrote == 0 || errno != EINTR)
            out.error = wrote == 0 ? EIO : errno;
    }
    out.used = 0;
}

bool obs_left_open(const char *path, bool fresh)
{
    int length = snprintf(out.path, sizeof out.path, "%s", path);
    if (length < 0 || (size_t)length >= sizeof out.path) {
        errno = ENAMETOOLONG;
        return false;
    }
    snprintf(out.part, sizeof out.part, "%s.part", out.path);
    out.error = 0;
    out.used = 0;
    errno = EEXIST;
    out.file = fresh && access(out.path, F_OK) == 0
                   ? -1
                   : open(out.part, O_WRONLY | O_CREAT | O_CLOEXEC | (fresh ? O_EXCL : O_TRUNC), 0666);
    return out.file >= 0;
}

void obs_left_put(const char *text, size_t length)
{
    if (length > sizeof out.bytes - out.used)
        flush();
    memcpy(out.bytes + out.used, text, length);
    out.used += length;
}

void obs_left_print(const char *format, ...)
{
    char piece[PIECE];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    if (length > 0)
        obs_left_put(piece, length < PIECE ? (size_t)length : PIECE - 1);
}

bool obs_left_close(void)
{
    flush();
    if (close(out.file) != 0 && !out.error)
        out.error = errno;
    if (!out.error && rename(out.part, out.path) != 0)
        out.error = errno;
    if (out.error)
        unlink(out.part);
    errno = out.error;
    return out.error == 0;
}
