/* SPDX-License-Identifier: Apache-2.0 */
#include "witness.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libs/observer/identity.h"
#include "libs/observer/schedule.h"
#include "report/names.h"
#include "trial.h"

enum { VERSION = 1 };

static const char *text_of(const cJSON *from, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(from, key);
    return cJSON_IsString(item) ? item->valuestring : "";
}

static uint64_t number_of(const cJSON *from, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(from, key);
    return cJSON_IsNumber(item) && item->valuedouble >= 0 ? (uint64_t)item->valuedouble : 0;
}

/* ---- reading ---- */

static bool bad(const char *path, const char *what)
{
    fprintf(stderr, "millrace replay: %s: %s\n", path, what);
    return false;
}

static bool read_side(const cJSON *from, struct witness_side *out)
{
    snprintf(out->name, sizeof out->name, "%s", text_of(from, "operation"));
    snprintf(out->title, sizeof out->title, "%s", text_of(from, "title"));
    out->reads = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(from, "reads"));
    out->writes = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(from, "writes"));
    return *out->name && *out->title;
}

/* Do the names make a schedule? */
static bool is_sound(const struct witness *witness)
{
    struct obs_schedule_options options;
    char text[512], problem[512];
    snprintf(text, sizeof text, "plain:hold=%s:until=%s%s%s", witness->earlier.name, witness->later.name,
             *witness->bytes ? ":bytes=" : "", witness->bytes);
    return obs_schedule_read(text, &options, problem, sizeof problem) && options.witness;
}

bool witness_read(const char *path, struct witness *out)
{
    cJSON *root = trial_read_json("replay", path, "witness");
    bool good = false;
    *out = (struct witness){0};
    if (!root)
        return false;
    const cJSON *program = cJSON_GetObjectItemCaseSensitive(root, "program");
    const char *made_by = text_of(root, "millrace");
    snprintf(out->kind, sizeof out->kind, "%s", text_of(root, "kind"));
    snprintf(out->program, sizeof out->program, "%s", text_of(program, "path"));
    snprintf(out->bytes, sizeof out->bytes, "%s", text_of(root, "bytes"));
    out->identity = strtoull(text_of(program, "identity"), NULL, 16);
    if (strcmp(text_of(root, "format"), "millrace-witness") != 0)
        bad(path, "this is no witness; 'millrace check --witnesses FOLDER' makes them");
    else if (number_of(root, "version") != VERSION || strcmp(made_by, MR_VERSION) != 0)
        fprintf(
            stderr,
            "millrace replay: %s is of Millrace %s and this is %s: let 'millrace check --witnesses' make it again\n",
            path, *made_by ? made_by : "of another version", MR_VERSION);
    else if (!read_side(cJSON_GetObjectItemCaseSensitive(root, "earlier"), &out->earlier) ||
             !read_side(cJSON_GetObjectItemCaseSensitive(root, "later"), &out->later) || !out->identity ||
             !is_sound(out))
        bad(path, "the witness is damaged: an operation, the program or the bytes are missing or unreadable");
    else
        good = true;
    cJSON_Delete(root);
    return good;
}

/* ---- writing ---- */

static bool holds(const char *how, const char *word)
{
    return strstr(how, word) != NULL;
}

/* A side of a finding, in words and as an operation. */
static void describe(const cJSON *side, struct witness_side *out)
{
    const char *how = text_of(side, "how"), *symbol = text_of(side, "kernel");
    struct obs_operation_name name = {.thread = (uint32_t)number_of(side, "thread"),
                                      .call = number_of(side, "of_thread"),
                                      .node = number_of(side, "node")};
    char *kernel = *symbol ? names_demangle(symbol) : NULL;
    obs_schedule_write_name(&name, out->name, sizeof out->name);
    snprintf(out->title, sizeof out->title, "the %s%s%.100s%s of %.40s, call %" PRIu64 " of thread %" PRIu32,
             text_of(side, "what"), kernel ? " '" : "", kernel ? kernel : "", kernel ? "'" : "", text_of(side, "call"),
             name.call, name.thread);
    free(kernel);
    out->reads = holds(how, "read") || holds(how, "change");
    out->writes = holds(how, "write") || holds(how, "change") || holds(how, "free");
}

/* Can a schedule hold it? What the host itself does, and allocations, happen in the call. */
static bool can_be_held(const cJSON *side)
{
    const char *what = text_of(side, "what");
    return number_of(side, "work") > 0 && strcmp(what, "host") != 0 && strcmp(what, "allocation") != 0;
}

