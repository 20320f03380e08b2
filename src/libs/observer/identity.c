/* SPDX-License-Identifier: Apache-2.0 */
#include "libs/observer/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* Reads as much as there is room for, or the file has left; what is left of the room is zero. */
static bool fill(int file, void *room, size_t size, size_t *used)
{
    memset(room, 0, size);
    for (*used = 0; *used < size;) {
        ssize_t got = read(file, (char *)room + *used, size - *used);
        if (got == 0)
            return true;
        if (got > 0)
            *used += (size_t)got;
        else if (errno != EINTR)
            return false;
    }
    return true;
}

/* Eight bytes at a time: a Python interpreter takes a few milliseconds. */
uint64_t obs_identity(const char *path)
{
    uint64_t room[512], sum = 0x9e3779b97f4a7c15u, length = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    for (size_t used = sizeof room; used == sizeof room;) {
        if (!fill(file, room, sizeof room, &used)) {
            int reason = errno;
            close(file);
            errno = reason;
            return 0;
        }
        for (size_t i = 0; i < (used + 7) / 8; i++) {
            sum = (sum ^ room[i]) * 0xff51afd7ed558ccdu;
            sum ^= sum >> 32;
        }
        length += used;
    }
    close(file);
    sum = (sum ^ length) * 0xc4ceb9fe1a85ec53u;
    sum ^= sum >> 29;
    return sum ? sum : 1;
}
