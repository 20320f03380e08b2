/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The conformance suite's common header.
 *
 * A case is a function that asks the driver something and says what it
 * answered, as words on one line: "event.query_unrecorded: CUDA_SUCCESS".
 * The same source is built against NVIDIA's driver to record the answers and
 * against Millrace to compare them, so a case uses nothing but cuda.h and this
 * header, prints nothing that depends on time or on the size of the machine,
 * and never waits without a bound.
 *
 * Cases run in child processes (gold_main.c).  A row of ordinary cases shares
 * one child and one context; a case that may harm its process says .alone and
 * gets a fresh one.  A child that dies ends its case with "signal N".
 */
#ifndef GOLD_H
#define GOLD_H

#include <cuda.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gold_case {
    const char *name; /* "family.title" */
    void (*run)(const struct gold_case *self);
    /*
     * Other answers that are right, separated by '|', each a shell-style
     * pattern.  Needed where hardware's driver crashes or its answer depends
     * on the device; .why then says so in a few words.
     */
    const char *allow;
    const char *why;
    const void *data; /* for cases that come from a table */
    bool alone;       /* has a process of its own, with a context */
    bool bare;        /* has a process of its own, cuInit not called */
    int devices;      /* how many devices it needs, if more than one: left out of the list on smaller machines */
    struct gold_case *next;
};

/* Adds a case to the list; called before main only. */
void gold_register(struct gold_case *test);

/* Adds COUNT cases that come from a table; called before main only. */
void gold_register_all(struct gold_case *tests, size_t count);

#define CASE(family, title, ...) \
    static void family##_##title(const struct gold_case *self); \
    static struct gold_case family##_##title##_case = { \
        .name = #family "." #title, .run = family##_##title, __VA_ARGS__}; \
    __attribute__((constructor)) static void family##_##title##_add(void) \
    { \
        gold_register(&family##_##title##_case); \
    } \
    static void family##_##title(const struct gold_case *self __attribute__((unused)))

/* The words of an answer.  All are valid only while a case runs. */
void say(CUresult status);
void say_int(long long value);
void say_hex(unsigned long long value);
void say_text(const char *text);
/* Says "WHAT=yes" or "WHAT=no". */
void say_if(const char *what, bool holds);
/* Says "WHAT=VALUE". */
void say_value(const char *what, long long value);
/* Says a stable hash of SIZE bytes. */
void say_hash(const void *bytes, size_t size);

/* The status's name, or NULL for a number that CUDA 13.0 does not know. */
const char *gold_status_name(CUresult status);

/* A step that has to succeed for the case to mean anything: ends the case otherwise. */
#define NEED(expr) gold_need((expr), #expr)
void gold_need(CUresult status, const char *what);
/* Ends the case with a reason. */
_Noreturn void gold_stop(const char *reason);

/* ---- the shared fixtures of one child process ---- */

/* Device 0 and the child's own context, which is current and alone on the stack when a case starts. */
CUdevice gold_device(void);
CUcontext gold_context(void);
/* Creates a context beside the child's own one and makes it current. */
CUcontext gold_context_new(void);

/* The common module (gold_ptx.c), loaded once in the child's own context. */
CUmodule gold_module(void);
CUfunction gold_function(const char *name);
extern const char gold_ptx[];

/* Loads PTX text; ends the case when that fails. */
CUmodule gold_load(const char *ptx);

CUstream gold_stream(unsigned flags);
CUevent gold_event(unsigned flags);
CUdeviceptr gold_alloc(size_t bytes);
/* Device memory filled with the 32-bit word VALUE. */
CUdeviceptr gold_alloc_words(size_t count, unsigned value);
unsigned gold_word(CUdeviceptr address);

/* Launches FUNCTION with one block of THREADS threads. */
CUresult gold_launch(CUfunction function, unsigned threads, CUstream stream, void **params);
/* Enqueues a kernel that stores VALUE, or adds it, at ADDRESS. */
void gold_store(CUstream stream, CUdeviceptr address, unsigned value);
void gold_add(CUstream stream, CUdeviceptr address, unsigned value);

/*
 * A gate keeps a stream busy with a kernel that spins until the gate is
 * opened, or for eight seconds at most.
 */
struct gold_gate {
    volatile unsigned *flag;
};
struct gold_gate gold_gate_close(CUstream stream);
void gold_gate_open(struct gold_gate gate);

/* Sleeps on the host. */
void gold_sleep_ms(unsigned ms);

/* Waits up to LIMIT_MS until the status query of stream or event is no longer NOT_READY. */
CUresult gold_wait_stream(CUstream stream, unsigned limit_ms);
CUresult gold_wait_event(CUevent event, unsigned limit_ms);

/* Something that is not a driver object: zeroed host memory, and a wild address. */
void *gold_foreign(void);
#define GOLD_WILD ((void *)(uintptr_t)0xdead0000beefull)

/* Called by gold_main.c around each case; a program of cases has its own (gold.c, runtime/rt.c). */
void gold_child_begin(bool bare);
bool gold_child_reset(void);
int gold_device_count(void);
/* Runs one case and leaves its answer in BUFFER. */
void gold_run(const struct gold_case *test, char *buffer, size_t size);
/* The list of cases, in the order in which they were added. */
struct gold_case *gold_first(void);

#endif
