/* SPDX-License-Identifier: Apache-2.0 */
/* millrace check: runs a program as `millrace run` does, with an observer, and reports what was found in it.
 *
 * Each process of the program leaves its results in a folder that the command makes (MILLRACE_OBSERVE_OUT). When the
 * program has ended, the command reads them all, names the places in them, and writes the report. */
#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "explore.h"
#include "mpi.h"
#include "observed.h"
#include "report/read.h"
#include "report/suppress.h"
#include "report/write.h"
#include "trace/make.h"
#include "witness.h"

static const char usage[] =
    "Usage: millrace check [OPTIONS] [--] PROGRAM [ARGUMENTS]\n"
    "       millrace check [OPTIONS] --results FOLDER\n"
    "\n"
    "Runs PROGRAM as 'millrace run' does and reports work that nothing orders: two operations on the same bytes, at\n"
    "least one of which writes, of which neither waits for the other; memory that is used after it was freed, or freed\n"
    "before its last use. With the tool mem: kernels, copies and fills that touch what is no memory for them. With the\n"
    "tool init: device memory that is copied out, or read by kernels, before anything has written it.\n"
    "\n"
    "  --format FORM          text (the default), json, sarif or html\n"
    "  -o, --output FILE      write the report to FILE; else text goes to standard error, the other forms to standard\n"
    "                         output, when the program has ended\n"
    "  --suppress FILE        leave out what the rules in FILE name; may be given several times\n"
    "  --print-suppressions   after each finding, print a rule that leaves it out\n"
    "  --error-exitcode N     the exit status when something was found, 0 to 255; by default 1\n"
    "  --tool NAMES           race (the default), mem, init, or several of them with commas between\n"
    "  --leak-check           with mem: report also memory that nobody has freed when the program ends\n"
    "  --host-threads HOW     calls (the default): a call that returned before another one began is the earlier one;\n"
    "                         strict: threads are in order only by what the program does (locks, joins, semaphores)\n"
    "  --luck                 report also what hardware orders though no manual says so\n"
    "  --results FOLDER       leave what the processes found in FOLDER; without PROGRAM: report what is there\n"
    "  --host-touch           see also what the host's code touches in pinned and managed memory: the first touch of\n"
    "                         each page since work was last queued; work is done while the host waits\n"
    "  --trace FILE           write also a timeline of the run with the findings in it, as 'millrace trace' does\n"
    "  --witnesses FOLDER     make FOLDER/race-1.json, ... from which 'millrace replay' shows what each race does\n"
    "  --gpu                  run PROGRAM on this machine's GPU, with its own driver and libraries, and look at what its calls\n"
    "                         tell: copies and fills exactly; of kernels the pointers among their parameters, as notes\n"
    "  --explore N            instead, run PROGRAM under N orders of its work; 'millrace check --explore --help'\n"
    "  -v, --verbose          name processes, modules, and rules that leave nothing out\n"
    "\n"
    "The exit status is the program's if that is not 0 (128 and the signal's number if a signal ended it), else 0, or\n"
    "that for findings. 125: there is no full report; 127: the program was not found; 126: it could not be started.\n"
    "\n"
    "Example: millrace check -- ./program\n";

enum { NO_REPORT = OBSERVED_FAILED };

enum form { TEXT, JSON, SARIF, HTML, FORMS };
static const char *const forms[FORMS] = {"text", "json", "sarif", "html"};

enum tool { RACE, MEM, INIT, TOOLS };
static const char *const tools[TOOLS] = {"race", "mem", "init"};

struct request {
    enum form form;
    const char *output, *results, *witnesses, *trace;
    struct suppressions suppressions;
    struct report_style style;
    int found_status;
    bool luck, leaks, threads, host, gpu, tools[TOOLS];
    char folder[PATH_MAX]; /* of the results; made here unless the user named one */
    FILE *out, *trace_out;
};

enum {
    SUPPRESS = 256,
    PRINT_SUPPRESSIONS,
    ERROR_EXITCODE,
    FORMAT,
    TOOL,
    LUCK,
    LEAKS,
    THREADS,
    RESULTS,
    WITNESSES,
    TRACE,
    HOST,
    GPU
};

static const struct option options[] = {
    {"help", no_argument, NULL, 'h'},
    {"verbose", no_argument, NULL, 'v'},
    {"output", required_argument, NULL, 'o'},
    {"format", required_argument, NULL, FORMAT},
    {"suppress", required_argument, NULL, SUPPRESS},
    {"print-suppressions", no_argument, NULL, PRINT_SUPPRESSIONS},
    {"error-exitcode", required_argument, NULL, ERROR_EXITCODE},
    {"tool", required_argument, NULL, TOOL},
    {"luck", no_argument, NULL, LUCK},
    {"leak-check", no_argument, NULL, LEAKS},
    {"host-threads", required_argument, NULL, THREADS},
    {"results", required_argument, NULL, RESULTS},
    {"witnesses", required_argument, NULL, WITNESSES},
    {"trace", required_argument, NULL, TRACE},
    {"host-touch", no_argument, NULL, HOST},
    {"gpu", no_argument, NULL, GPU},
    {0},
};

