// SPDX-License-Identifier: Apache-2.0
/* Integers of 128 bits in kernels: quotients, remainders, products, shifts, and conversions from and to floats, beside the host's. */
#include <cstdio>
#include <vector>

using wide = __int128;
using uwide = unsigned __int128;

struct results {
    uwide quotient, rest, product, shifted, of_double;
    wide signed_quotient, signed_rest, of_float;
    double as_double, signed_as_double;
    float as_float, signed_as_float;
};

__host__ __device__ static void compute(uwide a, uwide b, results *out)
{
    out->quotient = a / b;
    out->rest = a % b;
    out->product = a * b;
    out->shifted = (a << static_cast<int>(b % 128)) ^ (a >> static_cast<int>(b % 128));
    out->signed_quotient = static_cast<wide>(a) / static_cast<wide>(b);
    out->signed_rest = static_cast<wide>(a) % static_cast<wide>(b);
    out->as_double = static_cast<double>(a);
    out->signed_as_double = static_cast<double>(static_cast<wide>(a));
    out->as_float = static_cast<float>(a >> 1);
    out->signed_as_float = static_cast<float>(static_cast<wide>(a));
    out->of_double = static_cast<uwide>(static_cast<double>(a >> 1));
    out->of_float = static_cast<wide>(static_cast<float>(static_cast<wide>(a) / 2));
}

__global__ static void kernel(const uwide *a, const uwide *b, results *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        compute(a[i], b[i], out + i);
}

static unsigned long long state = 1;

static unsigned noise()
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<unsigned>(state >> 33);
}

/* Of any number of bits; now and then a power of two, all ones, or negative. */
static uwide number()
{
    uwide value = 0;
    for (int i = 0; i < 5; i++)
        value = value << 31 | noise();
    value >>= noise() % 128;
    switch (noise() % 8) {
    case 0: return static_cast<uwide>(1) << noise() % 128;
    case 1: return ~static_cast<uwide>(0) >> noise() % 128;
    case 2: return -value;
    default: return value;
    }
}

int main()
{
    const int count = 10000;
    std::vector<uwide> a(count), b(count);
    for (int i = 0; i < count; i++) {
        a[i] = number();
        do
            b[i] = number();
        while (b[i] == 0 || b[i] == ~static_cast<uwide>(0)); /* the lowest number has no quotient by -1 */
    }
    uwide *on_device;
    results *answers;
    std::vector<results> got(count);
    if (cudaMalloc(&on_device, 2 * count * sizeof(uwide)) || cudaMalloc(&answers, count * sizeof(results)) ||
        cudaMemcpy(on_device, a.data(), count * sizeof(uwide), cudaMemcpyHostToDevice) ||
        cudaMemcpy(on_device + count, b.data(), count * sizeof(uwide), cudaMemcpyHostToDevice))
        return 1;
    kernel<<<(count + 127) / 128, 128>>>(on_device, on_device + count, answers, count);
    if (cudaMemcpy(got.data(), answers, count * sizeof(results), cudaMemcpyDeviceToHost))
        return 1;
    int wrong = 0;
    for (int i = 0; i < count; i++) {
        results want;
        compute(a[i], b[i], &want);
        const results &have = got[i];
        bool good[] = {want.quotient == have.quotient, want.rest == have.rest, want.product == have.product, want.shifted == have.shifted,
                       want.signed_quotient == have.signed_quotient, want.signed_rest == have.signed_rest, want.as_double == have.as_double,
                       want.signed_as_double == have.signed_as_double, want.as_float == have.as_float, want.signed_as_float == have.signed_as_float,
                       want.of_double == have.of_double, want.of_float == have.of_float};
        for (int part = 0; part < 12; part++)
            if (!good[part] && wrong++ < 10)
                std::printf("number %d: part %d is not the host's\n", i, part);
    }
    return wrong != 0;
}
