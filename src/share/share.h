/* SPDX-License-Identifier: Apache-2.0 */
/* What processes share: files that have no name in the file system, handles that lead to them, and which processes
 * still live.
 *
 * A shared file is a memfd. Its name, which shows only in /proc, holds a random token of 128 bits. A handle carries the
 * process, the number of the descriptor and the token; a process that opens it looks at /proc/PROCESS/fd/NUMBER,
 * compares the name there, and opens that. The system lets only processes of the same user (or root) do so. So there is
 * no daemon, no thread that answers, nothing that could be left behind, and a forked child has no part in what its
 * parent does. docs/ipc.md tells more.
 *
 * Every function may be called from any thread. None is async-signal-safe. */
#ifndef MR_SHARE_SHARE_H
#define MR_SHARE_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mr_token {
    uint64_t word[2];
};

/* A shared file that this process made. */
struct mr_share {
    int fd;                       /* closed on exec */
    size_t size;                  /* bytes; never changes */
    struct mr_token token;
};

enum mr_share_kind { MR_SHARE_MEMORY = 1, MR_SHARE_EVENT };

/* What the 64 bytes of a handle hold. */
struct mr_share_handle {
    uint32_t magic;
    uint16_t version;             /* of the layout of everything shared */
    uint16_t kind;                /* enum mr_share_kind */
    uint32_t process;             /* of the process that made the file */
    uint32_t fd;                  /* there */
    struct mr_token token;
    uint64_t value[3];            /* the kind's own */
    uint64_t check;               /* over all of the above */
};

/* Bytes from the system's source of randomness. False if it has none to give. */
bool mr_share_random(void *bytes, size_t size) __attribute__((warn_unused_result));

/* A file of `size` zero bytes whose size can't be changed any more. False when memory or descriptors are short. */
bool mr_share_create(size_t size, struct mr_share *out) __attribute__((warn_unused_result));

/* Closes the file; what is mapped, here or elsewhere, stays. */
void mr_share_destroy(struct mr_share *share);

/* A handle that leads to the file. The same arguments give the same bytes. */
void mr_share_handle_make(const struct mr_share *share, enum mr_share_kind kind, const uint64_t value[3],
                          struct mr_share_handle *out);

/* False if the bytes were not made by mr_share_handle_make for this kind and version. */
bool mr_share_handle_read(const void *bytes, enum mr_share_kind kind, struct mr_share_handle *out)
    __attribute__((warn_unused_result));

/* True if this process made the handle. */
bool mr_share_handle_is_own(const struct mr_share_handle *handle);

/* False if there is no process any more that could have made the handle. */
bool mr_share_process_exists(const struct mr_share_handle *handle);

/* Opens the file for reading and writing: a descriptor, and the file's size. -1 if the process has gone or closed it,
 * belongs to another user, or if descriptors are short; errno says which. */
int mr_share_open(const struct mr_share_handle *handle, size_t *size) __attribute__((warn_unused_result));

/* This process in one word, as others can tell whether it lives; 0 if the system doesn't allow to tell (no /proc), or
 * when descriptors are short. */
uint64_t mr_process_self(void) __attribute__((warn_unused_result));

/* Does the process behind the word live, as the same program? False for a zombie, for one that has called exec, and for
 * another of the same number. Two microseconds. */
bool mr_process_lives(uint64_t process);

#endif
