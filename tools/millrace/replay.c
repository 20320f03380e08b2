/* SPDX-License-Identifier: Apache-2.0 */
/* millrace replay: runs a program twice, once with the two operations of a witness in the program's own order and once
 * with the later one first, and shows what differs: the bytes that both touch, the output, the exit status.
 *
 * Which bytes are compared: if one of the operations only reads, what it finds when it begins; else what is there when
 * both have ended. */
#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libs/observer/identity.h"
#include "observed.h"
#include "trial.h"
#include "witness.h"

static const char usage[] =
    "Usage: millrace replay WITNESS [--] PROGRAM [ARGUMENTS]\n"
    "\n"
    "Runs PROGRAM twice: with the two operations of the witness in the program's own order, and forced, the later one\n"
    "first. Shows the bytes, the output and the exit status that differ. 'millrace check --witnesses FOLDER' makes\n"
    "witnesses. Give the program the arguments that it had then.\n"
    "\n"
    "The exit status is 1 if the runs differ, 0 if they don't, and 125 if the witness could not be replayed.\n"
    "\n"
    "Example: millrace replay race-1.json -- ./program\n";

enum { NOT_REPLAYED = 125, SHOWN = 16 };

/* What one of the two runs left. */
struct half {
    struct trial trial;
    bool told, other_program, let_go;
    bool hold_began, until_began;
    uint8_t *bytes; /* that are compared */
    size_t size;
};

static bool truth(const cJSON *root, const char *key)
{
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(root, key));
}

