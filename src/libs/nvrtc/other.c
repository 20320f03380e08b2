/* SPDX-License-Identifier: Apache-2.0 */
/* A compilation by another libnvrtc, named by its path in MILLRACE_NVRTC: NVIDIA's, whose PTX is used.
 *
 * The program is made anew there, with source, headers, names and options as they came; PTX, log and lowered names are
 * copied out. A cubin that it makes is machine code and is left; ours with the PTX takes its place. The library is
 * opened once and stays. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <nvrtc.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/settings.h"
#include "libs/nvrtc/program.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define NO_DEEPBIND
#endif
#endif
#if defined(NO_DEEPBIND) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OPEN_FLAGS (RTLD_NOW | RTLD_LOCAL)
#else
#define OPEN_FLAGS (RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)   /* its calls of its own functions are not for us */
#endif

struct other {
    __typeof__(nvrtcCreateProgram) *create;
    __typeof__(nvrtcDestroyProgram) *destroy;
    __typeof__(nvrtcCompileProgram) *compile;
    __typeof__(nvrtcAddNameExpression) *add_name;
    __typeof__(nvrtcGetLoweredName) *lowered;
    __typeof__(nvrtcGetPTXSize) *ptx_size;
    __typeof__(nvrtcGetPTX) *ptx;
    __typeof__(nvrtcGetProgramLogSize) *log_size;
    __typeof__(nvrtcGetProgramLog) *log;
    __typeof__(nvrtcSetFlowCallback) *set_callback;   /* NULL before version 12.9 */
};

bool mr_other_chosen(void)
{
    return *mr_setting_text(MR_SETTING_NVRTC) != '\0';
}

static bool open_other(struct other *other, struct mr_text *log)
{
    const char *path = mr_setting_text(MR_SETTING_NVRTC);
    const struct {
        const char *name;
        void *to;
        bool optional;
    } names[] = {
        {"nvrtcCreateProgram", &other->create, false},
        {"nvrtcDestroyProgram", &other->destroy, false},
        {"nvrtcCompileProgram", &other->compile, false},
        {"nvrtcAddNameExpression", &other->add_name, false},
        {"nvrtcGetLoweredName", &other->lowered, false},
        {"nvrtcGetPTXSize", &other->ptx_size, false},
        {"nvrtcGetPTX", &other->ptx, false},
        {"nvrtcGetProgramLogSize", &other->log_size, false},
        {"nvrtcGetProgramLog", &other->log, false},
        {"nvrtcSetFlowCallback", &other->set_callback, true},
    };
    void *library = dlopen(path, OPEN_FLAGS);
    if (!library) {
        const char *why = dlerror();
        mr_text_format(log, "nvrtc: error: cannot open MILLRACE_NVRTC: %s\n", why ? why : path);
        mr_log(MR_LOG_ERROR, "nvrtcCompileProgram: cannot open MILLRACE_NVRTC: %s", why ? why : path);
        return false;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *function = dlsym(library, names[i].name);
        memcpy(names[i].to, &function, sizeof function);
        if (!function && !names[i].optional) {
            mr_text_format(log, "nvrtc: error: %s (MILLRACE_NVRTC) has no %s\n", path, names[i].name);
            return false;
        }
    }
    if (other->compile == nvrtcCompileProgram) {
        mr_text_format(log, "nvrtc: error: MILLRACE_NVRTC names this library itself, %s; it takes NVIDIA's\n", path);
        return false;
    }
    return true;
}

/* A text of the other's, by its pair of functions. */
static bool take(nvrtcProgram from, nvrtcResult (*get_size)(nvrtcProgram, size_t *),
                 nvrtcResult (*get)(nvrtcProgram, char *), struct mr_text *to)
{
    size_t size = 0;
    if (get_size(from, &size) != NVRTC_SUCCESS || size <= 1)
        return true;
    char *bytes = mr_calloc(1, size + 1);
    if (!bytes)
        return false;
    bool good = get(from, bytes) == NVRTC_SUCCESS;
    if (good)
        mr_text_put(to, bytes);
    mr_free(bytes);
    return good && !to->failed;
}

