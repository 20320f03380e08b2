/* SPDX-License-Identifier: Apache-2.0 */
/* The tool pages: what the code of programs that were not compiled for it does with memory that both sides can use.
 *
 * Pinned and managed allocations get pages of a file in memory in place of their own. When work has been queued, the
 * pages are taken out of the process's view (madvise), and the next access to one of them is a fault that the system
 * tells this tool of (userfaultfd). An access that the system makes itself, in read(2) or write(2), is one too: it
 * waits a moment. Contents stay where they are, in the file. So the tool sees the first touch of each page since the
 * latest work was queued: the byte, whether it is read or written, and by which thread.
 *
 * A fault of the driver (on its own threads, which bear its name, or on a thread that is inside of a call) opens the
 * whole allocation again.
 * A fault of the program's code is noted, as one byte that the host touches (host.h), and opens some pages from there
 * on. What the program's code touches while the driver has the allocation open is not seen; so the tool is meant to run
 * with a schedule that does work while the host waits (schedule.h, late).
 *
 * The note is made on the thread that has touched, in a handler of a signal, so that its stack can be taken. Where the
 * thread blocks the signal, has never called, or the fault is the system's, the thread that reads faults notes it, with
 * the instruction alone.
 *
 * The tool `race` does the rest. Needs Linux 5.14 or newer, and the right to see faults that the system makes: root, or
 * the sysctl vm.unprivileged_userfaultfd. In a child that fork has made nothing is seen, and pages are like any. */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mutex.h"
#include "libs/observer/generation.h"
#include "libs/observer/host.h"
#include "libs/observer/objects.h"
#include "libs/observer/threads.h"
#include "libs/observer/tool.h"
#include "observe/calls.h"

/* Not in the headers of older systems. */
#ifndef UFFDIO_CONTINUE_MODE_WP
#define UFFDIO_CONTINUE_MODE_WP ((__u64)1 << 1)
#endif

enum { PAGE = 4096, REGIONS = 4096, MOST_AHEAD = 16 };

/* An allocation whose pages are the file's. */
struct region {
    uintptr_t base;
    size_t bytes;
    bool open; /* some pages may be in the process's view */
};

/* A thread that makes calls, or carries out works. */
struct thread {
    struct thread *next;
    _Atomic int id;                    /* the system's number; 0: it has ended, and the record is free */
    _Atomic unsigned depth, in_host;   /* calls, and host functions, that it is in */
    _Atomic bool works;                /* it is the driver's */
    _Atomic(const void *) asked;       /* the address that it was sent a signal for, or NULL */
    bool writes;                       /* how it touched that */
    uint32_t number;                   /* threads.h */
    struct obs_operation *function;    /* the host function that it is in; used while the thread waits for a page */
    uintptr_t next_page;               /* the one behind what it has opened last, and how many pages that were */
    unsigned ahead;
};

static const struct mr_observed_driver *driver;
static int faults = -1, file = -1, note_signal;
static bool sees_writes; /* a page may be opened for reading alone */
static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* guards what follows; a thread that has it touches no region */
static struct region regions[REGIONS];
static size_t region_count;
static uint64_t file_size;
static bool told_full;
static _Atomic(struct thread *) threads;
static _Atomic bool changed; /* work was queued, or the driver has opened something, since the pages were taken */
static pthread_key_t thread_key;
static _Thread_local struct thread *mine;
static struct thread stranger; /* stands for threads of the program that have never called, as OpenMP's */

/* ---- threads ---- */

static void thread_ends(void *record)
{
    struct thread *thread = record;
    mine = NULL;
    atomic_store(&thread->id, 0);
}

