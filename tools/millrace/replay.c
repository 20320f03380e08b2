/* SPDX-License-Identifier: Apache-2.0 */
/* millrace replay: runs a program twice, once with the two operations of a witness in the program's own order and once
 * forced into the other one, and shows what differs: the bytes that both touch, the output, the exit status.
 *
 * Which bytes are compared: if one of the operations only reads, what it finds when it begins; else what is there when
 * both have ended. A witness may have several pairs of operations: they are tried until one makes the program end
 * otherwise, and that one is shown; else one whose bytes differ; else the first. */
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
    "Runs PROGRAM twice: with all operations in the program's own order, and with the two of the witness in the other\n"
    "one. Shows the bytes, the output and the exit status that differ. 'millrace check --witnesses FOLDER' makes\n"
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

/* Runs in the order that `mode` says, "eager" or "plain"; `point` as above. */
static bool run_half(struct half *half, const struct witness *witness, const struct witness_pair *pair,
                     const char *mode, const char *point, char **program, const char *folder, const char *name)
{
    struct reading reading = {half, point};
    snprintf(half->trial.schedule, sizeof half->trial.schedule, "%s:hold=%s:until=%s:program=%016" PRIx64 "%s%s%s",
             mode, pair->hold, pair->until, witness->identity, strcmp(mode, "eager") == 0 ? ":patience=500" : "",
             *pair->bytes ? ":bytes=" : "", pair->bytes);
    return trial_run(&half->trial, "replay", program, folder, name) &&
           trial_results(&half->trial, "replay", take, &reading);
}

/* Both runs of a pair. */
struct both {
    struct half plain, forced;
    char what[300]; /* which bytes are compared, in words */
};

static bool run_both(struct both *both, const struct witness *witness, const struct witness_pair *pair, char **program,
                     const char *folder, unsigned number)
{
    const struct witness_side *held = pair->holds_later ? &pair->later : &pair->earlier;
    const struct witness_side *awaited = pair->holds_later ? &pair->earlier : &pair->later;
    bool rest = strcmp(pair->until, "rest") == 0;
    bool held_reads = !held->writes && (awaited->writes || rest);
    bool awaited_reads = !awaited->writes && held->writes && !rest;
    /* In the program's own order the later one ends last. */
    const char *last = rest || pair->holds_later ? "hold_ends" : "until_ends";
    const char *in_plain = held_reads ? "hold_begins" : awaited_reads ? "until_begins" : last;
    const char *in_forced = held_reads ? "hold_begins" : awaited_reads ? "until_begins" : "hold_ends";
    char plain[32], forced[32];
    if (held_reads || awaited_reads)
        snprintf(both->what, sizeof both->what, "What is there when %s begins",
                 held_reads ? held->title : awaited->title);
    else
        snprintf(both->what, sizeof both->what, "What is there when both have ended");
    snprintf(plain, sizeof plain, "plain-%u", number);
    snprintf(forced, sizeof forced, "forced-%u", number);
    return run_half(&both->plain, witness, pair, "eager", in_plain, program, folder, plain) &&
           run_half(&both->forced, witness, pair, "plain", in_forced, program, folder, forced);
}

/* How much the two runs differ. */
enum outcome { CAME_NOT, SAME, OTHER_BYTES, OTHER_END };

static enum outcome outcome_of(const struct both *both)
{
    const struct half *plain = &both->plain, *forced = &both->forced;
    size_t size = plain->size < forced->size ? plain->size : forced->size;
    if (!plain->told || !forced->told || !forced->hold_began || !forced->until_began)
        return CAME_NOT;
    if (forced->let_go)
        return SAME;
    if (plain->trial.status != forced->trial.status ||
        trial_output_sum(&plain->trial) != trial_output_sum(&forced->trial))
        return OTHER_END;
    return size && memcmp(plain->bytes, forced->bytes, size) != 0 ? OTHER_BYTES : SAME;
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

static void tell_not_come(const char *path, const struct witness *witness, const struct witness_pair *pair,
                          const struct half *forced)
{
    bool earlier = forced->hold_began == pair->holds_later; /* which one did not come */
    if (forced->other_program)
        fprintf(stderr,
                "millrace replay: %s is of the program %s, and this is another one, or was built again since: let "
                "'millrace check --witnesses' make it again\n",
                path, witness->program);
    else
        fprintf(stderr,
                "millrace replay: the program did not come to %s: it takes another way than it did when %s was "
                "made. Has it the same arguments?\n",
                earlier ? pair->earlier.title : pair->later.title, path);
}

/* The exit status. */
static int tell(const char *path, const struct witness *witness, const struct witness_pair *pair,
                const struct both *both)
{
    const struct half *plain = &both->plain, *forced = &both->forced;
    if (plain->trial.status == 127 || plain->trial.status == 126) {
        tell_output(plain, "The program could not be started");
        return NOT_REPLAYED;
    }
    if (!plain->told || !forced->told)
        return not_replayed(path, "was not replayed: no process has used CUDA through Millrace");
    if (!forced->hold_began || !forced->until_began) {
        tell_not_come(path, witness, pair, forced);
        return NOT_REPLAYED;
    }
    printf("Earlier: %s\nLater:   %s\n", pair->earlier.title, pair->later.title);
    tell_output(plain, "In the program's order");
    tell_output(forced, strcmp(pair->until, "rest") != 0 ? "Forced, the later one first"
                        : pair->holds_later              ? "Forced, the later one as late as can be"
                                                         : "Forced, the earlier one as late as can be");
    if (forced->let_go) {
        puts(
            "The order could not be forced: the later operation, or the thread that asks for it, waits for the earlier "
            "one.");
        return 0;
    }
    bool differ = tell_bytes(plain, forced, both->what);
    if (outcome_of(both) == OTHER_END) {
        puts("The program ends otherwise when the order is forced.");
        differ = true;
    }
    if (!differ)
        puts("Both orders have the same outcome in this run.");
    return differ;
}

static int replay(const char *path, const struct witness *witness, char **program)
{
    struct both both[WITNESS_PAIRS] = {0};
    char folder[PATH_MAX];
    unsigned best = 0, run = 0;
    if (!observed_make_folder("replay", folder))
        return NOT_REPLAYED;
    bool good = true;
    for (; run < witness->pairs && good; run++) {
        good = run_both(&both[run], witness, &witness->pair[run], program, folder, run);
        if (!good)
            continue;
        if (outcome_of(&both[run]) > outcome_of(&both[best]))
            best = run;
        if (outcome_of(&both[run]) == OTHER_END || !both[run].plain.told)
            break;
    }
    int status = good ? tell(path, witness, &witness->pair[best], &both[best]) : NOT_REPLAYED;
    for (unsigned i = 0; i < WITNESS_PAIRS; i++) {
        free(both[i].plain.bytes);
        free(both[i].forced.bytes);
    }
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
