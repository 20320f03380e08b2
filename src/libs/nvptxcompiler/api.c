/* SPDX-License-Identifier: Apache-2.0 */
/* The PTX Compiler API: handles and pointers are checked, results are copied out. */
#include <nvPTXCompiler.h>
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "libs/nvptxcompiler/assembler.h"
#include "ptx/arch.h"
#include "ptx/pack.h"
#include "ptx/verify.h"

#define EXPORT __attribute__((visibility("default")))

/* The name of the PTX in messages, as NVIDIA's library has it. */

/* The toolkit whose interface this is. */
enum { MAJOR = 13, MINOR = 0 };

struct nvPTXCompiler {
    char *ptx;
    size_t length;
    unsigned char *program; /* NULL: none was made */
    size_t program_size;
    struct mr_text errors, infos;
    int (*callback)(void *payload, void *unused);
    void *payload;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;

static nvPTXCompileResult refuse(const char *call, nvPTXCompileResult status, const char *what)
{
    mr_log(MR_LOG_INFO, "%s: %s", call, what);
    return status;
}

static nvPTXCompileResult is_null(const char *call)
{
    return refuse(call, NVPTXCOMPILE_ERROR_INVALID_INPUT, "a pointer is NULL");
}

/* Success, if neither the handle nor the pointer is NULL. */
static nvPTXCompileResult check(const char *call, nvPTXCompilerHandle compiler, const void *pointer)
{
    if (!compiler)
        return refuse(call, NVPTXCOMPILE_ERROR_INVALID_COMPILER_HANDLE, "the handle is NULL");
    return pointer ? NVPTXCOMPILE_SUCCESS : is_null(call);
}

/* --- Versions -------------------------------------------------------------------- */

EXPORT nvPTXCompileResult nvPTXCompilerGetVersion(unsigned int *major, unsigned int *minor)
{
    if (!major || !minor)
        return is_null(__func__);
    *major = MAJOR;
    *minor = MINOR;
    return NVPTXCOMPILE_SUCCESS;
}

EXPORT nvPTXCompileResult nvPTXCompilerGetNumSupportedVersions(int *numVersions)
{
    size_t count;
    if (!numVersions)
        return is_null(__func__);
    mr_ptx_versions_all(&count);
    *numVersions = (int)count;
    return NVPTXCOMPILE_SUCCESS;
}

EXPORT nvPTXCompileResult nvPTXCompilerGetSupportedVersions(int (*versions)[2])
{
    size_t count;
    if (!versions)
        return is_null(__func__);
    const uint8_t *all = mr_ptx_versions_all(&count);
    for (size_t i = 0; i < count; i++) {
        versions[i][0] = all[i] / 10;
        versions[i][1] = all[i] % 10;
    }
    return NVPTXCOMPILE_SUCCESS;
}

EXPORT nvPTXCompileResult nvPTXCompilerGetNumSupportedArchs(int *numArchs)
{
    size_t count;
    if (!numArchs)
        return is_null(__func__);
    mr_ptx_arch_all(&count);
    *numArchs = (int)count;
    return NVPTXCOMPILE_SUCCESS;
}

EXPORT nvPTXCompileResult nvPTXCompilerGetSupportedArchs(int *supportedArchs)
{
    size_t count;
    if (!supportedArchs)
        return is_null(__func__);
    const int *all = mr_ptx_arch_all(&count);
    memcpy(supportedArchs, all, count * sizeof *all);
    return NVPTXCOMPILE_SUCCESS;
}

/* --- Compilation ----------------------------------------------------------------- */

EXPORT nvPTXCompileResult nvPTXCompilerCreate(nvPTXCompilerHandle *compiler, size_t ptxCodeLen, const char *ptxCode)
{
    pthread_once(&once, mr_log_setup);
    if (!compiler || !ptxCode || !ptxCodeLen)
        return refuse(__func__, NVPTXCOMPILE_ERROR_INVALID_INPUT, "a pointer is NULL, or there is no PTX");
    size_t length = strnlen(ptxCode, ptxCodeLen);
    struct nvPTXCompiler *made = mr_calloc(1, sizeof *made);
    char *ptx = mr_alloc(length + 1);
    if (!made || !ptx) {
        mr_free(made);
        mr_free(ptx);
        return refuse(__func__, NVPTXCOMPILE_ERROR_OUT_OF_MEMORY, "out of memory");
    }
    memcpy(ptx, ptxCode, length);
    ptx[length] = '\0';
    *made = (struct nvPTXCompiler){.ptx = ptx, .length = length};
    *compiler = made;
    return NVPTXCOMPILE_SUCCESS;
}

static void drop_results(struct nvPTXCompiler *compiler)
{
    mr_free(compiler->program);
    compiler->program = NULL;
    mr_text_clear(&compiler->errors);
    mr_text_clear(&compiler->infos);
}

EXPORT nvPTXCompileResult nvPTXCompilerDestroy(nvPTXCompilerHandle *compiler)
{
    if (!compiler || !*compiler)
        return refuse(__func__, NVPTXCOMPILE_ERROR_INVALID_COMPILER_HANDLE, "the handle is NULL");
    drop_results(*compiler);
    mr_free((*compiler)->ptx);
    mr_free(*compiler);
    *compiler = NULL;
    return NVPTXCOMPILE_SUCCESS;
}

/* Adds a line to the error log and to ours. */
static nvPTXCompileResult fail(struct nvPTXCompiler *compiler, const char *what)
{
    mr_text_format(&compiler->errors, "ptxas (Millrace): error: %s\n", what);
    return refuse("nvPTXCompilerCompile", NVPTXCOMPILE_ERROR_COMPILATION_FAILURE, what);
}

static nvPTXCompileResult keep_program(struct nvPTXCompiler *compiler, const struct mr_assembler *assembler,
                                       const struct mr_text *ptx)
{
    struct mr_ptx_pack_entry entry = {ptx->data, ptx->length, assembler->target, "millrace-ptx"};
    compiler->program = mr_ptx_pack(&entry, 1, &compiler->program_size);
    return compiler->program ? NVPTXCOMPILE_SUCCESS : NVPTXCOMPILE_ERROR_OUT_OF_MEMORY;
}

static nvPTXCompileResult assemble(struct nvPTXCompiler *compiler, const struct mr_assembler *assembler)
{
    struct mr_text ptx = {.data = NULL};
    nvPTXCompileResult status;
    switch (mr_assemble(assembler, MR_ASSEMBLER_TEXT, compiler->ptx, compiler->length, &ptx, &compiler->errors,
                        &compiler->infos)) {
    case MR_ASSEMBLER_DONE:
        status = assembler->parse_only ? NVPTXCOMPILE_PARSE_ONLY_SUCCESS : keep_program(compiler, assembler, &ptx);
        break;
    case MR_ASSEMBLER_BAD_VERSION:
        status = NVPTXCOMPILE_ERROR_UNSUPPORTED_PTX_VERSION;
        break;
    case MR_ASSEMBLER_NO_MEMORY:
        status = NVPTXCOMPILE_ERROR_OUT_OF_MEMORY;
        break;
    default:
        status = NVPTXCOMPILE_ERROR_COMPILATION_FAILURE;
    }
    if (compiler->errors.length)
        mr_log(MR_LOG_INFO, "nvPTXCompilerCompile: %s", compiler->errors.data);
    mr_text_clear(&ptx);
    return status;
}

static nvPTXCompileResult compile(struct nvPTXCompiler *compiler, struct mr_assembler *assembler)
{
    if (assembler->help || assembler->version)
        return fail(compiler, "--help and --version are answered by the program ptxas");
    if (assembler->input || assembler->ptx)
        return fail(compiler, "a word that is no option; the PTX is the compiler's");
    if (!assembler->target)
        assembler->target = 75; /* as the assembler's help says */
    return assemble(compiler, assembler);
}

EXPORT nvPTXCompileResult nvPTXCompilerCompile(nvPTXCompilerHandle compiler, int numCompileOptions,
                                               const char *const *compileOptions)
{
    struct mr_assembler assembler;
    size_t count = numCompileOptions > 0 ? (size_t)numCompileOptions : 0;
    nvPTXCompileResult status = check(__func__, compiler, count ? (const void *)compileOptions : compiler);
    for (size_t i = 0; i < count && status == NVPTXCOMPILE_SUCCESS; i++)
        status = check(__func__, compiler, compileOptions[i]);
    if (status != NVPTXCOMPILE_SUCCESS)
        return status;
    drop_results(compiler);
    if (compiler->callback && compiler->callback(compiler->payload, NULL) == 1)
        return refuse(__func__, NVPTXCOMPILE_ERROR_CANCELLED, "the callback has cancelled it");
    if (mr_assembler_options(&assembler, count, compileOptions))
        status = compile(compiler, &assembler);
    else
        status = fail(compiler, mr_text_chars(&assembler.problem));
    mr_assembler_clear(&assembler);
    return status;
}

EXPORT nvPTXCompileResult nvPTXCompilerSetFlowCallback(nvPTXCompilerHandle compiler, int (*callback)(void *, void *),
                                                       void *payload)
{
    nvPTXCompileResult status = check(__func__, compiler, (const void *)callback);
    if (status == NVPTXCOMPILE_SUCCESS) {
        compiler->callback = callback;
        compiler->payload = payload;
    }
    return status;
}

/* --- Results --------------------------------------------------------------------- */

static nvPTXCompileResult find_program(const char *call, nvPTXCompilerHandle compiler, const void *out)
{
    nvPTXCompileResult status = check(call, compiler, out);
    if (status == NVPTXCOMPILE_SUCCESS && !compiler->program)
        status = refuse(call, NVPTXCOMPILE_ERROR_COMPILER_INVOCATION_INCOMPLETE, "there is no compiled program");
    return status;
}

EXPORT nvPTXCompileResult nvPTXCompilerGetCompiledProgramSize(nvPTXCompilerHandle compiler, size_t *binaryImageSize)
{
    nvPTXCompileResult status = find_program(__func__, compiler, binaryImageSize);
    if (status == NVPTXCOMPILE_SUCCESS)
        *binaryImageSize = compiler->program_size;
    return status;
}

EXPORT nvPTXCompileResult nvPTXCompilerGetCompiledProgram(nvPTXCompilerHandle compiler, void *binaryImage)
{
    nvPTXCompileResult status = find_program(__func__, compiler, binaryImage);
    if (status == NVPTXCOMPILE_SUCCESS)
        memcpy(binaryImage, compiler->program, compiler->program_size);
    return status;
}

static nvPTXCompileResult give_size(const struct mr_text *log, size_t *size)
{
    *size = log->length ? log->length + 1 : 0;
    return NVPTXCOMPILE_SUCCESS;
}

static nvPTXCompileResult give(const struct mr_text *log, char *to)
{
    if (log->length)
        memcpy(to, log->data, log->length + 1);
    return NVPTXCOMPILE_SUCCESS;
}

EXPORT nvPTXCompileResult nvPTXCompilerGetErrorLogSize(nvPTXCompilerHandle compiler, size_t *errorLogSize)
{
    nvPTXCompileResult status = check(__func__, compiler, errorLogSize);
    return status == NVPTXCOMPILE_SUCCESS ? give_size(&compiler->errors, errorLogSize) : status;
}

EXPORT nvPTXCompileResult nvPTXCompilerGetErrorLog(nvPTXCompilerHandle compiler, char *errorLog)
{
    nvPTXCompileResult status = check(__func__, compiler, errorLog);
    return status == NVPTXCOMPILE_SUCCESS ? give(&compiler->errors, errorLog) : status;
}

EXPORT nvPTXCompileResult nvPTXCompilerGetInfoLogSize(nvPTXCompilerHandle compiler, size_t *infoLogSize)
{
    nvPTXCompileResult status = check(__func__, compiler, infoLogSize);
    return status == NVPTXCOMPILE_SUCCESS ? give_size(&compiler->infos, infoLogSize) : status;
}

EXPORT nvPTXCompileResult nvPTXCompilerGetInfoLog(nvPTXCompilerHandle compiler, char *infoLog)
{
    nvPTXCompileResult status = check(__func__, compiler, infoLog);
    return status == NVPTXCOMPILE_SUCCESS ? give(&compiler->infos, infoLog) : status;
}
