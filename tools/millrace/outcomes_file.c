/* SPDX-License-Identifier: Apache-2.0 */
/* Outcomes in files: one share's, and all that are in a folder. */
#include "outcomes.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "trial.h"

static bool add_outcome(cJSON *to, const struct outcome *outcome)
{
    char sum[32];
    snprintf(sum, sizeof sum, "%016" PRIx64, outcome->sum);
    return cJSON_AddStringToObject(to, "schedule", outcome->schedule) &&
           cJSON_AddNumberToObject(to, "status", outcome->status) &&
           cJSON_AddBoolToObject(to, "out_of_time", outcome->out_of_time) &&
           cJSON_AddStringToObject(to, "output", sum) && cJSON_AddStringToObject(to, "line", outcome->line);
}

static cJSON *describe(const struct exploration *all, uint64_t share, uint64_t shares)
{
    cJSON *root = cJSON_CreateObject(), *eager = root ? cJSON_AddObjectToObject(root, "eager") : NULL;
    cJSON *list = eager ? cJSON_AddArrayToObject(root, "schedules") : NULL;
    bool good = list && add_outcome(eager, &all->eager) &&
                cJSON_AddStringToObject(root, "format", "millrace-exploration") &&
                cJSON_AddNumberToObject(root, "version", 1) &&
                cJSON_AddStringToObject(root, "program", all->program ? all->program : "") &&
                cJSON_AddNumberToObject(root, "share", (double)share) &&
                cJSON_AddNumberToObject(root, "shares", (double)shares) &&
                cJSON_AddNumberToObject(root, "total", (double)all->total) &&
                cJSON_AddBoolToObject(root, "output_varies", all->output_varies);
    for (size_t i = 0; i < all->count && good; i++) {
        cJSON *item = cJSON_CreateObject();
        good = item && add_outcome(item, &all->outcomes[i]) && cJSON_AddItemToArray(list, item);
    }
    if (good)
        return root;
    cJSON_Delete(root);
    return NULL;
}

bool outcomes_leave(const struct exploration *all, const char *folder, uint64_t share, uint64_t shares)
{
    char path[PATH_MAX], part[PATH_MAX + 8];
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "millrace check: cannot make the folder %s: %s\n", folder, strerror(errno));
        return false;
    }
    snprintf(path, sizeof path, "%.4000s/explore-%" PRIu64 ".json", folder, share);
    snprintf(part, sizeof part, "%s.part", path);
    cJSON *root = describe(all, share, shares);
    char *text = root ? cJSON_PrintUnformatted(root) : NULL;
    FILE *file = text ? fopen(part, "we") : NULL;
    bool good = file && fputs(text, file) >= 0;
    if (file)
        good = fclose(file) == 0 && good;
    good = good && rename(part, path) == 0;
    if (!good)
        fprintf(stderr, "millrace check: cannot write %s: %s\n", path, text ? strerror(errno) : "memory is short");
    cJSON_free(text);
    cJSON_Delete(root);
    return good;
}

static bool read_outcome(const cJSON *from, struct outcome *out)
{
    const cJSON *schedule = cJSON_GetObjectItemCaseSensitive(from, "schedule"),
                *status = cJSON_GetObjectItemCaseSensitive(from, "status"),
                *output = cJSON_GetObjectItemCaseSensitive(from, "output"),
                *line = cJSON_GetObjectItemCaseSensitive(from, "line");
    if (!cJSON_IsString(schedule) || !cJSON_IsNumber(status) || !cJSON_IsString(output) || !cJSON_IsString(line))
        return false;
    snprintf(out->schedule, sizeof out->schedule, "%s", schedule->valuestring);
    snprintf(out->line, sizeof out->line, "%s", line->valuestring);
    out->status = status->valueint;
    out->sum = strtoull(output->valuestring, NULL, 16);
    out->out_of_time = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(from, "out_of_time"));
    return true;
}

/* Adds one share's file. */
static bool join_one(struct exploration *all, const cJSON *root, const char *path)
{
    const cJSON *format = cJSON_GetObjectItemCaseSensitive(root, "format"), *item,
                *total = cJSON_GetObjectItemCaseSensitive(root, "total"),
                *program = cJSON_GetObjectItemCaseSensitive(root, "program");
    struct outcome eager = {0};
    if (!cJSON_IsString(format) || strcmp(format->valuestring, "millrace-exploration") != 0 || !cJSON_IsNumber(total) ||
        !cJSON_IsString(program) || !read_outcome(cJSON_GetObjectItemCaseSensitive(root, "eager"), &eager)) {
        fprintf(stderr, "millrace check: %s holds no results of --explore\n", path);
        return false;
    }
    bool first = !all->program;
    if (first) {
        all->eager = eager;
        all->total = (uint64_t)total->valuedouble;
        all->program = strdup(program->valuestring);
    } else if ((uint64_t)total->valuedouble != all->total || strcmp(all->program, program->valuestring) != 0) {
        fprintf(stderr, "millrace check: %s is of another exploration than the files before it\n", path);
        return false;
    }
    all->output_varies |=
        cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(root, "output_varies")) || eager.sum != all->eager.sum;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(root, "schedules"))
    {
        struct outcome *outcome = outcomes_add(all);
        if (!outcome || !read_outcome(item, outcome))
            return false;
    }
    return all->program;
}

static int is_share(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return strncmp(entry->d_name, "explore-", 8) == 0 && length > 13 &&
           strcmp(entry->d_name + length - 5, ".json") == 0;
}

bool outcomes_join(struct exploration *all, const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_share, versionsort);
    bool good = count > 0;
    if (count < 0)
        fprintf(stderr, "millrace check: cannot read the folder %s: %s\n", folder, strerror(errno));
    if (count == 0)
        fprintf(stderr, "millrace check: there are no results of --explore in %s\n", folder);
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX + 300];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        cJSON *root = trial_read_json("check", path, "file of results");
        good = root && join_one(all, root, path) && good;
        cJSON_Delete(root);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    if (good && all->count < all->total) {
        fprintf(stderr,
                "millrace check: of %" PRIu64 " schedules %zu are there: shares have not ended, or have failed\n",
                all->total, all->count);
        good = false;
    }
    return good;
}
