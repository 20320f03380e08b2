/* SPDX-License-Identifier: Apache-2.0 */
/* The table that the command shows without arguments, and the list of -L. */
#include <string.h>

#include "smi.h"

/* The value, or what stands for none. */
static const char *shown(smi_value *value, nvmlDevice_t device, char text[SMI_TEXT], const char *otherwise)
{
    return value(device, text) ? text : otherwise;
}

/* The value with its unit behind it, or N/A. */
static const char *with_unit(smi_value *value, nvmlDevice_t device, char text[SMI_TEXT], const char *unit)
{
    if (!value(device, text))
        return "N/A";
    size_t length = strlen(text);
    snprintf(text + length, SMI_TEXT - length, "%s", unit);
    return text;
}

static const char rule[] =
    "+-----------------------------------------+------------------------+----------------------+\n";
static const char whole[] =
    "+-----------------------------------------------------------------------------------------+\n";

static void device_rows(nvmlDevice_t device, FILE *out)
{
    char a[SMI_TEXT], b[SMI_TEXT], c[SMI_TEXT];
    fprintf(out, "| %3s  %-31.31s%-3s |", shown(smi_index, device, a, "?"), shown(smi_name, device, b, "?"),
            smi_persistence(device, c) ? (strcmp(c, "Enabled") == 0 ? "On" : "Off") : "N/A");
    bool active = smi_display_active(device, b) && strcmp(b, "Enabled") == 0;
    fprintf(out, "%19s %3s |                  N/A |\n", shown(smi_bus, device, a, "?"), active ? "On" : "Off");
    fprintf(out, "| %-4s", with_unit(smi_fan, device, a, "%"));
    fprintf(out, "%5s", with_unit(smi_temperature, device, a, "C"));
    fprintf(out, "    %-4s", shown(smi_pstate, device, a, "N/A"));
    fprintf(out, "%14s /   N/A |", with_unit(smi_power, device, a, "W"));
    fprintf(out, "%11s / %9s |", with_unit(smi_memory_used, device, b, "MiB"),
            with_unit(smi_memory_total, device, c, "MiB"));
    fprintf(out, "%8s %12s |\n", with_unit(smi_busy, device, a, "%"), shown(smi_compute_mode, device, b, "N/A"));
    fprintf(out, "|                                         |                        |                  N/A |\n%s",
            rule);
}

static void process_rows(const struct smi_devices *devices, FILE *out)
{
    static struct smi_process list[SMI_PROCESSES];
    unsigned shown_rows = 0;
    fprintf(out,
            "\n%s"
            "| Processes:                                                                              |\n"
            "|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |\n"
            "|        ID   ID                                                               Usage      |\n"
            "|=========================================================================================|\n",
            whole);
    for (unsigned i = 0; i < devices->count; i++) {
        char index[SMI_TEXT] = "?";
        smi_index(devices->device[i], index);
        unsigned count = smi_processes(devices->device[i], list, SMI_PROCESSES, false);
        for (unsigned k = 0; k < count; k++, shown_rows++) {
            size_t length = strlen(list[k].name);
            /* The end of a long name tells more than its beginning. */
            const char *name = length > 36 ? list[k].name + length - 33 : list[k].name;
            fprintf(out, "| %4s   N/A  N/A   %12u      C   %s%-*s %7lluMiB |\n", index, list[k].pid,
                    length > 36 ? "..." : "", length > 36 ? 33 : 36, name, list[k].bytes >> 20);
        }
    }
    if (!shown_rows)
        fputs("|  No running processes found                                                             |\n", out);
    fputs(whole, out);
}

int smi_table(const struct smi_devices *devices, FILE *out)
{
    char date[SMI_TEXT], driver[SMI_TEXT] = "N/A", cuda[SMI_TEXT] = "N/A";
    smi_date(date);
    smi_driver(devices->device[0], driver);
    smi_cuda(devices->device[0], cuda);
    fprintf(out,
            "%s       \n%s"
            "| NVIDIA-SMI %-22.22s Driver Version: %-14.14s CUDA Version: %-8.8s |\n%s"
            "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
            "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n"
            "|                                         |                        |               MIG M. |\n"
            "|=========================================+========================+======================|\n",
            date, whole, driver, driver, cuda, rule);
    for (unsigned i = 0; i < devices->count; i++)
        device_rows(devices->device[i], out);
    process_rows(devices, out);
    return 0;
}

int smi_list(const struct smi_devices *devices, FILE *out)
{
    char index[SMI_TEXT], name[SMI_TEXT], uuid[SMI_TEXT];
    for (unsigned i = 0; i < devices->count; i++)
        fprintf(out, "GPU %s: %s (UUID: %s)\n", shown(smi_index, devices->device[i], index, "?"),
                shown(smi_name, devices->device[i], name, "?"), shown(smi_uuid, devices->device[i], uuid, "?"));
    return 0;
}
