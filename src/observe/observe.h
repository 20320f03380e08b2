/* SPDX-License-Identifier: Apache-2.0 */
/* Points of observation: where the driver tells an observer what the program asks for and what the engine does.
 *
 * An observer is a library of its own (libmillrace-observer.so), which the driver loads when MILLRACE_OBSERVE asks for
 * it. It finds missing synchronisation, draws timelines, and holds work back. Another one may come while the program
 * runs (libcupti; observe/attach.h). The driver knows nothing of what they do: it calls the functions of one table
 * (struct mr_observer). Without an observer each point costs a load and a branch.
 *
 * Terms.
 *
 * - A call is one call of the public interface, from its first instruction to its return: `enter` and `leave`, both on
 *   the thread that makes it. Calls that the driver makes of itself are no calls in this sense.
 * - A work is what a stream queues: a kernel, a copy, a fill, a host function, a graph's run, memory operations. Its
 *   number is the command's `sequence`, unique in the process. Records and waits are no works: the call tells of them.
 * - A step is one node of one run of a graph. It is named by the run's work and the node's handle.
 * - An access is a box of bytes that a work or a step reads or writes.
 *
 * One work: enter, bind (the call has queued it), leave; and at any time after bind, on any thread: begin, access for
 * each box, end. So a work may end before the call that asked for it returns. A graph's run: begin, then for each step
 * begin, access, end with the step's node, then end.
 *
 * Functions of the table are called on the program's threads and on the engine's, any number at once. They may call the
 * public interface from enter and leave alone; such calls are not observed (mr_observe_pause). They take no lock of the
 * driver. bind is called with the stream's lock held, and must be quick. */
#ifndef MR_OBSERVE_OBSERVE_H
#define MR_OBSERVE_OBSERVE_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which points are live; bits of mr_observing. */
enum mr_observe_point {
    MR_OBSERVE_CALLS = 1,  /* enter, leave, bind */
    MR_OBSERVE_WORK = 2,   /* begin, end */
    MR_OBSERVE_ACCESS = 4, /* access; kernels are compiled with notes of what they touch */
    MR_OBSERVE_ORDER = 8,  /* may_begin, rest, waits: the observer says when a work may begin */
    MR_OBSERVE_APART = 16, /* no function: allocations lie far apart, so that what runs past one hits no other */
    MR_OBSERVE_FIRST = 32, /* with ACCESS: also which bytes kernels read first (MR_ACCESS_FIRST); slower */
    MR_OBSERVE_SLICES = 64, /* with WORK: slice; the clock is read twice for each part */
};

/* The generated enum mr_call and the structs of parameters, struct mr_params_<SYMBOL>, are in observe/calls.h. */
struct mr_observed_call {
    uint32_t call;         /* enum mr_call: the function, each version by itself (MR_CALL_cuMemAlloc_v2) */
    const char *name;      /* "cuMemAlloc" */
    const void *params;    /* struct mr_params_<SYMBOL> with streams as the driver takes them (calls.h), or NULL */
    const void *site;      /* where the program called, in its code: the return address */
    CUcontext context;     /* current on the thread at enter; NULL for none */
    uint64_t number;       /* of the call, from 1 up, in the order of enter */
    void *data;            /* the observer's own, from enter to leave; NULL at enter */
    const char *symbol; /* of a launch by the runtime API: the kernel's mangled name, where that library knows it */
    bool per_thread; /* the form with per-thread default streams was called (_ptsz, _ptds) */
    void *attached; /* the driver's own, as is the next */
    uint64_t begun;
};

enum mr_observed_kind {
    MR_OBSERVED_KERNEL,
    MR_OBSERVED_COPY,
    MR_OBSERVED_FILL,
    MR_OBSERVED_HOST, /* cuLaunchHostFunc, cuStreamAddCallback, work of libraries (with parts) */
    MR_OBSERVED_MEMORY_OP, /* cuStreamWaitValue, WriteValue, batches */
    MR_OBSERVED_GRAPH,
    MR_OBSERVED_RECORD, /* event nodes of graphs alone */
    MR_OBSERVED_WAIT,
    MR_OBSERVED_OTHER, /* the driver's own: deferred frees and the like */
};

