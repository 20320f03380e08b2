/* SPDX-License-Identifier: Apache-2.0 */
/* --query-gpu and --query-compute-apps: values as CSV. */
#include <stdlib.h>
#include <string.h>

#include "smi.h"

#define NONE "[N/A]"

static bool smi_timestamp_of(nvmlDevice_t device, char text[SMI_TEXT])
{
    (void)device;
    smi_timestamp(text);
    return true;
}

#define PCI(function, form, member) \
    static bool function(nvmlDevice_t device, char text[SMI_TEXT]) \
    { \
        nvmlPciInfo_t pci; \
        if (nvmlDeviceGetPciInfo(device, &pci) != NVML_SUCCESS) \
            return false; \
        snprintf(text, SMI_TEXT, form, pci.member); \
        return true; \
    }
PCI(smi_pci_domain, "0x%04X", domain)
PCI(smi_pci_bus, "0x%02X", bus)
PCI(smi_pci_device, "0x%02X", device)
PCI(smi_pci_id, "0x%08X", pciDeviceId)

struct field {
    const char *name, *other, *unit;
    smi_value *value;
};

static const struct field gpu_fields[] = {
#define SMI_FIELD(name, other, unit, value) {name, other, unit, value},
#include "fields.def"
#undef SMI_FIELD
};

enum app_field { APP_TIME, APP_GPU_NAME, APP_BUS, APP_SERIAL, APP_UUID, APP_PID, APP_NAME, APP_MEMORY, APP_FIELDS };
static const struct field app_fields[APP_FIELDS] = {
    [APP_TIME] = {"timestamp", NULL, "", smi_timestamp_of},
    [APP_GPU_NAME] = {"gpu_name", NULL, "", smi_name},
    [APP_BUS] = {"gpu_bus_id", NULL, "", smi_bus},
    [APP_SERIAL] = {"gpu_serial", NULL, "", smi_serial},
    [APP_UUID] = {"gpu_uuid", NULL, "", smi_uuid},
    [APP_PID] = {"pid", NULL, "", NULL},
    [APP_NAME] = {"process_name", "name", "", NULL},
    [APP_MEMORY] = {"used_gpu_memory", "used_memory", "MiB", NULL},
};

/* The field whose name begins at *at, which moves behind it; NULL if there is none, with the name in `name`. */
static const struct field *next_field(const char **at, bool apps, char name[SMI_TEXT])
{
    const struct field *fields = apps ? app_fields : gpu_fields;
    size_t count = apps ? APP_FIELDS : sizeof gpu_fields / sizeof *gpu_fields;
    size_t length = strcspn(*at += strspn(*at, " "), ",");
    snprintf(name, SMI_TEXT, "%.*s", (int)length, *at);
    *at += length + ((*at)[length] == ',');
    for (size_t end = strlen(name); end > 0 && name[end - 1] == ' ';)
        name[--end] = '\0';
    for (size_t i = 0; i < count; i++)
        if (strcmp(fields[i].name, name) == 0 || (fields[i].other && strcmp(fields[i].other, name) == 0))
            return &fields[i];
    return NULL;
}

bool smi_query_check(const char *fields, bool apps)
{
    char name[SMI_TEXT];
    const char *at = fields;
    do {
        if (!next_field(&at, apps, name)) {
            printf("Field \"%s\" is not a valid field to query.\n\n", name);
            return false;
        }
    } while (*at);
    return true;
}

void smi_query_help(bool apps)
{
    const struct field *fields = apps ? app_fields : gpu_fields;
    size_t count = apps ? APP_FIELDS : sizeof gpu_fields / sizeof *gpu_fields;
    printf("Fields of %s. Those without a value on a processor are shown as N/A.\n\n",
           apps ? "--query-compute-apps" : "--query-gpu");
    for (size_t i = 0; i < count; i++) {
        if (fields[i].other)
            printf("\"%s\" or \"%s\"\n", fields[i].name, fields[i].other);
        else
            printf("\"%s\"\n", fields[i].name);
    }
}

static void header(const char *fields, bool apps, FILE *out)
{
    char name[SMI_TEXT];
    for (const char *at = fields; *at;) {
        const struct field *field = next_field(&at, apps, name);
        fputs(field->name, out);
        if (*field->unit)
            fprintf(out, " [%s]", field->unit);
        fputs(*at ? ", " : "\n", out);
    }
}

static void cell(const char *text, const struct field *field, const struct smi_csv *csv, bool last, FILE *out)
{
    fputs(text, out);
    if (*field->unit && !csv->without_units && strcmp(text, NONE) != 0)
        fprintf(out, " %s", field->unit);
    fputs(last ? "\n" : ", ", out);
}

int smi_query_gpu(const struct smi_devices *devices, const char *fields, const struct smi_csv *csv, bool first,
                  FILE *out)
{
    char name[SMI_TEXT], text[SMI_TEXT];
    if (first && !csv->without_header)
        header(fields, false, out);
    for (unsigned i = 0; i < devices->count; i++)
        for (const char *at = fields; *at;) {
            const struct field *field = next_field(&at, false, name);
            bool known = field->value && field->value(devices->device[i], text);
            cell(known ? text : NONE, field, csv, !*at, out);
        }
    return 0;
}

static const char *app_text(const struct field *field, nvmlDevice_t device, const struct smi_process *process,
                            char text[SMI_TEXT])
{
    switch ((enum app_field)(field - app_fields)) {
    case APP_PID:
        snprintf(text, SMI_TEXT, "%u", process->pid);
        return text;
    case APP_NAME:
        return process->name;
    case APP_MEMORY:
        snprintf(text, SMI_TEXT, "%llu", process->bytes >> 20);
        return text;
    default:
        return field->value(device, text) ? text : NONE;
    }
}

int smi_query_apps(const struct smi_devices *devices, const char *fields, const struct smi_csv *csv, bool first,
                   FILE *out)
{
    static struct smi_process list[SMI_PROCESSES];
    char name[SMI_TEXT], text[SMI_TEXT];
    if (first && !csv->without_header)
        header(fields, true, out);
    for (unsigned i = 0; i < devices->count; i++) {
        unsigned count = smi_processes(devices->device[i], list, SMI_PROCESSES, false);
        for (unsigned k = 0; k < count; k++)
            for (const char *at = fields; *at;) {
                const struct field *field = next_field(&at, true, name);
                cell(app_text(field, devices->device[i], &list[k], text), field, csv, !*at, out);
            }
    }
    return 0;
}
