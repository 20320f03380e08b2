/* SPDX-License-Identifier: Apache-2.0 */
/* A finding: two operations on the same bytes that nothing orders, or one that comes after the end of its memory, or
 * one that touches memory which it may not use.
 *
 * The tools race, mem and init (race.c, mem.c, init.c) make findings, which are kept for the rest of the process; what
 * a finding points to stays as long. There is one for each kind and pair of call sites, and of mem's, for each place in
 * a kernel; later ones of the same sites are counted in it. Readers call obs_finding_count and obs_finding from any
 * thread at any time. Only `further`, `luck`, `may` and `pairs` may change later; pairs below pair_count, which is read
 * with acquire, stay as they are. */
#ifndef MR_OBSERVER_FINDING_H
#define MR_OBSERVER_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/observe.h" /* enum mr_access_how */

enum mr_finding_kind {
    MR_FINDING_RACE, /* two works touch the same bytes, at least one writes, neither comes after the other */
    MR_FINDING_HOST, /* the same; one of them is the host, inside of a call (a synchronous copy's host side), or a
                        message of its own */
    MR_FINDING_HOST_FUNCTION, /* the same; one of them is a host function */
    MR_FINDING_UNORDERED_USE, /* stream-ordered memory is used by work that does not come after its allocation */
    MR_FINDING_EARLY_FREE, /* the free does not come after a use that the program asked for before the free */
    MR_FINDING_USE_AFTER_FREE, /* a use that the program asked for after the free, or that comes after it */
    /* The tool mem's (mem.c). */
    MR_FINDING_OUTSIDE, /* bytes outside of every allocation */
    MR_FINDING_FREED, /* bytes that were freed before the work was asked for */
    MR_FINDING_HOST_POINTER, /* a kernel touches host memory that CUDA has not made and that is not registered */
    MR_FINDING_WILD, /* a kernel touches addresses where there is nothing */
    MR_FINDING_MISALIGNED, /* an access at an address that is no multiple of its size */
    MR_FINDING_DEVICE_POINTER, /* the host's code touches memory of a device */
    MR_FINDING_BAD_FREE, /* a kernel frees what malloc() in kernels has not given, or frees it twice */
    MR_FINDING_LEAK, /* memory that nobody has freed when the program ends */
    /* The tool init's (init.c). */
    MR_FINDING_UNWRITTEN_COPY, /* bytes are copied to the host that nothing has written */
    MR_FINDING_UNWRITTEN_PADDING, /* the same, of bytes that may be the padding of structures; a note */
    MR_FINDING_UNWRITTEN_READ, /* a kernel, or a stream's wait, reads such bytes; a note */
    MR_FINDING_UNWRITTEN_BRANCH, /* a kernel goes one way or another by such bytes; */
    MR_FINDING_UNWRITTEN_ADDRESS, /* accesses memory by them */
    MR_FINDING_KINDS
};

/* As kinds.def has it, for files and options. */
const char *obs_finding_kind_name(enum mr_finding_kind kind);

/* "race", "mem", "init" */
const char *obs_finding_tool_name(enum mr_finding_kind kind);

/* Is it about one operation, with the exact number of its bytes? Else it is about two. */

static inline bool obs_finding_is_of_mem(enum mr_finding_kind kind)
{
    return kind >= MR_FINDING_OUTSIDE;
}

/* What an operation is. */
enum mr_side_what {
    MR_SIDE_KERNEL,
    MR_SIDE_COPY,
    MR_SIDE_FILL,
    MR_SIDE_HOST_FUNCTION,
    MR_SIDE_MEMORY_OP,
    MR_SIDE_GRAPH, /* a node of a graph's run whose kind is not known */
    MR_SIDE_HOST, /* the host itself, inside of the call */
    MR_SIDE_MESSAGE, /* an MPI library, for the host: from the call on, until that returns or its request is complete */
    MR_SIDE_ALLOCATION,
    MR_SIDE_FREE,
    MR_SIDE_OTHER
};

/* Which stream an operation is in. */
enum mr_side_stream {
    MR_STREAM_NONE, /* the host */
    MR_STREAM_MADE, /* made by the program, blocking */
    MR_STREAM_NONBLOCKING,
    MR_STREAM_LEGACY, /* the legacy default stream of a context */
    MR_STREAM_PER_THREAD /* a thread's own default stream */
};

/* With MR_ACCESS_READ of enum mr_access_how: a kernel runs the code that the byte stands for (code.h). */
enum { OBS_ACCESS_RUNS = 1 << 18 };

/* A kernel allocates or frees memory of its heap, and touches none of it. */
enum { OBS_ACCESS_ALLOCATES = 1 << 19, OBS_ACCESS_FREES = 1 << 20 };

