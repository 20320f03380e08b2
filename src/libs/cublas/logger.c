/* SPDX-License-Identifier: Apache-2.0 */
/* Where the program's log goes: standard output, standard error, a file, a function; all that are asked for. */
#include "libs/cublas/logger.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "cublas_impl.h"

static atomic_bool on; /* somebody listens */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static bool configured, to_out, to_error;
static FILE *file;
static cublasLogCallback callback;

void mr_cublas_tell(const char *function, const char *text)
{
    if (!atomic_load_explicit(&on, memory_order_relaxed))
        return;
    char line[320];
    snprintf(line, sizeof line, "[cublas] %s%s%s\n", function, text ? ": " : "", text ? text : "");
    pthread_mutex_lock(&lock);
    if (configured && to_out)
        fputs(line, stdout);
    if (configured && to_error)
        fputs(line, stderr);
    if (configured && file) {
        fputs(line, file);
        fflush(file);
    }
    cublasLogCallback call = callback;
    pthread_mutex_unlock(&lock);
    if (call)
        call(line);
}

cublasStatus_t mr_cublas_LoggerConfigure(const struct mr_form *form, int64_t logIsOn, int64_t logToStdOut,
                                         int64_t logToStdErr, const char *logFileName)
{
    (void)form;
    FILE *opened = logFileName ? fopen(logFileName, "w") : NULL;
    if (logFileName && !opened)
        return CUBLAS_STATUS_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    if (file)
        fclose(file);
    file = opened;
    configured = logIsOn != 0;
    to_out = logToStdOut != 0;
    to_error = logToStdErr != 0;
    atomic_store(&on, configured || callback);
    pthread_mutex_unlock(&lock);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublas_SetLoggerCallback(const struct mr_form *form, cublasLogCallback userCallback)
{
    (void)form;
    pthread_mutex_lock(&lock);
    callback = userCallback;
    atomic_store(&on, configured || callback);
    pthread_mutex_unlock(&lock);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublas_GetLoggerCallback(const struct mr_form *form, cublasLogCallback *userCallback)
{
    (void)form;
    if (!userCallback)
        return CUBLAS_STATUS_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    *userCallback = callback;
    pthread_mutex_unlock(&lock);
    return CUBLAS_STATUS_SUCCESS;
}

/* What a Fortran program's wrapper calls for a wrong argument. */
void mr_cublas_Xerbla(const struct mr_form *form, const char *srName, int64_t info)
{
    (void)form;
    fprintf(stderr, "On entry to %s parameter number %d had an illegal value\n", srName, (int)info);
}
