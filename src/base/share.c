/* SPDX-License-Identifier: Apache-2.0 */
/* Reading affinity, quotas and what launchers say. (Linux, Documentation: admin-guide/cgroup-v2.rst, cpu.max;
 * scheduler/sched-bwc.rst, cpu.cfs_quota_us. The variables are those that the launchers document.) */
#include "base/share.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/thread.h"

/* How many processes of the launcher run on this node. */
static const struct {
    const char *name;
    bool divides_memory;
} launchers[] = {
    {"OMPI_COMM_WORLD_LOCAL_SIZE", true},     /* Open MPI */
    {"MPI_LOCALNRANKS", true},                /* MPICH, Intel MPI */
    {"MV2_COMM_WORLD_LOCAL_SIZE", true},      /* MVAPICH2 */
    {"JSM_NAMESPACE_LOCAL_SIZE", true},       /* jsrun */
    {"LOCAL_WORLD_SIZE", true},               /* torchrun */
    {"PYTEST_XDIST_WORKER_COUNT", false},     /* pytest -n */
};

static unsigned read_count(const char *text)
{
    char *end;
    if (!text || *text < '1' || *text > '9')
        return 0;
    unsigned long value = strtoul(text, &end, 10);
    return *end == '\0' && value <= 65536 ? (unsigned)value : 0;
}

/* Slurm lists the tasks of all nodes of a step: "4(x2),3" are 4, 4 and 3. */
static unsigned slurm_tasks(void)
{
    const char *at = getenv("SLURM_STEP_TASKS_PER_NODE"), *node = getenv("SLURM_NODEID");
    unsigned long wanted = node ? strtoul(node, NULL, 10) : 0, first = 0;
    if (!at || !getenv("SLURM_PROCID"))
        return 0;
    while (*at >= '0' && *at <= '9') {
        char *end;
        unsigned long tasks = strtoul(at, &end, 10), times = 1;
        if (strncmp(end, "(x", 2) == 0) {
            times = strtoul(end + 2, &end, 10);
            end += *end == ')';
        }
        first += times;
        if (wanted < first)
            return tasks <= 65536 ? (unsigned)tasks : 0;
        at = end + (*end == ',');
    }
    return 0;
}

unsigned mr_share_ranks(const char **told_by, bool *divides_memory)
{
    *told_by = NULL;
    *divides_memory = false;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        unsigned count = read_count(getenv(launchers[i].name));
        if (count > 1) {
            *told_by = launchers[i].name;
            *divides_memory = launchers[i].divides_memory;
            return count;
        }
    }
    unsigned count = slurm_tasks();
    if (count > 1) {
        *told_by = "SLURM_STEP_TASKS_PER_NODE";
        *divides_memory = true;
        return count;
    }
    return 1;
}

/* The first line of a file in the folder; false if there is none. */
static bool read_line(const char *folder, const char *name, char *line, int room)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    bool read = file && fgets(line, room, file);
    if (file)
        fclose(file);
    return read;
}

/* The quota of one folder, of either version of control groups, in processors, rounded up; 0: none. */
static unsigned quota_of(const char *folder)
{
    char line[128];
    long long quota = 0, period = 0;
    if (read_line(folder, "cpu.max", line, sizeof line)) {
        if (sscanf(line, "%lld %lld", &quota, &period) != 2)
            return 0;
    } else if (read_line(folder, "cpu.cfs_quota_us", line, sizeof line)) {
        quota = strtoll(line, NULL, 10);
        if (!read_line(folder, "cpu.cfs_period_us", line, sizeof line))
            return 0;
        period = strtoll(line, NULL, 10);
    }
    if (quota <= 0 || period <= 0)
        return 0;
    long long processors = (quota + period - 1) / period;
    return processors < 65536 ? (unsigned)processors : 0;
}

unsigned mr_share_quota(const char *root, const char *group)
{
    char folder[PATH_MAX];
    unsigned least = 0;
    int length = snprintf(folder, sizeof folder, "%s%s", root, group);
    size_t top = strlen(root);
    if (length < 0 || (size_t)length >= sizeof folder)
        return 0;
    for (;;) {
        unsigned quota = quota_of(folder);
        if (quota && (!least || quota < least))
            least = quota;
        char *slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < top || folder[top] == '\0')
            return least;
        *slash = '\0';
    }
}

/* Of the process's own groups. Inside a container the path that /proc names may not be there; its own groups' folder is
 * the root then. */
static unsigned own_quota(void)
{
    char line[PATH_MAX + 64];
    unsigned least = 0;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && fgets(line, sizeof line, file)) {
        char *kind = strchr(line, ':'), *path = kind ? strchr(kind + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        path[strcspn(path, "\n")] = '\0';
        bool second = kind[1] == '\0',
             first = strcmp(kind + 1, "cpu") == 0 || strstr(kind + 1, "cpu,") || strstr(kind + 1, ",cpu");
        const char *root = second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu";
        if (!first && !second)
            continue;
        unsigned quota = mr_share_quota(root, strcmp(path, "/") == 0 ? "" : path);
        if (quota && (!least || quota < least))
            least = quota;
    }
    if (file)
        fclose(file);
    return least;
}

/* The processors that the node, or the container, has: those of its first process, which no launcher has bound. */
static unsigned node_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(1, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}

struct mr_share mr_share_of_machine(void)
{
    struct mr_share share = {.processors = mr_cpu_count()};
    unsigned quota = own_quota(), all = node_processors();
    share.ranks = mr_share_ranks(&share.told_by, &share.divides_memory);
    /* The ranks share the node, of which launchers may have given each its own processors. */
    if (quota && quota < all)
        all = quota;
    unsigned part = (all + share.ranks - 1) / share.ranks;
    if (part < share.processors)
        share.processors = part;
    return share;
}
