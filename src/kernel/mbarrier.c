/* SPDX-License-Identifier: Apache-2.0 */
/* mbarrier objects: 64 bits in shared memory, whose meaning is ours. (PTX manual: mbarrier.)
 *
 *   bit 63      parity of the phase that goes on
 *   bits 40-62  transactions that are still to come, in bytes, two's complement
 *   bits 20-39  arrivals that a phase expects
 *   bits 0-19   arrivals that this phase still waits for
 *
 * A phase ends when nothing is pending any more: neither arrivals nor transactions. The token that an arrival gives is
 * the object as it was before.
 *
 * Shared memory belongs to the thread that runs the block, so nothing here is atomic. A try_wait that finds its phase
 * unfinished lets the block's other warps run first; test_wait in a loop does so after some rounds, as every loop that
 * waits. */
#include "kernel/executor.h"

#include <string.h>

#define PENDING_BITS 20u
#define EXPECTED_SHIFT 20u
#define TX_SHIFT 40u
#define TX_BITS 23u
#define COUNT_MASK ((UINT64_C(1) << PENDING_BITS) - 1)

struct state {
    uint32_t pending, expected;
    int32_t transactions;
    bool parity;
};

static struct state unpacked(uint64_t word)
{
    struct state state = {.pending = (uint32_t)(word & COUNT_MASK),
                          .expected = (uint32_t)(word >> EXPECTED_SHIFT & COUNT_MASK),
                          .parity = word >> 63};
    uint32_t bits = (uint32_t)(word >> TX_SHIFT) & ((1u << TX_BITS) - 1), sign = 1u << (TX_BITS - 1);
    state.transactions = (int32_t)(bits ^ sign) - (int32_t)sign;
    return state;
}

static uint64_t packed(struct state state)
{
    uint64_t transactions = (uint32_t)state.transactions & ((1u << TX_BITS) - 1);
    return (uint64_t)state.parity << 63 | transactions << TX_SHIFT | (uint64_t)state.expected << EXPECTED_SHIFT |
           state.pending;
}

static uint64_t load(uint64_t address)
{
    uint64_t word;
    memcpy(&word, (const void *)(uintptr_t)address, sizeof word);
    return word;
}

/* Writes the object back, as the first state of a new phase if this one is over. */
static void store(struct mr_executor *executor, uint64_t address, struct state state)
{
    if (state.pending == 0 && state.transactions == 0) {
        state.parity = !state.parity;
        state.pending = state.expected;
        executor->idle_yields = 0;
    }
    uint64_t word = packed(state);
    memcpy((void *)(uintptr_t)address, &word, sizeof word);
}

static void arrive(struct mr_executor *executor, struct state *state, uint64_t count, bool drops)
{
    if (count > state->pending || (drops && count > state->expected))
        mr_executor_fault(executor, CUDA_ERROR_LAUNCH_FAILED, 0,
                          "more arrivals at an mbarrier than it expects, or one that was not initialised");
    state->pending -= (uint32_t)count;
    if (drops)
        state->expected -= (uint32_t)count;
}

void mr_mbarrier_complete(struct mr_executor *executor, uint64_t address, uint32_t bytes)
{
    struct state state = unpacked(load(address));
    state.transactions -= (int32_t)bytes;
    store(executor, address, state);
}

static void change(struct mr_executor *executor, uint32_t operation, uint64_t address, uint64_t value)
{
    struct state state = unpacked(load(address));
    switch (operation) {
    case MR_MBARRIER_EXPECT_TX:
        state.transactions += (int32_t)value;
        break;
    case MR_MBARRIER_COMPLETE_TX:
        state.transactions -= (int32_t)value;
        break;
    case MR_MBARRIER_ARRIVE:
    case MR_MBARRIER_ARRIVE_DROP:
        arrive(executor, &state, value, operation == MR_MBARRIER_ARRIVE_DROP);
        break;
    case MR_MBARRIER_ARRIVE_EXPECT_TX:
    case MR_MBARRIER_ARRIVE_DROP_EXPECT_TX:
        state.transactions += (int32_t)value;
        arrive(executor, &state, 1, operation == MR_MBARRIER_ARRIVE_DROP_EXPECT_TX);
        break;
    default: /* COPY_ARRIVE: one more is pending until the copies are done, which they are */
        state.pending++;
        arrive(executor, &state, 1, false);
        break;
    }
    store(executor, address, state);
}

static void init(struct mr_executor *executor, uint64_t address, uint64_t count)
{
    if (count == 0 || count > COUNT_MASK)
        mr_executor_fault(executor, CUDA_ERROR_LAUNCH_FAILED, 0, "an mbarrier's count is from 1 to 2^20 - 1");
    uint64_t word = packed((struct state){.pending = (uint32_t)count, .expected = (uint32_t)count});
    memcpy((void *)(uintptr_t)address, &word, sizeof word);
}

/* Nobody may arrive any more. The phase stays: a warp that has not come to see that the last one is over still does,
 * though the warp that ends the object did not wait for it. On hardware it has seen it long before. */
static void inval(uint64_t address)
{
    uint64_t word = packed((struct state){.parity = unpacked(load(address)).parity});
    memcpy((void *)(uintptr_t)address, &word, sizeof word);
}

/* Whether the phase of a token, or of a parity, is over. */
static bool is_over(uint32_t operation, uint64_t address, uint64_t value)
{
    bool parity = operation == MR_MBARRIER_TEST_PARITY || operation == MR_MBARRIER_TRY_PARITY ? value & 1
                                                                                              : unpacked(value).parity;
    return unpacked(load(address)).parity != parity;
}

static uint64_t perform(struct mr_executor *executor, uint32_t operation, uint64_t address, uint64_t value)
{
    uint64_t before;
    switch (operation) {
    case MR_MBARRIER_INIT:
        init(executor, address, value);
        return 0;
    case MR_MBARRIER_INVAL:
        inval(address);
        return 0;
    case MR_MBARRIER_TEST:
    case MR_MBARRIER_TEST_PARITY:
    case MR_MBARRIER_TRY:
    case MR_MBARRIER_TRY_PARITY:
        return is_over(operation, address, value);
    default:
        before = load(address);
        change(executor, operation, address, value);
        return before;
    }
}

void mr_mbarrier(struct mr_block *block, uint32_t operation, uint32_t mask, const uint64_t *address,
                 const uint64_t *value, uint64_t *result)
{
    struct mr_executor *executor = block->engine;
    bool waits = operation == MR_MBARRIER_TRY || operation == MR_MBARRIER_TRY_PARITY, unfinished = false;
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        result[lane] = perform(executor, operation, address[lane], value[lane]);
        unfinished |= result[lane] == 0;
    }
    if (!waits || !unfinished)
        return;
    mr_executor_yield(executor);
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        result[lane] = perform(executor, operation, address[lane], value[lane]);
    }
}
