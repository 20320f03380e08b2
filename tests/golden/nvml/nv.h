/* SPDX-License-Identifier: Apache-2.0 */
/* The common header of the cases about NVML: as ../gold.h, which it takes its words from. Cases use nothing but nvml.h.
 * A row of ordinary cases shares one process, in which the library is initialised; what is .bare finds a process that
 * has called nothing. No case changes anything of the device. */
#ifndef NV_H
#define NV_H

#include "../gold.h"

#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include <nvml.h>

/* Says the status's name. */
void nv(nvmlReturn_t status);

/* The status's name, or NULL for a number that NVML 13.0 does not know. */
const char *nv_status_name(nvmlReturn_t status);

/* A step that has to succeed for the case to mean anything: ends the case otherwise. */
#define NV_NEED(expr) nv_need((expr), #expr)
void nv_need(nvmlReturn_t status, const char *what);

/* Device 0. */
nvmlDevice_t nv_device(void);

/* 64 KiB of zeroed memory for parameter n of a call, 0 to 7: zeroed anew for each case. */
void *nv_memory(unsigned n);
#define NV_MEMORY 65536u

#endif
