/* SPDX-License-Identifier: Apache-2.0 */
/* millrace trace: runs a program as `millrace run` does, with an observer that writes down what happened when, and
 * makes a timeline of it. */
#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "observed.h"
#include "trace/make.h"

static const char usage[] =
    "Usage: millrace trace [OPTIONS] -o FILE [--] PROGRAM [ARGUMENTS]\n"
    "       millrace trace [OPTIONS] -o FILE --results FOLDER\n"
    "\n"
    "Runs PROGRAM as 'millrace run' does and writes a timeline of its calls, streams and workers to FILE: a page\n"
    "for a browser if its name ends with .html, else Chrome's trace format, which Perfetto (ui.perfetto.dev) opens.\n"
    "\n"
    "  -o, --output FILE   the timeline\n"
    "  --limit MIB         the most that one process may leave, in mebibytes; 1024 by default. What comes after that\n"
    "                      is missing in the timeline\n"
    "  --gpu               run PROGRAM on this machine's GPU, with its own driver and libraries; times of works are those\n"
    "                      of events that are recorded around them\n"
    "  --no-sites          don't note where in the program calls come from: that takes less time\n"
    "  --results FOLDER    leave what the processes noted in FOLDER; without PROGRAM: make the timeline of what is there\n"
    "\n"
    "The exit status is the program's (128 and the signal's number if a signal ended it). 125: there is no timeline, or\n"
    "it is not whole; 127: the program was not found; 126: it could not be started.\n"
    "\n"
    "Example: millrace trace -o run.html -- ./program\n";

enum { NO_TIMELINE = OBSERVED_FAILED, LIMIT = 256, NO_SITES, RESULTS, GPU };

struct request {
    const char *output, *results;
    unsigned long long limit; /* mebibytes */
    bool no_sites, gpu;
    char folder[PATH_MAX]; /* where processes leave their files: made here unless the user named one */
};

/* Reads the options; *program is then what is left. 0, or the exit status, with a message printed; -1: help. */
static int take_options(struct request *request, int argc, char **argv, char ***program)
{
    static const struct option options[] = {{"help", no_argument, NULL, 'h'},
                                            {"output", required_argument, NULL, 'o'},
                                            {"limit", required_argument, NULL, LIMIT},
                                            {"no-sites", no_argument, NULL, NO_SITES},
                                            {"results", required_argument, NULL, RESULTS},
                                            {"gpu", no_argument, NULL, GPU},
                                            {0}};
    int option;
    char *end;
    optind = 1;
    opterr = 0;
    while ((option = getopt_long(argc, argv, "+:ho:", options, NULL)) != -1) {
        switch (option) {
        case 'h':
            fputs(usage, stdout);
            return -1;
        case 'o':
            request->output = optarg;
            break;
        case RESULTS:
            request->results = optarg;
            break;
        case GPU:
            request->gpu = true;
            break;
        case NO_SITES:
            request->no_sites = true;
            break;
        case LIMIT:
            request->limit = strtoull(optarg, &end, 10);
            if (*optarg >= '0' && *optarg <= '9' && !*end && request->limit >= 1 && request->limit <= 1 << 20)
                break;
            return observed_bad_value("trace", "--limit", optarg, "a number from 1 to 1048576");
        case ':':
            return observed_no_value("trace", argv[optind - 1]);
        default:
            return tool_bad_argument("trace", argv[optind - 1]);
        }
    }
    *program = argv + optind;
    if (request->output && (**program || request->results))
        return 0;
    fprintf(stderr, "millrace trace: name %s, as in 'millrace trace -o run.json -- ./program'\n",
            request->output ? "the program to run" : "a file for the timeline");
    return 2;
}

/* Adds to the program's environment what `millrace run` does not set. */
static bool set_environment(const struct request *request)
{
    struct tool_paths paths;
    char tools[64];
    snprintf(tools, sizeof tools, "trace:mib=%llu%s", request->limit, request->no_sites ? ":sites=0" : "");
    return tool_find_paths(&paths) &&
           (request->gpu ? observed_environment_gpu : observed_environment)("trace", &paths, tools, request->folder);
}

/* What another run has left. False, with a message. */
static bool find_results(struct request *request)
{
    assert(request->results); /* take_options asks for it or a program */
    return realpath(request->results, request->folder) ||
           observed_cannot("trace", "cannot read the folder", request->results);
}

static int trace(struct request *request, char **program)
{
    assert(program);
    bool good = true;
    int status = *program ? NO_TIMELINE : 0;
    assert(request->output);
    /* Before the program runs, so that a bad name is told at once. */
    bool is_file = strcmp(request->output, "-") != 0;
    FILE *out = is_file ? fopen(request->output, "we") : stdout;
    if (!out)
        return observed_cannot("trace", "cannot write", request->output), NO_TIMELINE;
    if (!*program)
        good = find_results(request) && timeline_make("trace", request->folder, request->output, out, NULL);
    else if (observed_results_folder("trace", request->results, ".trace", request->folder)) {
        if (set_environment(request) && observed_run("trace", program, &status))
            good = timeline_make("trace", request->folder, request->output, out, NULL);
        if (!request->results)
            observed_remove_folder(request->folder);
    }
    if (is_file && fclose(out) != 0 && good)
        good = observed_cannot("trace", "cannot write", request->output);
    return good ? status : NO_TIMELINE;
}

int tool_trace(int argc, char **argv)
{
    struct request request = {.limit = 1024};
    char **program = NULL;
    int status = take_options(&request, argc + 1, argv - 1, &program);
    if (status == 0)
        status = trace(&request, program);
    return status < 0 ? 0 : status;
}
