/* SPDX-License-Identifier: Apache-2.0 */
/* The code of modules: an allocation of one byte at a made-up address, which the module's kernels read.
 *
 * Unloading a module ends it (order_module.c). While a module is there, its code has an allocation only if edges that
 * are known by luck are kept apart: hardware waits for the context's work before it unloads, so nothing else can be out
 * of order. After that, only runs of graphs can still use it. */
#ifndef MR_OBSERVER_CODE_H
#define MR_OBSERVER_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "libs/observer/operation.h"

/* Kernels are noted before their module goes. Written before any point comes. */
extern bool obs_code_watched;

/* This operation, a kernel or a node of a graph, runs code of the module with this number. Any thread, with no lock of
 * the observer's held. */
void obs_code_runs(struct obs_operation *operation, uint64_t module, bool node);

/* The module goes, by this operation; and it is there after all. */
void obs_code_ended(struct obs_operation *operation, uint64_t module);
void obs_code_stays(uint64_t module);

#endif
