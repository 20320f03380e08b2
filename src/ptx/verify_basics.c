/* SPDX-License-Identifier: Apache-2.0 */

/* The verifier's small tools, on which all its files stand: errors, and what the module's target and version are. */
#include <stdarg.h>
#include <stdio.h>

#include "ptx/verify.h"

static void report(struct verifier *verifier, uint32_t line, uint32_t column, const char *format, va_list arguments)
{
    char message[400];
    vsnprintf(message, sizeof message, format, arguments);
    verifier->errors++;
    mr_ptx_diag_error(verifier->diag, line, column, "%s", message);
}

bool mr_ptx_verify_error(struct verifier *verifier, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    report(verifier, verifier->inst->line, verifier->inst->column, format, arguments);
    va_end(arguments);
    return false;
}

bool mr_ptx_verify_operand_error(struct verifier *verifier, const struct mr_ptx_operand *operand, const char *format,
                                 ...)
{
    va_list arguments;
    va_start(arguments, format);
    report(verifier, operand->line, operand->column, format, arguments);
    va_end(arguments);
    return false;
}

bool mr_ptx_verify_error_at(struct verifier *verifier, uint32_t line, uint32_t column, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    report(verifier, line, column, format, arguments);
    va_end(arguments);
    return false;
}

bool mr_ptx_verify_unsupported(struct verifier *verifier, const char *what)
{
    if (verifier->diag)
        verifier->diag->unsupported = true;
    return mr_ptx_verify_error(verifier, "unsupported instruction '%s': %s is not supported",
                               mr_ptx_op_name((enum mr_ptx_op)verifier->inst->op), what);
}

bool mr_ptx_verify_is_sm(const struct verifier *verifier, uint32_t sm)
{
    return verifier->module->target_sm >= sm;
}

bool mr_ptx_verify_is_version(const struct verifier *verifier, uint32_t major, uint32_t minor)
{
    return mr_ptx_module_has_version(verifier->module, major * 10 + minor);
}