static int take_number(struct request *request, const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);
    if (!*text || *end || number < 0 || number > 255)
        return observed_bad_value("check", "--error-exitcode", text, "a number from 0 to 255");
    request->found_status = (int)number;
    return 0;
}

static int take_form(struct request *request, const char *text)
{
    for (int i = 0; i < FORMS; i++)
        if (strcmp(text, forms[i]) == 0) {
            request->form = (enum form)i;
            return 0;
        }
    return observed_bad_value("check", "--format", text, "text, json, sarif or html");
}

/* Names with commas between. */
static int take_tools(struct request *request, const char *text)
{
    memset(request->tools, 0, sizeof request->tools);
    for (const char *word = text;; word++) {
        size_t length = strcspn(word, ",");
        int tool = 0;
        while (tool < TOOLS && (strlen(tools[tool]) != length || memcmp(tools[tool], word, length) != 0))
            tool++;
        if (tool == TOOLS)
            return observed_bad_value("check", "--tool", text,
                                      "race, mem, init, or several of them with commas between");
        request->tools[tool] = true;
        word += length;
        if (!*word)
            return 0;
    }
}

/* One option. 0, or the exit status. */
static int take_option(struct request *request, int option)
{
    switch (option) {
    case 'v':
        request->style.verbose = true;
        return 0;
    case 'o':
        request->output = optarg;
        return 0;
    case FORMAT:
        return take_form(request, optarg);
    case SUPPRESS:
        return suppress_read(&request->suppressions, optarg) ? 0 : NO_REPORT;
    case PRINT_SUPPRESSIONS:
        request->style.suppressions = true;
        return 0;
    case ERROR_EXITCODE:
        return take_number(request, optarg);
    case TOOL:
        return take_tools(request, optarg);
    case LEAKS:
        request->leaks = true;
        return 0;
    case LUCK:
        request->luck = true;
        return 0;
    case THREADS:
        request->threads = strcmp(optarg, "strict") == 0;
        return request->threads || strcmp(optarg, "calls") == 0
                   ? 0
                   : observed_bad_value("check", "--host-threads", optarg, "calls or strict");
    case WITNESSES:
        request->witnesses = optarg;
        return 0;
    case TRACE:
        request->trace = optarg;
        return 0;
    case HOST:
        request->host = true;
        return 0;
    case GPU:
        request->gpu = true;
        return 0;
    default:
        request->results = optarg;
        return 0;
    }
}

/* Reads the options; *program is then what is left. 0, or the exit status, with help or a message printed; -1: help. */
static int take_options(struct request *request, int argc, char **argv, char ***program)
{
    int option, status = 0;
    optind = 1;
    opterr = 0;
    while (status == 0 && (option = getopt_long(argc, argv, "+:hvo:", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            return -1;
        }
        if (option == ':') {
            return observed_no_value("check", argv[optind - 1]);
        }
        if (option == '?')
            return tool_bad_argument("check", argv[optind - 1]);
        status = take_option(request, option);
    }
    *program = argv + optind;
    bool lacks_mem = request->leaks && !request->tools[MEM];
    if (status == 0 && (lacks_mem || ((request->luck || request->host || request->threads) && !request->tools[RACE]))) {
        fprintf(stderr, "millrace check: %s needs the tool %s (--tool)\n",
                lacks_mem       ? "--leak-check"
                : request->luck ? "--luck"
                : request->host ? "--host-touch"
                                : "--host-threads=strict",
                tools[lacks_mem ? MEM : RACE]);
        return 2;
    }
    if (status == 0 && request->host && request->threads) {
        fputs(
            "millrace check: --host-touch does not go with --host-threads=strict: another thread tells of the touches\n",
            stderr);
        return 2;
    }
    if (status == 0 && request->gpu) {
        const char *lacks = request->tools[MEM] || request->tools[INIT] ? "--tool mem and --tool init"
                            : request->host                             ? "--host-touch"
                            : request->witnesses                        ? "--witnesses"
                                                                        : NULL;
        if (lacks) {
            fprintf(stderr, "millrace check: --gpu does not go with %s: that needs Millrace's own driver\n", lacks);
            return 2;
        }
    }
    if (status == 0 && !**program && !request->results) {
        fputs("millrace check: name the program to run, as in 'millrace check -- ./program'\n", stderr);
        return 2;
    }
    return status;
}

/* The library that tells how threads order each other stands before the C library. */
static bool add_threads(const struct tool_paths *paths)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/libmillrace-threads.so", paths->libraries);
    if (access(path, R_OK) != 0)
        return observed_cannot("check", "cannot read", path);
    bool good = tool_put_first("LD_PRELOAD", path);
    if (!good)
        fputs("millrace check: out of memory\n", stderr);
    return good;
}

