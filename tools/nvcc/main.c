/* SPDX-License-Identifier: Apache-2.0 */
/* The nvcc shim and `millrace cc`: from a request to the steps that fulfil it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/settings.h"
#include "shim.h"

static const char version[] =
    "nvcc: NVIDIA (R) Cuda compiler driver, as Millrace " MR_VERSION " provides it by clang 19\n"
    "No code of NVIDIA's is in it: build systems look for the words above.\n"
    "Cuda compilation tools, release 13.0, V13.0.0\n";

static const char usage[] =
    "Usage: nvcc [options] FILE...        (also: millrace cc [options] FILE...)\n"
    "\n"
    "Compiles CUDA C++ (.cu), C++ and C, and links programs and libraries that run on Millrace. Device code is kept as PTX.\n"
    "\n"
    "  (no phase)            link a program; -shared: a library\n"
    "  -c, -dc               objects; -dc: with device code that is linked later\n"
    "  --ptx, --cubin, --fatbin   device code alone, for the driver API; -dlto -ltoir: for nvJitLink\n"
    "  -E, -M, -MM           preprocess; list dependencies\n"
    "  -dlink, --lib         link device code into an object; make an archive\n"
    "  --version, --help, --dryrun, --run\n"
    "\n"
    "  -o, -arch, -code, -gencode, -rdc, -I, -isystem, -D, -U, -include, -std, -x, -O, -g, -G, -lineinfo, -fmad, -ftz, -use_fast_math, -w, -Werror,\n"
    "  -Xcompiler, -Xlinker, -Xptxas, -L, -l, -cudart, -ccbin, --default-stream, --check, --keep, --keep-dir, -MD, -MMD, -MF, -MT, -MP and others: docs/compilers.md.\n"
    "An option that can't be honoured is an error.\n";

/* Phases with one output for each source. */
static int run_each(const struct request *request, const struct places *places)
{
    static const char *const endings[] = {[PHASE_PTX] = ".ptx",
                                          [PHASE_CUBIN] = ".cubin",
                                          [PHASE_FATBIN] = ".fatbin",
                                          [PHASE_LINK_TIME] = ".ltoir",
                                          [PHASE_OBJECT] = ".o"};
    int status = 0;
    for (size_t i = 0; i < request->input_count && status == 0; i++) {
        const struct input *input = &request->inputs[i];
        bool fits = phase_is_device(request->phase)
                        ? input->kind == KIND_CUDA || (input->kind == KIND_PTX && request->phase == PHASE_FATBIN)
                        : input->kind != KIND_LINK && input->kind != KIND_PTX;
        if (!fits)
            return failed("this phase makes nothing of the input", input->path);
        if (request->phase == PHASE_PREPROCESS) {
            status = device_preprocess(request, places, input);
            continue;
        }
        if (request->phase == PHASE_DEPENDENCIES) {
            status = host_dependencies(request, places, input);
            continue;
        }
        char *name = request->output ? NULL : output_path(request, input->path, endings[request->phase]);
        const char *output = name ? name : request->output;
        if (request->phase == PHASE_OBJECT)
            status = host_object(request, places, input, output);
        else if (request->phase == PHASE_FATBIN || request->phase == PHASE_LINK_TIME)
            status = device_pack(request, places, input, output);
        else if (request->phase == PHASE_CUBIN)
            status = device_cubin(request, places, input, output);
        else
            status = device_ptx(request, places, input->path, request->targets[0], output);
        if (status == 0 && request->write_dependencies && phase_is_device(request->phase) && input->kind == KIND_CUDA)
            status = host_dependencies_beside(request, places, input);
        mr_free(name);
    }
    return status;
}

/* Objects of the sources; inputs that are objects stand for themselves. */
static int make_objects(const struct request *request, const struct places *places, char **objects)
{
    int status = 0;
    for (size_t i = 0; i < request->input_count && status == 0; i++) {
        const struct input *input = &request->inputs[i];
        struct mr_text text = {.data = NULL};
        char ending[32];
        if (input->kind == KIND_PTX)
            return complain("PTX can't be linked with host code; make a fat binary of it with --fatbin:", input->path)
                       ? 0
                       : 1;
        if (input->kind == KIND_LINK) {
            mr_text_put(&text, *input->path == '-' ? "./" : "");
            mr_text_put(&text, input->path);
            objects[i] = text.data;
        } else {
            snprintf(ending, sizeof ending, ".%zu.o", i); /* two sources may have one name, in two folders */
            objects[i] = step_file(request, input->path, ending);
            status = host_object(request, places, input, objects[i]);
        }
        if (!objects[i])
            return 1;
    }
    return status;
}