static bool take_names(const struct other *other, nvrtcProgram from, struct _nvrtcProgram *program)
{
    for (size_t i = 0; i < program->name_count; i++) {
        const char *lowered;
        if (other->lowered(from, program->names[i].expression, &lowered) != NVRTC_SUCCESS)
            continue;
        program->names[i].lowered = mr_memdup(lowered, strlen(lowered) + 1);
        if (!program->names[i].lowered)
            return false;
    }
    return true;
}

/* Whether machine code is asked for, and so a container from us: the last -arch=sm_…. */
static bool wants_cubin(int count, const char *const *words)
{
    bool wants = false;
    for (int i = 0; i < count; i++) {
        const char *word = words[i] ? words[i] : "", *equals = strchr(word, '=');
        word += strspn(word, " \t");
        word += strspn(word, "-");
        if (strncmp(word, "arch", 4) != 0 && strncmp(word, "gpu-architecture", 16) != 0)
            continue;
        const char *value = equals ? equals + 1 : i + 1 < count && words[i + 1] ? words[i + 1] : "";
        wants = strncmp(value + strspn(value, " \t"), "sm_", 3) == 0;
    }
    return wants;
}

static enum mr_made made_of(nvrtcResult result)
{
    switch (result) {
    case NVRTC_SUCCESS:
        return MR_MADE;
    case NVRTC_ERROR_OUT_OF_MEMORY:
        return MR_MADE_NO_MEMORY;
    case NVRTC_ERROR_INVALID_OPTION:
        return MR_MADE_BAD_OPTION;
    case NVRTC_ERROR_COMPILATION:
        return MR_MADE_BAD_SOURCE;
    case NVRTC_ERROR_CANCELLED:
        return MR_MADE_CANCELLED;
    default:
        return MR_MADE_NO_COMPILER;
    }
}

static nvrtcResult create(const struct other *other, const struct _nvrtcProgram *program, nvrtcProgram *out)
{
    const char **texts = mr_calloc(2 * program->header_count, sizeof *texts), **names = texts + program->header_count;
    if (!texts)
        return NVRTC_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < program->header_count; i++) {
        texts[i] = program->headers[i].text;
        names[i] = program->headers[i].name;
    }
    nvrtcResult result = other->create(out, program->source, program->name, (int)program->header_count, texts, names);
    mr_free(texts);
    for (size_t i = 0; i < program->name_count && result == NVRTC_SUCCESS; i++)
        result = other->add_name(*out, program->names[i].expression);
    if (result == NVRTC_SUCCESS && program->cancel && other->set_callback)
        result = other->set_callback(*out, program->cancel, program->cancel_data);
    return result;
}

enum mr_made mr_other_compile(struct _nvrtcProgram *program, int option_count, const char *const *options)
{
    struct other other;
    nvrtcProgram theirs = NULL;
    if (!open_other(&other, &program->log))
        return MR_MADE_NO_COMPILER;
    nvrtcResult result = create(&other, program, &theirs);
    if (result == NVRTC_SUCCESS)
        result = other.compile(theirs, option_count, options);
    enum mr_made made = made_of(result);
    program->compiled = made != MR_MADE_BAD_OPTION;
    bool good = !theirs || take(theirs, other.log_size, other.log, &program->log);
    if (good && made == MR_MADE)
        good = take(theirs, other.ptx_size, other.ptx, &program->ptx) && take_names(&other, theirs, program);
    if (theirs)
        other.destroy(&theirs);
    if (good && made == MR_MADE && !program->ptx.length) { /* -dlto */
        mr_text_put(&program->log, "nvrtc: error: LTO code of NVIDIA's compiler can't be linked here\n");
        made = MR_MADE_BAD_OPTION;
    }
    if (good && made == MR_MADE && wants_cubin(option_count, options)) {
        const char *target = strstr(mr_text_chars(&program->ptx), ".target sm_");
        mr_cubin_make(&program->cubin, &program->ptx, target ? (unsigned)strtoul(target + 11, NULL, 10) : 0);
    }
    if (!good || program->cubin.failed)
        made = MR_MADE_NO_MEMORY;
    program->good = made == MR_MADE;
    return made;
}