static bool make(const cJSON *finding, const char *program, struct witness *out)
{
    const cJSON *sides = cJSON_GetObjectItemCaseSensitive(finding, "sides"), *later = cJSON_GetArrayItem(sides, 0),
                *earlier = cJSON_GetArrayItem(sides, 1);
    const cJSON *allocation = cJSON_GetObjectItemCaseSensitive(finding, "allocation");
    uint64_t first = number_of(finding, "first"), bytes = number_of(finding, "bytes"),
             base = number_of(allocation, "first");
    *out = (struct witness){0};
    if (!earlier || !later || !can_be_held(earlier) || number_of(later, "of_thread") == 0)
        return false;
    snprintf(out->kind, sizeof out->kind, "%s", text_of(finding, "kind"));
    snprintf(out->program, sizeof out->program, "%s", program);
    out->identity = obs_identity(program);
    describe(earlier, &out->earlier);
    describe(later, &out->later);
    if (number_of(allocation, "of_thread") && bytes > 0 && first >= base)
        snprintf(out->bytes, sizeof out->bytes, "%" PRIu64 ".%" PRIu64 "+%" PRIu64 "+%" PRIu64,
                 number_of(allocation, "thread"), number_of(allocation, "of_thread"), first - base, bytes);
    return out->identity != 0 && is_sound(out);
}

static bool add_side(cJSON *root, const char *key, const struct witness_side *side)
{
    cJSON *to = cJSON_AddObjectToObject(root, key);
    return to && cJSON_AddStringToObject(to, "operation", side->name) &&
           cJSON_AddStringToObject(to, "title", side->title) && cJSON_AddBoolToObject(to, "reads", side->reads) &&
           cJSON_AddBoolToObject(to, "writes", side->writes);
}

static char *text_of_witness(const struct witness *witness)
{
    char identity[24], *text = NULL;
    cJSON *root = cJSON_CreateObject();
    cJSON *program = root ? cJSON_AddObjectToObject(root, "program") : NULL;
    snprintf(identity, sizeof identity, "%016" PRIx64, witness->identity);
    if (program && cJSON_AddStringToObject(root, "format", "millrace-witness") &&
        cJSON_AddNumberToObject(root, "version", VERSION) && cJSON_AddStringToObject(root, "millrace", MR_VERSION) &&
        cJSON_AddStringToObject(root, "kind", witness->kind) &&
        cJSON_AddStringToObject(program, "path", witness->program) &&
        cJSON_AddStringToObject(program, "identity", identity) && add_side(root, "earlier", &witness->earlier) &&
        add_side(root, "later", &witness->later) && cJSON_AddStringToObject(root, "bytes", witness->bytes))
        text = cJSON_Print(root);
    cJSON_Delete(root);
    return text;
}

static bool cannot_write(const char *path, const char *why)
{
    fprintf(stderr, "millrace check: cannot write %s: %s\n", path, why);
    return false;
}

static bool write_one(const struct witness *witness, const char *folder, unsigned number)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.4000s/race-%u.json", folder, number);
    char *text = text_of_witness(witness);
    FILE *file = text ? fopen(path, "we") : NULL;
    bool good = file && fprintf(file, "%s\n", text) > 0;
    if (file)
        good = fclose(file) == 0 && good;
    const char *why = text ? strerror(errno) : "memory is short";
    cJSON_free(text);
    if (!good)
        return cannot_write(path, why);
    fprintf(stderr, "millrace check: %s: %s and %s [%s]\n", path, witness->earlier.title, witness->later.title,
            witness->kind);
    return true;
}

static int is_result(const struct dirent *entry)
{
    static const char end[] = ".results.json";
    size_t length = strlen(entry->d_name);
    return length > sizeof end - 1 && strcmp(entry->d_name + length - (sizeof end - 1), end) == 0;
}

bool witness_write_all(const char *results, const char *folder)
{
    struct dirent **entries;
    struct witness witness;
    unsigned number = 0, without = 0;
    bool good = true;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return cannot_write(folder, strerror(errno));
    int count = scandir(results, &entries, is_result, versionsort);
    for (int i = 0; i < count; i++) {
        char path[2 * PATH_MAX];
        const cJSON *finding;
        snprintf(path, sizeof path, "%s/%s", results, entries[i]->d_name);
        cJSON *root = trial_read_json("check", path, "file of results");
        cJSON_ArrayForEach(finding, cJSON_GetObjectItemCaseSensitive(root, "findings"))
        {
            if (strcmp(text_of(finding, "tool"), "race") != 0)
                continue;
            if (make(finding, text_of(root, "program"), &witness))
                good = write_one(&witness, folder, ++number) && good;
            else
                without++;
        }
        good = good && root;
        cJSON_Delete(root);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    if (without)
        fprintf(stderr, "millrace check: %u findings have no witness: what comes first in them can't be held\n",
                without);
    return good;
}
