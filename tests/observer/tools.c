/* SPDX-License-Identifier: Apache-2.0 */
/* Two tools that write down what they are told: "one", which finds as many things as there were works that began, and
 * "two", which keeps something for each call and holds works of stream 2. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libs/observer/tool.h"

static uint64_t begun;

static bool open_one(const struct mr_observed_driver *driver, const char *options)
{
    printf("one opens: '%s' %s\n", options, driver->function("cuInit") ? "with the driver" : "");
    return strcmp(options, "bad") != 0;
}

static void one_begin(const struct mr_observed_work *work)
{
    printf("one begin %llu\n", (unsigned long long)work->work);
    begun++;
}

static uint64_t one_found(void)
{
    return begun;
}

static bool one_write(const char *folder, const char *end)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/one", folder);
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    fprintf(file, "%llu '%s'\n", (unsigned long long)begun, end);
    return fclose(file) == 0;
}

static void two_enter(struct mr_observed_call *call)
{
    printf("two enters %llu with %s\n", (unsigned long long)call->number, call->data ? "data" : "nothing");
    call->data = malloc(1);
    *(char *)call->data = (char)call->number;
}

static void two_leave(struct mr_observed_call *call, CUresult status)
{
    printf("two leaves %llu with %d, status %d\n", (unsigned long long)call->number, *(char *)call->data, (int)status);
    free(call->data);
}

static bool two_may_begin(const struct mr_observed_work *work)
{
    return work->stream != 2;
}

static const struct obs_tool one = {.name = "one",
                                    .points = MR_OBSERVE_WORK,
                                    .open = open_one,
                                    .begin = one_begin,
                                    .found = one_found,
                                    .write = one_write};
static const struct obs_tool two = {.name = "two",
                                    .points = MR_OBSERVE_CALLS | MR_OBSERVE_ORDER,
                                    .enter = two_enter,
                                    .leave = two_leave,
                                    .may_begin = two_may_begin};

const struct obs_tool *const obs_tools[] = {&one, &two, NULL};
