/* SPDX-License-Identifier: Apache-2.0 */
/* The disk cache. A file is a header, then the object; the checksum covers both. See cache.h for the rules of the
 * folder.
 *
 * A file's modification time says when it was last of use: it is renewed on a hit if it is older than an hour. When
 * this process has written so much that the limit may be passed, the folder is listed and the oldest files go until
 * four fifths of the limit are left. Two processes that do so at once remove the same files; a file that vanishes under
 * a reader is a miss. */
#include "compile/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <xxhash.h>

#include "abi/abi.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/settings.h"
#include "base/thread.h"

#define ENTRY_MAX (256u << 20)
#define PATH_ROOM 4096

static mr_lock folder_lock = MR_LOCK_INIT(FOLDER);
static bool folder_known, folder_good;
static char folder[PATH_ROOM - 64];
static uint64_t limit;                    /* on its bytes; known with the folder */
static _Atomic uint64_t bytes_estimated;  /* in the folder; 0: not counted yet */
static _Atomic uint64_t temporary_number;

/* Hashing. */

bool mr_cache_hash_begin(struct mr_cache_hash *hash)
{
    XXH3_state_t *state = XXH3_createState();
    hash->state = state;
    return state && XXH3_128bits_reset(state) == XXH_OK;
}

void mr_cache_hash_add(struct mr_cache_hash *hash, const void *data, size_t size)
{
    uint64_t length = size;
    XXH3_128bits_update(hash->state, &length, sizeof length);
    if (size)
        XXH3_128bits_update(hash->state, data, size);
}

void mr_cache_hash_text(struct mr_cache_hash *hash, const char *text)
{
    mr_cache_hash_add(hash, text, strlen(text));
}

struct mr_cache_key mr_cache_hash_end(struct mr_cache_hash *hash)
{
    XXH128_hash_t value = XXH3_128bits_digest(hash->state);
    XXH3_freeState(hash->state);
    hash->state = NULL;
    return (struct mr_cache_key){value.low64, value.high64};
}

struct mr_cache_key mr_cache_hash_of(const void *data, size_t size)
{
    XXH128_hash_t value = XXH3_128bits(data, size);
    return (struct mr_cache_key){value.low64, value.high64};
}

static void collect_processor(struct mr_cache_hash *hash)
{
    struct utsname machine;
    if (uname(&machine) == 0)
        mr_cache_hash_text(hash, machine.machine);
    unsigned long words[2] = {getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};
    mr_cache_hash_add(hash, words, sizeof words);
#if defined(__x86_64__)
    static const unsigned leaves[][2] = {{0, 0}, {1, 0}, {7, 0}, {7, 1}, {0xd, 1}, {0x80000001, 0}};
    for (size_t i = 0; i < sizeof leaves / sizeof leaves[0]; i++) {
        unsigned a = 0, b = 0, c = 0, d = 0;
        if (!__get_cpuid_count(leaves[i][0], leaves[i][1], &a, &b, &c, &d))
            continue;
        unsigned facts[4] = {a, b, c, d};
        if (leaves[i][0] == 1)
            facts[1] = 0;                /* holds the number of the core that we happen to run on */
        if (leaves[i][0] == 0xd)
            facts[1] = facts[2] = facts[3] = 0;   /* sizes of what is enabled at present */
        mr_cache_hash_add(hash, facts, sizeof facts);
    }
#endif
}

/* Asking the processor is slow under a hypervisor, so it is done once. */
static pthread_once_t processor_once = PTHREAD_ONCE_INIT;
static struct mr_cache_key processor;

static void identify_processor(void)
{
    struct mr_cache_hash hash;
    if (!mr_cache_hash_begin(&hash))
        return;
    collect_processor(&hash);
    processor = mr_cache_hash_end(&hash);
}

void mr_cache_hash_processor(struct mr_cache_hash *hash)
{
    pthread_once(&processor_once, identify_processor);
    mr_cache_hash_add(hash, &processor, sizeof processor);
}

/* The folder. */

static bool make_folders(const char *path)
{
    char part[sizeof folder];
    size_t length = strlen(path);
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0700) != 0 && errno != EEXIST)
            return false;
    }
    return true;
}