/* One operation of a finding. */
struct mr_side {
    enum mr_side_what what;
    const char *call; /* "cuLaunchKernel" */
    uint32_t site; /* where the program called: sites.h; 0: not known */
    uint64_t number; /* of the call, in the order of enter; names the same call in another run only by chance */
    uint32_t thread; /* the host thread that called, from 1 up, in the order of their first calls */
    uint64_t of_thread; /* counts the calls of its thread, from 1 up: the same in each run of the program */
    enum mr_side_stream stream_kind;
    uint64_t stream; /* cuStreamGetId's answer; 0 if there is none or it was never told */
    uint64_t work, node; /* as struct mr_observed_work has them; 0: none */
    uint64_t
        behind; /* of an allocation in a stream: of_thread of the call whose work was the stream's last one; 0: none */
    uint32_t behind_thread; /* and that call's thread */
    const char *stream_name, *range; /* that the program has given by NVTX: the innermost range of the call; or NULL */
    const char *kernel; /* of a kernel: its mangled name; else NULL */
    uint32_t place; /* of a kernel: where in its source (mr_observed_driver.place); 0: not known */
    uint32_t how; /* enum mr_access_how */
    bool overlaps; /* a kernel that may begin before the one in front of it has ended, before it waits for that one */
};

enum mr_allocation_kind {
    MR_ALLOCATION_DEVICE, /* cuMemAlloc, cuMemAllocPitch */
    MR_ALLOCATION_POOL, /* cuMemAllocAsync, cuMemAllocFromPoolAsync */
    MR_ALLOCATION_PINNED, /* cuMemAllocHost, cuMemHostAlloc */
    MR_ALLOCATION_REGISTERED, /* cuMemHostRegister */
    MR_ALLOCATION_MANAGED,
    MR_ALLOCATION_ARRAY,
    MR_ALLOCATION_MAPPED, /* cuMemMap */
    MR_ALLOCATION_IMPORTED, /* cuIpcOpenMemHandle, cuMemPoolImportPointer */
    MR_ALLOCATION_MODULE, /* a module's variable */
    MR_ALLOCATION_CODE, /* a module's code: one byte at a made-up address, which its kernels read */
    MR_ALLOCATION_GRAPH, /* a graph's allocation node */
    MR_ALLOCATION_HEAP /* malloc() in a kernel: the operations that make and end it are kernels */
};

struct mr_finding_allocation {
    uint64_t number; /* from 1 up, in the order of the calls that made them; 0: none is known */
    uintptr_t base;
    size_t size;
    enum mr_allocation_kind kind;
    const char *call; /* that made it */
    uint32_t site;
    uint32_t thread; /* of that call, as in struct mr_side */
    uint64_t of_thread;
    const char *free_call; /* that gave it back, NULL: not yet, or not the finding's matter */
    uint32_t free_site;
};

/* One pair of operations of a finding. */
struct mr_finding_pair {
    struct mr_side earlier, later;
    uintptr_t first, end;
    struct mr_finding_allocation allocation;
};

enum { MR_FINDING_PAIRS = 7 };

struct mr_finding {
    enum mr_finding_kind kind;
    uint32_t number; /* from 1 up, in the order in which they were found */
    struct mr_side earlier, later; /* by the order of their calls; earlier.call NULL: there is but one, of mem's */
    uintptr_t first, end; /* the bytes that both touch: first up to end - 1 */
    uint64_t touched; /* of mem's: how many of these bytes it is about */
    struct mr_finding_allocation allocation; /* of MR_FINDING_OUTSIDE: the nearest one */
    const char *detail; /* of mem's: what is wrong, as it follows the name of the operation; else NULL */
    const char *missing; /* one sentence: what is missing */
    const char *advice; /* one sentence: what would mend it */
    uint64_t further; /* pairs of the same kind and sites that were found after it */
    struct mr_finding_pair *pairs; /* of race's: the first ones of these that are of other operations; NULL: none */
    uint32_t pair_count; /* at most MR_FINDING_PAIRS; grows */
    bool luck; /* ordered, but only as hardware does it: for --luck alone */
    bool may; /* of one that nobody could see it is not known whether it touches the bytes (MR_ACCESS_MAY): a note */
};

/* A note says what may be wrong and need not be. It does not change the exit status. */
static inline bool obs_finding_is_note(const struct mr_finding *finding)
{
    return finding->may || finding->kind == MR_FINDING_UNWRITTEN_PADDING || finding->kind == MR_FINDING_UNWRITTEN_READ;
}

size_t obs_finding_count(void);
const struct mr_finding *obs_finding(size_t index); /* NULL beyond the last */

/* What was seen and what was not, for the summary. Counts since the start. */
struct mr_race_summary {
    uint64_t calls, operations, accesses, allocations;
    uint64_t timelines, clocks; /* clocks: live */
    uint64_t coarse; /* accesses that were noted coarsely, and so not compared byte by byte */
    uint64_t forgotten; /* accesses that were forgotten because memory for notes was bounded */
    uint64_t rough; /* accesses that mem and init could not look at, since they were noted coarsely */
    uint64_t libraries; /* works of libraries that init can't see into */
    bool shared; /* memory is shared with other processes: init has not looked since */
    uint64_t touches; /* by the host's code that pages.c has seen */
    bool host_unseen; /* there was memory that the host's code can use, too, and nothing told of what it does there */
    uint64_t unseen; /* works of libraries that did not tell what they touch: not looked at */
    uint64_t unknown; /* accesses to memory that no call had allocated: not looked at */
    uint64_t bytes; /* memory for notes, now */
    bool short_of_memory; /* the host had no memory for notes: what came later was not looked at */
};
void obs_race_summary(struct mr_race_summary *out);

#endif
