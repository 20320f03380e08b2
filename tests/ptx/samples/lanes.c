/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A source for PTX samples: structs by value, recursion, calls through pointers,
 * shared and local arrays, atomics, a switch, 128-bit integers. Made with
 *   clang-19 --target=nvptx64-nvidia-cuda -march=sm_80 -S -O0 lanes.c -o lanes_O0.ptx
 * and the same with -O3.
 */
typedef __attribute__((address_space(3))) int shared_int;

struct packet {
    int values[5];
    double weight;
};

static shared_int board[64];
static const float scale[4] = {1.0f, 0.5f, 0.25f, 0.125f};
extern int vprintf(const char *format, __builtin_va_list arguments);

__attribute__((noinline)) int steps(int n)
{
    return n < 2 ? n : steps(n - 1) + steps(n - 2);
}

__attribute__((noinline)) struct packet mark(struct packet packet, int place)
{
    packet.values[place & 3] = place;
    return packet;
}

__attribute__((nvptx_kernel)) void lanes(float *out, float *in, int n, struct packet packet)
{
    int i = __nvvm_read_ptx_sreg_tid_x() + __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x();
    board[i & 63] = n;
    __nvvm_barrier_sync(0);
    struct packet own = mark(packet, i);
    double window[8];
    for (int k = 0; k < 8; k++)
        window[k] = in[k] * scale[k & 3];
    out[i] = in[i] * board[(i + 1) & 63] + own.values[i % 5] + steps(n) + window[n & 7];
    __atomic_fetch_add((unsigned *)in, 1, __ATOMIC_RELAXED);
    switch (n) {
    case 1:
        out[0] = 1;
        break;
    case 2:
        in[0] = 2;
        break;
    case 3:
        out[0] = 3;
        break;
    case 4:
        in[3] = 4;
        break;
    case 5:
        out[9] = in[8];
        break;
    case 7:
        out[9] = in[1];
        break;
    }
    int (*choice)(int) = i & 1 ? steps : (int (*)(int))0;
    if (choice)
        out[1] += choice(3);
    __int128 wide = (__int128)i * n;
    *(__int128 *)in = wide / 7;
    out[3] = (float)(long)in[3] + __builtin_sqrtf(out[4]) + __builtin_fabsf(out[3]);
    vprintf("lane\n", (__builtin_va_list)window);
}
