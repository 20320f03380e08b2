/* SPDX-License-Identifier: Apache-2.0 */
/* Shared files and the handles that lead to them; see share.h.
 *
 * The name is looked at before the file is opened, since opening and closing what somebody else put under that number
 * might not be without effect, and once more afterwards, since the number may have changed its meaning between the two.
 */
#define _GNU_SOURCE
#include "share/share.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

#define MAGIC 0x3165724du       /* "Mre1" */
#define VERSION 1u
#define NAME_SIZE 64

_Static_assert(sizeof(struct mr_share_handle) == 64, "a handle is as long as CU_IPC_HANDLE_SIZE");

bool mr_share_random(void *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got = getrandom((char *)bytes + done, size - done, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

static void name_make(const struct mr_token *token, char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, "millrace:%016" PRIx64 "%016" PRIx64, token->word[0], token->word[1]);
}

bool mr_share_create(size_t size, struct mr_share *out)
{
    char name[NAME_SIZE];
    struct mr_share share = {.size = size};
    if (!mr_share_random(&share.token, sizeof share.token))
        return false;
    name_make(&share.token, name);
    share.fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (share.fd < 0) {
        mr_log(MR_LOG_INFO, "no file to share %zu bytes: %s", size, strerror(errno));
        return false;
    }
    if (ftruncate(share.fd, (off_t)size) != 0 ||
        fcntl(share.fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        mr_log(MR_LOG_INFO, "a file cannot be given %zu bytes to share: %s", size, strerror(errno));
        close(share.fd);
        return false;
    }
    *out = share;
    return true;
}

void mr_share_destroy(struct mr_share *share)
{
    close(share->fd);
    share->fd = -1;
}

/* FNV-1a over all but the check itself: finds handles that were cut, mixed up or made up, not those of an attacker, for
 * whom the token is the obstacle. */
static uint64_t check_of(const struct mr_share_handle *handle)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < offsetof(struct mr_share_handle, check); i++)
        hash = (hash ^ ((const unsigned char *)handle)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

void mr_share_handle_make(const struct mr_share *share, enum mr_share_kind kind, const uint64_t value[3],
                          struct mr_share_handle *out)
{
    *out = (struct mr_share_handle){.magic = MAGIC,
                                    .version = VERSION,
                                    .kind = (uint16_t)kind,
                                    .process = (uint32_t)getpid(),
                                    .fd = (uint32_t)share->fd,
                                    .token = share->token,
                                    .value = {value[0], value[1], value[2]}};
    out->check = check_of(out);
}

bool mr_share_handle_read(const void *bytes, enum mr_share_kind kind, struct mr_share_handle *out)
{
    memcpy(out, bytes, sizeof *out);
    return out->magic == MAGIC && out->version == VERSION && out->kind == kind && out->check == check_of(out);
}

bool mr_share_handle_is_own(const struct mr_share_handle *handle)
{
    return handle->process == (uint32_t)getpid();
}

bool mr_share_process_exists(const struct mr_share_handle *handle)
{
    return handle->process <= INT32_MAX && (kill((pid_t)handle->process, 0) == 0 || errno != ESRCH);
}

/* Does the link lead to the file with this token? On a mismatch errno is ESTALE. */
static bool link_is(const char *path, const struct mr_token *token)
{
    char name[NAME_SIZE], wanted[NAME_SIZE + 32], found[NAME_SIZE + 32];
    name_make(token, name);
    int length = snprintf(wanted, sizeof wanted, "/memfd:%s (deleted)", name);
    ssize_t got = readlink(path, found, sizeof found);
    if (got < 0)
        return false;
    errno = ESTALE;
    return got == length && memcmp(found, wanted, (size_t)length) == 0;
}

int mr_share_open(const struct mr_share_handle *handle, size_t *size)
{
    char path[64];
    struct stat about;
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/fd/%" PRIu32, handle->process, handle->fd);
    if (!link_is(path, &handle->token))
        return -1;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (!link_is(path, &handle->token) || fstat(fd, &about) != 0) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    *size = (size_t)about.st_size;
    return fd;
}
