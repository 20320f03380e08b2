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

enum { VERSION = 2 };

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
    snprintf(out->title, sizeof out->title, "%s", text_of(from, "title"));
    out->reads = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(from, "reads"));
    out->writes = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(from, "writes"));
    return *out->title;
}

/* Do the names make a schedule? */
static bool is_sound(const struct witness_pair *pair)
{
    struct obs_schedule_options options;
    char text[512], problem[512];
    snprintf(text, sizeof text, "plain:hold=%s:until=%s%s%s", pair->hold, pair->until, *pair->bytes ? ":bytes=" : "",
             pair->bytes);
    return obs_schedule_read(text, &options, problem, sizeof problem) && options.witness;
}

static bool read_pair(const cJSON *from, struct witness_pair *out)
{
    snprintf(out->hold, sizeof out->hold, "%s", text_of(from, "hold"));
    snprintf(out->until, sizeof out->until, "%s", text_of(from, "until"));
    snprintf(out->bytes, sizeof out->bytes, "%s", text_of(from, "bytes"));
    out->holds_later = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(from, "holds_later"));
    return read_side(cJSON_GetObjectItemCaseSensitive(from, "earlier"), &out->earlier) &&
           read_side(cJSON_GetObjectItemCaseSensitive(from, "later"), &out->later) && is_sound(out);
}

