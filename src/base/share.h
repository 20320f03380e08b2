/* SPDX-License-Identifier: Apache-2.0 */
/* What of the machine this process may use.
 *
 * A process may be bound to some processors (its affinity mask), may be allowed less time than they have (a quota of
 * its control groups), and may be one of several that a launcher started on this node to share it: the ranks of an MPI
 * program, or the workers of a test runner. Each of those takes its part, in place of all. */
#ifndef MR_BASE_SHARE_H
#define MR_BASE_SHARE_H

#include <stdbool.h>

struct mr_share {
    unsigned processors; /* that work can keep busy, at least 1: the mask's, no more than the quota and the part are */
    unsigned ranks; /* processes of the launcher's on this node, at least 1 */
    const char *told_by; /* the environment variable that says so; NULL: ranks is 1 */
    bool divides_memory; /* the ranks run at the same time for long, so each has its part of the memory, too */
};

/* Looks at the mask, the control groups and the environment. Reads some files of /proc and /sys: for set-up. Any
 * thread. */
struct mr_share mr_share_of_machine(void);

/* Its parts, for tests. The quota of a control group's folder and those above it, up to `root`, in processors (rounded
 * up); 0: none. The number of ranks by the environment. */
unsigned mr_share_quota(const char *root, const char *group);
unsigned mr_share_ranks(const char **told_by, bool *divides_memory);

#endif
