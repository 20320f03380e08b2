/* SPDX-License-Identifier: Apache-2.0 */
/* What a finding says in words: what is missing between its two operations, and what would mend it. */
#ifndef MR_OBSERVER_ADVICE_H
#define MR_OBSERVER_ADVICE_H

#include <stddef.h>

#include "libs/observer/finding.h"

enum { OBS_ADVICE_ROOM = 512 };

/* mr_side.call of what the host's code does by itself, outside of calls. */
extern const char obs_host_code[];

/* One sentence each, without a capital or a full stop. Looks at the finding's kind, sides and luck. Any thread. */
void obs_advise(const struct mr_finding *finding, char missing[OBS_ADVICE_ROOM], char advice[OBS_ADVICE_ROOM]);

/* What mem's findings say: `detail` follows the name of the operation. Any thread. */
void obs_mem_words(const struct mr_finding *finding, char detail[OBS_ADVICE_ROOM], char missing[OBS_ADVICE_ROOM],
                   char advice[OBS_ADVICE_ROOM]); /* mem_words.c */

#endif
