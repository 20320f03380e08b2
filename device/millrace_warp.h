/* SPDX-License-Identifier: Apache-2.0 */
/* What the lanes of a warp do together: votes, shuffles, matches and reductions. Part of millrace_device.h.
 *
 * The overloads are those of the toolkit: smaller integers go as int, and what is none of these types does not go. Forms without a mask, which mean
 * the lanes that happen to be there, are for architectures before 7.0, as PTX has them for these alone. */
#ifndef MILLRACE_WARP_H
#define MILLRACE_WARP_H

MR_DEVICE unsigned int __activemask() { unsigned int m; __asm__ volatile("activemask.b32 %0;" : "=r"(m)); return m; }
MR_DEVICE int __all_sync(unsigned int mask, int p) { return __nvvm_vote_all_sync(mask, p); }
MR_DEVICE int __any_sync(unsigned int mask, int p) { return __nvvm_vote_any_sync(mask, p); }
MR_DEVICE int __uni_sync(unsigned int mask, int p) { return __nvvm_vote_uni_sync(mask, p); }
MR_DEVICE unsigned int __ballot_sync(unsigned int mask, int p) { return __nvvm_vote_ballot_sync(mask, p); }

/* What a program calls with any of the numbers, by the instruction for words of 32 or 64 bits. */
#define MR_EACH_NUMBER(DO) \
    DO(int) DO(unsigned int) DO(long) DO(unsigned long) DO(long long) DO(unsigned long long) DO(float) DO(double)

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
template <class T> MR_DEVICE unsigned int mr_match_any(unsigned int mask, T value)
{
    if constexpr (sizeof(T) == 4)
        return __nvvm_match_any_sync_i32(mask, __builtin_bit_cast(unsigned int, value));
    else
        return __nvvm_match_any_sync_i64(mask, __builtin_bit_cast(unsigned long long, value));
}
template <class T> MR_DEVICE unsigned int mr_match_all(unsigned int mask, T value, int *same)
{
    if constexpr (sizeof(T) == 4)
        return __nvvm_match_all_sync_i32p(mask, __builtin_bit_cast(unsigned int, value), same);
    else
        return __nvvm_match_all_sync_i64p(mask, __builtin_bit_cast(unsigned long long, value), same);
}
#define MR_MATCH(type)                                                                                                                             \
    MR_DEVICE unsigned int __match_any_sync(unsigned int mask, type value) { return mr_match_any(mask, value); }                                   \
    MR_DEVICE unsigned int __match_all_sync(unsigned int mask, type value, int *pred) { return mr_match_all(mask, value, pred); }
MR_EACH_NUMBER(MR_MATCH)
#undef MR_MATCH
#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
MR_DEVICE unsigned int __reduce_and_sync(unsigned int mask, unsigned int value) { return (unsigned int)__nvvm_redux_sync_and((int)value, (int)mask); }
MR_DEVICE unsigned int __reduce_or_sync(unsigned int mask, unsigned int value) { return (unsigned int)__nvvm_redux_sync_or((int)value, (int)mask); }
MR_DEVICE unsigned int __reduce_xor_sync(unsigned int mask, unsigned int value) { return (unsigned int)__nvvm_redux_sync_xor((int)value, (int)mask); }
MR_DEVICE unsigned int __reduce_add_sync(unsigned int mask, unsigned int value) { return __nvvm_redux_sync_add((int)value, (int)mask); }
MR_DEVICE int __reduce_add_sync(unsigned int mask, int value) { return __nvvm_redux_sync_add(value, (int)mask); }
MR_DEVICE unsigned int __reduce_min_sync(unsigned int mask, unsigned int value) { return __nvvm_redux_sync_umin(value, (int)mask); }
MR_DEVICE int __reduce_min_sync(unsigned int mask, int value) { return __nvvm_redux_sync_min(value, (int)mask); }
MR_DEVICE unsigned int __reduce_max_sync(unsigned int mask, unsigned int value) { return __nvvm_redux_sync_umax(value, (int)mask); }
MR_DEVICE int __reduce_max_sync(unsigned int mask, int value) { return __nvvm_redux_sync_max(value, (int)mask); }
#endif

