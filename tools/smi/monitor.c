/* SPDX-License-Identifier: Apache-2.0 */
/* nvidia-smi dmon and pmon: a line for each device, or for each process, every second. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "smi.h"

static const char usage[] =
    "Usage: nvidia-smi dmon|pmon [-i DEVICES] [-d SECONDS] [-c COUNT] [-s GROUPS] [-o D|T] [-f FILE]\n"
    "\n"
    "dmon shows a line for each device, pmon for each process that uses one.\n"
    "  -i   devices: indices, UUIDs or bus ids, with commas between them; all by default\n"
    "  -d   seconds between two rounds; 1 by default\n"
    "  -c   how many rounds; without end by default\n"
    "  -s   groups of columns: p power and temperature, u utilization, c clocks, m memory; puc (dmon), u (pmon)\n"
    "  -o   D and T put date and time before each line\n"
    "  -f   a file to write to\n";

struct column {
    char group;
    const char *name, *unit;
    smi_value *value; /* NULL: never known here */
};

static const struct column columns[] = {
    {'p', "pwr", "W", smi_power},
    {'p', "gtemp", "C", smi_temperature},
    {'p', "mtemp", "C", NULL},
    {'u', "sm", "%", smi_busy},
    {'u', "mem", "%", smi_memory_busy},
    {'u', "enc", "%", NULL},
    {'u', "dec", "%", NULL},
    {'u', "jpg", "%", NULL},
    {'u', "ofa", "%", NULL},
    {'c', "mclk", "MHz", smi_clock_memory},
    {'c', "pclk", "MHz", smi_clock_graphics},
    {'m', "fb", "MB", smi_memory_used},
    {'m', "bar1", "MB", NULL},
    {'m', "ccpm", "MB", NULL},
};
#define COLUMNS (sizeof columns / sizeof *columns)

struct monitor {
    struct smi_devices devices;
    const char *groups;
    bool date, time;
    FILE *out, *file; /* file: the one of -f, which is `out` then; or NULL */
};

/* Closes the file of -f, if there is one. False if not all of it could be written. */
static bool close_file(struct monitor *monitor)
{
    if (!monitor->file)
        return true;
    bool failed = ferror(monitor->file) != 0;
    failed |= fclose(monitor->file) != 0;
    monitor->file = NULL;
    monitor->out = stdout;
    return !failed;
}

static void stamp(const struct monitor *monitor, const char *date, const char *time)
{
    if (monitor->date)
        fprintf(monitor->out, "%9s ", date);
    if (monitor->time)
        fprintf(monitor->out, "%9s ", time);
}

static void stamp_now(const struct monitor *monitor)
{
    char text[SMI_TEXT], date[16];
    smi_timestamp(text);
    /* "2026/11/26 20:30:00.123" */
    snprintf(date, sizeof date, "%.4s%.2s%.2s", text, text + 5, text + 8);
    text[19] = '\0';
    stamp(monitor, date, text + 11);
}

/* The two lines above the columns: their names, then their units. */
static void device_header(const struct monitor *monitor)
{
    for (int units = 0; units < 2; units++) {
        fputc('#', monitor->out);
        stamp(monitor, units ? "YYYYMMDD" : "Date", units ? "HH:MM:SS" : "Time");
        fprintf(monitor->out, " %s", units ? "Idx" : "gpu");
        for (size_t i = 0; i < COLUMNS; i++)
            if (strchr(monitor->groups, columns[i].group))
                fprintf(monitor->out, " %6s", units ? columns[i].unit : columns[i].name);
        fputs(" \n", monitor->out);
    }
}

static void device_lines(const struct monitor *monitor)
{
    char text[SMI_TEXT];
    for (unsigned i = 0; i < monitor->devices.count; i++) {
        nvmlDevice_t device = monitor->devices.device[i];
        stamp_now(monitor);
        fprintf(monitor->out, "%5s", smi_index(device, text) ? text : "?");
        for (size_t k = 0; k < COLUMNS; k++)
            if (strchr(monitor->groups, columns[k].group))
                fprintf(monitor->out, " %6s", columns[k].value && columns[k].value(device, text) ? text : "-");
        fputs(" \n", monitor->out);
    }
}

