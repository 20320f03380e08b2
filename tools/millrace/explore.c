/* SPDX-License-Identifier: Apache-2.0 */
/* millrace check --explore N: runs a program under N schedules and tells which of them end otherwise.
 *
 * Schedule 0 is plain, as `millrace run` has it; then come eager, late and reversed; then random ones, whose seed is
 * their number. What the program prints and its exit status are compared with an eager run, in which each work is done
 * before the program goes on. The eager run is made twice: if its output differs from one time to the other, only
 * statuses are compared.
 *
 * Several processes of this command may each take a share: number R of S takes the schedules R, R + S, R + 2 S, and so
 * on. Shares come from MILLRACE_EXPLORE_SHARE or from what MPI and batch systems set. Each leaves a file, and
 * --explore-join makes one report of them. */
#include <cjson/cJSON.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/settings.h"
#include "explore.h"
#include "observed.h"
#include "outcomes.h"
#include "trial.h"

static const char usage[] =
    "Usage: millrace check --explore N [OPTIONS] [--] PROGRAM [ARGUMENTS]\n"
    "       millrace check --explore-join FOLDER\n"
    "\n"
    "Runs PROGRAM under N schedules, each in a process of its own: plain, eager, late, reversed, then random ones by\n"
    "seeds. Reports the schedules under which its output or its exit status is another one than in an eager run.\n"
    "\n"
    "  --jobs J               programs that run at a time; by default as many as there are processors\n"
    "  --timeout SECONDS      end a run that takes longer, and report it\n"
    "  --depth D              of the random schedules: D - 1 changes of priorities in each; by default 3\n"
    "  --explore-share R/S    this command takes share R (from 0 up) of S; by default what MILLRACE_EXPLORE_SHARE,\n"
    "                         mpirun, srun or an array of a batch system say\n"
    "  --explore-out FOLDER   leave the results in FOLDER/explore-R.json, for --explore-join\n"
    "  --explore-join FOLDER  report what the shares have left in FOLDER\n"
    "  --error-exitcode N     the exit status when schedules differ, 0 to 255; by default 1\n"
    "\n"
    "The exit status is 0 if all schedules end as the eager run does, 125 if there is no full report.\n"
    "\n"
    "Examples:\n"
    "  millrace check --explore 200 -- ./program\n"
    "  mpirun -n 16 millrace check --explore 2000 --explore-out results -- ./program\n"
    "  millrace check --explore-join results\n";

enum { NO_REPORT = 125, MOST_JOBS = 256, FIRST_SEED = 4 };

struct request {
    uint64_t count, share, shares;
    unsigned jobs, depth, timeout;
    int found_status;
    const char *out, *join;
};

/* ---- shares ---- */

static bool number_of(const char *text, uint64_t *out)
{
    char *end;
    if (!text || !*text || *text < '0' || *text > '9')
        return false;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return !*end && errno == 0;
}

static bool share_of(const char *text, struct request *request)
{
    char copy[64];
    snprintf(copy, sizeof copy, "%s", text);
    char *slash = strchr(copy, '/');
    if (!slash)
        return false;
    *slash = 0;
    return number_of(copy, &request->share) && number_of(slash + 1, &request->shares) &&
           request->share < request->shares;
}

