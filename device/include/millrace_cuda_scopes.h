/* SPDX-License-Identifier: Apache-2.0 */
/* What <cuda/atomic>, <cuda/barrier> and <cuda/pipeline> share: scopes, memory orders, sizes with an alignment. */
#ifndef MILLRACE_CUDA_SCOPES_H
#define MILLRACE_CUDA_SCOPES_H

namespace cuda {

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

namespace std {
typedef enum memory_order {
    memory_order_relaxed = __ATOMIC_RELAXED,
    memory_order_consume = __ATOMIC_CONSUME,
    memory_order_acquire = __ATOMIC_ACQUIRE,
    memory_order_release = __ATOMIC_RELEASE,
    memory_order_acq_rel = __ATOMIC_ACQ_REL,
    memory_order_seq_cst = __ATOMIC_SEQ_CST
} memory_order;
}   // namespace std
using std::memory_order;
using std::memory_order_relaxed;
using std::memory_order_consume;
using std::memory_order_acquire;
using std::memory_order_release;
using std::memory_order_acq_rel;
using std::memory_order_seq_cst;

/* A number of bytes between places that are both aligned to Alignment. */
template <size_t Alignment> struct aligned_size_t {
    static constexpr size_t align = Alignment;
    size_t value;
    __attribute__((host, device)) explicit constexpr aligned_size_t(size_t size) : value(size) {}
    __attribute__((host, device)) constexpr operator size_t() const { return value; }
};

}   // namespace cuda
#endif
