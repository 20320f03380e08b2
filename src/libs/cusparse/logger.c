/* SPDX-License-Identifier: Apache-2.0 */
/* Where the program's log of its calls goes: to a file, to a function, or to both. Levels are those of the manual: 1
 * for errors, 5 for calls; a mask has a bit for each level. */
#include "libs/cusparse/logger.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/mutex.h"
#include "cusparse_impl.h"

#define LEVELS 5
#define ERROR_LEVEL 1
#define CALL_LEVEL 5

static atomic_bool on; /* somebody listens */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static unsigned mask;
static bool disabled, owned;
static FILE *file;
static cusparseLoggerCallback_t callback;

void mr_cusparse_tell(const char *function, const char *text)
{
    if (!atomic_load_explicit(&on, memory_order_relaxed))
        return;
    int level = text ? ERROR_LEVEL : CALL_LEVEL;
    pthread_mutex_lock(&lock);
    bool wanted = !disabled && (mask & 1u << (level - 1));
    if (wanted && file) {
        fprintf(file, "[cusparse] %s%s%s\n", function, text ? ": " : "", text ? text : "");
        fflush(file);
    }
    cusparseLoggerCallback_t call = wanted ? callback : NULL;
    pthread_mutex_unlock(&lock);
    if (call)
        call(level, function, text ? text : "called");
}

/* The lock is held. */
static void set_file(FILE *to, bool is_owned)
{
    MR_MUTEX_HELD(&lock);
    if (file && owned)
        fclose(file);
    file = to;
    owned = is_owned;
    atomic_store(&on, file || callback);
}

cusparseStatus_t mr_cusparse_LoggerSetCallback(const struct mr_form *form, cusparseLoggerCallback_t to)
{
    (void)form;
    pthread_mutex_lock(&lock);
    callback = to;
    atomic_store(&on, file || callback);
    pthread_mutex_unlock(&lock);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_LoggerSetFile(const struct mr_form *form, FILE *to)
{
    (void)form;
    pthread_mutex_lock(&lock);
    set_file(to, false);
    pthread_mutex_unlock(&lock);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_LoggerOpenFile(const struct mr_form *form, const char *logFile)
{
    (void)form;
    FILE *opened = logFile ? fopen(logFile, "w") : NULL;
    if (logFile && !opened)
        return CUSPARSE_STATUS_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    set_file(opened, true);
    pthread_mutex_unlock(&lock);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_LoggerSetLevel(const struct mr_form *form, int64_t level)
{
    (void)form;
    if (level < 0 || level > LEVELS)
        return CUSPARSE_STATUS_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    mask = (1u << level) - 1;
    pthread_mutex_unlock(&lock);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_LoggerSetMask(const struct mr_form *form, int64_t wanted)
{
    (void)form;
    pthread_mutex_lock(&lock);
    mask = (unsigned)wanted;
    pthread_mutex_unlock(&lock);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_LoggerForceDisable(const struct mr_form *form)
{
    (void)form;
    pthread_mutex_lock(&lock);
    disabled = true;
    pthread_mutex_unlock(&lock);
    return CUSPARSE_STATUS_SUCCESS;
}