static struct thread *me(void)
{
    if (mine)
        return mine;
    int id = (int)syscall(SYS_gettid), none;
    struct thread *thread = atomic_load(&threads);
    for (; thread; thread = thread->next) {
        none = 0;
        if (atomic_compare_exchange_strong(&thread->id, &none, -1))
            break;
    }
    if (!thread && (thread = calloc(1, sizeof *thread))) {
        atomic_store(&thread->id, -1);
        thread->next = atomic_load(&threads);
        while (!atomic_compare_exchange_weak(&threads, &thread->next, thread))
            continue;
    }
    if (!thread)
        return NULL;
    atomic_store(&thread->depth, 0);
    atomic_store(&thread->in_host, 0);
    atomic_store(&thread->works, false);
    atomic_store(&thread->asked, NULL);
    thread->next_page = thread->ahead = 0;
    thread->number = 0;
    atomic_store(&thread->id, id);
    mine = thread;
    pthread_setspecific(thread_key, thread);
    return thread;
}

static struct thread *find_thread(int id)
{
    struct thread *thread = atomic_load(&threads);
    while (thread && atomic_load(&thread->id) != id)
        thread = thread->next;
    return thread;
}

/* Does the program's own code run there? */
static bool runs_program(const struct thread *thread)
{
    return thread &&
           (thread == &stranger || atomic_load(&((struct thread *)thread)->in_host) > 0 ||
            (atomic_load(&((struct thread *)thread)->depth) == 0 && !atomic_load(&((struct thread *)thread)->works)));
}

/* ---- pages ---- */

/* Puts pages that are not there into the process's view, and wakes threads that wait for them. */
static void put_pages(uintptr_t first, uintptr_t end, bool for_reading)
{
    while (first < end) {
        struct uffdio_continue more = {.range = {.start = first, .len = end - first},
                                       .mode = for_reading && sees_writes ? UFFDIO_CONTINUE_MODE_WP : 0};
        if (ioctl(faults, UFFDIO_CONTINUE, &more) == 0)
            return;
        if (more.mapped > 0) {
            first += (uintptr_t)more.mapped;
        } else if (errno == EEXIST) { /* another thread was faster; threads that wait there are to be woken */
            struct uffdio_writeprotect write = {.range = {.start = first, .len = PAGE}};
            struct uffdio_range wake = {.start = first, .len = PAGE};
            if (!for_reading && sees_writes)
                ioctl(faults, UFFDIO_WRITEPROTECT, &write);
            ioctl(faults, UFFDIO_WAKE, &wake);
            first += PAGE;
        } else if (errno != EAGAIN) { /* the memory has gone: the access fails as it would */
            struct uffdio_range wake = {.start = first, .len = PAGE};
            ioctl(faults, UFFDIO_WAKE, &wake);
            first += PAGE;
        }
    }
}

/* Lock held. */
static struct region *find_region(uintptr_t address)
{
    MR_MUTEX_HELD(&lock);
    for (size_t i = 0; i < region_count; i++)
        if (address - regions[i].base < regions[i].bytes)
            return &regions[i];
    return NULL;
}

/* Takes the pages out of the process's view. */
static void take_pages(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < region_count; i++)
        if (regions[i].open) {
            regions[i].open = false;
            madvise((void *)regions[i].base, regions[i].bytes, MADV_DONTNEED);
        }
    pthread_mutex_unlock(&lock);
}

/* The driver touches: the whole allocation opens. */
static void open_region(uintptr_t page)
{
    struct region found = {page, PAGE, false};
    pthread_mutex_lock(&lock);
    struct region *region = find_region(page);
    if (region) {
        region->open = true;
        found = *region;
    }
    pthread_mutex_unlock(&lock);
    put_pages(found.base, found.base + found.bytes, false);
    atomic_store(&changed, true);
}

/* The program touches: the page opens, and some behind it if the thread goes from page to page. */
static void open_pages(struct thread *thread, uintptr_t page, bool writes)
{
    uintptr_t end = page + PAGE;
    pthread_mutex_lock(&lock);
    struct region *region = find_region(page);
    thread->ahead = page != thread->next_page ? 1 : thread->ahead < MOST_AHEAD ? 2 * thread->ahead : MOST_AHEAD;
    if (region) {
        size_t left = (region->base + region->bytes - page) / PAGE;
        end = page + (thread->ahead < left ? thread->ahead : left) * PAGE;
        region->open = true;
    }
    pthread_mutex_unlock(&lock);
    thread->next_page = end;
    put_pages(page, end, !writes);
}

