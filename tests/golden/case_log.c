/* SPDX-License-Identifier: Apache-2.0 */
/* The error log: what it holds after a failure, how it is read, and callbacks that are told. */
#include "gold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOG_SIZE = 25600 };

static CUlogIterator now(void)
{
    CUlogIterator iterator = 0;
    NEED(cuLogsCurrent(&iterator, 0));
    return iterator;
}

/* Whether a call left messages; how many is up to the driver. */
#define SAY_MESSAGES(call) \
    do { \
        CUlogIterator before = now(); \
        say(call); \
        say_if("logged", now() != before); \
    } while (0)

static CUresult fail(void)
{
    return cuMemAlloc(NULL, 4);
}

CASE(log, current)
{
    CUlogIterator iterator = 77;
    say(cuLogsCurrent(&iterator, 0));
    say(cuLogsCurrent(&iterator, 1));
    say(cuLogsCurrent(NULL, 0));
}

CASE(log, before_init, .bare = true)
{
    CUlogIterator iterator = 77;
    char buffer[256];
    size_t size = sizeof buffer;
    say(cuLogsCurrent(&iterator, 0));
    say_if("zero", iterator == 0);
    say(cuLogsDumpToMemory(NULL, buffer, &size, 0));
    say_int((long long)size);
}

CASE(log, starts_empty, .alone = true)
{
    static char buffer[LOG_SIZE];
    size_t size = sizeof buffer;
    say(cuLogsDumpToMemory(NULL, buffer, &size, 0));
    say_int((long long)size);
}

CASE(log, counts)
{
    CUdeviceptr memory;
    CUstream stream = gold_stream(0);
    struct gold_gate gate = gold_gate_close(stream);
    SAY_MESSAGES(cuMemAlloc(&memory, 64));
    SAY_MESSAGES(fail());
    SAY_MESSAGES(cuMemAlloc(&memory, (size_t)1 << 50));
    SAY_MESSAGES(cuStreamQuery(stream));
    SAY_MESSAGES(cuStreamSynchronize((CUstream)gold_foreign()));
    gold_gate_open(gate);
    NEED(cuStreamSynchronize(stream));
}

