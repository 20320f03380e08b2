/* SPDX-License-Identifier: Apache-2.0 */
/* nvidia-smi: the options, and what they ask for. Exit statuses are NVML's, as NVIDIA's command gives them: 2 or
 * 255 for arguments, 3 for what is not supported, 6 for a device that is not there, 9 without a driver. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "smi.h"

static const char usage[] =
    "Usage: nvidia-smi [OPTIONS]\n"
    "       nvidia-smi dmon|pmon [OPTIONS]\n"
    "\n"
    "Shows the devices that Millrace makes of this machine's processor, and the processes that use them.\n"
    "`millrace smi` is the same command.\n"
    "\n"
    "  (nothing)                     a table of devices and processes\n"
    "  -L, --list-gpus               one line for each device\n"
    "  -q, --query                   everything that is known; -d, --display=A,B only some of MEMORY, UTILIZATION, ECC,\n"
    "                                TEMPERATURE, POWER, CLOCK, COMPUTE, PIDS, PERFORMANCE; -x, --xml-format as XML\n"
    "  --query-gpu=A,B [--format=csv[,noheader][,nounits]]\n"
    "                                some fields; --help-query-gpu lists them\n"
    "  --query-compute-apps=A,B [--format=csv[,noheader][,nounits]]\n"
    "                                processes; --help-query-compute-apps lists the fields\n"
    "  -i, --id=DEVICES              only these: indices, UUIDs or bus ids\n"
    "  -l, --loop=SECONDS            again and again; -lms, --loop-ms=MILLISECONDS\n"
    "  -f, --filename=FILE           write to a file\n"
    "  --version, -h, --help\n"
    "\n"
    "Settings of a device can't be changed, and there are no other subcommands.\n";

struct options {
    bool list, report, xml;
    unsigned sections;
    const char *gpu_fields, *app_fields, *format, *devices, *file;
    long loop_ms; /* 0: once */
};

/* The value of an option: behind '=' or, for short ones, the next argument. NULL if `argument` is another option. */
static const char *value_of(const char *brief, const char *full, int argc, char **argv, int *at)
{
    size_t length = strlen(full);
    if (strncmp(argv[*at], full, length) == 0 && argv[*at][length] == '=')
        return argv[*at] + length + 1;
    if ((brief && strcmp(argv[*at], brief) == 0) || strcmp(argv[*at], full) == 0) {
        const char *next = *at + 1 < argc ? argv[*at + 1] : NULL;
        *at += next != NULL;
        return next ? next : "";
    }
    return NULL;
}

static bool is_either(const char *argument, const char *brief, const char *full)
{
    return strcmp(argument, brief) == 0 || strcmp(argument, full) == 0;
}

/* The bits of the names between commas; 0 if one is unknown. */
static unsigned sections_of(const char *names)
{
    static const struct {
        const char *name;
        unsigned bit;
    } known[] = {{"MEMORY", SMI_MEMORY},
                 {"UTILIZATION", SMI_UTILIZATION},
                 {"ECC", SMI_ECC},
                 {"TEMPERATURE", SMI_TEMPERATURE},
                 {"POWER", SMI_POWER},
                 {"CLOCK", SMI_CLOCK},
                 {"COMPUTE", SMI_COMPUTE},
                 {"PIDS", SMI_PIDS},
                 {"PERFORMANCE", SMI_PERFORMANCE}};
    unsigned sections = 0;
    for (const char *at = names; *at;) {
        size_t length = strcspn(at, ","), i = 0;
        while (i < sizeof known / sizeof *known &&
               !(strlen(known[i].name) == length && strncmp(known[i].name, at, length) == 0))
            i++;
        if (i == sizeof known / sizeof *known)
            return 0;
        sections |= known[i].bit;
        at += length + (at[length] == ',');
    }
    return sections;
}

static int bad_argument(const char *argument)
{
    printf("ERROR: Option %s is not recognized. Please run 'nvidia-smi -h'.\n\n", argument);
    return 255;
}

static int version(void)
{
    char driver[SMI_TEXT] = "N/A", library[SMI_TEXT] = "N/A", cuda[SMI_TEXT] = "N/A";
    nvmlSystemGetDriverVersion(driver, sizeof driver);
    nvmlSystemGetNVMLVersion(library, sizeof library);
    smi_cuda(NULL, cuda);
    printf("NVIDIA-SMI version  : %s\nNVML version        : %s\nDRIVER version      : %s\nCUDA Version        : %s\n",
           driver, strchr(library, '.') ? strchr(library, '.') + 1 : library, driver, cuda);
    return 0;
}

/* Options that end the command at once, or -1. */
static int at_once(const char *argument)
{
    if (is_either(argument, "-h", "--help")) {
        fputs(usage, stdout);
        return 0;
    }
    if (strcmp(argument, "--help-query-gpu") == 0 || strcmp(argument, "--help-query-compute-apps") == 0) {
        smi_query_help(strstr(argument, "apps") != NULL);
        return 0;
    }
    return strcmp(argument, "--version") == 0 ? version() : -1;
}