struct mr_observed_work {
    uint64_t work; /* its number */
    uint64_t node; /* of a step: the handle of the node in the graph that was instantiated; else 0 */
    uint64_t grid; /* of a kernel: %gridid, unique in the process; else 0 */
    enum mr_observed_kind kind;
    uint64_t stream; /* cuStreamGetId's answer for the stream it is in */
    CUcontext context;
    uint64_t context_number; /* cuCtxGetId's answer for it */
    int device; /* of the context */
    const char *kernel; /* of a kernel: its mangled name; of a library's work: the library's function, where it tells;
                           else NULL. Valid as long as the process */
    uint32_t blocks[3], threads[3];
    uint32_t shared_static, shared_dynamic; /* of a kernel: bytes of a block, */
    uint32_t registers, local; /* and of a thread: registers, bytes of local memory */
    bool cooperative;
    uint64_t bytes; /* of a copy or fill */
    uintptr_t from, to; /* where a copy reads first, and where a copy or fill writes first; arrays' bytes stand at
                           addresses of the driver's (struct mr_observed_driver's kind tells) */
    uint32_t value; /* of a fill, in its lowest bytes */
    uint64_t parts; /* of a library's work (command/parts.h); else 0 */
    uint64_t touches; /* of a library's work: how many boxes the library tells of; 0: what it touches is not known */
    const void *code; /* of such a work: an address in the library that does it */
    uint64_t module; /* of a kernel: its module's number (struct mr_observed_part); 0: not known */
};

/* How bytes are touched; bits. */
enum mr_access_how {
    MR_ACCESS_READ = 1,
    MR_ACCESS_WRITE = 2,
    MR_ACCESS_ATOMIC = 4, /* with READ or WRITE: such accesses do not race with each other */
    MR_ACCESS_ROUGH = 8, /* the box may hold bytes that were not touched: memory for exact notes was short */
    MR_ACCESS_CALL = 16, /* done by the call that asked for the work, before it returned: small pageable sources */
    MR_ACCESS_MODULE = 32, /* memory of a module: the program may never have asked where it is */
    MR_ACCESS_MISALIGNED = 64, /* an access that was not done: the kernel has stopped at it, because the address is no
                                  multiple of its size. `first` is 0 if the address is not known */
    MR_ACCESS_WAY = 256, /* with FIRST: what was read said which way the thread went, by a branch; */
    MR_ACCESS_PLACE = 512, /* at which address it accessed memory */
    MR_ACCESS_PAST_GRIDS = 1024, /* of a kernel: by code that may have waited for the grids before
                                    (griddepcontrol.wait); other code of a launch that may overlap has not */
    MR_ACCESS_TALKS = 2048, /* of a kernel: an access by which it may tell the host something, or be told: volatile, or
                               in the scope of the system */
    MR_ACCESS_MAY = 4096, /* of a kernel whose accesses nobody can see: its parameters lead to these bytes, and it may
                             touch them in this way, or not at all */
    MR_ACCESS_FIRST = 128, /* of a kernel, with READ: bytes that it read before it wrote them, if ever it did. Such
                              boxes come before all others of the kernel, which hold these bytes again. One of no bytes
                              that is ROUGH says that some are missing, because memory was short */
};

/* `rows` runs of `width` bytes, `pitch` bytes apart. `place`: of a kernel, an index for `mr_observe_place`; else 0. */
struct mr_access {
    uintptr_t first;
    size_t width, rows, pitch;
    uint32_t place;
    uint32_t how;
};

/* Bytes of arrays are at no address of the program's: they stand at the array's address for observers, plus their place
 * (row by row, without gaps; the levels of a mipmapped array one after the other). No two arrays have the same address,
 * and no memory has one above MR_OBSERVED_ARRAYS. `number`: of the array, unique in the process. */
#define MR_OBSERVED_ARRAYS ((uintptr_t)1 << 63)
#define MR_OBSERVED_ARRAY(number) (MR_OBSERVED_ARRAYS | ((uintptr_t)(number) & 0x7ffffff) << 36)

/* Default streams of a driver that doesn't tell them apart by number have numbers of their own: of the context
 * (cuCtxGetId), and of the thread whose own default stream it is, from 1 up (0: the legacy one). */
