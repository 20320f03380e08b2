/* SPDX-License-Identifier: Apache-2.0 */
/* The draws behind random delays. Each thread has a sequence of its own, numbered in the order in which threads first
 * draw. */
#include "base/chaos.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#include "base/log.h"
#include "base/settings.h"
#include "base/thread.h"

#define LONGEST_NS 100000u

bool mr_chaos_on;
static uint64_t seed;
static _Atomic uint64_t next_thread = 1;
static _Thread_local uint64_t state __attribute__((tls_model("initial-exec")));

void mr_chaos_setup(void)
{
    if (!*mr_setting_text(MR_SETTING_CHAOS))
        return;
    seed = mr_setting_number(MR_SETTING_CHAOS, 0);
    mr_chaos_on = true;
    mr_log(MR_LOG_WARN, "MILLRACE_CHAOS: the engine is delayed at random, seed %llu", (unsigned long long)seed);
}

static uint64_t draw(void)
{
    if (state == 0)
        state = (seed << 20) + atomic_fetch_add_explicit(&next_thread, 1, memory_order_relaxed);
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

unsigned mr_chaos_draw(unsigned limit)
{
    return (unsigned)((draw() >> 32) * limit >> 32);
}

void mr_chaos_pause(void)
{
    MR_MAY_WAIT();
    unsigned what = mr_chaos_draw(100);
    if (what < 60)
        return;
    if (what < 80) {
        for (unsigned i = mr_chaos_draw(200); i > 0; i--)
            mr_pause();
    } else if (what < 94) {
        sched_yield();
    } else {
        nanosleep(&(struct timespec){.tv_nsec = (long)mr_chaos_draw(LONGEST_NS)}, NULL);
    }
}
