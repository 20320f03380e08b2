/* SPDX-License-Identifier: Apache-2.0 */
/* What the machine gives its devices, before any program chooses among them or initialises the driver. Two functions
 * are for Millrace's management library (libs/nvml), which opens the driver for them and calls nothing else of it. */
#ifndef MR_OBJECT_MACHINE_H
#define MR_OBJECT_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include "share/use.h"

/* The number of the PCI bus on which the device with that number of the machine's sits: domain 0, device 0 there. */
#define MR_DEVICE_BUS(number) ((unsigned)(number) + 1)

struct mr_machine {
    char device_name[128]; /* the same for all */
    int clock_khz; /* rate of clock64 */
    int processors; /* that the process may keep busy (base/share.h) */
};

/* Reads the machine. Any thread. */
void mr_machine_read(struct mr_machine *out);

/* Bytes of physical memory, or of what the control group leaves of it. */
size_t mr_machine_memory(void);

/* Bytes of a device's memory if there are `count` of them. Together the devices offer no more than one would, so that a
 * program that fills them all runs out as it would on hardware. The ranks of a node divide it. */
size_t mr_machine_device_memory(unsigned count);

/* The device's identity: stable over processes and reboots. */
void mr_machine_device_uuid(uint8_t uuid[16], int number);

/* A device as the management library gets it. */
struct millrace_device {
    char name[128];
    uint8_t uuid[16];
    unsigned capability_major, capability_minor; /* what a program that starts now would get */
    unsigned bus; /* PCI */
    unsigned processors;
    uint64_t total_memory; /* bytes */
};

/* The device with that number in *out, which stays as it is if there is none. Returns how many devices there are. The
 * driver need not be initialised; CUDA_VISIBLE_DEVICES has no part in it. Any thread. */
__attribute__((visibility("default"))) unsigned millrace_machine_device(unsigned number, struct millrace_device *out);

/* mr_use_list for the management library. */
__attribute__((visibility("default"))) size_t millrace_machine_uses(unsigned number, struct mr_use_found *out,
                                                                    size_t room);

#endif