static int digit(char letter)
{
    return letter >= '0' && letter <= '9' ? letter - '0' : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

static void take_bytes(struct half *half, const char *text)
{
    size_t size = strlen(text) / 2;
    half->bytes = malloc(size + 1);
    for (size_t i = 0; half->bytes && i < size; i++) {
        int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return;
        half->bytes[i] = (uint8_t)(high << 4 | low);
        half->size = i + 1;
    }
}

struct reading {
    struct half *half;
    const char *point; /* "hold_begins": which bytes */
};

/* One process's. The one in which the operations began counts. */
static void take(const cJSON *root, void *data)
{
    struct reading *reading = data;
    struct half *half = reading->half;
    const cJSON *bytes = cJSON_GetObjectItemCaseSensitive(root, reading->point);
    half->told = true;
    half->other_program |= truth(root, "other_program");
    if (!truth(root, "hold_began") && !truth(root, "until_began"))
        return;
    half->hold_began |= truth(root, "hold_began");
    half->until_began |= truth(root, "until_began");
    half->let_go |= truth(root, "let_go");
    if (cJSON_IsString(bytes) && !half->bytes)
        take_bytes(half, bytes->valuestring);
}

/* Runs with `first` held until `second` is done; `point` as above. */
static bool run_half(struct half *half, const struct witness *witness, const struct witness_side *held,
                     const struct witness_side *awaited, const char *point, char **program, const char *folder,
                     const char *name)
{
    struct reading reading = {half, point};
    snprintf(half->trial.schedule, sizeof half->trial.schedule, "plain:hold=%s:until=%s:program=%016" PRIx64 "%s%s",
             held->name, awaited->name, witness->identity, *witness->bytes ? ":bytes=" : "", witness->bytes);
    return trial_run(&half->trial, "replay", program, folder, name) &&
           trial_results(&half->trial, "replay", take, &reading);
}

/* ---- telling ---- */

static void tell_output(const struct half *half, const char *title)
{
    char line[512];
    FILE *file = trial_output(&half->trial);
    printf("%s: exit status %d\n", title, half->trial.status);
    for (int i = 0; file && i < SHOWN && fgets(line, sizeof line, file); i++)
        printf("    %.*s\n", (int)strcspn(line, "\r\n"), line);
    if (file && fgets(line, sizeof line, file))
        puts("    ...");
    if (file)
        fclose(file);
}

static void tell_row(const char *title, const struct half *half, size_t from)
{
    printf("    %-24s", title);
    for (size_t i = from; i < half->size && i < from + 16; i++)
        printf(" %02x", half->bytes[i]);
    puts("");
}

static uint32_t element(const struct half *half, size_t at)
{
    uint32_t value = 0;
    memcpy(&value, half->bytes + at, sizeof value);
    return value;
}

/* True if they differ. */
static bool tell_bytes(const struct half *plain, const struct half *forced, const char *what)
{
    size_t size = plain->size < forced->size ? plain->size : forced->size, first = 0, count = 0;
    if (size == 0) {
        puts("The bytes are not known: their memory was made in a way that is not followed, or is gone.");
        return false;
    }
    for (size_t i = size; i-- > 0;)
        if (plain->bytes[i] != forced->bytes[i]) {
            first = i;
            count++;
        }
    if (count == 0) {
        printf("%s: the same %zu bytes in both orders.\n", what, size);
        return false;
    }
    printf("%s: %zu of %zu bytes differ, the first one at offset %zu.\n", what, count, size, first);
    if (first / 4 * 4 + 4 <= size)
        printf("    As numbers of four bytes: element %zu is %" PRIu32 " in the program's order, %" PRIu32 " forced.\n",
               first / 4, element(plain, first / 4 * 4), element(forced, first / 4 * 4));
    tell_row("in the program's order:", plain, first / 16 * 16);
    tell_row("forced:", forced, first / 16 * 16);
    return true;
}

static int not_replayed(const char *path, const char *why)
{
    fprintf(stderr, "millrace replay: %s %s\n", path, why);
    return NOT_REPLAYED;
}

/* The exit status. */
static int compare(const char *path, const struct witness *witness, const struct half *plain, const struct half *forced,
                   const char *what)
{
    if (!plain->told || !forced->told)
        return not_replayed(path, "was not replayed: no process has used CUDA through Millrace");
    if (!forced->hold_began || !forced->until_began) {
        if (forced->other_program)
            fprintf(stderr,
                    "millrace replay: %s is of the program %s, and this is another one, or was built again since: let "
                    "'millrace check --witnesses' make it again\n",
                    path, witness->program);
        else
            fprintf(stderr,
                    "millrace replay: the program did not come to %s: it takes another way than it did when %s was "
                    "made. Has it the same arguments?\n",
                    forced->until_began ? witness->earlier.title : witness->later.title, path);
        return NOT_REPLAYED;
    }
    tell_output(plain, "In the program's order");
    tell_output(forced, "Forced, the later one first");
    if (forced->let_go) {
        puts(
            "The order could not be forced: the later operation, or the thread that asks for it, waits for the earlier "
            "one.");
        return 0;
    }
    bool differ = tell_bytes(plain, forced, what);
    if (plain->trial.status != forced->trial.status ||
        trial_output_sum(&plain->trial) != trial_output_sum(&forced->trial)) {
        puts("The program ends otherwise when the order is forced.");
        differ = true;
    }
    if (!differ)
        puts("Both orders have the same outcome in this run.");
    return differ;
}

static int replay(const char *path, const struct witness *witness, char **program)
{
    struct half plain = {0}, forced = {0};
    char folder[PATH_MAX], what[300];
    const struct witness_side *earlier = &witness->earlier, *later = &witness->later;
    /* The point of the one that reads; it is the held one in one run and the awaited one in the other. */
    bool earlier_reads = !earlier->writes && later->writes, later_reads = !later->writes && earlier->writes;
    const char *in_plain = earlier_reads ? "until_begins" : later_reads ? "hold_begins" : "hold_ends";
    const char *in_forced = earlier_reads ? "hold_begins" : later_reads ? "until_begins" : "hold_ends";
    if (earlier_reads || later_reads)
        snprintf(what, sizeof what, "What is there when %s begins", earlier_reads ? earlier->title : later->title);
    else
        snprintf(what, sizeof what, "What is there when both have ended");
    printf("Earlier: %s\nLater:   %s\n", earlier->title, later->title);
    fflush(stdout);
    if (!observed_make_folder("replay", folder))
        return NOT_REPLAYED;
    int status = NOT_REPLAYED;
    if (run_half(&plain, witness, later, earlier, in_plain, program, folder, "plain") &&
        run_half(&forced, witness, earlier, later, in_forced, program, folder, "forced")) {
        if (plain.trial.status == 127 || plain.trial.status == 126)
            tell_output(&plain, "The program could not be started");
        else
            status = compare(path, witness, &plain, &forced, what);
    }
    free(plain.bytes);
    free(forced.bytes);
    observed_remove_folder(folder);
    return status;
}

/* The same file, with other contents? Told before anything runs. */
static bool is_built_again(const struct witness *witness, const char *program)
{
    char path[PATH_MAX];
    return strchr(program, '/') && realpath(program, path) && strcmp(path, witness->program) == 0 &&
           obs_identity(path) != witness->identity;
}

int tool_replay(int argc, char **argv)
{
    struct witness witness;
    if (argc > 0 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0)) {
        fputs(usage, stdout);
        return 0;
    }
    if (argc > 0 && argv[0][0] == '-')
        return tool_bad_argument("replay", argv[0]);
    int program = argc > 1 && strcmp(argv[1], "--") == 0 ? 2 : 1;
    if (argc <= program) {
        fputs("millrace replay: name a witness and the program, as in 'millrace replay race-1.json -- ./program'\n",
              stderr);
        return 2;
    }
    if (!witness_read(argv[0], &witness) || !tool_environment("replay"))
        return NOT_REPLAYED;
    if (is_built_again(&witness, argv[program]))
        return not_replayed(argv[0], "is of the program as it was before it was built again: let 'millrace check "
                                     "--witnesses' make it again");
    return replay(argv[0], &witness, argv + program);
}