/* Adds to the program's environment what `millrace run` does not set. */
static bool set_environment(const struct request *request, const struct tool_paths *paths, const char *program)
{
    char names[128] = "";
    for (int tool = 0; tool < TOOLS; tool++) {
        size_t length = strlen(names);
        const char *more = tool == RACE && request->luck ? ":luck" : tool == MEM && request->leaks ? ":leaks" : "";
        const char *threads = tool == RACE && request->threads ? ":threads" : "";
        if (request->tools[tool])
            snprintf(names + length, sizeof names - length, "%s%s%s%s", length ? "," : "", tools[tool], more, threads);
    }
    if (request->host)
        snprintf(names + strlen(names), sizeof names - strlen(names), ",pages,schedule:late:patience=200");
    if (request->trace)
        snprintf(names + strlen(names), sizeof names - strlen(names), ",trace");
    bool good = request->gpu ? observed_environment_gpu("check", paths, names, request->folder)
                             : observed_environment("check", paths, names, request->folder);
    return good && (!request->threads || add_threads(paths)) && tool_add_mpi("check", paths, program);
}

static bool write_report(struct request *request, const struct report *report)
{
    bool good = true;
    errno = 0;
    switch (request->form) {
    case JSON:
        good = report_write_json(request->out, report);
        break;
    case SARIF:
        good = report_write_sarif(request->out, report);
        break;
    case HTML:
        report_write_html(request->out, report);
        break;
    default:
        report_write_text(request->out, report, &request->style);
    }
    if (request->style.verbose)
        suppress_tell_unused(stderr, &request->suppressions);
    const char *name = request->output ? request->output : "the report";
    if (!good)
        errno = ENOMEM;
    if (!good || fflush(request->out) != 0 || ferror(request->out) ||
        (request->out != stdout && request->out != stderr && fclose(request->out) != 0))
        return observed_cannot("check", "cannot write", name);
    return true;
}

static bool write_timeline(struct request *request, const struct report *report)
{
    bool good = timeline_make("check", request->folder, request->trace, request->trace_out, report);
    if (fclose(request->trace_out) != 0 && good)
        good = observed_cannot("check", "cannot write", request->trace);
    request->trace_out = NULL;
    return good;
}

/* Reads the results and reports. False: the report is not whole, or could not be written. */
static bool report_on(struct request *request, bool *found)
{
    struct report report = {0};
    bool good = report_read(&report, request->folder);
    size_t failed = observed_count(request->folder, ".failed");
    if (failed) {
        fprintf(stderr,
                "millrace check: %zu of the processes could not be observed, or could not leave all that was found; "
                "the log says why\n",
                failed);
        good = false;
    } else if (report.process_count == 0) {
        fputs("millrace check: no process has used CUDA through Millrace, so nothing was checked\n", stderr);
    }
    suppress_apply(&request->suppressions, &report);
    good = write_report(request, &report) && good;
    good = (!request->witnesses || witness_write_all(request->folder, request->witnesses)) && good;
    good = (!request->trace || write_timeline(request, &report)) && good;
    *found = report_shown(&report) > 0;
    report_free(&report);
    return good;
}

/* Where the report goes. A file is opened before the program runs, so that a bad name is told at once. */
static bool open_output(struct request *request)
{
    if (request->trace && !(request->trace_out = fopen(request->trace, "we")))
        return observed_cannot("check", "cannot write", request->trace);
    if (request->output && strcmp(request->output, "-") != 0) {
        request->out = fopen(request->output, "we");
        return request->out || observed_cannot("check", "cannot write", request->output);
    }
    request->out = request->output || request->form != TEXT ? stdout : stderr;
    request->style.colour = isatty(fileno(request->out)) && !getenv("NO_COLOR");
    return true;
}

static int check(struct request *request, char **program)
{
    struct tool_paths paths;
    bool found = false, reported = true;
    int status = 0;
    if (!*program) {
        assert(request->results); /* take_options asks for one of them */
        if (!realpath(request->results, request->folder))
            return observed_cannot("check", "cannot read the folder", request->results), NO_REPORT;
        reported = open_output(request) && report_on(request, &found);
        return !reported ? NO_REPORT : found ? request->found_status : 0;
    }
    if (!tool_find_paths(&paths) || !open_output(request) ||
        !observed_results_folder("check", request->results, ".results.json", request->folder))
        return NO_REPORT;
    if (!set_environment(request, &paths, *program))
        status = NO_REPORT;
    else if (observed_run("check", program, &status))
        reported = report_on(request, &found);
    if (!request->results && !reported && observed_count(request->folder, ".results.json"))
        fprintf(stderr, "millrace check: what the processes left is in %s ('millrace check --results FOLDER')\n",
                request->folder);
    else if (!request->results)
        observed_remove_folder(request->folder);
    if (!reported)
        return NO_REPORT;
    return status == 0 && found ? request->found_status : status;
}

int tool_check(int argc, char **argv)
{
    struct request request = {.tools = {[RACE] = true}, .found_status = 1};
    char **program = argv + argc; /* none */
    if (tool_explores(argc, argv))
        return tool_explore(argc, argv);
    int status = take_options(&request, argc + 1, argv - 1, &program);
    if (status == 0)
        status = check(&request, program);
    suppress_free(&request.suppressions);
    return status < 0 ? 0 : status;
}
