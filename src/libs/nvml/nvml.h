/* SPDX-License-Identifier: Apache-2.0 */
/* libnvidia-ml: what its files share. Read this first.
 *
 * NVML is the library that monitors of GPUs ask, nvidia-smi among them. Here a device is the machine's processors and
 * memory, as the driver presents them, and the library answers for it from three sources:
 *
 *   the driver    what the devices are (library.c, devices.c). It is opened, but only two of its functions are called
 *                 (object/machine.h), so a program that asks here first can still fork and initialise the driver
 *                 afterwards
 *   the kernel    clocks and temperatures (host.c), and which processors and nodes of memory there are (topology.c)
 *   processes     which of them use a device, and how much of it (use.c): each process with a context says so in a
 *                 *record of use* (share/use.h)
 *
 * A device's *index* here is the machine's number of it, whatever CUDA_VISIBLE_DEVICES says. What a processor does not
 * have, or the machine does not show, is answered by NOT_SUPPORTED. Functions that have no body in this room are
 * generated, with that answer. */
#ifndef MR_LIBS_NVML_H
#define MR_LIBS_NVML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nvml_impl.h"
#include "object/machine.h"

struct mr_nvml_device {
    unsigned index; /* the machine's number of it */
    struct millrace_device facts;
    char uuid[48]; /* GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx */
};

/* True between nvmlInit and the nvmlShutdown that ends it. Any thread, as all of these. */
bool mr_nvml_ready(void);

/* The device of a handle, or NULL if NVML gave out no such handle. */
const struct mr_nvml_device *mr_nvml_device_of(nvmlDevice_t device);

/* The number of devices, and the device with an index below it; the library is initialised. */
unsigned mr_nvml_count(void);
nvmlDevice_t mr_nvml_handle(unsigned index);

/* The answer of a function that does nothing here: NOT_SUPPORTED. The log names the function at its first call; *told
 * keeps that. */
nvmlReturn_t mr_nvml_refuse(const char *function, bool *told);

/* Puts a text into the caller's buffer of `length` bytes: INSUFFICIENT_SIZE if it does not fit, INVALID_ARGUMENT if
 * there is no buffer. */
nvmlReturn_t mr_nvml_text(const char *text, char *buffer, unsigned length);

/* The processes that have contexts on the device, at most MR_NVML_PROCESSES; returns how many. */
#define MR_NVML_PROCESSES 512u
size_t mr_nvml_uses(const struct mr_nvml_device *device, struct mr_use_found *out);

/* Processor time of a process. */
struct mr_nvml_share {
    uint32_t process;
    unsigned percent; /* of the processors that the device has, over about the last second; rounded up */
};

/* How busy the device is, by process, and in *total altogether (0 to 100). *when: the end of that time, in microseconds
 * since 1970. Returns how many of `out` were set, at most MR_NVML_PROCESSES. The first call takes a tenth of a second,
 * if a process uses the device. */
size_t mr_nvml_busy(const struct mr_nvml_device *device, struct mr_nvml_share *out, unsigned *total, uint64_t *when);

/* What the host shows of its processor; false where it does not. Megahertz and degrees Celsius. */
bool mr_nvml_host_clock(unsigned *mhz);
bool mr_nvml_host_greatest_clock(unsigned *mhz);
bool mr_nvml_host_temperature(int *celsius);

#endif
