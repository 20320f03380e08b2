/* SPDX-License-Identifier: Apache-2.0 */
/* The nvcc shim: builds clang's command line and becomes clang.
 *
 * A "cubin" made here holds PTX text: Millrace's driver looks at the first bytes of an image, and PTX is the language that it takes. */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim.h"

static const char version[] =
    "nvcc: Millrace " MR_VERSION ", kernel source for the CPU by clang 19\n"
    "Compiles CUDA C++ to PTX in place of NVIDIA's compiler; no code of NVIDIA's is in it.\n"
    "Cuda compilation tools, release 13.0, V13.0.0\n";

static const char usage[] =
    "Usage: nvcc --ptx|--cubin|--preprocess [options] SOURCE.cu\n"
    "\n"
    "Millrace's stand-in for nvcc: compiles the kernels of one source file to PTX with clang 19.\n"
    "Understood: -arch, -code, -gencode, -I, -D, -U, -include, -std, -O, -o, -G, -lineinfo, -fmad, -ftz, -use_fast_math, -w,\n"
    "-Xcompiler, -Xptxas, --dryrun, --verbose, --version. Host code, linking and -c are not done yet.\n";

/* The device header beside the shim: ../../device in the build folder, ../device where it is installed. */
static bool find_header(char out[PATH_MAX])
{
    static const char *const places[] = { "../../device/millrace_device.h", "../device/millrace_device.h" };
    char self[PATH_MAX], path[PATH_MAX + 64];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return false;
    self[length] = '\0';
    const char *folder = dirname(self);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, places[i]);
        if (realpath(path, out))
            return true;
    }
    return false;
}

/* The name of the output: as given, or the source's with its ending replaced, in the current folder as nvcc does. */
static const char *output_name(const struct request *request)
{
    static char name[PATH_MAX];
    if (request->output)
        return request->output;
    if (request->phase == PHASE_PREPROCESS)
        return NULL;
    char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", request->source);
    char *base = basename(copy), *dot = strrchr(base, '.');
    if (dot)
        *dot = '\0';
    snprintf(name, sizeof name, "%.4000s.%s", base, request->phase == PHASE_PTX ? "ptx" : "cubin");
    return name;
}

static void build_command(struct request *request, const char *compiler, const char *header, struct words *command)
{
    static char arch[32], beside[PATH_MAX + 16];
    snprintf(arch, sizeof arch, "--cuda-gpu-arch=sm_%d", request->capability);
    snprintf(beside, sizeof beside, "%.*sinclude", (int)(strrchr(header, '/') + 1 - header), header);
    static const char *const fixed[] = { "-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib",
        "--cuda-path=/nonexistent", "--cuda-feature=+ptx80", "-fdeclspec", "-O3", "-ffp-contract=fast", "-std=c++17",
        "-D__NVCC__=1", "-D__CUDACC_VER_MAJOR__=13", "-D__CUDACC_VER_MINOR__=0", "-include" };
    words_add(command, compiler);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        words_add(command, fixed[i]);
    words_add(command, header);
    words_add(command, "-isystem");
    words_add(command, beside);
    words_add(command, arch);
    for (size_t i = 0; i < request->clang.count; i++)
        words_add(command, request->clang.items[i]);
    words_add(command, request->phase == PHASE_PREPROCESS ? "-E" : "-S");
    if (request->phase == PHASE_PREPROCESS && request->plain_preprocess)
        words_add(command, "-P");
    const char *output = output_name(request);
    if (output) {
        words_add(command, "-o");
        words_add(command, output);
    }
    words_add(command, "--");
    words_add(command, request->source);
}

int main(int argc, char **argv)
{
    struct request request = { .capability = 80 };
    struct words command = { 0 };
    char header[PATH_MAX];
    if (!request_parse(&request, argc, argv))
        return 1;
    if (request.phase == PHASE_VERSION || request.phase == PHASE_HELP) {
        fputs(request.phase == PHASE_VERSION ? version : usage, stdout);
        return 0;
    }
    if (request.phase == PHASE_NONE || !request.source) {
        fprintf(stderr, "nvcc (Millrace): %s\n%s", request.source ? "choose --ptx, --cubin or --preprocess; host code is not compiled yet"
                                                                  : "there is no source file", usage);
        return 1;
    }
    if (!find_header(header)) {
        fputs("nvcc (Millrace): millrace_device.h is not beside the shim; build or install Millrace again\n", stderr);
        return 1;
    }
    const char *compiler = getenv("MILLRACE_CC");
    if (!compiler || !*compiler)
        compiler = "clang-19";
    build_command(&request, compiler, header, &command);
    if (request.verbose || request.dry_run) {
        for (size_t i = 0; i < command.count; i++)
            fprintf(stderr, "%s%s", i ? " " : "", command.items[i]);
        fputc('\n', stderr);
    }
    if (request.dry_run)
        return 0;
    execvp(compiler, (char *const *)command.items);
    int reason = errno;
    fprintf(stderr, "nvcc (Millrace): cannot start '%s': %s%s\n", compiler, strerror(reason),
        reason == ENOENT ? "; on Debian it is in the package clang-19 (apt-get install clang-19)" : "");
    return 1;
}