static void process_header(const struct monitor *monitor)
{
    static const char *const words[2][3] = {
        {"gpu         pid   type", "    sm    mem    enc    dec    jpg    ofa", "    command "},
        {"Idx           #    C/G", "     %      %      %      %      %      %", "    name "}};
    for (int units = 0; units < 2; units++) {
        fputc('#', monitor->out);
        stamp(monitor, units ? "YYYYMMDD" : "Date", units ? "HH:MM:SS" : "Time");
        fprintf(monitor->out, " %s ", words[units][0]);
        if (strchr(monitor->groups, 'u'))
            fprintf(monitor->out, "%s", words[units][1]);
        if (strchr(monitor->groups, 'm'))
            fprintf(monitor->out, "%7s", units ? "MB" : "fb");
        fprintf(monitor->out, "%s\n", words[units][2]);
    }
}

static void process_lines(const struct monitor *monitor)
{
    static struct smi_process list[SMI_PROCESSES];
    char index[SMI_TEXT];
    for (unsigned i = 0; i < monitor->devices.count; i++) {
        nvmlDevice_t device = monitor->devices.device[i];
        unsigned count = smi_processes(device, list, SMI_PROCESSES, strchr(monitor->groups, 'u') != NULL);
        const char *number = smi_index(device, index) ? index : "?";
        if (!count) {
            stamp_now(monitor);
            fprintf(monitor->out, "%5s          -     - ", number);
            for (int k = 0; k < 6 && strchr(monitor->groups, 'u'); k++)
                fprintf(monitor->out, "%6s ", "-");
            if (strchr(monitor->groups, 'm'))
                fprintf(monitor->out, "%6s ", "-");
            fputs("   -              \n", monitor->out);
        }
        for (unsigned k = 0; k < count; k++) {
            const char *slash = strrchr(list[k].name, '/');
            stamp_now(monitor);
            fprintf(monitor->out, "%5s %10u     C ", number, list[k].pid);
            if (strchr(monitor->groups, 'u'))
                fprintf(monitor->out, "%6u %6s %6s %6s %6s %6s ", list[k].percent, "-", "-", "-", "-", "-");
            if (strchr(monitor->groups, 'm'))
                fprintf(monitor->out, "%6llu ", list[k].bytes >> 20);
            fprintf(monitor->out, "   %-15.15s\n", slash ? slash + 1 : list[k].name);
        }
    }
}

/* Reads the options; -1 to go on, else the exit status. */
static int read_options(int argc, char **argv, struct monitor *monitor, const char **devices, double *delay,
                        long *rounds)
{
    for (int i = 0; i < argc; i++) {
        const char *option = argv[i];
        if (strcmp(option, "-h") == 0 || strcmp(option, "--help") == 0) {
            fputs(usage, stdout);
            return 0;
        }
        if (option[0] != '-' || !option[1] || option[2] || !strchr("idcsof", option[1]) || i + 1 == argc) {
            printf("Invalid combination of input arguments. Please run 'nvidia-smi dmon -h' for help.\n\n");
            return 2;
        }
        const char *value = argv[++i];
        switch (option[1]) {
        case 'i':
            *devices = value;
            break;
        case 'd':
            *delay = atof(value);
            break;
        case 'c':
            *rounds = atol(value);
            break;
        case 's':
            monitor->groups = value;
            break;
        case 'o':
            monitor->date = strchr(value, 'D') != NULL;
            monitor->time = strchr(value, 'T') != NULL;
            break;
        default:
            (void)close_file(monitor);
            monitor->out = monitor->file = fopen(value, "we");
            if (!monitor->out) {
                monitor->out = stdout;
                printf("Cannot write to '%s'.\n", value);
                return 1;
            }
        }
    }
    return -1;
}

/* The exit status. */
static int run(struct monitor *monitor, bool of_processes, int argc, char **argv)
{
    const char *devices = NULL;
    double delay = 1;
    long rounds = -1;
    int status = read_options(argc, argv, monitor, &devices, &delay, &rounds);
    if (status >= 0)
        return status;
    if (delay < 0.1 || rounds == 0) {
        printf("Invalid combination of input arguments. Please run 'nvidia-smi dmon -h' for help.\n\n");
        return 2;
    }
    if (!smi_pick(devices, &monitor->devices))
        return 6;
    for (long round = 0; round != rounds; round++) {
        if (round)
            usleep((useconds_t)(delay * 1e6));
        if (round % 30 == 0)
            of_processes ? process_header(monitor) : device_header(monitor);
        of_processes ? process_lines(monitor) : device_lines(monitor);
        fflush(monitor->out);
    }
    return 0;
}

int smi_monitor(bool of_processes, int argc, char **argv)
{
    struct monitor monitor = {.groups = of_processes ? "u" : "puc", .out = stdout};
    int status = run(&monitor, of_processes, argc, argv);
    if (close_file(&monitor) || status)
        return status;
    printf("Cannot write all of the file.\n");
    return 1;
}