/* What starts programs on many machines tells each of them which one it is, from `first` up, of how many. */
static bool find_share(struct request *request)
{
    static const struct {
        const char *number, *count, *first;
    } tellers[] = {
        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", NULL},
        {"PMI_RANK", "PMI_SIZE", NULL},
        {"MPI_LOCALRANKID", "MPI_LOCALNRANKS", NULL},
        {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN"},
        {"SLURM_PROCID", "SLURM_NTASKS", NULL},
        {"FLUX_TASK_RANK", "FLUX_JOB_SIZE", NULL},
    };
    const char *own = mr_setting_text(MR_SETTING_EXPLORE_SHARE);
    if (*own) {
        if (share_of(own, request))
            return true;
        fprintf(stderr, "millrace check: MILLRACE_EXPLORE_SHARE is '%s': it must be R/S, with R from 0 to S - 1\n",
                own);
        return false;
    }
    for (size_t i = 0; i < sizeof tellers / sizeof *tellers; i++) {
        uint64_t number, count, first = 0;
        if (!number_of(getenv(tellers[i].number), &number) || !number_of(getenv(tellers[i].count), &count) ||
            (tellers[i].first && !number_of(getenv(tellers[i].first), &first)) || number < first ||
            number - first >= count)
            continue;
        request->share = number - first;
        request->shares = count;
        return true;
    }
    return true;
}

/* ---- options ---- */

enum { EXPLORE = 256, JOBS, TIMEOUT, DEPTH, SHARE, OUT, JOIN, ERROR_EXITCODE };

static const struct option options[] = {
    {"help", no_argument, NULL, 'h'},
    {"explore", required_argument, NULL, EXPLORE},
    {"jobs", required_argument, NULL, JOBS},
    {"timeout", required_argument, NULL, TIMEOUT},
    {"depth", required_argument, NULL, DEPTH},
    {"explore-share", required_argument, NULL, SHARE},
    {"explore-out", required_argument, NULL, OUT},
    {"explore-join", required_argument, NULL, JOIN},
    {"error-exitcode", required_argument, NULL, ERROR_EXITCODE},
    {0},
};

static int take_option(struct request *request, int option)
{
    uint64_t number = 0;
    bool good = number_of(optarg, &number);
    switch (option) {
    case EXPLORE:
        request->count = number;
        return good && number > 0 && number <= 100000000
                   ? 0
                   : observed_bad_value("check", "--explore", optarg, "how many schedules");
    case JOBS:
        request->jobs = (unsigned)number;
        return good && number > 0 && number <= MOST_JOBS
                   ? 0
                   : observed_bad_value("check", "--jobs", optarg, "a number from 1 to 256");
    case TIMEOUT:
        request->timeout = (unsigned)number;
        return good && number > 0 && number <= 1000000
                   ? 0
                   : observed_bad_value("check", "--timeout", optarg, "a number of seconds");
    case DEPTH:
        request->depth = (unsigned)number;
        return good && number > 0 && number <= 64
                   ? 0
                   : observed_bad_value("check", "--depth", optarg, "a number from 1 to 64");
    case SHARE:
        return share_of(optarg, request)
                   ? 0
                   : observed_bad_value("check", "--explore-share", optarg, "R/S, with R from 0 to S - 1");
    case OUT:
        request->out = optarg;
        return 0;
    case JOIN:
        request->join = optarg;
        return 0;
    default:
        request->found_status = (int)number;
        return good && number <= 255
                   ? 0
                   : observed_bad_value("check", "--error-exitcode", optarg, "a number from 0 to 255");
    }
}

static int take_options(struct request *request, int argc, char **argv, char ***program)
{
    int option, status = 0;
    optind = 1;
    opterr = 0;
    while (status == 0 && (option = getopt_long(argc, argv, "+:h", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            return -1;
        }
        if (option == ':') {
            fprintf(stderr, "millrace check: %s needs a value; see 'millrace check --explore --help'\n",
                    argv[optind - 1]);
            return 2;
        }
        if (option == '?') {
            fprintf(stderr, "millrace check: '%s' does not go with --explore\n", argv[optind - 1]);
            fputs(usage, stderr);
            return 2;
        }
        status = take_option(request, option);
    }
    *program = argv + optind;
    if (status == 0 && !**program && !request->join) {
        fputs("millrace check: name the program to run, as in 'millrace check --explore 100 -- ./program'\n", stderr);
        return 2;
    }
    return status;
}

/* ---- running ---- */

/* The schedule of a number. `length`: about how many decisions a run has. */
static void name_schedule(uint64_t number, unsigned depth, uint64_t length, char *out, size_t size)
{
    static const char *const first[FIRST_SEED] = {"", "eager", "late", "reversed"};
    if (number < FIRST_SEED)
        snprintf(out, size, "%s", first[number]);
    else
        snprintf(out, size, "random:seed=%" PRIu64 ":depth=%u:length=%" PRIu64, number, depth, length);
}

/* The first line of an output that differs from another's; "" if there is none. What is not printable is a '?'. */
static void first_difference(const struct trial *trial, const struct trial *eager, char *out, size_t size)
{
    char one[4096] = "", other[4096] = "";
    FILE *file = trial_output(trial), *with = trial_output(eager);
    char *had = (char *)1;
    *out = 0;
    while (file && with && had && strcmp(one, other) == 0) {
        had = fgets(one, sizeof one, file);
        if (!fgets(other, sizeof other, with))
            *other = 0;
        if (!had)
            *one = 0;
    }
    if (file && with && strcmp(one, other) != 0)
        snprintf(out, size, "%.*s", (int)strcspn(one, "\r\n"), *one ? one : "(its output ends there)");
    for (char *at = out; *at; at++)
        if ((unsigned char)*at < ' ' || (unsigned char)*at > 126)
            *at = '?';
    if (file)
        fclose(file);
    if (with)
        fclose(with);
}

static void note_outcome(struct outcome *outcome, const struct trial *trial, const struct trial *eager)
{
    snprintf(outcome->schedule, sizeof outcome->schedule, "%.90s", trial->schedule);
    outcome->status = trial->status;
    outcome->out_of_time = trial->out_of_time;
    outcome->sum = trial_output_sum(trial);
    if (eager && trial_output_sum(eager) != outcome->sum)
        first_difference(trial, eager, outcome->line, sizeof outcome->line);
}

static uint64_t deadline(const struct request *request)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return request->timeout ? ((uint64_t)time.tv_sec + request->timeout) * 1000000000u + (uint64_t)time.tv_nsec : 0;
}

static void add_decisions(const cJSON *root, void *data)
{
    const cJSON *decisions = cJSON_GetObjectItemCaseSensitive(root, "decisions");
    if (cJSON_IsNumber(decisions) && decisions->valuedouble > *(double *)data)
        *(double *)data = decisions->valuedouble;
}

/* Two eager runs, to compare with; *length is about how many decisions a run has. False: no trial could be made. */
static bool run_first(struct exploration *all, const struct request *request, char **program, const char *folder,
                      struct trial *eager, uint64_t *length)
{
    struct trial again = {.schedule = "eager"};
    double decisions = 0;
    eager->deadline = deadline(request);
    if (!trial_run(eager, "check", program, folder, "eager") ||
        !trial_results(eager, "check", add_decisions, &decisions))
        return false;
    note_outcome(&all->eager, eager, NULL);
    if (eager->status == 127 || eager->status == 126) {
        fprintf(stderr, "millrace check: cannot start '%s'\n", program[0]);
        return false;
    }
    again.deadline = deadline(request);
    if (!trial_run(&again, "check", program, folder, "again"))
        return false;
    if (again.status != eager->status)
        fprintf(stderr, "millrace check: two eager runs ended with %d and %d: the program differs by itself\n",
                eager->status, again.status);
    all->output_varies = trial_output_sum(&again) != all->eager.sum;
    *length = decisions > 0 ? (uint64_t)decisions * 2 : 100;
    observed_remove_folder(again.folder);
    return true;
}

static bool run_share(struct exploration *all, const struct request *request, char **program, const char *folder)
{
    struct trial eager = {.schedule = "eager"}, *trials = calloc(request->jobs, sizeof *trials), *ended;
    uint64_t length = 0, next = request->share;
    bool good = trials && run_first(all, request, program, folder, &eager, &length);
    if (!trials)
        fputs("millrace check: memory is short\n", stderr);
    while (good) {
        for (unsigned i = 0; i < request->jobs && next < request->count && good; i++) {
            char name[32];
            if (trials[i].process)
                continue;
            snprintf(name, sizeof name, "%" PRIu64, next);
            name_schedule(next, request->depth, length, trials[i].schedule, sizeof trials[i].schedule);
            trials[i].deadline = deadline(request);
            good = trial_start(&trials[i], "check", program, folder, name);
            next += request->shares;
        }
        if (!(ended = trial_wait(trials, request->jobs)))
            break;
        struct outcome *outcome = outcomes_add(all);
        if (outcome)
            note_outcome(outcome, ended, &eager);
        good = good && outcome;
        observed_remove_folder(ended->folder);
    }
    while (trials && trial_wait(trials, request->jobs))
        continue;
    free(trials);
    return good;
}

/* ---- the command ---- */

static unsigned processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

static char *join_words(char **words)
{
    size_t size = 1;
    for (char **word = words; *word; word++)
        size += strlen(*word) + 1;
    char *text = calloc(1, size);
    for (char **word = words; *word && text; word++)
        snprintf(text + strlen(text), size - strlen(text), "%s%s", word == words ? "" : " ", *word);
    return text;
}

static bool explore(struct exploration *all, const struct request *request, char **program)
{
    char folder[PATH_MAX];
    if (!tool_environment("check") || !observed_make_folder("check", folder))
        return false;
    all->total = request->count;
    all->program = join_words(program);
    bool good = run_share(all, request, program, folder);
    observed_remove_folder(folder);
    return good && (!request->out || outcomes_leave(all, request->out, request->share, request->shares));
}

int tool_explore(int argc, char **argv)
{
    struct request request = {.shares = 1, .jobs = processors(), .depth = 3, .found_status = 1};
    struct exploration all = {0};
    char **program = NULL;
    if (argc > 1 && strcmp(argv[0], "--explore") == 0 && strcmp(argv[1], "--help") == 0) {
        fputs(usage, stdout);
        return 0;
    }
    if (!find_share(&request))
        return 2;
    int status = take_options(&request, argc + 1, argv - 1, &program);
    if (status != 0)
        return status < 0 ? 0 : status;
    if (request.jobs > MOST_JOBS)
        request.jobs = MOST_JOBS;
    bool good = request.join ? outcomes_join(&all, request.join) : explore(&all, &request, program);
    if (good || request.join)
        status = outcomes_tell(&all) > 0 ? request.found_status : 0;
    outcomes_free(&all);
    return good ? status : NO_REPORT;
}

bool tool_explores(int argc, char **argv)
{
    return argc > 0 && strncmp(argv[0], "--explore", 9) == 0;
}
