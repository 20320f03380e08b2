/* SPDX-License-Identifier: Apache-2.0 */
/* The shadow: what operations touched, compared with what others touched.
 *
 * This is the way in for bytes. Boxes are told with the operation that touched them; each is looked up (generation.h),
 * made compact (gather.h), and noted in the history of its allocation (history.h), which reports what is not in order
 * (found.h). */
#ifndef MR_OBSERVER_SHADOW_H
#define MR_OBSERVER_SHADOW_H

#include <stddef.h>

#include "libs/observer/finding.h"
#include "libs/observer/operation.h"
#include "observe/observe.h"

/* The operation touches these boxes; references to it are kept as long as it is needed. An operation may be told in
 * several calls, on several threads. It must be told of before operations that come after it, as the engine does by
 * itself. Bytes that no call has allocated are not looked at: those of kernels are counted (mr_race_summary.unknown), a
 * copy's are the host's own. Any thread, any number at once, with no lock of the observer's held. */
void obs_shadow_touch(struct obs_operation *operation, const struct mr_access *boxes, size_t count);

/* The operations that wrote these bytes of one allocation last, by accesses with these bits of `how`, kept for the
 * caller; `most` at most. `asking`: whoever looks at the bytes. As obs_shadow_touch. */
size_t obs_shadow_writers(uintptr_t first, uintptr_t end, uint32_t how, const struct obs_operation *asking,
                          struct obs_operation *out[], size_t most);

/* A library has done work, and has not told what it touches. */
void obs_shadow_unseen(void);

/* Adds to a summary what generations, histories and the shadow know: accesses, allocations, coarse, forgotten, unseen,
 * unknown, bytes (of notes), short_of_memory. Takes no lock. */
void obs_shadow_summary(struct mr_race_summary *out);

#endif