static int run_link(const struct request *request, const struct places *places)
{
    char **objects = mr_calloc(request->input_count, sizeof *objects);
    bool made = false, device_only = request->phase == PHASE_DEVICE_LINK;
    if (!objects)
        return 1;
    int status = make_objects(request, places, objects);
    char *linked = step_file(request, "a", "_dlink.o");
    const char *output = !device_only                      ? linked
                         : request->output                 ? request->output
                         : request->linked == PHASE_CUBIN  ? "a_dlink.cubin"
                         : request->linked == PHASE_FATBIN ? "a_dlink.fatbin"
                                                           : "a_dlink.o";
    if (status == 0 && request->phase != PHASE_ARCHIVE && (device_only || !request->no_device_link))
        status = device_link(request, objects, output, device_only && !request->dry_run, &made);
    if (status == 0 && request->phase == PHASE_ARCHIVE)
        status = host_archive(request, objects);
    else if (status == 0 && !device_only)
        status = host_link(request, places, objects, made ? linked : NULL);
    for (size_t i = 0; i < request->input_count; i++)
        mr_free(objects[i]);
    mr_free(objects);
    mr_free(linked);
    return status;
}

static bool check(const struct request *request)
{
    bool each = request->phase != PHASE_LINK && request->phase != PHASE_ARCHIVE && request->phase != PHASE_DEVICE_LINK;
    if (!request->input_count)
        return complain("there is no source file", NULL);
    if (each && request->output && request->input_count > 1)
        return complain("-o names one output, and there are several:", request->output);
    if ((request->phase == PHASE_PTX || request->phase == PHASE_CUBIN || request->linked == PHASE_CUBIN ||
         request->phase == PHASE_PREPROCESS) &&
        request->target_count > 1)
        return complain("this phase takes one architecture; --fatbin and -c take several", NULL);
    if (request->phase == PHASE_LINK_TIME && !request->link_time)
        return complain("-ltoir needs the option -dlto", NULL);
    if (request->phase == PHASE_LINK_TIME && request->target_count > 1)
        return complain("-ltoir takes one architecture", NULL);
    return true;
}

/* What was printed must have arrived: a full disk is a failure. The exit status. */
static int end_of_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    fprintf(stderr, "nvcc (Millrace): error: cannot write to standard output: %s\n", strerror(errno));
    return 1;
}

int main(int argc, char **argv)
{
    static struct request request = {.phase = PHASE_LINK}; /* and what it holds: as long as the process */
    struct places places;
    char program[PATH_MAX];
    mr_log_setup();
    mr_settings_check();
    if (!request_parse(&request, argc, argv))
        return 1;
    if (request.phase == PHASE_VERSION || request.phase == PHASE_HELP) {
        fputs(request.phase == PHASE_VERSION ? version : usage, stdout);
        return end_of_output();
    }
    if (request.phase == PHASE_ARCHITECTURES) {
        targets_list(&request);
        return end_of_output();
    }
    if (!places_find(&places))
        return 1;
    if (request.verbose || request.dry_run)
        places_show(&places);
    if (run_alone(&request, program))
        return run_program(&request, &places, program);
    if (request.questions.count && request.input_count)
        return host_answers(&request);
    if (request.device_links && (request.phase == PHASE_CUBIN || request.phase == PHASE_FATBIN)) {
        request.linked = request.phase;
        request.phase = PHASE_DEVICE_LINK;
    }
    if (!request_find_kinds(&request) || !check(&request))
        return 1;
    if (request.link_time && (request.phase == PHASE_FATBIN || request.phase == PHASE_LINK_TIME))
        request.relocatable = true;
    step_watch_signals();
    if (!nvidia_chosen())
        foreign_headers(&request, &places);
    bool links = request.phase == PHASE_LINK || request.phase == PHASE_ARCHIVE || request.phase == PHASE_DEVICE_LINK;
    int status = links ? run_link(&request, &places) : run_each(&request, &places);
    step_clean();
    if (status == 0 && request.run && request.phase == PHASE_LINK)
        status = run_program(&request, &places, request.output ? request.output : "a.out");
    return status;
}