/* ---- faults ---- */

/* On the thread that has touched, where it stands. */
static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    int saved = errno;
    struct thread *thread = mine;
    const void *at = thread ? atomic_load(&thread->asked) : NULL;
    if (at) {
        const void *code = NULL;
#if defined(__x86_64__)
        code = (const void *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
        code = (const void *)((ucontext_t *)context)->uc_mcontext.pc;
#endif
        obs_host_touch((uintptr_t)at, thread->writes, code);
        atomic_store(&thread->asked, NULL);
        open_pages(thread, (uintptr_t)at & ~(uintptr_t)(PAGE - 1), thread->writes);
    }
    errno = saved;
}

/* A small file of the system's about one of the threads; false: it can't be read. */
static bool read_about(int id, const char *name, char *out, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/%s", id, name);
    int opened = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = opened < 0 ? -1 : read(opened, out, size - 1);
    if (opened >= 0)
        close(opened);
    out[length > 0 ? length : 0] = 0;
    return length > 0;
}

/* Where the thread that waits for a page stands. False: it is in a call of the system. */
static bool stands_in_program(int id, uintptr_t *code)
{
    char text[256];
    *code = 0;
    if (!read_about(id, "syscall", text, sizeof text))
        return false;
    const char *last = strrchr(text, ' ');
    *code = last ? (uintptr_t)strtoull(last, NULL, 16) : 0;
    return strncmp(text, "-1 ", 3) == 0;
}

static bool takes_signal(int id)
{
    char text[4096];
    const char *blocked = read_about(id, "status", text, sizeof text) ? strstr(text, "SigBlk:") : NULL;
    return blocked && !(strtoull(blocked + 7, NULL, 16) >> (note_signal - 1) & 1);
}

/* A thread that is not known: one that has never called, or NULL for one of the driver's. Where threads are in order
 * by what the program does alone, nothing would order it. */
static struct thread *take_stranger(int id)
{
    char name[32];
    bool own = !read_about(id, "comm", name, sizeof name) || strncmp(name, "millrace-", 9) == 0;
    return own || obs_lanes_apart ? NULL : &stranger;
}

static void take_fault(const struct uffd_msg *message)
{
    uintptr_t at = (uintptr_t)message->arg.pagefault.address, code;
    int id = (int)message->arg.pagefault.feat.ptid;
    bool writes = message->arg.pagefault.flags & UFFD_PAGEFAULT_FLAG_WRITE;
    struct thread *thread = find_thread(id);
    if (!thread)
        thread = take_stranger(id);
    if (!runs_program(thread)) {
        open_region(at & ~(uintptr_t)(PAGE - 1));
        return;
    }
    bool again = atomic_exchange(&thread->asked, NULL) == (const void *)at; /* the program has its own handler now */
    if (stands_in_program(id, &code) && thread != &stranger && !again && takes_signal(id)) {
        thread->writes = writes;
        atomic_store(&thread->asked, (const void *)at);
        if (syscall(SYS_tgkill, getpid(), id, note_signal) == 0)
            return;
        atomic_store(&thread->asked, NULL);
    }
    obs_host_touch_of(thread->number, thread->function, at, writes, (const void *)code);
    open_pages(thread, at & ~(uintptr_t)(PAGE - 1), writes);
}

static void *serve(void *data)
{
    struct uffd_msg message;
    driver->pause(true);
    for (;;) {
        struct pollfd ready = {.fd = faults, .events = POLLIN};
        if (poll(&ready, 1, -1) < 0 && errno != EINTR)
            return data;
        ssize_t got = read(faults, &message, sizeof message);
        if (got == (ssize_t)sizeof message && message.event == UFFD_EVENT_PAGEFAULT)
            take_fault(&message);
        else if (got < 0 && errno != EAGAIN && errno != EINTR)
            return data; /* the program has closed it: pages are like any from now on */
    }
}