#define MR_OBSERVED_DEFAULT_STREAM ((uint64_t)1 << 63)
#define MR_OBSERVED_DEFAULT_STREAM_OF(context, thread) \
    (MR_OBSERVED_DEFAULT_STREAM | (uint64_t)(context) << 24 | (thread))
#define MR_OBSERVED_DEFAULT_STREAM_THREAD(number) ((uint32_t)((number) & 0xffffff))

/* A part of a module: itself, with no bytes, or one of its variables. `module` is a number from 1 up that no other
 * module of the process has or will have. */
struct mr_observed_part {
    uint64_t module;
    CUcontext context;
    uintptr_t first;
    size_t size; /* 0: the module itself */
};

/* Where in a kernel's source an access is. `file` and `line` are of the .cu file where the module tells (.loc), else
 * NULL and 0; `ptx_line` counts from 1. Valid as long as the process. */
struct mr_observed_place {
    const char *kernel, *file;
    uint32_t line, ptx_line;
};

/* What a kernel does with the heap of kernels (malloc and free in device code). MR_OBSERVED_HEAP_BAD_FREE: it frees an
 * address that was never allocated, or that was freed before. Under an observer with MR_OBSERVE_ACCESS no address of
 * the heap is handed out twice. */
enum mr_observed_heap_how { MR_OBSERVED_HEAP_ALLOCATED, MR_OBSERVED_HEAP_FREED, MR_OBSERVED_HEAP_BAD_FREE };
struct mr_observed_heap {
    uintptr_t first;
    size_t size; /* that was asked for; 0 for what was not allocated */
    enum mr_observed_heap_how how;
};

#define MR_OBSERVER_VERSION 12u

struct mr_observer {
    uint32_t version; /* MR_OBSERVER_VERSION */
    uint32_t points; /* bits of enum mr_observe_point that it wants */
    void (*enter)(struct mr_observed_call *call);
    void (*leave)(struct mr_observed_call *call, CUresult status);
    /* The call that this thread is in has queued the work. A call may queue several, or none. A work that is left out
     * because its context has failed begins and ends with that status. */
    void (*bind)(const struct mr_observed_work *work);
    void (*begin)(const struct mr_observed_work *work);
    void (*end)(const struct mr_observed_work *work, CUresult status);
    /* Boxes that the work or step touches; between its begin and its end, in one call or several. Called also for a
     * kernel that faulted: with what was touched until then. */
    void (*access)(const struct mr_observed_work *work, const struct mr_access *boxes, size_t count);
    /* What a kernel has allocated and freed on the heap of kernels, in the order in which it did so, when its blocks
     * have ended and before `access` is called for what they touched. With MR_OBSERVE_ACCESS. */
    void (*heap)(const struct mr_observed_work *work, const struct mr_observed_heap *changes, size_t count);
    /* One thread's part of a work: blocks or pieces run on `worker` (a small number) from one time to another, in
     * nanoseconds of CLOCK_MONOTONIC. With MR_OBSERVE_SLICES. */
    void (*slice)(const struct mr_observed_work *work, unsigned worker, uint64_t from, uint64_t to);
    /* When the work ran, in nanoseconds of CLOCK_MONOTONIC: from a driver that learns it later (`ran_later` of struct
     * mr_observed_driver). Such a driver's begin and end say nothing of times. Any time after begin; also at the end of
     * the process. With MR_OBSERVE_SLICES. */
    void (*ran)(const struct mr_observed_work *work, uint64_t from, uint64_t to, CUresult status);
    /* May this work, or step, begin now? False: the engine asks again when ask_again has been called. */
    bool (*may_begin)(const struct mr_observed_work *work);
    /* The engine rests: nothing runs, may_begin has been asked for all that is ready, and something has changed since
     * the last time. On a worker, which may call ask_again. With MR_OBSERVE_ORDER, as the next. */
    void (*rest)(void);
    /* This thread, in a call, begins to wait for a stream's work (cuStreamGetId's answer; 0: not known), or (false)
     * doesn't wait any more. */
    void (*waits)(bool on, uint64_t stream);
    /* The process ends: by exit, quick_exit or the last return of main (signal 0), or by a signal that the program left
     * to its default action. Called once, on a thread of its own; points of other threads may come meanwhile and
     * afterwards. After a signal the thread that got it stands where it was, perhaps inside the observer, and waits 30
     * seconds at most. _exit and exec come without a word. */
    void (*finish)(int signal);
    /* As enter and leave, of calls of the runtime API that come from the program (observe/attach.h). `call` is a number
     * of enum mr_runtime_call, `params` struct mr_runtime_params_<SYMBOL>, and `status` a cudaError_t; the calls of the
     * driver that the runtime library makes are told of in between. For observers that attach. */
    void (*runtime_enter)(struct mr_observed_call *call);
    void (*runtime_leave)(struct mr_observed_call *call, int status);
    /* The driver has opened: on the thread of the cuInit that did it, which is not told of as a call. For observers
     * that have attached before. */
    void (*opened)(void);
};

