/* SPDX-License-Identifier: Apache-2.0 */
/* What `millrace check` has found, in the timeline of the same run.
 *
 * A finding's operations are works, steps of graphs or calls, which the results name by the numbers that the driver has
 * given them (mr_observed_work, mr_observed_call). */
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "report/model.h"

/* The work or step with these numbers; NONE: the timeline has none. Works are in the order of their numbers. */
static uint32_t find_work(const struct timeline_process *process, uint64_t number, uint64_t node)
{
    size_t low = 0, high = process->works_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct timeline_work *work = &process->works[middle];
        if (work->work < number || (work->work == number && work->node < node))
            low = middle + 1;
        else
            high = middle;
    }
    if (low < process->works_count && process->works[low].work == number && process->works[low].node == node)
        return (uint32_t)low;
    return NONE;
}

static uint32_t find_call(const struct timeline_process *process, uint64_t number)
{
    for (size_t i = 0; i < process->calls_count; i++)
        if (process->calls[i].number == number)
            return (uint32_t)i;
    return NONE;
}

/* Where a side is: in its work, or in the call if it is the host's or the work is not there. What the host's own code
 * does comes after the call that it made last. */
static struct timeline_end end_of(const struct timeline_process *process, const struct report_side *side)
{
    struct timeline_end end = {.work = NONE, .call = NONE, .lane = NONE};
    bool in_call = strcmp(side->what ? side->what : "", "host") == 0 || !side->work;
    end.work = in_call ? NONE : find_work(process, side->work, side->node);
    if (end.work != NONE) {
        end.lane = process->works[end.work].lane;
        end.time = process->works[end.work].from;
        return end;
    }
    end.call = side->number ? find_call(process, side->number) : NONE;
    if (end.call != NONE) {
        const struct timeline_call *call = &process->calls[end.call];
        end.lane = call->lane;
        end.time = report_is_of_a_call(side) || call->to == call->from ? call->from : call->to - 1;
    }
    return end;
}

static bool add(struct timeline_process *process, const struct report_finding *from, uint32_t number)
{
    struct timeline_finding *finding = ADD(process, findings);
    if (!finding)
        return false;
    *finding = (struct timeline_finding){.number = number,
                                         .kind = from->kind,
                                         .title = from->title,
                                         .missing = from->missing,
                                         .advice = from->advice,
                                         .times = from->times};
    /* The one that was asked for first comes second in a report. */
    for (size_t i = from->side_count; i-- > 0 && finding->ends_count < 2;) {
        struct timeline_end end = end_of(process, &from->sides[i]);
        if (end.lane != NONE)
            finding->ends[finding->ends_count++] = end;
    }
    if (finding->ends_count == 2 && finding->ends[0].time > finding->ends[1].time) {
        struct timeline_end first = finding->ends[1];
        finding->ends[1] = finding->ends[0];
        finding->ends[0] = first;
    }
    return true;
}

bool timeline_add_findings(struct timeline *timeline, const struct report *report)
{
    uint32_t number = 0;
    for (size_t i = 0; i < report->finding_count; i++) {
        const struct report_finding *finding = &report->findings[i];
        if (finding->suppressed)
            continue;
        number++;
        for (size_t j = 0; j < timeline->processes_count; j++)
            if (timeline->processes[j].pid == finding->process) {
                if (!add(&timeline->processes[j], finding, number))
                    return false;
                break;
            }
    }
    return true;
}
