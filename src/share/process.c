/* SPDX-License-Identifier: Apache-2.0 */
/* Who lives: a process in one word.
 *
 * The word packs the process's number, the number of a descriptor that it keeps open, and some random bits that stand
 * in that file's name. The process lives for as long as /proc shows that name under that descriptor: it is gone from
 * there as soon as the process dies (before anybody has waited for it) or calls exec, and a process of the same number
 * that comes later has another name there. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "base/thread.h"
#include "share/share.h"

/* Linux never gives a process a number of more than 22 bits. */
#define NUMBER_BITS 22
#define FD_BITS 20
#define RANDOM_BITS 22

static _Atomic uint64_t self;
static mr_lock self_lock = MR_LOCK_INIT(PROCESS);

static uint32_t bits(uint64_t process, unsigned from, unsigned count)
{
    return (uint32_t)(process >> from) & ((1u << count) - 1);
}

bool mr_process_lives(uint64_t process)
{
    char path[64], wanted[64], found[64];
    uint32_t number = bits(process, 0, NUMBER_BITS);
    if (!number)
        return false;
    int error = errno;
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/fd/%" PRIu32, number, bits(process, NUMBER_BITS, FD_BITS));
    int length = snprintf(wanted, sizeof wanted, "/memfd:millrace-process:%06" PRIx32 " (deleted)",
                          bits(process, NUMBER_BITS + FD_BITS, RANDOM_BITS));
    ssize_t got = readlink(path, found, sizeof found);
    bool lives = got == length && memcmp(found, wanted, (size_t)length) == 0;
    /* A process may forbid others to look into it after it began to share. Then its number has to do. */
    if (got < 0 && (errno == EACCES || errno == EPERM))
        lives = kill((pid_t)number, 0) == 0 || errno == EPERM;
    errno = error;
    return lives;
}

static uint64_t self_make(void)
{
    char name[64];
    uint32_t noise;
    if (!mr_share_random(&noise, sizeof noise))
        return 0;
    noise &= (1u << RANDOM_BITS) - 1;
    snprintf(name, sizeof name, "millrace-process:%06" PRIx32, noise);
    int fd = memfd_create(name, MFD_CLOEXEC);
    uint64_t number = (uint64_t)getpid();
    if (fd < 0 || (uint64_t)fd >> FD_BITS || number >> NUMBER_BITS) {
        mr_log(MR_LOG_WARN, "nothing can be shared with other processes: %s",
               fd < 0 ? strerror(errno) : "too many descriptors are open");
        if (fd >= 0)
            close(fd);
        return 0;
    }
    uint64_t made = number | (uint64_t)fd << NUMBER_BITS | (uint64_t)noise << (NUMBER_BITS + FD_BITS);
    if (mr_process_lives(made))
        return made;
    mr_log(MR_LOG_WARN, "nothing can be shared with other processes: there is no /proc");
    close(fd);
    return 0;
}

uint64_t mr_process_self(void)
{
    uint64_t known = atomic_load_explicit(&self, memory_order_acquire);
    if (known)
        return known;
    mr_lock_take(&self_lock);
    known = atomic_load_explicit(&self, memory_order_relaxed);
    if (!known) {
        known = self_make();
        atomic_store_explicit(&self, known, memory_order_release);
    }
    mr_lock_drop(&self_lock);
    return known;
}
