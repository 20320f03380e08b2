/* SPDX-License-Identifier: Apache-2.0 */
/* millrace run: the program gets an environment where it finds Millrace (environment.c), and takes the command's place
 * (exec), so that its exit status and signals are its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/settings.h"
#include "millrace.h"
#include "mpi.h"

static const char usage[] =
    "Usage: millrace run [--log LEVEL] [--log-file FILE] [--log-calls NAMES] [--] PROGRAM [ARGUMENTS]\n"
    "\n"
    "Runs PROGRAM with Millrace's libcuda.so.1 first in LD_LIBRARY_PATH and Millrace's nvcc, ptxas and nvidia-smi\n"
    "first in PATH (for Triton also in TRITON_PTXAS_PATH, unless that is set). CUDA_HOME and CUDA_PATH name\n"
    "Millrace's folder, unless one of them is set. XLA_FLAGS gets --xla_gpu_cuda_data_dir, --xla_gpu_autotune_level=0\n"
    "and --xla_gpu_enable_triton_gemm=false, unless it has them: for TensorFlow and JAX.\n"
    "--log, --log-file and --log-calls set MILLRACE_LOG, MILLRACE_LOG_FILE and MILLRACE_LOG_CALLS: what is logged, where\n"
    "to, and which calls of the driver API with their arguments ('cuMem*,cuLaunchKernel').\n"
    "The program's exit status is the command's. 127: the program was not found; 126: it could not be started.\n"
    "\n"
    "Examples:\n"
    "  millrace run -- ./vector_add\n"
    "  MILLRACE_LOG=info millrace run -- python3 program.py\n";

/* True if it was an option with a value. */
static bool set_by_option(const char *option, const char *value)
{
    static const struct {
        const char *option;
        enum mr_setting setting;
    } all[] = {{"--log", MR_SETTING_LOG}, {"--log-file", MR_SETTING_LOG_FILE}, {"--log-calls", MR_SETTING_LOG_CALLS}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(option, all[i].option) == 0)
            return setenv(mr_setting_describe(all[i].setting)->name, value, 1) == 0;
    return false;
}

/* What a program needs besides that runs with an observer (MILLRACE_OBSERVE). */
static bool name_observed(const char *program)
{
    struct tool_paths paths;
    const char *tools = mr_setting_text(MR_SETTING_OBSERVE);
    return !tools || !*tools || (tool_find_paths(&paths) && tool_add_mpi("run", &paths, program));
}

int tool_run(int argc, char **argv)
{
    if (argc > 0 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0)) {
        fputs(usage, stdout);
        return 0;
    }
    while (argc > 1 && set_by_option(argv[0], argv[1])) {
        argc -= 2;
        argv += 2;
    }
    if (argc > 0 && strcmp(argv[0], "--") == 0) {
        argc--;
        argv++;
    } else if (argc > 0 && argv[0][0] == '-') {
        return tool_bad_argument("run", argv[0]);
    }
    if (argc == 0) {
        fputs("millrace run: name the program to run, as in 'millrace run -- ./program'\n", stderr);
        return 2;
    }
    tool_check_settings();
    if (!tool_environment("run") || !name_observed(argv[0]))
        return 1;
    return tool_start("run", argv);
}
