/* SPDX-License-Identifier: Apache-2.0 */
/* The error log (driver API manual, Error Log Management): why calls failed, in words. base/log_kept.h has the
 * messages. */
#include "api_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log_kept.h"
#include "prepare/check.h"

/* Flags are reserved. Hardware does not look at them, here or below. */
CUresult mr_cuLogsCurrent(CUlogIterator *iterator_out, unsigned int flags)
{
    (void)flags;
    if (!iterator_out)
        return mr_bad_value("iterator_out is NULL");
    *iterator_out = mr_log_kept_next();
    return CUDA_SUCCESS;
}

CUresult mr_cuLogsDumpToMemory(CUlogIterator *iterator, char *buffer, size_t *size, unsigned int flags)
{
    (void)flags;
    if (!buffer || !size || !*size)
        return mr_bad_value("buffer or size is NULL, or size is 0");
    if (mr_log_kept_copy(iterator, buffer, *size, size))
        return CUDA_SUCCESS;
    return mr_bad_value("no message fits in the buffer, or the iterator is not a valid one");
}

static bool write_all(int file, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t wrote = write(file, text, length);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        text += wrote;
        length -= (size_t)wrote;
    }
    return true;
}

CUresult mr_cuLogsDumpToFile(CUlogIterator *iterator, const char *pathToFile, unsigned int flags)
{
    size_t length;
    (void)flags;
    if (!pathToFile)
        return mr_bad_value("pathToFile is NULL");
    const size_t room = MR_LOG_KEPT_BYTES + 64; /* all messages, and the line that some are left out */
    char *buffer = mr_alloc(room);
    if (!buffer)
        return CUDA_ERROR_OUT_OF_MEMORY;
    int file = open(pathToFile, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool copied = file >= 0 && mr_log_kept_copy(iterator, buffer, room, &length);
    bool done = copied && write_all(file, buffer, length);
    int why = file >= 0 && !copied ? EINVAL : errno;
    if (file >= 0 && close(file) != 0 && done) {
        why = errno;
        done = false;
    }
    mr_free(buffer);
    return done ? CUDA_SUCCESS : mr_bad_value("'%s': %s", pathToFile, strerror(why));
}