CASE(log, counts_of_launches)
{
    CUfunction empty = gold_function("empty");
    SAY_MESSAGES(cuLaunchKernel(empty, 0, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    SAY_MESSAGES(cuLaunchKernel(empty, 1, 1, 1, 2048, 1, 1, 0, NULL, NULL, NULL));
    SAY_MESSAGES(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 1 << 20, NULL, NULL, NULL));
}

CASE(log, message)
{
    static char buffer[LOG_SIZE + 1];
    CUlogIterator iterator = now(), before = iterator;
    size_t size = sizeof buffer - 1;
    say(fail());
    memset(buffer, 'x', sizeof buffer);
    say(cuLogsDumpToMemory(&iterator, buffer, &size, 0));
    say_if("advanced", iterator != before && iterator == now());
    say_if("some", size > 0);
    say_if("terminated", buffer[size] == 0);
    say_if("newline", size > 0 && buffer[size - 1] == '\n');
    say_if("named", strstr(buffer, "cuMemAlloc") != NULL);
    size = sizeof buffer - 1;
    say(cuLogsDumpToMemory(&iterator, buffer, &size, 0));
    say_int((long long)size);
    size = sizeof buffer - 1;
    say(cuLogsDumpToMemory(&before, buffer, &size, 0));
    say_if("again", size > 0);
    say_if("same", before == iterator);
}

CASE(log, dump_bad)
{
    char buffer[256];
    size_t size = sizeof buffer;
    CUlogIterator iterator = now(), future = iterator + 100;
    say(fail());
    say(cuLogsDumpToMemory(&iterator, buffer, &size, 1));
    say(cuLogsDumpToMemory(&future, buffer, &size, 0));
    say_int((long long)size);
    size = 1;
    say(cuLogsDumpToMemory(&iterator, buffer, &size, 0));
    say_int((long long)size);
    size = 0;
    say(cuLogsDumpToMemory(&iterator, buffer, &size, 0));
    say_int((long long)size);
}

CASE(log, dump_null_buffer, .alone = true)
{
    size_t size = 256;
    say(fail());
    say(cuLogsDumpToMemory(NULL, NULL, &size, 0));
}

CASE(log, dump_null_size, .alone = true)
{
    char buffer[256];
    say(fail());
    say(cuLogsDumpToMemory(NULL, buffer, NULL, 0));
}

/* More messages than the buffer takes: the latest are there, and a word that some are not. */
CASE(log, dump_cut, .alone = true,
     .allow = "CUDA_SUCCESS CUDA_SUCCESS less=yes end is the same=yes head differs=yes advanced=yes",
     .why = "hardware's driver writes behind the end of the buffer")
{
    static char all[LOG_SIZE];
    char buffer[400];
    size_t size = sizeof all, part = sizeof buffer;
    CUlogIterator iterator = now(), copy;
    for (int i = 0; i < 20; i++)
        (void)fail();
    copy = iterator;
    say(cuLogsDumpToMemory(&copy, all, &size, 0));
    copy = iterator;
    say(cuLogsDumpToMemory(&copy, buffer, &part, 0));
    say_if("less", part > 0 && part < size && part < sizeof buffer);
    say_if("end is the same", part > 40 && !memcmp(all + size - 40, buffer + part - 40, 40));
    say_if("head differs", memcmp(all, buffer, 20) != 0);
    say_if("advanced", copy == now());
}

/* More messages than the log keeps. */
CASE(log, overflow)
{
    static char all[LOG_SIZE + 1];
    size_t size = sizeof all;
    CUlogIterator iterator = now(), before = iterator;
    for (int i = 0; i < 2000; i++)
        (void)fail();
    say_if("counted", now() - before >= 2000);
    say(cuLogsDumpToMemory(&iterator, all, &size, 0));
    say_if("bounded", size > 0 && size <= LOG_SIZE);
    say_if("advanced", iterator == now());
}

static long long file_size(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return -1;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    fclose(file);
    return size;
}

CASE(log, file)
{
    char path[] = "/tmp/gold-log-XXXXXX";
    int made = mkstemp(path);
    if (made < 0)
        gold_stop("mkstemp");
    close(made);
    CUlogIterator iterator = now(), again = iterator;
    say(fail());
    say(cuLogsDumpToFile(&iterator, path, 0));
    long long first = file_size(path);
    say_if("some", first > 0);
    say_if("advanced", iterator == now());
    say(cuLogsDumpToFile(&again, path, 0));
    long long second = file_size(path);
    say_text(second == first ? "replaced" : second == 2 * first ? "appended" : "other");
    say(cuLogsDumpToFile(&again, path, 0)); /* nothing to tell */
    say_text(file_size(path) == second ? "kept" : file_size(path) == 0 ? "emptied" : "other");
    say(cuLogsDumpToFile(NULL, path, 1));
    say(cuLogsDumpToFile(NULL, "/no/such/folder/log", 0));
    unlink(path);
}

CASE(log, file_null, .alone = true)
{
    say(fail());
    say(cuLogsDumpToFile(NULL, NULL, 0));
}

/* ---- callbacks ---- */

static struct {
    int calls, level;
    void *data;
    size_t length;
    bool whole, newline, named;
    CUresult inside[3];
    bool ask;
} told;

static void CUDA_CB tell(void *data, CUlogLevel level, char *message, size_t length)
{
    CUcontext context;
    CUdeviceptr memory;
    told.calls++;
    told.level = (int)level;
    told.data = data;
    told.length = length;
    told.whole = strnlen(message, length + 1) == length;
    told.newline = length > 0 && message[length - 1] == '\n';
    told.named = strstr(message, "cuMemAlloc") != NULL;
    if (told.ask) {
        told.ask = false;
        told.inside[0] = cuCtxGetCurrent(&context);
        told.inside[1] = cuMemAlloc(&memory, 64);
        told.inside[2] = fail();
    }
}

CASE(log, callback)
{
    CUlogsCallbackHandle handle = NULL;
    int mark;
    memset(&told, 0, sizeof told);
    say(cuLogsRegisterCallback(tell, &mark, &handle));
    say_if("handle", handle != NULL);
    say(fail());
    int calls = told.calls; /* by the time the call returns */
    say_if("told", calls > 0);
    gold_sleep_ms(100);
    say_if("more", told.calls != calls);
    say_int(told.level);
    say_if("data", told.data == &mark);
    say_if("whole", told.whole);
    say_if("newline", told.newline);
    say_if("named", told.named);
    say(cuCtxSynchronize());
    say_if("more", told.calls != calls);
    say(cuLogsUnregisterCallback(handle));
    say(fail());
    gold_sleep_ms(100);
    say_if("more", told.calls != calls);
}

CASE(log, callback_twice)
{
    CUlogsCallbackHandle first = NULL, second = NULL;
    memset(&told, 0, sizeof told);
    say(cuLogsRegisterCallback(tell, NULL, &first));
    say(cuLogsRegisterCallback(tell, NULL, &second));
    say_if("differ", first != second);
    say(fail());
    gold_sleep_ms(100);
    int calls = told.calls;
    say_if("even", calls > 0 && calls % 2 == 0);
    say(cuLogsUnregisterCallback(first));
    say(fail());
    gold_sleep_ms(100);
    say_if("half as many", (told.calls - calls) * 2 == calls);
    say(cuLogsUnregisterCallback(second));
}

CASE(log, callback_without_handle)
{
    memset(&told, 0, sizeof told);
    say(cuLogsRegisterCallback(tell, NULL, NULL));
    say(fail());
    gold_sleep_ms(100);
    say_if("told", told.calls > 0);
}

CASE(log, callback_bad, .alone = true)
{
    CUlogsCallbackHandle handle = NULL;
    say(cuLogsRegisterCallback(NULL, NULL, &handle));
    say_if("handle", handle != NULL);
    say(cuLogsUnregisterCallback(NULL));
}

CASE(log, unregister_twice, .alone = true, .allow = "CUDA_SUCCESS CUDA_SUCCESS CUDA_ERROR_INVALID_VALUE",
     .why = "hardware's driver crashes")
{
    CUlogsCallbackHandle handle = NULL;
    say(cuLogsRegisterCallback(tell, NULL, &handle));
    say(cuLogsUnregisterCallback(handle));
    say(cuLogsUnregisterCallback(handle));
}

CASE(log, callback_calls, .alone = true)
{
    CUlogsCallbackHandle handle = NULL;
    memset(&told, 0, sizeof told);
    say(cuLogsRegisterCallback(tell, NULL, &handle));
    told.ask = true;
    say(fail());
    gold_sleep_ms(100);
    say(told.inside[0]);
    say(told.inside[1]);
    say(told.inside[2]);
    say_if("more", told.calls > 1); /* of what failed inside */
}

CASE(log, callback_before_init, .bare = true)
{
    CUlogsCallbackHandle handle = NULL;
    memset(&told, 0, sizeof told);
    say(cuLogsRegisterCallback(tell, NULL, &handle));
    say(cuCtxSynchronize());
    gold_sleep_ms(100);
    say_int(told.calls);
}
