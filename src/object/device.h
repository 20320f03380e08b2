/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: what the CPU looks like to a program.
 *
 * The records are made once, by driver initialisation, and never change except for the counted memory and the primary
 * context. Numbers that follow from the compute capability come from base/capabilities.def; the attributes that a
 * program can ask for are answered from them in device_attribute.c, so that limits, launch checks and occupancy never
 * disagree. */
#ifndef MR_OBJECT_DEVICE_H
#define MR_OBJECT_DEVICE_H

#include <cuda.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/settings.h"
#include "base/thread.h"

struct mr_context;

/* Launch limits that are the same for every device. */
#define MR_MAX_BLOCK_THREADS 1024u
#define MR_MAX_BLOCK_X 1024u
#define MR_MAX_BLOCK_Y 1024u
#define MR_MAX_BLOCK_Z 64u
#define MR_MAX_GRID_X 2147483647u
#define MR_MAX_GRID_Y 65535u
#define MR_MAX_GRID_Z 65535u
#define MR_SHARED_DEFAULT 49152u            /* bytes of shared memory that a block may use without asking */
#define MR_REGISTERS_PER_SM 65536u
#define MR_CONSTANT_BYTES 65536u
#define MR_PARAM_BYTES_LIMIT 32764u

/* What follows from the compute capability. */
struct mr_capability {
    unsigned char major, minor;
    unsigned shared_per_sm;            /* bytes */
    unsigned shared_optin;             /* bytes: most that one block can ask for */
    unsigned shared_reserved;          /* bytes that the system takes of each block's share */
    unsigned threads_per_sm, blocks_per_sm;
    unsigned shared_unit;              /* bytes: shared memory is given to a block in multiples of this */
    unsigned partitions; /* of a multiprocessor, each with its share of the registers; a warp lives in one of them */
};

struct mr_device {
    int ordinal; /* among the devices that the program sees */
    int number; /* among those of the machine: CUDA_VISIBLE_DEVICES may choose and order */
    char name[128];
    uint8_t uuid[16];
    int capability_major, capability_minor;
    bool capability_is_ours; /* nobody has chosen it: MILLRACE_COMPUTE_CAPABILITY is auto */
    const struct mr_capability *capability;
    int multiprocessors; /* processors that the process may use */
    int clock_khz; /* rate of clock64 */
    size_t total_memory; /* bytes; enforced by the memory layer */
    _Atomic size_t used_memory; /* bytes */
    struct mr_context *primary; /* under lock; NULL when inactive; counted */
    unsigned primary_references; /* under lock */
    unsigned primary_flags; /* under lock */
    mr_lock lock;
};

/* Private, for Millrace's libcudart, which calls it before cuInit: the lowest capability, as 80 for 8.0, for which
 * every image of the program has PTX, or 0. It counts where MILLRACE_COMPUTE_CAPABILITY is auto, and until the devices
 * are made. Any thread. */
__attribute__((visibility("default"))) void millrace_prefer_capability(unsigned capability);

/* Makes the device records from the settings and the machine. Called by cuInit, under its lock, until it succeeds.
 * CUDA_ERROR_NO_DEVICE, CUDA_ERROR_INVALID_DEVICE: CUDA_VISIBLE_DEVICES leaves none, or names one twice. */
CUresult mr_devices_setup(void) __attribute__((warn_unused_result));

/* Number of devices, and the device with an ordinal; NULL if the ordinal is out of range. Any thread, no lock. */
int mr_device_count(void);
struct mr_device *mr_device_get(int ordinal);

/* The device with a number of the machine's (struct mr_device); NULL if the program doesn't see it. Any thread, no
 * lock. */
struct mr_device *mr_device_numbered(int number);

/* The value of a device attribute. CUDA_ERROR_INVALID_VALUE for an attribute that does not exist; *value is then
 * untouched. */
CUresult mr_device_attribute(const struct mr_device *device, CUdevice_attribute attribute, int *value)
    __attribute__((warn_unused_result));

#endif
