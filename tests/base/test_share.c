/* SPDX-License-Identifier: Apache-2.0 */
/* What of the machine a process may use: what launchers say, quotas of control groups, the affinity mask. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/share.h"

static const char *const all[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",  "MV2_COMM_WORLD_LOCAL_SIZE",
                                  "JSM_NAMESPACE_LOCAL_SIZE",   "LOCAL_WORLD_SIZE", "PYTEST_XDIST_WORKER_COUNT",
                                  "SLURM_STEP_TASKS_PER_NODE",  "SLURM_NODEID",     "SLURM_PROCID"};

static int forget(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        unsetenv(all[i]);
    return 0;
}

static unsigned ranks(bool *memory)
{
    const char *told_by;
    unsigned count = mr_share_ranks(&told_by, memory);
    assert_true((count > 1) == (told_by != NULL));
    return count;
}

static void launchers_say_how_many(void **state)
{
    (void)state;
    bool memory;
    assert_int_equal(ranks(&memory), 1);
    for (int i = 0; i < 6; i++) {
        setenv(all[i], "4", 1);
        assert_int_equal(ranks(&memory), 4);
        assert_int_equal(memory, i != 5);
        const char *bad[] = {"", "0", "-3", "four", "4x", "99999999999999999999"};
        for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
            setenv(all[i], bad[b], 1);
            assert_int_equal(ranks(&memory), 1);
        }
        unsetenv(all[i]);
    }
}

static void slurm_lists_the_nodes(void **state)
{
    (void)state;
    bool memory;
    setenv("SLURM_STEP_TASKS_PER_NODE", "4(x2),3", 1);
    assert_int_equal(ranks(&memory), 1); /* a batch script, no task */
    setenv("SLURM_PROCID", "0", 1);
    const unsigned wanted[] = {4, 4, 3, 1};
    for (unsigned node = 0; node < 4; node++) {
        char text[8];
        snprintf(text, sizeof text, "%u", node);
        setenv("SLURM_NODEID", text, 1);
        assert_int_equal(ranks(&memory), wanted[node]);
    }
}

static void put(const char *folder, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    fclose(file);
}

static void the_least_quota_counts(void **state)
{
    (void)state;
    char root[] = "/tmp/millrace-share-XXXXXX", inner[64], inmost[64];
    assert_non_null(mkdtemp(root));
    snprintf(inner, sizeof inner, "%s/a", root);
    snprintf(inmost, sizeof inmost, "%s/a/b", root);
    assert_int_equal(mkdir(inner, 0700), 0);
    assert_int_equal(mkdir(inmost, 0700), 0);
    assert_int_equal(mr_share_quota(root, "/a/b"), 0);
    put(inmost, "cpu.max", "max 100000\n");
    put(inner, "cpu.max", "250000 100000\n");
    assert_int_equal(mr_share_quota(root, "/a/b"), 3);
    assert_int_equal(mr_share_quota(root, "/a"), 3);
    assert_int_equal(mr_share_quota(root, ""), 0);
    put(inmost, "cpu.max", "50000 100000\n");
    assert_int_equal(mr_share_quota(root, "/a/b"), 1);
    put(root, "cpu.cfs_quota_us", "200000\n");
    put(root, "cpu.cfs_period_us", "100000\n");
    assert_int_equal(mr_share_quota(root, ""), 2);
    assert_int_equal(mr_share_quota(root, "/no/such"), 2);
    char command[80];
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

static void ranks_divide_processors(void **state)
{
    (void)state;
    struct mr_share share = mr_share_of_machine();
    assert_int_equal(share.ranks, 1);
    assert_true(share.processors >= 1);
    setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "60000", 1);
    share = mr_share_of_machine();
    assert_int_equal(share.processors, 1);
    assert_true(share.divides_memory);
    unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    /* Bound to one processor, which is then all that a rank of two has. */
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &before))
            CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(mr_share_of_machine().processors, 1);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(launchers_say_how_many, forget, forget),
        cmocka_unit_test_setup_teardown(slurm_lists_the_nodes, forget, forget),
        cmocka_unit_test(the_least_quota_counts),
        cmocka_unit_test_setup_teardown(ranks_divide_processors, forget, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
