/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every program of cases stands on, whichever interface it asks: the
 * list of cases and the words of an answer.
 */
#include "gold.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* ---- the list ---- */

static struct gold_case *first, **last = &first;

void gold_register(struct gold_case *test)
{
    *last = test;
    last = &test->next;
}

void gold_register_all(struct gold_case *tests, size_t count)
{
    for (size_t i = 0; i < count; i++)
        gold_register(&tests[i]);
}

struct gold_case *gold_first(void)
{
    return first;
}

/* ---- the answer of the case that runs ---- */

static char *answer;
static size_t answer_size;
static jmp_buf case_end;

static void word(const char *text)
{
    size_t length = strlen(answer);
    snprintf(answer + length, answer_size - length, "%s%s", length ? " " : "", text);
}

void gold_run(const struct gold_case *test, char *buffer, size_t size)
{
    answer = buffer;
    answer_size = size;
    buffer[0] = '\0';
    if (setjmp(case_end) == 0)
        test->run(test);

    /* Only what is static may be looked at here: longjmp may have come by. */
    for (size_t i = 0; answer[i]; i++)
        if (answer[i] == '\n' || answer[i] == '\r')
            answer[i] = ' ';
}

void say_text(const char *text)
{
    word(text ? text : "(null)");
}

void say(CUresult status)
{
    const char *name = gold_status_name(status);
    if (name)
        word(name);
    else
        say_value("status", (long long)status);
}

void say_int(long long value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", value);
    word(text);
}

void say_hex(unsigned long long value)
{
    char text[32];
    snprintf(text, sizeof text, "0x%llx", value);
    word(text);
}

void say_if(const char *what, bool holds)
{
    char text[128];
    snprintf(text, sizeof text, "%s=%s", what, holds ? "yes" : "no");
    word(text);
}

void say_value(const char *what, long long value)
{
    char text[128];
    snprintf(text, sizeof text, "%s=%lld", what, value);
    word(text);
}

/* FNV-1a, 64 bits. */
void say_hash(const void *bytes, size_t size)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    char text[32];
    snprintf(text, sizeof text, "hash:%016llx", (unsigned long long)hash);
    word(text);
}

void gold_need(CUresult status, const char *what)
{
    if (status == CUDA_SUCCESS)
        return;
    word("stopped:");
    word(what);
    say(status);
    longjmp(case_end, 1);
}

_Noreturn void gold_stop(const char *reason)
{
    word("stopped:");
    word(reason);
    longjmp(case_end, 1);
}

/* ---- what needs no device ---- */

void gold_sleep_ms(unsigned ms)
{
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    nanosleep(&time, NULL);
}

void *gold_foreign(void)
{
    void *memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        gold_stop("mmap");
    return memory;
}