static bool choose_folder(void)
{
    struct stat facts;
    if (!mr_setting_on(MR_SETTING_CACHE))
        return false;
    if (!mr_setting_cache_folder(folder, sizeof folder)) {
        mr_log(MR_LOG_INFO, "the kernel cache is off: set MILLRACE_CACHE_DIR (there is no HOME)");
        return false;
    }
    errno = ENOTDIR;
    if (!make_folders(folder) || stat(folder, &facts) != 0 || !S_ISDIR(facts.st_mode)) {
        mr_log(*mr_setting_text(MR_SETTING_CACHE_DIR) ? MR_LOG_WARN : MR_LOG_INFO,
               "the kernel cache is off: cannot use the folder '%.200s': %s; MILLRACE_CACHE_DIR names another", folder,
               strerror(errno));
        return false;
    }
    if (facts.st_uid != geteuid() || (facts.st_mode & (S_IWGRP | S_IWOTH))) {
        mr_log(MR_LOG_WARN,
               "the kernel cache is off: the folder '%.200s' must be yours, and nobody else's to write to (chmod 700)",
               folder);
        return false;
    }
    return true;
}

const char *mr_cache_folder(void)
{
    mr_lock_take(&folder_lock);
    if (!folder_known) {
        folder_good = choose_folder();
        limit = mr_setting_number(MR_SETTING_CACHE_SIZE, 1u << 30);
        folder_known = true;
    }
    bool good = folder_good;
    mr_lock_drop(&folder_lock);
    return good ? folder : NULL;
}

void mr_cache_reset(void)
{
    mr_lock_take(&folder_lock);
    folder_known = false;
    mr_lock_drop(&folder_lock);
    atomic_store(&bytes_estimated, 0);
}

static bool entry_path(char path[PATH_ROOM], struct mr_cache_key key)
{
    const char *in = mr_cache_folder();
    return in && snprintf(path, PATH_ROOM, "%s/%016llx%016llx" MR_CACHE_SUFFIX, in, (unsigned long long)key.high,
                          (unsigned long long)key.low) < PATH_ROOM;
}

/* Entries. */

static struct mr_cache_key checksum_of(const unsigned char *file, size_t size)
{
    struct mr_cache_file header;
    memcpy(&header, file, sizeof header);
    header.checksum = (struct mr_cache_key){0, 0};
    struct mr_cache_key parts[2] = {mr_cache_hash_of(&header, sizeof header),
                                    mr_cache_hash_of(file + sizeof header, size - sizeof header)};
    return mr_cache_hash_of(parts, sizeof parts);
}

static bool same_key(struct mr_cache_key a, struct mr_cache_key b)
{
    return a.low == b.low && a.high == b.high;
}

static bool check_item(const unsigned char *file, size_t size, struct mr_cache_key key, struct mr_cache_item *item)
{
    struct mr_cache_file header;
    memcpy(&header, file, sizeof header);
    if (header.magic != MR_CACHE_MAGIC || header.header_bytes != sizeof header || header.abi != MR_ABI_VERSION ||
        !same_key(header.key, key) || header.object_bytes != size - sizeof header ||
        !same_key(header.checksum, checksum_of(file, size)))
        return false;
    item->flags = header.flags;
    item->stack_bytes = header.stack_bytes;
    item->object = file + sizeof header;
    item->object_size = header.object_bytes;
    return true;
}

/* The whole file, or NULL. Also tells its age. O_NONBLOCK: what stands there may be no file, and a FIFO would wait
 * until something is written to it. */
static unsigned char *read_file(const char *path, size_t *size, time_t *modified)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    struct stat facts;
    unsigned char *file = NULL;
    if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size < (off_t)sizeof(struct mr_cache_file) ||
        facts.st_size > (off_t)ENTRY_MAX)
        goto done;
    *size = (size_t)facts.st_size;
    *modified = facts.st_mtime;
    file = mr_alloc(*size);
    for (size_t have = 0; file && have < *size;) {
        ssize_t got = read(fd, file + have, *size - have);
        if (got <= 0) {
            mr_free(file);
            file = NULL;
        } else
            have += (size_t)got;
    }
done:
    close(fd);
    return file;
}

bool mr_cache_find(struct mr_cache_key key, struct mr_cache_item *item)
{
    char path[PATH_ROOM];
    size_t size = 0;
    time_t modified = 0;
    *item = (struct mr_cache_item){.file = NULL};
    if (!entry_path(path, key))
        return false;
    unsigned char *file = read_file(path, &size, &modified);
    if (!file)
        return false;
    if (!check_item(file, size, key, item)) {
        mr_log(MR_LOG_INFO, "removing a damaged entry of the kernel cache: %s", path);
        unlink(path);
        mr_free(file);
        return false;
    }
    if (time(NULL) - modified > 3600)
        utimensat(AT_FDCWD, path, NULL, 0);
    item->file = file;
    return true;
}

void mr_cache_release(struct mr_cache_item *item)
{
    mr_free(item->file);
    *item = (struct mr_cache_item){.file = NULL};
}

/* Removing what is old. */

struct listed {
    char name[64];
    off_t size;
    struct timespec modified;
};