/* How far lanes may reach, as the instruction takes it: the lane numbers of a segment of `width` lanes, and where they end. */
MR_DEVICE int mr_bound(int width, int clamp) { return (32 - width) << 8 | clamp; }
/* Words of 32 bits, one after the other. */
#define MR_SHUFFLE_OF(word)                                                 \
    int part[sizeof(value) / 4];                                            \
    __builtin_memcpy(part, &value, sizeof(value));                          \
    for (unsigned int i = 0; i < sizeof(value) / 4; i++)                    \
        part[i] = word;                                                     \
    __builtin_memcpy(&value, part, sizeof(value));                          \
    return value;
#define MR_SHUFFLE(type, name, mode, by, clamp)                                                        \
    MR_DEVICE type name##_sync(unsigned int mask, type value, by lane, int width = 32)                 \
    {                                                                                                  \
        MR_SHUFFLE_OF(__nvvm_shfl_sync_##mode##_i32(mask, part[i], (int)lane, mr_bound(width, clamp))) \
    }
#define MR_SHUFFLES(type)                          \
    MR_SHUFFLE(type, __shfl, idx, int, 31)         \
    MR_SHUFFLE(type, __shfl_up, up, unsigned, 0)   \
    MR_SHUFFLE(type, __shfl_down, down, unsigned, 31) \
    MR_SHUFFLE(type, __shfl_xor, bfly, int, 31)
MR_EACH_NUMBER(MR_SHUFFLES)
#undef MR_SHUFFLE

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 700
#define MR_SHUFFLE_HERE(mode)                                                                                                   \
    MR_DEVICE int mr_shuffle_##mode(int value, int lane, int bound)                                                             \
    {                                                                                                                           \
        int result;                                                                                                             \
        __asm__ volatile("shfl." #mode ".b32 %0, %1, %2, %3;" : "=r"(result) : "r"(value), "r"(lane), "r"(bound));              \
        return result;                                                                                                          \
    }
MR_SHUFFLE_HERE(idx) MR_SHUFFLE_HERE(up) MR_SHUFFLE_HERE(down) MR_SHUFFLE_HERE(bfly)
#undef MR_SHUFFLE_HERE
#define MR_SHUFFLE(type, name, mode, by, clamp)                                             \
    MR_DEVICE type name(type value, by lane, int width = 32)                                \
    {                                                                                       \
        MR_SHUFFLE_OF(mr_shuffle_##mode(part[i], (int)lane, mr_bound(width, clamp)))        \
    }
MR_EACH_NUMBER(MR_SHUFFLES)
#undef MR_SHUFFLE
#define MR_VOTE_HERE(mode)                                                                                                                          \
    MR_DEVICE int __##mode(int cond)                                                                                                                \
    {                                                                                                                                               \
        int result;                                                                                                                                 \
        __asm__ volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote." #mode ".pred p, p; selp.s32 %0, 1, 0, p; }" : "=r"(result) : "r"(cond));     \
        return result;                                                                                                                              \
    }                                                                                                                                               \
    MR_DEVICE bool mode(bool cond) { return __##mode(cond); }
MR_VOTE_HERE(any) MR_VOTE_HERE(all)
#undef MR_VOTE_HERE
MR_DEVICE unsigned int __ballot(int cond)
{
    unsigned int result;
    __asm__ volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.ballot.b32 %0, p; }" : "=r"(result) : "r"(cond));
    return result;
}
MR_DEVICE unsigned int ballot(bool cond) { return __ballot(cond); }
#else
#define MR_WITHDRAWN(name) \
    __attribute__((device, unavailable(#name "() is not valid on compute_70 and above, and should be replaced with " #name "_sync()")))
MR_WITHDRAWN(__any) int __any(int cond);
MR_WITHDRAWN(__all) int __all(int cond);
MR_WITHDRAWN(__ballot) unsigned int __ballot(int cond);
#undef MR_WITHDRAWN
#endif
#undef MR_SHUFFLES
#undef MR_SHUFFLE_OF
#undef MR_EACH_NUMBER

MR_DEVICE int syncthreads_count(bool cond) { return __syncthreads_count(cond); }
MR_DEVICE bool syncthreads_and(bool cond) { return __syncthreads_and(cond); }
MR_DEVICE bool syncthreads_or(bool cond) { return __syncthreads_or(cond); }

#endif
