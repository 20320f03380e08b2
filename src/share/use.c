/* SPDX-License-Identifier: Apache-2.0 */
/* Records of use: the own one, and finding those of others. */
#define _GNU_SOURCE
#include "share/use.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

#define MAGIC UINT64_C(0x3165735572724d00)
#define NAME "millrace-use"
#define LINK "/memfd:" NAME " (deleted)"

_Static_assert(sizeof(struct mr_use_record) <= 4096, "a record is a page");

struct mr_use_record *_Atomic mr_use_own;
static atomic_flag begun = ATOMIC_FLAG_INIT;

/* The descriptor stays open: others find the file by it. */
static struct mr_use_record *record_make(void)
{
    int fd = memfd_create(NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    struct mr_use_record *record = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, 4096) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        record = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (record == MAP_FAILED) {
        mr_log(MR_LOG_INFO, "other processes will not see that this one uses a device: %s", strerror(errno));
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    record->process = (uint32_t)getpid();
    __atomic_store_n(&record->magic, MAGIC, __ATOMIC_RELEASE);
    return record;
}

void mr_use_context(int device, int change)
{
    /* One thread makes the record. What others count before it is there is lost; they are contexts that begin in the
     * same microseconds, so they wait instead. */
    if (change > 0 && !atomic_flag_test_and_set(&begun)) {
        struct mr_use_record *made = record_make();
        static struct mr_use_record unseen; /* counts for nobody */
        atomic_store_explicit(&mr_use_own, made ? made : &unseen, memory_order_release);
    }
    struct mr_use_record *record;
    while (!(record = atomic_load_explicit(&mr_use_own, memory_order_acquire)))
        usleep(10);
    atomic_fetch_add_explicit(&record->device[device].contexts, (uint32_t)change, memory_order_relaxed);
}

/* Whether the record of the process is at `path`; if so, the process's use of the device. */
static bool read_record(const char *path, uint32_t process, int device, struct mr_use_found *out)
{
    struct mr_use_record record;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool whole = pread(fd, &record, sizeof record, 0) == (ssize_t)sizeof record;
    close(fd);
    if (!whole || record.magic != MAGIC || record.process != process)
        return false;
    *out = (struct mr_use_found){.process = process, .bytes = record.device[device].bytes};
    for (int i = 0; i < MR_DEVICE_LIMIT; i++)
        if (record.device[i].contexts)
            out->devices |= UINT64_C(1) << i;
    return true;
}

/* Looks through the descriptors of a process. The process may go meanwhile. */
static bool look_into(int proc, const char *number, int device, struct mr_use_found *out)
{
    char path[300], link[sizeof LINK + 1];
    snprintf(path, sizeof path, "%s/fd", number);
    int fd = proc >= 0 ? openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    bool found = false;
    if (!folder) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    for (struct dirent *entry; !found && (entry = readdir(folder));) {
        ssize_t length = readlinkat(fd, entry->d_name, link, sizeof link);
        if (length != (ssize_t)strlen(LINK) || memcmp(link, LINK, strlen(LINK)) != 0)
            continue;
        snprintf(path, sizeof path, "/proc/%s/fd/%s", number, entry->d_name);
        found = read_record(path, (uint32_t)strtoul(number, NULL, 10), device, out);
    }
    closedir(folder);
    return found;
}

size_t mr_use_list(int device, struct mr_use_found *out, size_t room)
{
    int error = errno;
    size_t count = 0;
    DIR *proc = opendir("/proc");
    if (proc) {
        for (struct dirent *entry; (entry = readdir(proc));) {
            struct mr_use_found found;
            if (!isdigit((unsigned char)entry->d_name[0]) || !look_into(dirfd(proc), entry->d_name, device, &found) ||
                !(found.devices >> device & 1))
                continue;
            if (count < room)
                out[count] = found;
            count++;
        }
        closedir(proc);
    }
    errno = error;
    return count;
}
