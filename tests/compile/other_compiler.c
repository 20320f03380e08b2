/* SPDX-License-Identifier: Apache-2.0 */
/* A code generation library of another build: one whose records differ, whose table of functions differs, or that has
 * none. Being called ends the process. */
#include <stdlib.h>

#include "compile/codegen.h"
#include "compile/codegen_interface.h"

#ifndef NO_TABLE
static bool emit(const struct mr_codegen_request *request, struct mr_codegen_result *result)
{
    (void)request, (void)result;
    abort();
}

static void release(struct mr_codegen_result *result)
{
    (void)result;
    abort();
}
#endif

#if defined(OTHER_INTERFACE)
extern const struct mr_codegen_api mr_codegen;
__attribute__((visibility("default"))) const struct mr_codegen_api mr_codegen = {.version = MR_CODEGEN_VERSION,
                                                                                 .abi = MR_ABI_VERSION,
                                                                                 .interface = MR_CODEGEN_INTERFACE ^ 1,
                                                                                 .emit = emit,
                                                                                 .release = release};
#elif defined(OTHER_VERSION)
/* As it was before there was a number for the records. */
struct old_api {
    unsigned version, abi;
    void *functions[2];
};
extern const struct old_api mr_codegen;
__attribute__((visibility("default")))
const struct old_api mr_codegen = {MR_CODEGEN_VERSION - 1, MR_ABI_VERSION, {(void *)emit, (void *)release}};
#endif
