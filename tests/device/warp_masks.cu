/* SPDX-License-Identifier: Apache-2.0 */
/* Member masks that lack the caller or most lanes. Where all lanes are known to come to the instruction with one mask, hardware gives the result of all of
 * them; everywhere else it is an illegal instruction for a lane not to be in its own mask. What is here, an H100 answered. */
#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>

__device__ int wrong_line, wrong_lane;
#define IS(expression, right)                          \
    do {                                               \
        if ((expression) != (right)) {                 \
            wrong_line = __LINE__;                     \
            wrong_lane = (int)threadIdx.x;             \
        }                                              \
    } while (0)

static __device__ __forceinline__ void all_there(unsigned m)
{
    unsigned lane = threadIdx.x;
    int pred;
    IS(__ballot_sync(m, 1), ~0u);
    IS(__ballot_sync(m, lane & 2), 0xccccccccu);
    IS(__any_sync(m, lane == 0), 1);
    IS(__all_sync(m, lane != 0), 0);
    IS(__all_sync(m, lane < 32), 1);
    IS(__uni_sync(m, lane != 0), 0);
    IS(__shfl_sync(m, lane * 10, 3), 30u);
    IS(__shfl_sync(m, lane * 10, 0), 0u);
    IS(__shfl_down_sync(m, lane * 10, 1), lane == 31 ? 310u : lane * 10 + 10);
    IS(__shfl_xor_sync(m, lane * 10, 1), (lane ^ 1) * 10);
    IS(__match_any_sync(m, lane & 3), 0x11111111u << (lane & 3));
    IS(__match_any_sync(m, (unsigned long long)(lane & 1) << 40), 0x55555555u << (lane & 1));
    IS(__match_all_sync(m, 5, &pred), ~0u);
    IS(pred, 1);
    IS(__match_all_sync(m, lane == 0, &pred), 0u);
    IS(pred, 0);
    IS(__reduce_add_sync(m, 1), 32);
    IS(__reduce_max_sync(m, lane), 31u);
    IS(__reduce_or_sync(m, 1u << lane), ~0u);
    __syncwarp(m);
}

__global__ void together(unsigned same)
{
    all_there(~0u);
    all_there(0xfffffffe);
    all_there(0xaaaaaaaa);
    all_there(2);
    all_there(0);
    all_there(same);
}

/* Each lane's mask from memory; some lanes are elsewhere in the even forms. */
__global__ void apart(int form, unsigned same, const unsigned *masks, unsigned *out)
{
    unsigned lane = threadIdx.x, m = masks[lane], r = 7;
    switch (form) {
    case 1: r = __ballot_sync(m, 1); break;
    case 2: if (lane < 16) r = __ballot_sync(m, 1); break;
    case 3: r = __shfl_sync(m, lane * 16, 20); break;
    case 4: if (lane < 16) r = __shfl_sync(m, lane * 16, 3); break;
    case 5: r = __match_any_sync(m, lane & 1); break;
    case 6: if (lane < 16) r = __match_any_sync(m, lane & 1); break;
    case 8: if (lane < 16) r = __reduce_add_sync(m, 1); break;
    case 9: __syncwarp(m); r = 1; break;
    case 10: if (lane < 16) __syncwarp(m); break;
    case 12: if (lane < 16) r = __all_sync(m, lane != 0); break;
    case 14: if (lane < 16) r = __ballot_sync(same, 1); break;
    case 16: if (lane < 16) r = __shfl_sync(same, lane * 16, 3); break;
    case 18: if (lane < 16) r = __ballot_sync(0xfe, 1); break;
    case 20: if (lane < 16) r = __shfl_sync(0xfffe, lane * 16, 3); break;
    case 22: if (lane < 16) __syncwarp(0xfe); break;
    case 24: if (lane < 16) r = __match_any_sync(0xfe, lane & 1); break;
    case 26: if (lane < 16) r = __reduce_add_sync(0xfe, 1); break;
    case 28: if (lane < 16) r = __ballot_sync(~0u, 1); break;
    case 30: if (lane != 5) r = __ballot_sync(0xffffffdf, 1); break;
    case 32: asm volatile("{ .reg .pred q; setp.lt.u32 q, %1, 16; @q vote.sync.ballot.b32 %0, 1, 0xfe; }" : "+r"(r) : "r"(lane)); break;
    case 34: asm volatile("{ .reg .pred q; setp.lt.u32 q, %1, 16; @q vote.sync.ballot.b32 %0, 1, %2; }" : "+r"(r) : "r"(lane), "r"(m)); break;
    }
    out[lane] = r;
}

static unsigned pattern(int number, unsigned lane)
{
    static const unsigned same[] = {0xffffffff, 0xfffffffe, 0xffff, 0xfffe, 0xfe, 0xffff0000, 0xfff0, 1, 0};
    static const unsigned halves[][2] = {{0xffff, 0xffff0000}, {0xffff0000, 0xffff}, {0xff, 0xff000000}, {0xffff, 0xffffff00}, {0x1ffff, 0xffff0000}};
    if (number < 9)
        return same[number];
    if (number < 14)
        return halves[number - 9][lane / 16];
    return number == 14 ? 1u << lane : number == 15 ? ~(1u << lane) : lane % 2 ? 0x7fffffff : ~0u;
}

