/* SPDX-License-Identifier: Apache-2.0 */
/* Every function of the table, called four times: before the library is initialised (each_early), with no device
 * (each_lost), with a device and NULL for every pointer (each_null), with a device and zeroed memory (each_zero).
 * Functions that change something are called only where they can't. */
#include <string.h>

#include "nv.h"

enum kind { ASKS, CHANGES };
enum scope { ON_SYSTEM, ON_DEVICE };

struct each {
    nvmlReturn_t (*null)(nvmlDevice_t device);
    nvmlReturn_t (*zero)(nvmlDevice_t device);
};

#define memory(n) nv_memory(n)
#define EACH(name, null, zero, kind, scope) \
    static nvmlReturn_t name##_null(nvmlDevice_t device) \
    { \
        (void)device; \
        return name null; \
    } \
    static nvmlReturn_t name##_zero(nvmlDevice_t device) \
    { \
        (void)device; \
        return name zero; \
    } \
    static const struct each name##_each = {name##_null, name##_zero};
#include "nvml_each.inc"
#undef EACH
#undef memory

static void early(const struct gold_case *self)
{
    nv(((const struct each *)self->data)->null(NULL));
}

static void lost(const struct gold_case *self)
{
    nv(((const struct each *)self->data)->zero(NULL));
}

static void null(const struct gold_case *self)
{
    nv(((const struct each *)self->data)->null(nv_device()));
}

static void zero(const struct gold_case *self)
{
    nv(((const struct each *)self->data)->zero(nv_device()));
}

#define EACH(name_, null_, zero_, kind, scope) \
    {.name = "each_early." #name_, .run = early, .data = &name_##_each, .bare = true},
static struct gold_case early_cases[] = {
#include "nvml_each.inc"
};
#undef EACH
/* NVIDIA's library crashes in a hundred of these. */
#define CRASHES .allow = "ERROR_INVALID_ARGUMENT", .why = "NVIDIA's library crashes on some"
/* A row that is left out has no name. */
#define EACH(name_, null_, zero_, kind, scope) \
    {.name = scope == ON_DEVICE ? "each_lost." #name_ : NULL, .run = lost, .data = &name_##_each, CRASHES},
static struct gold_case lost_cases[] = {
#include "nvml_each.inc"
};
#undef EACH
#define EACH(name_, null_, zero_, kind, scope) \
    {.name = kind == ASKS ? "each_null." #name_ : NULL, .run = null, .data = &name_##_each, CRASHES},
static struct gold_case null_cases[] = {
#include "nvml_each.inc"
};
#undef EACH
#define EACH(name_, null_, zero_, kind, scope) \
    {.name = kind == ASKS ? "each_zero." #name_ : NULL, .run = zero, .data = &name_##_each},
static struct gold_case zero_cases[] = {
#include "nvml_each.inc"
};
#undef EACH

/* Answers that depend on the machine: on what the host shows, and on who else uses a device. */
static const struct {
    const char *name, *allow;
} varying[] = {
    {"each_zero.nvmlDeviceGetTemperature", "ERROR_NOT_SUPPORTED"},
    {"each_zero.nvmlDeviceGetClockInfo", "ERROR_NOT_SUPPORTED"},
    {"each_zero.nvmlDeviceGetMaxClockInfo", "ERROR_NOT_SUPPORTED"},
    {"each_zero.nvmlDeviceGetClock", "ERROR_NOT_SUPPORTED"},
    {"each_zero.nvmlDeviceGetComputeRunningProcesses", "SUCCESS|ERROR_INSUFFICIENT_SIZE"},
    {"each_zero.nvmlDeviceGetComputeRunningProcesses_v2", "SUCCESS|ERROR_INSUFFICIENT_SIZE"},
    {"each_zero.nvmlDeviceGetComputeRunningProcesses_v3", "SUCCESS|ERROR_INSUFFICIENT_SIZE"},
    {"each_zero.nvmlDeviceGetProcessUtilization", "ERROR_NOT_FOUND|ERROR_INSUFFICIENT_SIZE"},
};

static void add(struct gold_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < sizeof varying / sizeof *varying && cases[i].name; k++)
            if (strcmp(cases[i].name, varying[k].name) == 0) {
                cases[i].allow = varying[k].allow;
                cases[i].why = "depends on the machine";
            }
        if (cases[i].name)
            gold_register(&cases[i]);
    }
}

__attribute__((constructor)) static void add_all(void)
{
    add(early_cases, sizeof early_cases / sizeof *early_cases);
    add(lost_cases, sizeof lost_cases / sizeof *lost_cases);
    add(null_cases, sizeof null_cases / sizeof *null_cases);
    add(zero_cases, sizeof zero_cases / sizeof *zero_cases);
}
