/* SPDX-License-Identifier: Apache-2.0 */
/* What works touch that is no memory for them, for the tool mem; the tool init notes its own here.
 *
 * A fault is one kind of that at one place of one work or step. Its bytes come in pieces, in any order and perhaps
 * twice, while the work ends; when it has ended, the fault becomes a finding with the exact number of bytes. */
#ifndef MR_OBSERVER_MEM_FAULT_H
#define MR_OBSERVER_MEM_FAULT_H

#include "libs/observer/finding.h"
#include "libs/observer/generation.h"
#include "libs/observer/shape.h"
#include "observe/observe.h"

/* Once, before the other functions. */
void obs_mem_begin(const struct mr_observed_driver *driver);

/* Looks at what a work or step touches. Any thread, with no lock of the observer's held. */
void obs_mem_touch(const struct mr_observed_work *work, const struct obs_operation *operation,
                   const struct mr_access *boxes, size_t count);

/* What findings say of an allocation. */
struct mr_finding_allocation obs_mem_allocation(const struct obs_generation_view *view);

/* Notes a fault of this kind in the bytes of `piece`, which is not scattered. `view`: of the memory, or NULL. */
void obs_mem_note(const struct mr_observed_work *work, const struct obs_operation *operation, enum mr_finding_kind kind,
                  const struct mr_access *box, const struct obs_shape *piece, const struct obs_generation_view *view);

/* The work or step has ended: its faults become findings. */
void obs_mem_settle(const struct mr_observed_work *work);

/* Adds what was looked at and what was not. Takes no lock. */
void obs_mem_summary(struct mr_race_summary *out);

#endif