static bool read_pairs(const cJSON *root, struct witness *out)
{
    const cJSON *pair;
    cJSON_ArrayForEach(pair, cJSON_GetObjectItemCaseSensitive(root, "pairs"))
    {
        if (out->pairs == WITNESS_PAIRS || !read_pair(pair, &out->pair[out->pairs]))
            return false;
        out->pairs++;
    }
    return out->pairs > 0 && out->identity;
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
    out->identity = strtoull(text_of(program, "identity"), NULL, 16);
    if (strcmp(text_of(root, "format"), "millrace-witness") != 0)
        bad(path, "this is no witness; 'millrace check --witnesses FOLDER' makes them");
    else if (number_of(root, "version") != VERSION || strcmp(made_by, MR_VERSION) != 0)
        fprintf(
            stderr,
            "millrace replay: %s is of Millrace %s and this is %s: let 'millrace check --witnesses' make it again\n",
            path, *made_by ? made_by : "of another version", MR_VERSION);
    else if (!read_pairs(root, out))
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

/* What the host's code does by itself, or a message of an MPI library, not inside of a call. */
static bool is_code(const cJSON *side)
{
    return strcmp(text_of(side, "what"), "message") == 0 ||
           (strcmp(text_of(side, "what"), "host") == 0 && strncmp(text_of(side, "call"), "cu", 2) != 0);
}

/* A side of a finding, in words. */
static void describe(const cJSON *side, struct witness_side *out)
{
    const char *how = text_of(side, "how"), *symbol = text_of(side, "kernel"), *what = text_of(side, "what");
    char *kernel = *symbol ? names_demangle(symbol) : NULL;
    uint64_t call = number_of(side, "of_thread"), thread = number_of(side, "thread");
    if (is_code(side))
        snprintf(out->title, sizeof out->title, "the host's code behind call %" PRIu64 " of thread %" PRIu64, call,
                 thread);
    else
        snprintf(out->title, sizeof out->title, "the %s%s%.100s%s of %.40s, call %" PRIu64 " of thread %" PRIu64, what,
                 kernel ? " '" : "", kernel ? kernel : "", kernel ? "'" : "", text_of(side, "call"), call, thread);
    free(kernel);
    out->reads = holds(how, "read") || holds(how, "change");
    out->writes = holds(how, "write") || holds(how, "change") || holds(how, "free") ||
                  holds(how, "allocate"); /* the memory's former owner may */
}

/* A side as an operation that can be held, or waited for. The host inside of a call is held behind the call before. */
static void name_side(const cJSON *side, bool held, char *out, size_t size)
{
    struct obs_operation_name name = {.thread = (uint32_t)number_of(side, "thread"),
                                      .call = number_of(side, "of_thread"),
                                      .node = number_of(side, "node")};
    if (is_code(side))
        name.kind = OBS_OF_CODE;
    if (held && name.kind == OBS_OF_CALL && number_of(side, "work") == 0) {
        name.kind = OBS_OF_CODE;
        name.call -= name.call > 0;
    }
    *out = 0;
    if (name.thread && name.call)
        obs_schedule_write_name(&name, out, size);
}

static bool is(const cJSON *side, const char *what)
{
    return strcmp(text_of(side, "what"), what) == 0;
}

/* What is held until what (witness.h). False: nothing can be. */
static bool find_order(const cJSON *earlier, const cJSON *later, struct witness_pair *out)
{
    if (is(earlier, "allocation")) {
        struct obs_operation_name name = {.thread = (uint32_t)number_of(earlier, "behind_thread"),
                                          .call = number_of(earlier, "behind")};
        if (!name.call)
            return false;
        obs_schedule_write_name(&name, out->hold, sizeof out->hold);
        name_side(later, false, out->until, sizeof out->until);
    } else if (is(earlier, "free") || is(later, "free")) {
        out->holds_later = is(earlier, "free");
        name_side(out->holds_later ? later : earlier, true, out->hold, sizeof out->hold);
        snprintf(out->until, sizeof out->until, "rest");
    } else {
        name_side(earlier, true, out->hold, sizeof out->hold);
        name_side(later, false, out->until, sizeof out->until);
    }
    return *out->hold && *out->until;
}

static bool make_pair(const cJSON *from, struct witness_pair *out)
{
    const cJSON *sides = cJSON_GetObjectItemCaseSensitive(from, "sides"), *later = cJSON_GetArrayItem(sides, 0),
                *earlier = cJSON_GetArrayItem(sides, 1);
    const cJSON *allocation = cJSON_GetObjectItemCaseSensitive(from, "allocation");
    uint64_t first = number_of(from, "first"), bytes = number_of(from, "bytes"), base = number_of(allocation, "first");
    *out = (struct witness_pair){0};
    if (!earlier || !later || !find_order(earlier, later, out))
        return false;
    describe(earlier, &out->earlier);
    describe(later, &out->later);
    if (number_of(allocation, "of_thread") && bytes > 0 && first >= base)
        snprintf(out->bytes, sizeof out->bytes, "%" PRIu64 ".%" PRIu64 "+%" PRIu64 "+%" PRIu64,
                 number_of(allocation, "thread"), number_of(allocation, "of_thread"), first - base, bytes);
    return is_sound(out);
}

static bool make(const cJSON *finding, const char *program, struct witness *out)
{
    const cJSON *pair;
    *out = (struct witness){0};
    snprintf(out->kind, sizeof out->kind, "%s", text_of(finding, "kind"));
    snprintf(out->program, sizeof out->program, "%s", program);
    out->identity = obs_identity(program);
    out->pairs += make_pair(finding, &out->pair[0]);
    cJSON_ArrayForEach(pair, cJSON_GetObjectItemCaseSensitive(finding, "pairs"))
    {
        if (out->pairs < WITNESS_PAIRS)
            out->pairs += make_pair(pair, &out->pair[out->pairs]);
    }
    return out->identity != 0 && out->pairs > 0;
}

static bool add_side(cJSON *root, const char *key, const struct witness_side *side)
{
    cJSON *to = cJSON_AddObjectToObject(root, key);
    return to && cJSON_AddStringToObject(to, "title", side->title) && cJSON_AddBoolToObject(to, "reads", side->reads) &&
           cJSON_AddBoolToObject(to, "writes", side->writes);
}

static bool add_pair(cJSON *pairs, const struct witness_pair *pair)
{
    cJSON *to = cJSON_CreateObject();
    if (!to || !cJSON_AddItemToArray(pairs, to)) {
        cJSON_Delete(to);
        return false;
    }
    return add_side(to, "earlier", &pair->earlier) && add_side(to, "later", &pair->later) &&
           cJSON_AddStringToObject(to, "hold", pair->hold) && cJSON_AddStringToObject(to, "until", pair->until) &&
           cJSON_AddBoolToObject(to, "holds_later", pair->holds_later) &&
           cJSON_AddStringToObject(to, "bytes", pair->bytes);
}

static char *text_of_witness(const struct witness *witness)
{
    char identity[24], *text = NULL;
    cJSON *root = cJSON_CreateObject();
    cJSON *program = root ? cJSON_AddObjectToObject(root, "program") : NULL;
    snprintf(identity, sizeof identity, "%016" PRIx64, witness->identity);
    bool good = program && cJSON_AddStringToObject(root, "format", "millrace-witness") &&
                cJSON_AddNumberToObject(root, "version", VERSION) &&
                cJSON_AddStringToObject(root, "millrace", MR_VERSION) &&
                cJSON_AddStringToObject(root, "kind", witness->kind) &&
                cJSON_AddStringToObject(program, "path", witness->program) &&
                cJSON_AddStringToObject(program, "identity", identity);
    cJSON *pairs = good ? cJSON_AddArrayToObject(root, "pairs") : NULL;
    for (unsigned i = 0; i < witness->pairs && good; i++)
        good = pairs && add_pair(pairs, &witness->pair[i]);
    if (good)
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
    fprintf(stderr, "millrace check: %s: %s and %s [%s]\n", path, witness->pair[0].earlier.title,
            witness->pair[0].later.title, witness->kind);
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
        fprintf(stderr, "millrace check: %u findings have no witness: nothing in them can be held\n", without);
    return good;
}