/* Reads the arguments; -1 to go on, else the exit status. */
static int read_options(int argc, char **argv, struct options *out)
{
    const char *value;
    for (int i = 1; i < argc; i++) {
        int status = at_once(argv[i]);
        if (status >= 0)
            return status;
        if (is_either(argv[i], "-L", "--list-gpus"))
            out->list = true;
        else if (is_either(argv[i], "-q", "--query"))
            out->report = true;
        else if (is_either(argv[i], "-x", "--xml-format"))
            out->xml = true;
        else if ((value = value_of(NULL, "--query-gpu", argc, argv, &i)))
            out->gpu_fields = value;
        else if ((value = value_of(NULL, "--query-compute-apps", argc, argv, &i)))
            out->app_fields = value;
        else if ((value = value_of(NULL, "--format", argc, argv, &i)))
            out->format = value;
        else if ((value = value_of("-i", "--id", argc, argv, &i)))
            out->devices = value;
        else if ((value = value_of("-f", "--filename", argc, argv, &i)))
            out->file = value;
        else if ((value = value_of("-l", "--loop", argc, argv, &i)))
            out->loop_ms = *value ? (long)(atof(value) * 1000) : 5000;
        else if ((value = value_of("-lms", "--loop-ms", argc, argv, &i)))
            out->loop_ms = atol(value);
        else if ((value = value_of("-d", "--display", argc, argv, &i)) && (out->sections = sections_of(value)))
            continue;
        else
            return bad_argument(argv[i]);
    }
    return -1;
}

/* The words of --format; false if it has none for CSV. */
static bool read_format(const char *format, struct smi_csv *out)
{
    bool csv = false;
    for (const char *at = format; at && *at;) {
        size_t length = strcspn(at, ",");
        if (length == 3 && strncmp(at, "csv", 3) == 0)
            csv = true;
        else if (length == 8 && strncmp(at, "noheader", 8) == 0)
            out->without_header = true;
        else if (length == 7 && strncmp(at, "nounits", 7) == 0)
            out->without_units = true;
        else
            return false;
        at += length + (at[length] == ',');
    }
    return csv;
}

static bool add_device(struct smi_devices *out, const char *name)
{
    char *end;
    nvmlDevice_t device;
    unsigned long index = strtoul(name, &end, 10);
    nvmlReturn_t status = NVML_ERROR_NOT_FOUND;
    if (end != name && !*end)
        status = nvmlDeviceGetHandleByIndex((unsigned)index, &device);
    else if (strncmp(name, "GPU-", 4) == 0)
        status = nvmlDeviceGetHandleByUUID(name, &device);
    else
        status = nvmlDeviceGetHandleByPciBusId(name, &device);
    if (status != NVML_SUCCESS || out->count == sizeof out->device / sizeof *out->device) {
        puts("No devices were found");
        return false;
    }
    out->device[out->count++] = device;
    return true;
}

bool smi_pick(const char *list, struct smi_devices *out)
{
    unsigned count = 0;
    char name[SMI_TEXT];
    out->count = 0;
    if (list) {
        for (const char *at = list; *at;) {
            size_t length = strcspn(at, ",");
            snprintf(name, sizeof name, "%.*s", (int)length, at);
            if (!add_device(out, name))
                return false;
            at += length + (at[length] == ',');
        }
        return true;
    }
    if (nvmlDeviceGetCount(&count) != NVML_SUCCESS)
        return false;
    for (unsigned i = 0; i < count && i < sizeof out->device / sizeof *out->device; i++)
        if (nvmlDeviceGetHandleByIndex(i, &out->device[out->count]) == NVML_SUCCESS)
            out->count++;
    return out->count > 0;
}

static int once(const struct options *options, const struct smi_devices *devices, const struct smi_csv *csv, bool first,
                FILE *out)
{
    if (options->gpu_fields)
        return smi_query_gpu(devices, options->gpu_fields, csv, first, out);
    if (options->app_fields)
        return smi_query_apps(devices, options->app_fields, csv, first, out);
    if (options->list)
        return smi_list(devices, out);
    if (options->report)
        return smi_report(devices, options->sections ? options->sections : SMI_ALL, options->xml, out);
    return smi_table(devices, out);
}

static int run(const struct options *options)
{
    struct smi_devices devices;
    struct smi_csv csv = {false, false};
    const char *fields = options->gpu_fields ? options->gpu_fields : options->app_fields;
    if (fields && options->format && !read_format(options->format, &csv)) {
        printf("Format \"%s\" is not known; there is csv, with noheader and nounits.\n\n", options->format);
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if (fields && !smi_query_check(fields, !options->gpu_fields))
        return NVML_ERROR_INVALID_ARGUMENT;
    if (!smi_pick(options->devices, &devices))
        return NVML_ERROR_NOT_FOUND;
    FILE *out = options->file ? fopen(options->file, "we") : stdout;
    if (!out) {
        printf("Cannot write to '%s'.\n", options->file);
        return 1;
    }
    int status = once(options, &devices, &csv, true, out);
    while (options->loop_ms > 0 && status == 0 && fflush(out) == 0) {
        usleep((useconds_t)options->loop_ms * 1000);
        status = once(options, &devices, &csv, false, out);
    }
    return fflush(out) == 0 ? status : 1;
}

int main(int argc, char **argv)
{
    struct options options = {.loop_ms = 0};
    nvmlReturn_t status = nvmlInit();
    if (status != NVML_SUCCESS) {
        puts("NVIDIA-SMI has failed because it couldn't find Millrace's driver: run it by 'millrace smi'.\n");
        return (int)status;
    }
    if (argc > 1 && (strcmp(argv[1], "dmon") == 0 || strcmp(argv[1], "pmon") == 0))
        return smi_monitor(argv[1][0] == 'p', argc - 2, argv + 2);
    int done = read_options(argc, argv, &options);
    return done < 0 ? run(&options) : fflush(stdout) == 0 ? done : 1;
}