/* What lanes 0, 1, 16 and 17 get; `bad`: an illegal instruction. */
static const struct answer {
    int form, pattern;
    bool bad;
    unsigned out[4];
} answers[] = {
    {1, 0, false, {~0u, ~0u, ~0u, ~0u}}, {1, 2, true, {}}, {1, 8, true, {}}, {1, 9, false, {0xffff, 0xffff, 0xffff0000, 0xffff0000}}, {1, 10, true, {}}, {1, 11, true, {}},
    {1, 12, false, {0xffff, 0xffff, 0xffff0000, 0xffff0000}}, {1, 13, false, {0xffff, 0xffff, 0xffff0000, 0xffff0000}}, {1, 14, false, {1, 2, 0x10000, 0x20000}},
    {1, 15, true, {}}, {1, 16, true, {}},
    {2, 0, false, {0xffff, 0xffff, 7, 7}}, {2, 1, true, {}}, {2, 4, true, {}}, {2, 6, true, {}}, {2, 11, true, {}}, {2, 12, false, {0xffff, 0xffff, 7, 7}},
    {3, 9, false, {320, 320, 320, 320}}, {3, 10, true, {}}, {3, 16, true, {}}, {4, 0, false, {48, 48, 7, 7}}, {4, 4, true, {}}, {4, 6, true, {}},
    {5, 9, false, {0x5555, 0xaaaa, 0x55550000, 0xaaaa0000}}, {5, 10, true, {}}, {5, 16, true, {}}, {6, 2, false, {0x5555, 0xaaaa, 7, 7}}, {6, 4, true, {}},
    {8, 2, false, {16, 16, 7, 7}}, {8, 4, true, {}}, {9, 9, false, {1, 1, 1, 1}}, {9, 10, true, {}}, {9, 16, true, {}}, {10, 2, false, {7, 7, 7, 7}}, {10, 4, true, {}},
    {12, 2, false, {0, 0, 7, 7}}, {12, 4, true, {}}, {14, 0, false, {0xffff, 0xffff, 7, 7}}, {14, 2, false, {0xffff, 0xffff, 7, 7}}, {14, 4, true, {}},
    {16, 2, false, {48, 48, 7, 7}}, {16, 4, true, {}}, {18, 0, true, {}}, {20, 0, true, {}}, {22, 0, true, {}}, {24, 0, true, {}}, {26, 0, true, {}},
    {28, 0, false, {0xffff, 0xffff, 7, 7}}, {30, 0, false, {0xffffffdf, 0xffffffdf, 0xffffffdf, 0xffffffdf}}, {32, 0, true, {}},
    {34, 2, false, {0xffff, 0xffff, 7, 7}}, {34, 4, true, {}},
};

static bool is_right(const struct answer &answer)
{
    unsigned *memory, masks[32], out[32];
    if (cudaMalloc(&memory, 2 * sizeof masks))
        return false;
    for (unsigned lane = 0; lane < 32; lane++)
        masks[lane] = pattern(answer.pattern, lane);
    cudaMemcpy(memory, masks, sizeof masks, cudaMemcpyHostToDevice);
    apart<<<1, 32>>>(answer.form, masks[0], memory, memory + 32);
    cudaError_t status = cudaMemcpy(out, memory + 32, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(memory);
    bool good = status == (answer.bad ? cudaErrorIllegalInstruction : cudaSuccess);
    for (int i = 0; i < 4 && !answer.bad; i++)
        good = good && out[i / 2 * 16 + i % 2] == answer.out[i];
    if (!good)
        printf("form %d pattern %d: status %d, %x %x %x %x\n", answer.form, answer.pattern, status, out[0], out[1], out[16], out[17]);
    return good;
}

int main()
{
    bool good = true;
    for (const struct answer &answer : answers) { /* a device is of no more use to a process whose kernel failed */
        if (!answer.bad)
            continue;
        int status = 0;
        pid_t child = fork();
        if (child == 0)
            _exit(is_right(answer) ? 0 : 1 + (fflush(stdout), 0));
        good = child > 0 && waitpid(child, &status, 0) == child && status == 0 && good;
    }
    for (unsigned mask : {~0u, 0xfffffffe, 0x80000000, 0xaaaaaaaa, 2u, 0u}) {
        int line = 0, lane = 0;
        together<<<1, 32>>>(mask);
        cudaError_t status = cudaDeviceSynchronize();
        cudaMemcpyFromSymbol(&line, wrong_line, sizeof line);
        cudaMemcpyFromSymbol(&lane, wrong_lane, sizeof lane);
        if (status || line) {
            printf("mask %x: status %d line %d lane %d\n", mask, status, line, lane);
            return 1;
        }
    }
    for (const struct answer &answer : answers)
        good = (answer.bad || is_right(answer)) && good;
    return good ? 0 : 1;
}
