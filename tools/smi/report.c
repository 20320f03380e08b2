/* SPDX-License-Identifier: Apache-2.0 */
/* -q: everything about devices, as indented lines or as XML. */
#include <string.h>

#include "smi.h"

static const struct row {
    unsigned depth, sections;
    const char *name, *tag, *unit; /* unit NULL: a group */
    smi_value *value;
} rows[] = {
#define SMI_ROW(depth, sections, name, tag, unit, value) {depth, sections, name, tag, unit, value},
#define SMI_HEAD(depth, sections, name, tag) {depth, sections, name, tag, NULL, NULL},
#include "report.def"
#undef SMI_ROW
#undef SMI_HEAD
};
#define ROWS (sizeof rows / sizeof *rows)

/* Where lines of one device go, and how. */
struct page {
    FILE *out;
    bool xml;
};

static void escaped(const char *text, FILE *out)
{
    for (; *text; text++) {
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else
            fputc(*text, out);
    }
}

/* The column in which values begin: nearer for processes, as in NVIDIA's command. */
#define COLUMN 54
#define COLUMN_OF_PROCESSES 41

static void line_at(const struct page *page, int column, unsigned depth, const char *name, const char *tag,
                    const char *text)
{
    if (page->xml) {
        fprintf(page->out, "%.*s<%s>", (int)depth + 1, "\t\t\t\t", tag);
        escaped(text, page->out);
        fprintf(page->out, "</%s>\n", tag);
    } else {
        fprintf(page->out, "%*s%-*s : %s\n", (int)depth * 4, "", column - (int)depth * 4, name, text);
    }
}

static void line(const struct page *page, unsigned depth, const char *name, const char *tag, const char *text)
{
    line_at(page, COLUMN, depth, name, tag, text);
}

static void head(const struct page *page, unsigned depth, const char *name, const char *tag)
{
    if (page->xml)
        fprintf(page->out, "%.*s<%s>\n", (int)depth + 1, "\t\t\t\t", tag);
    else
        fprintf(page->out, "%*s%s\n", (int)depth * 4, "", name);
}

static void foot(const struct page *page, unsigned depth, const char *tag)
{
    if (page->xml)
        fprintf(page->out, "%.*s</%s>\n", (int)depth + 1, "\t\t\t\t", tag);
}

static void processes(const struct page *page, nvmlDevice_t device)
{
    static struct smi_process list[SMI_PROCESSES];
    char text[SMI_TEXT];
    unsigned count = smi_processes(device, list, SMI_PROCESSES, false);
    if (!count && !page->xml) {
        line(page, 1, "Processes", "processes", "None");
        return;
    }
    head(page, 1, "Processes", "processes");
    for (unsigned i = 0; i < count; i++) {
        unsigned depth = page->xml ? 2 : 3;
        if (page->xml)
            head(page, 2, "", "process_info");
        line_at(page, COLUMN_OF_PROCESSES, 2, "GPU instance ID", "gpu_instance_id", "N/A");
        line_at(page, COLUMN_OF_PROCESSES, 2, "Compute instance ID", "compute_instance_id", "N/A");
        snprintf(text, sizeof text, "%u", list[i].pid);
        line_at(page, COLUMN_OF_PROCESSES, 2, "Process ID", "pid", text);
        line_at(page, COLUMN_OF_PROCESSES, depth, "Type", "type", "C");
        line_at(page, COLUMN_OF_PROCESSES, depth, "Name", "process_name", list[i].name);
        snprintf(text, sizeof text, "%llu MiB", list[i].bytes >> 20);
        line_at(page, COLUMN_OF_PROCESSES, depth, "Used GPU Memory", "used_memory", text);
        foot(page, 2, "process_info");
    }
    foot(page, 1, "processes");
}

static void one_device(const struct page *page, nvmlDevice_t device, unsigned sections)
{
    char text[SMI_TEXT];
    const char *open_group = NULL;
    for (size_t i = 0; i < ROWS; i++) {
        const struct row *row = &rows[i];
        if (!(row->sections & sections))
            continue;
        if (open_group && row->depth == 1) {
            foot(page, 1, open_group);
            open_group = NULL;
        }
        if (!row->unit) {
            head(page, row->depth, row->name, row->tag);
            open_group = row->tag;
            continue;
        }
        bool known = row->value && row->value(device, text);
        if (known)
            strncat(text, row->unit, sizeof text - strlen(text) - 1);
        line(page, row->depth, row->name, row->tag, known ? text : "N/A");
    }
    if (open_group)
        foot(page, 1, open_group);
    if (sections & (SMI_ALL | SMI_PIDS))
        processes(page, device);
}

int smi_report(const struct smi_devices *devices, unsigned sections, bool xml, FILE *out)
{
    char date[SMI_TEXT], driver[SMI_TEXT] = "N/A", cuda[SMI_TEXT] = "N/A", count[SMI_TEXT] = "0", bus[SMI_TEXT] = "";
    const struct page page = {out, xml};
    smi_date(date);
    smi_driver(devices->device[0], driver);
    smi_cuda(devices->device[0], cuda);
    smi_count(devices->device[0], count);
    if (xml)
        fputs("<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM \"nvsmi_device_v13.dtd\">\n<nvidia_smi_log>\n",
              out);
    else
        fputs("\n==============NVSMI LOG==============\n\n", out);
    line(&page, 0, "Timestamp", "timestamp", date);
    line(&page, 0, "Driver Version", "driver_version", driver);
    line(&page, 0, "CUDA Version", "cuda_version", cuda);
    if (!xml)
        fputc('\n', out);
    line(&page, 0, "Attached GPUs", "attached_gpus", count);
    for (unsigned i = 0; i < devices->count; i++) {
        smi_bus(devices->device[i], bus);
        fprintf(out, xml ? "\t<gpu id=\"%s\">\n" : "GPU %s\n", bus);
        one_device(&page, devices->device[i], sections);
        fputs(xml ? "\t</gpu>\n" : "\n", out);
    }
    if (xml)
        fputs("</nvidia_smi_log>\n", out);
    return 0;
}
