/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes use which devices, and how much of their memory: what the management library (libs/nvml) tells.
 *
 * A process that has a context says so in a memfd of a page, its *record*, which it maps and writes as its contexts and
 * its memory come and go. A process that wants to know looks through /proc for processes that have such a file
 * open, and reads it there. The system allows that for processes of the same user, and for root. There is no daemon,
 * and nothing is left behind by a process that dies. A process that closes descriptors which are not its own is not
 * seen any more. */
#ifndef MR_SHARE_USE_H
#define MR_SHARE_USE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/settings.h"

/* A device's part of a record, by the machine's number of the device. */
struct mr_use {
    _Atomic uint64_t bytes;    /* of device memory that the process has */
    _Atomic uint32_t contexts; /* that live */
};

struct mr_use_record {
    uint64_t magic;   /* of the layout; written last */
    uint32_t process; /* the number of the process that writes, so that a forked child is not taken for it */
    uint32_t unused;
    struct mr_use device[MR_DEVICE_LIMIT];
};

/* This process's record; NULL until it has had a context, and where the record can't be made. */
extern struct mr_use_record *_Atomic mr_use_own;

/* A context on the device begins (+1) or ends (-1). The first one makes the record; if that fails the process does its
 * work without being seen, and the log says why. Any thread, no lock. */
void mr_use_context(int device, int change);

/* The process now has `bytes` of the device's memory. Any thread; one at a time for each device. */
static inline void mr_use_memory(int device, uint64_t bytes)
{
    struct mr_use_record *record = atomic_load_explicit(&mr_use_own, memory_order_acquire);
    if (record)
        atomic_store_explicit(&record->device[device].bytes, bytes, memory_order_relaxed);
}

/* A process that uses a device. */
struct mr_use_found {
    uint32_t process;
    uint64_t bytes;
    uint64_t devices; /* bit set: the process has a context on the device with that number */
};

/* The processes that have contexts on a device, in the order of /proc: at most `room` of them go to `out`. Returns how
 * many there are. Takes some milliseconds on a machine with hundreds of processes. Any thread, no lock; errno stays. */
size_t mr_use_list(int device, struct mr_use_found *out, size_t room);

#endif
