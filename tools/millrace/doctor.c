/* SPDX-License-Identifier: Apache-2.0 */
/* millrace doctor: the command, and a kernel that is compiled and run as a trial, in a process of its own. */
#include "doctor.h"

#include <cjson/cJSON.h>
#include <cuda.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char usage[] =
    "Usage: millrace doctor [--json]\n"
    "\n"
    "Looks for what commonly goes wrong: another driver or NVIDIA's packages before Millrace's, no clang, a cache that\n"
    "can't be written, an old processor, too little memory, limits, sandboxes, settings that are none. Says how to mend\n"
    "what it finds.\n"
    "\n"
    "The exit status is 1 if something is wrong, and 0 if all is well or there are notes alone.\n";

struct doctor {
    cJSON *findings;
    unsigned notes, wrong;
};

static const char *const verdicts[] = {"ok", "note", "wrong"};

void doctor_say(struct doctor *doctor, enum doctor_verdict verdict, const char *topic, const char *mend,
                const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cJSON *finding = cJSON_CreateObject();
    cJSON_AddStringToObject(finding, "topic", topic);
    cJSON_AddStringToObject(finding, "verdict", verdicts[verdict]);
    cJSON_AddStringToObject(finding, "text", text);
    if (mend)
        cJSON_AddStringToObject(finding, "mend", mend);
    cJSON_AddItemToArray(doctor->findings, finding);
    doctor->notes += verdict == DOCTOR_NOTE;
    doctor->wrong += verdict == DOCTOR_WRONG;
}

bool doctor_read_line(const char *path, char *line, size_t room)
{
    FILE *file = fopen(path, "re");
    bool good = file && fgets(line, (int)room, file);
    if (file)
        fclose(file);
    if (good)
        line[strcspn(line, "\n")] = '\0';
    return good;
}