static int by_age(const void *a, const void *b)
{
    const struct listed *first = a, *second = b;
    if (first->modified.tv_sec != second->modified.tv_sec)
        return first->modified.tv_sec < second->modified.tv_sec ? -1 : 1;
    return (first->modified.tv_nsec > second->modified.tv_nsec) - (first->modified.tv_nsec < second->modified.tv_nsec);
}

/* Only files that look like ours; a temporary file that is a day old was left by a process that died. */
static bool is_ours(const char *name, const struct stat *facts, bool *stale)
{
    size_t length = strlen(name);
    *stale = strncmp(name, "tmp-", 4) == 0 && time(NULL) - facts->st_mtime > 86400;
    return S_ISREG(facts->st_mode) && length < sizeof((struct listed *)0)->name &&
           (*stale || (length == 32 + strlen(MR_CACHE_SUFFIX) && strcmp(name + 32, MR_CACHE_SUFFIX) == 0));
}

/* Lists the folder, oldest first; returns the bytes in it. */
static uint64_t list_folder(int folder_fd, struct listed **list, size_t *count)
{
    uint64_t total = 0;
    size_t capacity = 0;
    *list = NULL;
    *count = 0;
    int listing = dup(folder_fd);
    DIR *entries = listing >= 0 ? fdopendir(listing) : NULL;
    if (!entries) {
        if (listing >= 0)
            close(listing);
        return 0;
    }
    for (struct dirent *one; (one = readdir(entries));) {
        struct stat facts;
        bool stale;
        if (fstatat(folder_fd, one->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0 || !is_ours(one->d_name, &facts, &stale))
            continue;
        if (stale) {
            unlinkat(folder_fd, one->d_name, 0);
            continue;
        }
        total += (uint64_t)facts.st_size;
        if (!mr_array_reserve((void **)list, &capacity, *count + 1, sizeof **list))
            continue;
        struct listed *next = &(*list)[(*count)++];
        snprintf(next->name, sizeof next->name, "%s", one->d_name);
        next->size = facts.st_size;
        next->modified = facts.st_mtim;
    }
    closedir(entries);
    if (*count)
        qsort(*list, *count, sizeof **list, by_age);
    return total;
}

static void keep_to_limit(const char *in, uint64_t added)
{
    uint64_t before = atomic_load(&bytes_estimated);
    if (before && before + added <= limit) {
        atomic_fetch_add(&bytes_estimated, added);
        return;
    }
    int fd = open(in, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    struct listed *list;
    size_t count, removed = 0;
    uint64_t total = list_folder(fd, &list, &count);
    if (total > limit)
        for (; removed < count && total > limit / 5 * 4; removed++) {
            unlinkat(fd, list[removed].name, 0);
            total -= (uint64_t)list[removed].size;
        }
    if (removed)
        mr_log(MR_LOG_INFO, "removed the %zu oldest of %zu entries of the kernel cache", removed, count);
    atomic_store(&bytes_estimated, total ? total : 1);
    mr_free(list);
    close(fd);
}

static bool write_all(int fd, const void *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t wrote = write(fd, (const char *)data + done, size - done);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        done += (size_t)wrote;
    }
    return true;
}

void mr_cache_store(struct mr_cache_key key, const struct mr_cache_item *item)
{
    char path[PATH_ROOM], temporary[PATH_ROOM];
    size_t size = sizeof(struct mr_cache_file) + item->object_size;
    if (!entry_path(path, key) || size > ENTRY_MAX)
        return;
    const char *in = mr_cache_folder();
    if (snprintf(temporary, sizeof temporary, "%s/tmp-%ld-%llx-%llu", in, (long)getpid(),
                 (unsigned long long)mr_clock_ns(),
                 (unsigned long long)atomic_fetch_add(&temporary_number, 1)) >= PATH_ROOM)
        return;
    unsigned char *file = mr_calloc(1, size);
    if (!file)
        return;
    struct mr_cache_file header;
    memset(&header, 0, sizeof header);
    header.magic = MR_CACHE_MAGIC;
    header.header_bytes = sizeof header;
    header.key = key;
    header.object_bytes = item->object_size;
    header.stack_bytes = item->stack_bytes;
    header.flags = item->flags;
    header.abi = MR_ABI_VERSION;
    memcpy(file, &header, sizeof header);
    memcpy(file + sizeof header, item->object, item->object_size);
    header.checksum = checksum_of(file, size);
    memcpy(file, &header, sizeof header);

    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool good = fd >= 0 && write_all(fd, file, size);
    if (fd >= 0 && close(fd) != 0)
        good = false;
    if (good && rename(temporary, path) == 0)
        keep_to_limit(in, size);
    else {
        mr_log(MR_LOG_INFO, "cannot write to the kernel cache '%s': %s", in, strerror(errno));
        if (fd >= 0)
            unlink(temporary);
    }
    mr_free(file);
}
