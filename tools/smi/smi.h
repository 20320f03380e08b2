/* SPDX-License-Identifier: Apache-2.0 */
/* nvidia-smi: what its parts share. Read this first.
 *
 * The command shows what NVML answers (src/libs/nvml), in the forms that scripts read from NVIDIA's command of that
 * name. What NVML does not support is shown as N/A. There are four forms:
 *
 *   table      without arguments (table.c); -L, the list of devices, is there too
 *   query      --query-gpu and --query-compute-apps: *fields* that the user names, as CSV (query.c, fields.def)
 *   report     -q: everything, or the *sections* that -d names, as lines or as XML (report.c, report.def)
 *   monitor    dmon and pmon: a line for each device or process every second, in *groups* of columns (monitor.c)
 *
 * A *value* is a function that asks NVML and writes the answer as a text without its unit (values.c). */
#ifndef MILLRACE_SMI_H
#define MILLRACE_SMI_H

#include <nvml.h>
#include <stdbool.h>
#include <stdio.h>

/* Longest text of a value, with the zero behind it. */
#define SMI_TEXT 256

/* The devices that are asked about: all, or those that -i names. */
struct smi_devices {
    unsigned count;
    nvmlDevice_t device[64];
};

/* What is asked of -q: bits. */
enum smi_section {
    SMI_MEMORY = 1,
    SMI_UTILIZATION = 2,
    SMI_ECC = 4,
    SMI_TEMPERATURE = 8,
    SMI_POWER = 16,
    SMI_CLOCK = 32,
    SMI_COMPUTE = 64,
    SMI_PIDS = 128,
    SMI_PERFORMANCE = 256,
    SMI_ALL = 1 << 20,
};

/* Options of --format. */
struct smi_csv {
    bool without_header, without_units;
};

/* ---- values.c: each writes a text without its unit; false, with nothing written, if NVML does not answer ---- */

typedef bool smi_value(nvmlDevice_t device, char text[SMI_TEXT]);
smi_value smi_name, smi_uuid, smi_bus, smi_index, smi_minor, smi_capability, smi_compute_mode, smi_display_mode,
    smi_display_active, smi_persistence, smi_temperature, smi_clock_graphics, smi_clock_sm, smi_clock_memory,
    smi_clock_video, smi_max_graphics, smi_max_sm, smi_max_memory, smi_memory_total, smi_memory_reserved,
    smi_memory_used, smi_memory_free, smi_busy, smi_memory_busy, smi_architecture, smi_driver, smi_count, smi_cuda,
    smi_serial, smi_fan, smi_power, smi_pstate;

/* A process that uses a device. */
struct smi_process {
    unsigned pid;
    unsigned long long bytes;
    unsigned percent; /* of the device's time; filled for smi_processes with `busy` alone */
    char name[SMI_TEXT];
};
unsigned smi_processes(nvmlDevice_t device, struct smi_process *out, unsigned room, bool busy);
#define SMI_PROCESSES 512u

/* The time as the table and the report show it, and with milliseconds for CSV. */
void smi_date(char text[SMI_TEXT]);
void smi_timestamp(char text[SMI_TEXT]);

/* ---- the forms: each returns the exit status ---- */

int smi_table(const struct smi_devices *devices, FILE *out);
int smi_list(const struct smi_devices *devices, FILE *out);
int smi_report(const struct smi_devices *devices, unsigned sections, bool xml, FILE *out);
/* The rows that --query-gpu or --query-compute-apps asks for; fields are checked by smi_query_check. */
int smi_query_gpu(const struct smi_devices *devices, const char *fields, const struct smi_csv *csv, bool first,
                  FILE *out);
int smi_query_apps(const struct smi_devices *devices, const char *fields, const struct smi_csv *csv, bool first,
                   FILE *out);
/* Whether all fields exist; says which does not. */
bool smi_query_check(const char *fields, bool apps);
void smi_query_help(bool apps);
/* `nvidia-smi dmon …` and `pmon …`: the arguments behind that word. */
int smi_monitor(bool of_processes, int argc, char **argv);

/* Picks devices by a list of indices, UUIDs and bus ids, or all for NULL. False, with a message, if one is not there.
 */
bool smi_pick(const char *list, struct smi_devices *out);

#endif