bool doctor_ask(char *const *argv, struct mr_text *said)
{
    posix_spawn_file_actions_t actions;
    char part[4096];
    int ends[2], status = -1;
    pid_t child = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    int reason = posix_spawn_file_actions_init(&actions);
    if (!reason)
        reason = posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    if (!reason)
        reason = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (!reason)
        reason = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!reason)
        reason = posix_spawnp(&child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    for (ssize_t got = 1; !reason && (got > 0 || (got < 0 && errno == EINTR));) {
        got = read(ends[0], part, sizeof part);
        if (got > 0)
            mr_text_add(said, part, (size_t)got);
    }
    close(ends[0]);
    while (!reason && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return !reason && WIFEXITED(status) && WEXITSTATUS(status) == 0 && !said->failed;
}

static const char trial_kernel[] = ".version 7.0\n.target sm_50\n.address_size 64\n"
                                   ".visible .entry trial(.param .u64 out)\n{\n"
                                   "    .reg .u64 %p<3>; .reg .u32 %r<2>;\n"
                                   "    ld.param.u64 %p0, [out];\n    mov.u32 %r0, %tid.x;\n"
                                   "    mul.wide.u32 %p1, %r0, 4;\n    add.u64 %p2, %p0, %p1;\n"
                                   "    mad.lo.u32 %r1, %r0, 3, 7;\n    st.global.u32 [%p2], %r1;\n    ret;\n}\n";

/* What the command runs as its child: the exit status says whether a kernel ran and gave what it should. */
static int trial(void)
{
    enum { THREADS = 64 };
    CUdevice device;
    CUcontext context = NULL;
    CUmodule module;
    CUfunction function;
    CUdeviceptr out;
    unsigned result[THREADS] = {0};
    void *parameters[] = {&out};
    CUresult status = cuInit(0);
#define NEXT(call) \
    if (status == CUDA_SUCCESS) \
        status = call;
    NEXT(cuDeviceGet(&device, 0))
    NEXT(cuDevicePrimaryCtxRetain(&context, device))
    NEXT(cuCtxPushCurrent(context))
    NEXT(cuModuleLoadData(&module, trial_kernel))
    NEXT(cuModuleGetFunction(&function, module, "trial"))
    NEXT(cuMemAlloc(&out, sizeof result))
    NEXT(cuLaunchKernel(function, 1, 1, 1, THREADS, 1, 1, 0, NULL, parameters, NULL))
    NEXT(cuMemcpyDtoH(result, out, sizeof result))
#undef NEXT
    const char *name = "unknown status";
    cuGetErrorName(status, &name);
    bool right = status == CUDA_SUCCESS;
    for (unsigned i = 0; i < THREADS && right; i++)
        right = result[i] == i * 3 + 7;
    puts(status != CUDA_SUCCESS ? name : right ? "right" : "wrong numbers");
    return 0;
}

static void try_kernel(struct doctor *doctor)
{
    static const char mend[] = "see what else is wrong here; MILLRACE_LOG=info millrace info says more";
    struct mr_text said = {.data = NULL};
    bool good = doctor_ask((char *const[]){"/proc/self/exe", "doctor", "--trial", NULL}, &said);
    if (good && strcmp(mr_text_chars(&said), "right\n") == 0)
        doctor_say(doctor, DOCTOR_GOOD, "kernel", NULL, "a kernel was compiled and ran");
    else if (good)
        doctor_say(doctor, DOCTOR_WRONG, "kernel", mend, "a trial kernel does not run: %.*s",
                   (int)(said.length ? said.length - 1 : 0), mr_text_chars(&said));
    else
        doctor_say(doctor, DOCTOR_WRONG, "kernel", mend, "a process that uses the driver died");
    mr_text_clear(&said);
}

static void print_text(const struct doctor *doctor)
{
    const cJSON *finding;
    cJSON_ArrayForEach(finding, doctor->findings)
    {
        const char *mend = cJSON_GetStringValue(cJSON_GetObjectItem(finding, "mend"));
        printf("%-5s  %-10s  %s\n", cJSON_GetStringValue(cJSON_GetObjectItem(finding, "verdict")),
               cJSON_GetStringValue(cJSON_GetObjectItem(finding, "topic")),
               cJSON_GetStringValue(cJSON_GetObjectItem(finding, "text")));
        if (mend)
            printf("       %10s  -> %s\n", "", mend);
    }
    if (doctor->wrong)
        printf("\n%u thing%s wrong, %u note%s\n", doctor->wrong, doctor->wrong == 1 ? "" : "s", doctor->notes,
               doctor->notes == 1 ? "" : "s");
    else
        printf("\nnothing is wrong, %u note%s\n", doctor->notes, doctor->notes == 1 ? "" : "s");
}

int tool_doctor(int argc, char **argv)
{
    bool json = false;
    struct tool_paths paths;
    struct doctor doctor = {.notes = 0};
    if (argc == 1 && strcmp(argv[0], "--trial") == 0)
        return trial();
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(usage, stdout);
            return 0;
        }
        if (strcmp(argv[i], "--json") != 0)
            return tool_bad_argument("doctor", argv[i]);
        json = true;
    }
    if (!tool_find_paths(&paths))
        return 1;
    doctor.findings = cJSON_CreateArray();
    doctor_look_at_settings(&doctor); /* first: what it tells is not logged as well */
    doctor_look_at_drivers(&doctor, &paths);
    doctor_look_at_wheels(&doctor, &paths);
    doctor_look_at_parts(&doctor, &paths);
    doctor_look_at_compilers(&doctor, &paths);
    doctor_look_at_machine(&doctor);
    doctor_look_at_limits(&doctor);
    doctor_look_at_sandbox(&doctor);
    doctor_look_at_cache(&doctor);
    try_kernel(&doctor);
    if (json) {
        char *text = cJSON_Print(doctor.findings);
        puts(text ? text : "[]");
        free(text);
    } else {
        print_text(&doctor);
    }
    cJSON_Delete(doctor.findings);
    return doctor.wrong ? 1 : 0;
}