/* What the driver has at an address. */
enum mr_observed_memory {
    MR_OBSERVED_FOREIGN, /* nothing: the program's own memory, or none at all */
    MR_OBSERVED_FREE, /* addresses of the driver's, with no allocation there */
    MR_OBSERVED_ALLOCATED, /* an allocation, registered memory, a module, or the heap of kernels */
};

/* What kind of memory an address is of. */
enum mr_observed_memory_kind {
    MR_OBSERVED_PAGEABLE, /* the program's own, or none at all */
    MR_OBSERVED_PINNED, /* the driver's memory on the host, or registered */
    MR_OBSERVED_DEVICE,
    MR_OBSERVED_ARRAY_MEMORY,
    MR_OBSERVED_MANAGED,
};

/* What the driver gives to the observer when it loads it. */
struct mr_observed_driver {
    uint32_t version; /* MR_OBSERVER_VERSION */
    /* Names the place that an access has; false if there is no such number. */
    bool (*place)(uint32_t place, struct mr_observed_place *out);
    /* Calls of the public interface on this thread are not observed between pause(true) and pause(false). */
    void (*pause)(bool on);
    /* Something may begin that may_begin has held: the engine asks again. Any thread, no lock held. */
    void (*ask_again)(void);
    /* Does nothing run, and has may_begin been asked for all that is ready? Any thread. */
    bool (*at_rest)(void);
    void *(*function)(const char *name); /* a function of the public interface by its ELF name: "cuStreamGetId" */
    /* What is at the address now. From every point but bind, and on threads of the observer's own. */
    enum mr_observed_memory (*memory)(uintptr_t address);
    /* Where accesses of an array, or of a mipmapped array, are told of (MR_OBSERVED_ARRAY), and the bytes that it has.
     * False: the handle is not of one that is alive, or it is a level of another. From enter and leave. */
    bool (*array)(uint64_t handle, bool mipmap, uintptr_t *first, size_t *size);
    /* What goes when the module, or the library with its modules in all contexts, is unloaded: how many parts, and the
     * first `room` of them. Each module is followed by its variables. 0: there is no such module or library, or the
     * module is a library's, which cuModuleUnload refuses. From enter and leave. NULL: nothing is known of modules. */
    size_t (*parts)(uint64_t handle, bool library, struct mr_observed_part *parts, size_t room);
    /* The kind of memory at an address, and in *device the device that it is of (unchanged if it is of none). From
     * every point but bind. */
    enum mr_observed_memory_kind (*kind)(uintptr_t address, int *device);
    /* cuStreamGetId's answer in *number, also for a stream that captures, which isn't disturbed. Streams 0 and the
     * default ones are those of the thread's current context. False if there is no such stream. From enter and leave.
     */
    bool (*stream)(CUstream stream, uint64_t *number);
    /* Works run elsewhere: `ran` tells when, and nobody calls `slice`. */
    bool ran_later;
};

/* The one symbol of the library: the observer's table, or NULL with a message in the log. Called once, in cuInit, which
 * is told of itself only when it is called again; calls before it are not told of.
 * `tools` is the value of MILLRACE_OBSERVE. */
#define MR_OBSERVER_SYMBOL "millrace_observer"
typedef const struct mr_observer *mr_observer_open(const struct mr_observed_driver *driver, const char *tools);

#endif
