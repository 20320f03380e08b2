/* SPDX-License-Identifier: Apache-2.0 */
/* The log that a program of cuBLASLt can switch on: lines of level 1, which say why a call is refused. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include "libs/cublaslt/lt.h"
#include "libs/math/refusal.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all here */
static FILE *file, *opened;
static int mask; /* bit 0: level 1 */
static bool disabled;
static cublasLtLoggerCallback_t callback;

void mr_lt_tell(const char *function, const char *text)
{
    pthread_mutex_lock(&lock);
    bool on = (mask & 1) && !disabled;
    FILE *to = file ? file : stdout;
    cublasLtLoggerCallback_t call = on ? callback : NULL;
    if (on) {
        fprintf(to, "[cublasLt] %s: %s\n", function, text);
        fflush(to);
    }
    pthread_mutex_unlock(&lock);
    if (call)
        call(1, function, text);
}

cublasStatus_t mr_lt_bad(const struct mr_form *form, cublasStatus_t status, const char *format, ...)
{
    char reason[MR_MATH_REASON];
    va_list arguments;
    va_start(arguments, format);
    mr_math_refuse(form->name, status == CUBLAS_STATUS_NOT_SUPPORTED, reason, format, arguments);
    va_end(arguments);
    mr_lt_tell(form->name, reason);
    return status;
}

cublasStatus_t mr_cublaslt_LoggerSetCallback(const struct mr_form *form, cublasLtLoggerCallback_t wanted)
{
    (void)form;
    pthread_mutex_lock(&lock);
    callback = wanted;
    pthread_mutex_unlock(&lock);
    return CUBLAS_STATUS_SUCCESS;
}

static void use(FILE *wanted, FILE *own)
{
    pthread_mutex_lock(&lock);
    if (opened)
        fclose(opened);
    file = wanted;
    opened = own;
    pthread_mutex_unlock(&lock);
}

cublasStatus_t mr_cublaslt_LoggerSetFile(const struct mr_form *form, FILE *wanted)
{
    (void)form;
    use(wanted, NULL);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublaslt_LoggerOpenFile(const struct mr_form *form, const char *logFile)
{
    FILE *own = logFile ? fopen(logFile, "w") : NULL;
    MR_LT_CHECK(form, own);
    use(own, own);
    return CUBLAS_STATUS_SUCCESS;
}

/* A level switches on all up to it. */
cublasStatus_t mr_cublaslt_LoggerSetLevel(const struct mr_form *form, int64_t level)
{
    MR_LT_CHECK(form, level >= 0 && level <= 5);
    pthread_mutex_lock(&lock);
    mask = (1 << level) - 1;
    pthread_mutex_unlock(&lock);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublaslt_LoggerSetMask(const struct mr_form *form, int64_t wanted)
{
    (void)form;
    pthread_mutex_lock(&lock);
    mask = (int)wanted;
    pthread_mutex_unlock(&lock);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublaslt_LoggerForceDisable(const struct mr_form *form)
{
    (void)form;
    pthread_mutex_lock(&lock);
    disabled = true;
    pthread_mutex_unlock(&lock);
    return CUBLAS_STATUS_SUCCESS;
}
