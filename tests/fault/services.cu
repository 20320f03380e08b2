// SPDX-License-Identifier: Apache-2.0
// Kernels that use the device runtime (printf, malloc, free, assert, nanosleep) or do what they must not. Needs no header but the declarations below.
#define KERNEL extern "C" __attribute__((global)) void
#define DEVICE __attribute__((device))

extern "C" DEVICE int vprintf(const char *format, void *arguments);
extern "C" DEVICE void *malloc(unsigned long size);
extern "C" DEVICE void free(void *pointer);
extern "C" DEVICE void __assertfail(const char *message, const char *file, unsigned line, const char *function, unsigned long size);

static DEVICE unsigned index()
{
    return __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x();
}

static DEVICE void sync()
{
    __nvvm_bar_sync(0);
}

KERNEL say(int x)
{
    struct { int thread; int x; double half; const char *word; long big; } a = { (int)index(), x, index() * 0.5, "word", -5000000000 };
    if (index() % 16 == 3)
        vprintf("thread %d x %d half %.2f %s %ld\n", &a);
}

KERNEL number(int each)
{
    for (int i = 0; i < each; i++) {
        struct { int number; } a = { (int)index() * each + i };
        vprintf("%09d\n", &a);
    }
}

KERNEL allocate(int **slots, unsigned long size)
{
    int *mine = (int *)malloc(size);
    slots[index()] = mine;
    if (mine)
        mine[0] = (int)index();
}

KERNEL release(int **slots, int *good)
{
    int *mine = slots[index()];
    if (mine && mine[0] == (int)index())
        good[index()] = 1;
    sync();
    free(mine);
}

KERNEL check(unsigned bad)
{
    if (index() == bad)
        __assertfail("index() != bad", "services.cu", 42, "check", 1);
}

static DEVICE __attribute__((noinline)) int descend(int n, volatile int *p)
{
    volatile int frame[8];
    frame[n & 7] = n;
    return n <= 0 ? p[0] : descend(n - 1, p) + frame[n & 7];
}

KERNEL recurse(int n, int *out)
{
    out[index()] = descend(n, out);
}

/* The last warp faults while the others wait for it. */
KERNEL fault_at_barrier(int *p)
{
    if (index() >= 96)
        p = (int *)8;
    p[0] = 1;
    sync();
    p[1] = 1;
}

/* Warp 0 polls what the last one writes after a while. */
KERNEL poll(volatile int *flag)
{
    if (index() == 96) {
        for (int i = 0; i < 20; i++)
            asm volatile("nanosleep.u32 1000;");
        *flag = 1;
    }
    while (*flag == 0) {
    }
}

/* Every other thread leaves before the barriers. */
KERNEL leave_early(int *out)
{
    __attribute__((shared)) static int cells[256];
    unsigned t = __nvvm_read_ptx_sreg_tid_x();
    if (t >= 200 || t % 64 >= 32)
        return;
    for (int i = 1; i <= 10; i++) {
        cells[t] = i;
        sync();
        if (cells[(t + 64) % 192 / 64 * 64 + t % 32] == i)
            out[t]++;
        sync();
    }
}