/* ---- allocations ---- */

/* Gives the allocation pages of the file. Those of small allocations that share a page with others stay as they are. */
static void add_region(uintptr_t base, size_t size)
{
    size_t bytes = (size + PAGE - 1) & ~(size_t)(PAGE - 1);
    if (size == 0 || bytes < size || base % PAGE ||
        (bytes > size && driver->memory(base + bytes - 1) == MR_OBSERVED_ALLOCATED))
        return;
    pthread_mutex_lock(&lock);
    bool full = region_count == REGIONS || posix_fallocate(file, (off_t)file_size, (off_t)bytes) != 0;
    if (full && !told_full)
        mr_log(MR_LOG_WARN, "there is no room for more memory whose first touch by the host can be seen");
    told_full = told_full || full;
    if (!full && mmap((void *)base, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, (off_t)file_size) !=
                     MAP_FAILED) {
        struct uffdio_register range = {.range = {.start = base, .len = bytes},
                                        .mode =
                                            UFFDIO_REGISTER_MODE_MINOR | (sees_writes ? UFFDIO_REGISTER_MODE_WP : 0)};
        file_size += bytes;
        if (ioctl(faults, UFFDIO_REGISTER, &range) == 0)
            regions[region_count++] = (struct region){base, bytes, true};
    }
    pthread_mutex_unlock(&lock);
    put_pages(base, base + bytes, false);
}

static void forget_region(struct region *region)
{
    struct uffdio_range range = {.start = region->base, .len = region->bytes};
    ioctl(faults, UFFDIO_UNREGISTER, &range);
    *region = regions[--region_count];
}

/* Before the memory goes: what lies there later does not belong to the file. */
static void free_region(uintptr_t base)
{
    pthread_mutex_lock(&lock);
    for (size_t i = region_count; i-- > 0;)
        if (regions[i].base == base)
            forget_region(&regions[i]);
    pthread_mutex_unlock(&lock);
}

static void free_all(void)
{
    pthread_mutex_lock(&lock);
    while (region_count)
        forget_region(&regions[region_count - 1]);
    pthread_mutex_unlock(&lock);
}

/* A context takes its memory along. */
static bool ends_context(uint32_t call)
{
    return call == MR_CALL_cuCtxDestroy_v2 || call == MR_CALL_cuDevicePrimaryCtxReset_v2 ||
           call == MR_CALL_cuDevicePrimaryCtxRelease_v2 || call == MR_CALL_cuGreenCtxDestroy;
}

/* ---- the tool ---- */

static void enter(struct mr_observed_call *call)
{
    struct thread *thread = me();
    if (thread) {
        thread->number = obs_thread_here()->number;
        atomic_fetch_add(&thread->depth, 1);
    }
    if (call->call == MR_CALL_cuMemFreeHost)
        free_region((uintptr_t)((const struct mr_params_cuMemFreeHost *)call->params)->p);
    else if (call->call == MR_CALL_cuMemFree_v2)
        free_region((uintptr_t)((const struct mr_params_cuMemFree_v2 *)call->params)->dptr);
    else if (ends_context(call->call))
        free_all();
}

static void note_allocation(const struct mr_observed_call *call)
{
    if (call->call == MR_CALL_cuMemAllocHost_v2) {
        const struct mr_params_cuMemAllocHost_v2 *params = call->params;
        add_region((uintptr_t)*params->pp, params->bytesize);
    } else if (call->call == MR_CALL_cuMemHostAlloc) {
        const struct mr_params_cuMemHostAlloc *params = call->params;
        add_region((uintptr_t)*params->pp, params->bytesize);
    } else if (call->call == MR_CALL_cuMemAllocManaged) {
        const struct mr_params_cuMemAllocManaged *params = call->params;
        add_region((uintptr_t)*params->dptr, params->bytesize);
    }
}

