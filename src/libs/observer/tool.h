/* SPDX-License-Identifier: Apache-2.0 */
/* A tool: one of the things that the observer can do with the points of observation.
 *
 * The driver knows one observer. The library has several tools, and MILLRACE_OBSERVE says which are on: names with
 * commas between, each with options behind colons ("race:strict:luck,trace"). The observer (observer.c) calls the
 * functions of each tool that is on, in the order of the table (tools.c).
 *
 * The functions that have a name in struct mr_observer mean what observe/observe.h says, with this difference: a
 * call's `data` is the tool's own. Any of them may be NULL. In a child that fork has made none is called: what the
 * parent has begun is not the child's. */
#ifndef MR_OBSERVER_TOOL_H
#define MR_OBSERVER_TOOL_H

#include "observe/observe.h"

extern const struct obs_tool obs_tool_schedule; /* schedule_tool.c */

struct obs_tool {
    const char *name;
    uint32_t points; /* bits of enum mr_observe_point that it wants when it is on */

    /* Once, before anything else. `options` is what stands behind the name's colon, or ""; it stays. False, with a
     * message in the log: the tool can't run, and nothing is observed. */
    bool (*open)(const struct mr_observed_driver *driver, const char *options);

    void (*enter)(struct mr_observed_call *call);
    void (*leave)(struct mr_observed_call *call, CUresult status);
    void (*bind)(const struct mr_observed_work *work);
    void (*begin)(const struct mr_observed_work *work);
    void (*end)(const struct mr_observed_work *work, CUresult status);
    void (*access)(const struct mr_observed_work *work, const struct mr_access *boxes, size_t count);
    void (*heap)(const struct mr_observed_work *work, const struct mr_observed_heap *changes, size_t count);
    void (*slice)(const struct mr_observed_work *work, unsigned worker, uint64_t from, uint64_t to);
    void (*ran)(const struct mr_observed_work *work, uint64_t from, uint64_t to, CUresult status);
    bool (*may_begin)(const struct mr_observed_work *work);
    void (*rest)(void);
    void (*waits)(bool on, uint64_t stream);
    /* The process ends by exit: nothing is to be held any more. Once, before the last works are waited for. */
    void (*ends)(void);

    /* How much the tool has found: a number that grows. When it has grown, `write` is called. Any thread; quick. */
    uint64_t (*found)(void);
    /* Leaves in `folder` (absolute) what the tool has found until now, in place of what it left there before. `end`
     * says how the process ends: "exit", "signal 11"; or "" while it goes on, so that something is there if the process
     * ends unseen. False with errno set if it could not be written. One thread at a time; also in a process that has
     * crashed, so it takes no lock and allocates nothing, unless `end` is "exit". */
    bool (*write)(const char *folder, const char *end);
};

extern const struct obs_tool obs_tool_race; /* race.c */
extern const struct obs_tool obs_tool_mem; /* mem.c */
extern const struct obs_tool obs_tool_pages; /* pages.c */
extern const struct obs_tool obs_tool_init; /* init.c */
extern const struct obs_tool obs_tool_trace; /* trace.c */

/* The tools that there are; the last is NULL. */
extern const struct obs_tool *const obs_tools[];

#endif