static void leave(struct mr_observed_call *call, CUresult status)
{
    if (status == CUDA_SUCCESS)
        note_allocation(call);
    if (atomic_load_explicit(&changed, memory_order_relaxed) && atomic_exchange(&changed, false))
        take_pages();
    if (mine)
        atomic_fetch_sub(&mine->depth, 1);
}

static void bind(const struct mr_observed_work *work)
{
    (void)work;
    atomic_store_explicit(&changed, true, memory_order_relaxed);
}

static void begin(const struct mr_observed_work *work)
{
    struct thread *thread = me();
    if (!thread)
        return;
    if (atomic_load(&thread->depth) == 0 && atomic_load(&thread->in_host) == 0)
        atomic_store(&thread->works, true);
    if (work->kind != MR_OBSERVED_HOST || work->parts)
        return;
    thread->function = obs_host_function_here(); /* the tool race has told of it: it comes before this one */
    atomic_fetch_add(&thread->in_host, 1);
}

static void end(const struct mr_observed_work *work, CUresult status)
{
    (void)status;
    if (work->kind != MR_OBSERVED_HOST || work->parts || !mine || atomic_load(&mine->in_host) == 0)
        return;
    atomic_fetch_sub(&mine->in_host, 1);
    mine->function = NULL;
}

static bool cannot(const char *what)
{
    mr_log(MR_LOG_ERROR,
           "the host's touches of memory can't be seen: %s: %s (Linux 5.14 or newer is needed, and root or the sysctl "
           "vm.unprivileged_userfaultfd=1); nothing is observed",
           what, strerror(errno));
    return false;
}

/* Asks for all that newer systems have, then for less. */
static bool open_faults(void)
{
    static const uint64_t need = UFFD_FEATURE_MINOR_SHMEM | UFFD_FEATURE_THREAD_ID | UFFD_FEATURE_EXACT_ADDRESS;
    static const uint64_t writes = UFFD_FEATURE_WP_HUGETLBFS_SHMEM | UFFD_FEATURE_PAGEFAULT_FLAG_WP;
    for (int less = 0; less < 2; less++) {
        struct uffdio_api api = {.api = UFFD_API, .features = less ? need : need | writes};
        faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
        if (faults < 0)
            return cannot("userfaultfd");
        sees_writes = !less;
        if (ioctl(faults, UFFDIO_API, &api) == 0)
            return true;
        close(faults);
    }
    return cannot("this system's userfaultfd lacks what is needed");
}

/* A signal that nobody uses. */
static bool take_signal(void)
{
    struct sigaction act = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK}, old;
    sigfillset(&act.sa_mask);
    for (note_signal = SIGRTMAX; note_signal >= SIGRTMIN; note_signal--)
        if (sigaction(note_signal, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            return sigaction(note_signal, &act, NULL) == 0;
    errno = EBUSY;
    return false;
}

static bool open_pages_tool(const struct mr_observed_driver *given, const char *options)
{
    pthread_t server;
    sigset_t all, before;
    if (*options) {
        mr_log(MR_LOG_ERROR, "MILLRACE_OBSERVE: the tool pages has no options; nothing is observed");
        return false;
    }
    driver = given;
    if (sysconf(_SC_PAGESIZE) != PAGE) {
        errno = ENOSYS;
        return cannot("pages are not 4,096 bytes");
    }
    if (!open_faults())
        return false;
    file = memfd_create("millrace-host", MFD_CLOEXEC);
    if (file < 0 || !take_signal() || pthread_key_create(&thread_key, thread_ends) != 0)
        return cannot("a file in memory, or a signal");
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&server, NULL, serve, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = failed;
    if (failed != 0)
        return cannot("a thread");
    obs_host_watched();
    return true;
}

const struct obs_tool obs_tool_pages = {.name = "pages",
                                        .points = MR_OBSERVE_CALLS | MR_OBSERVE_WORK,
                                        .open = open_pages_tool,
                                        .enter = enter,
                                        .leave = leave,
                                        .bind = bind,
                                        .begin = begin,
                                        .end = end};
