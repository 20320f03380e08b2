# SPDX-License-Identifier: Apache-2.0
"""PyTorch's extensions in CUDA C++, as torch.utils.cpp_extension builds them with the nvcc in CUDA_HOME: one by
load_inline, one by setuptools (CUDAExtension, BuildExtension) that registers operators by TORCH_LIBRARY. Forward and
backward, PyTorch's streams, guards, allocator, cuBLAS handle and atomics, CUB, shared memory, half types, graphs,
torch.compile, and a missing wait that millrace check finds.

pytorch_extension_check.py FOLDER inline|project     builds that in FOLDER, and looks at what it computes
pytorch_extension_check.py FOLDER check MILLRACE     has millrace check, that command, look at `missing` and `mended`
pytorch_extension_check.py FOLDER missing|mended     waits for the work in another stream, or doesn't
"""

import os
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(sys.argv[1]).resolve()
os.environ["TORCH_EXTENSIONS_DIR"] = str(FOLDER)

import torch  # noqa: E402
from torch import library  # noqa: E402
from torch.utils.cpp_extension import CUDA_HOME, load_inline  # noqa: E402

INLINE = r"""
#include <ATen/OpMathType.h>
#include <ATen/ceil_div.h>
#include <ATen/cuda/Atomic.cuh>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <cub/cub.cuh>
#include <torch/extension.h>

template <typename scalar_t>
__global__ void swish_kernel(const scalar_t *__restrict__ x, scalar_t *__restrict__ y, int64_t n)
{
    using wide = at::opmath_type<scalar_t>;
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
        wide value = static_cast<wide>(x[i]);
        y[i] = static_cast<scalar_t>(value / (wide(1) + std::exp(-value)));
    }
}

template <typename scalar_t>
__global__ void swish_back_kernel(const scalar_t *__restrict__ x, const scalar_t *__restrict__ grad,
                                  scalar_t *__restrict__ out, int64_t n)
{
    using wide = at::opmath_type<scalar_t>;
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    wide value = static_cast<wide>(x[i]), gate = wide(1) / (wide(1) + std::exp(-value));
    out[i] = static_cast<scalar_t>(static_cast<wide>(grad[i]) * gate * (wide(1) + value * (wide(1) - gate)));
}

static void check(const at::Tensor &x)
{
    TORCH_CHECK(x.is_cuda(), "not a CUDA tensor");
    TORCH_CHECK(x.is_contiguous(), "not contiguous");
}

torch::Tensor swish(torch::Tensor x)
{
    check(x);
    const at::cuda::OptionalCUDAGuard guard(device_of(x));
    auto y = torch::empty_like(x);
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "swish", [&] {
        swish_kernel<scalar_t><<<4, 128, 0, at::cuda::getCurrentCUDAStream()>>>(
            x.const_data_ptr<scalar_t>(), y.mutable_data_ptr<scalar_t>(), x.numel());
        C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
    return y;
}

torch::Tensor swish_back(torch::Tensor x, torch::Tensor grad)
{
    check(x);
    check(grad);
    auto out = torch::empty_like(x);
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "swish_back", [&] {
        swish_back_kernel<scalar_t><<<at::ceil_div(x.numel(), (int64_t)256), 256, 0, at::cuda::getCurrentCUDAStream()>>>(
            x.const_data_ptr<scalar_t>(), grad.const_data_ptr<scalar_t>(), out.mutable_data_ptr<scalar_t>(), x.numel());
        C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
    return out;
}

// Rows by accessors, warps by shuffles, shared memory of a size known at launch.
template <typename scalar_t>
__global__ void row_sums_kernel(const torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> x,
                                torch::PackedTensorAccessor32<scalar_t, 1, torch::RestrictPtrTraits> sums)
{
    extern __shared__ __align__(16) unsigned char raw[];
    scalar_t *shared = reinterpret_cast<scalar_t *>(raw), sum = 0;
    for (int i = threadIdx.x; i < x.size(1); i += blockDim.x)
        sum += x[blockIdx.x][i];
    for (int offset = 16; offset; offset /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (threadIdx.x % 32 == 0)
        shared[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < blockDim.x / 32; i++)
            sum += shared[i];
        sums[blockIdx.x] = sum;
    }
}

torch::Tensor row_sums(torch::Tensor x)
{
    auto sums = torch::zeros({x.size(0)}, x.options());
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "row_sums", [&] {
        row_sums_kernel<scalar_t><<<x.size(0), 128, 4 * sizeof(scalar_t), at::cuda::getCurrentCUDAStream()>>>(
            x.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(),
            sums.packed_accessor32<scalar_t, 1, torch::RestrictPtrTraits>());
    });
    AT_CUDA_CHECK(cudaGetLastError());
    return sums;
}

// Atomics of PyTorch's for each type, and an assertion that holds.
template <typename scalar_t>
__global__ void histogram_kernel(const int64_t *bins, const scalar_t *weights, scalar_t *counts, int n, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        CUDA_KERNEL_ASSERT(bins[i] >= 0 && bins[i] < count);
        gpuAtomicAddNoReturn(&counts[bins[i]], weights[i]);
    }
}

torch::Tensor histogram(torch::Tensor bins, torch::Tensor weights, int64_t count)
{
    auto counts = torch::zeros({count}, weights.options());
    int n = bins.numel();
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, weights.scalar_type(), "histogram", [&] {
        histogram_kernel<scalar_t><<<(n + 63) / 64, 64, 0, at::cuda::getCurrentCUDAStream()>>>(
            bins.data_ptr<int64_t>(), weights.data_ptr<scalar_t>(), counts.data_ptr<scalar_t>(), n, count);
    });
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return counts;
}

// CUB over memory of PyTorch's allocator.
torch::Tensor running_sums(torch::Tensor x)
{
    auto out = torch::empty_like(x);
    auto stream = at::cuda::getCurrentCUDAStream();
    size_t bytes = 0;
    C10_CUDA_CHECK(cub::DeviceScan::InclusiveSum(
        nullptr, bytes, x.data_ptr<int>(), out.data_ptr<int>(), (int)x.numel(), stream));
    auto memory = c10::cuda::CUDACachingAllocator::get()->allocate(bytes);
    C10_CUDA_CHECK(cub::DeviceScan::InclusiveSum(
        memory.get(), bytes, x.data_ptr<int>(), out.data_ptr<int>(), (int)x.numel(), stream));
    return out;
}

// A product by PyTorch's handle of cuBLAS. Theirs is by columns: the transpose of b a is asked for.
torch::Tensor product(torch::Tensor a, torch::Tensor b)
{
    check(a);
    check(b);
    auto c = torch::empty({a.size(0), b.size(1)}, a.options());
    const float one = 1, zero = 0;
    int m = b.size(1), n = a.size(0), k = a.size(1);
    TORCH_CUDABLAS_CHECK(cublasSgemm(at::cuda::getCurrentCUDABlasHandle(), CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one,
                                     b.data_ptr<float>(), m, a.data_ptr<float>(), k, &zero, c.data_ptr<float>(), m));
    return c;
}

// Work in a stream of PyTorch's pool, ordered by its events.
torch::Tensor swish_beside(torch::Tensor x, bool waits)
{
    auto current = at::cuda::getCurrentCUDAStream(), other = at::cuda::getStreamFromPool();
    at::cuda::CUDAEvent before, after;
    before.record(current);
    before.block(other);
    torch::Tensor y;
    {
        at::cuda::CUDAStreamGuard guard(other);
        y = swish(x);
    }
    after.record(other);
    if (waits)
        after.block(current);
    return y;
}
"""

NAMES = ["swish", "swish_back", "row_sums", "histogram", "running_sums", "product", "swish_beside"]
DECLARED = """
#include <torch/extension.h>
torch::Tensor swish(torch::Tensor x);
torch::Tensor swish_back(torch::Tensor x, torch::Tensor grad);
torch::Tensor row_sums(torch::Tensor x);
torch::Tensor histogram(torch::Tensor bins, torch::Tensor weights, int64_t count);
torch::Tensor running_sums(torch::Tensor x);
torch::Tensor product(torch::Tensor a, torch::Tensor b);
torch::Tensor swish_beside(torch::Tensor x, bool waits);
"""

PROJECT = {
    "setup.py": """
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

setup(
    name="fused_check",
    version="0.1",
    packages=["fused_check"],
    ext_modules=[
        CUDAExtension(
            "fused_check._C",
            ["csrc/fused.cpp", "csrc/fused_kernel.cu"],
            extra_compile_args={
                "cxx": ["-O2"],
                "nvcc": ["-O3", "--use_fast_math", "-lineinfo", "-Xptxas", "-v", "--threads", "2", "-U__CUDA_NO_HALF2_OPERATORS__",
                         "--expt-extended-lambda", "-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90a,code=sm_90a"],
            },
        )
    ],
    cmdclass={"build_ext": BuildExtension},
)
""",
    "fused_check/__init__.py": """
import torch
from torch import library
from fused_check import _C  # noqa: F401

@library.register_fake("fused_check::mul_add")
def _(a, b, c):
    return torch.empty_like(a)

def backward(ctx, grad):
    a, b = ctx.saved_tensors
    return grad * b, grad * a, None

def setup_context(ctx, inputs, output):
    ctx.save_for_backward(inputs[0], inputs[1])

library.register_autograd("fused_check::mul_add", backward, setup_context=setup_context)
mul_add = torch.ops.fused_check.mul_add
half_sum = torch.ops.fused_check.half_sum
""",
    "csrc/fused.cpp": r"""
#include <ATen/ATen.h>
#include <Python.h>
#include <torch/library.h>

at::Tensor mul_add_cuda(const at::Tensor &a, const at::Tensor &b, double c);
at::Tensor half_sum_cuda(const at::Tensor &a, const at::Tensor &b);

static at::Tensor mul_add_cpu(const at::Tensor &a, const at::Tensor &b, double c)
{
    return a * b + c;
}

extern "C" PyObject *PyInit__C(void)
{
    static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_C", nullptr, -1, nullptr};
    return PyModule_Create(&module);
}

TORCH_LIBRARY(fused_check, m)
{
    m.def("mul_add(Tensor a, Tensor b, float c) -> Tensor");
    m.def("half_sum(Tensor a, Tensor b) -> Tensor");
}

TORCH_LIBRARY_IMPL(fused_check, CPU, m)
{
    m.impl("mul_add", &mul_add_cpu);
}

TORCH_LIBRARY_IMPL(fused_check, CUDA, m)
{
    m.impl("mul_add", &mul_add_cuda);
    m.impl("half_sum", &half_sum_cuda);
}
""",
    "csrc/fused_kernel.cu": r"""
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void mul_add(const float4 *a, const float4 *b, float c, float4 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 x = a[i], y = b[i];
        out[i] = make_float4(x.x * y.x + c, x.y * y.y + c, x.z * y.z + c, x.w * y.w + c);
    }
}

__global__ void half_sum(const __half2 *a, const __half2 *b, __half2 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i] + __hmul2(b[i], __float2half2_rn(1.0f));
}

at::Tensor mul_add_cuda(const at::Tensor &a, const at::Tensor &b, double c)
{
    TORCH_CHECK(a.sizes() == b.sizes() && a.numel() % 4 == 0 && a.dtype() == at::kFloat);
    at::Tensor x = a.contiguous(), y = b.contiguous(), out = at::empty_like(x);
    int n = x.numel() / 4;
    mul_add<<<(n + 127) / 128, 128, 0, at::cuda::getCurrentCUDAStream()>>>(
        (const float4 *)x.data_ptr(), (const float4 *)y.data_ptr(), c, (float4 *)out.data_ptr(), n);
    return out;
}

at::Tensor half_sum_cuda(const at::Tensor &a, const at::Tensor &b)
{
    auto out = at::empty_like(a);
    int n = a.numel() / 2;
    half_sum<<<(n + 127) / 128, 128, 0, at::cuda::getCurrentCUDAStream()>>>(
        reinterpret_cast<const __half2 *>(a.data_ptr<at::Half>()), reinterpret_cast<const __half2 *>(b.data_ptr<at::Half>()),
        reinterpret_cast<__half2 *>(out.data_ptr<at::Half>()), n);
    return out;
}
""",
}


def built_inline():
    return load_inline(
        "millrace_inline_check",
        cpp_sources=DECLARED,
        cuda_sources=INLINE,
        functions=NAMES,
        extra_cuda_cflags=["-O2", "--extended-lambda"],
        extra_ldflags=["-lcublas"],
        with_cuda=True,
        verbose=True,
    )


def built_by_setuptools():
    project = FOLDER / "project"
    for name, text in PROJECT.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        if not (project / name).exists() or (project / name).read_text() != text:
            (project / name).write_text(text)
    done = subprocess.run([sys.executable, "setup.py", "build_ext", "--inplace"], cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    sys.path.insert(0, str(project))
    import fused_check

    return fused_check


def values(module):
    torch.manual_seed(1)
    for kind, limit in (torch.float, 1e-6), (torch.double, 1e-12), (torch.half, 2e-3), (torch.bfloat16, 2e-2):
        x = torch.randn(1000, device="cuda", dtype=kind)
        torch.testing.assert_close(module.swish(x), torch.nn.functional.silu(x), atol=limit, rtol=limit)
    x = torch.randn(37, 300, device="cuda", dtype=torch.double)
    torch.testing.assert_close(module.row_sums(x), x.sum(1))
    bins = torch.randint(0, 7, (5000,), device="cuda")
    for kind in torch.float, torch.double, torch.half, torch.bfloat16:
        ones = torch.full((5000,), 0.25, device="cuda", dtype=kind)
        quarters = torch.full((5000,), 0.25, dtype=torch.double)
        wanted = torch.zeros(7, dtype=torch.double).index_add_(0, bins.cpu(), quarters)
        got = module.histogram(bins, ones, 7)
        # Sums of halves stop where a quarter is less than half a step.
        if kind in (torch.float, torch.double):
            assert torch.equal(got.cpu().double(), wanted), kind
        else:
            assert (got.cpu().double() <= wanted).all() and (got > 60).all(), (kind, got)
    x = torch.randint(-50, 50, (100_000,), device="cuda", dtype=torch.int)
    assert torch.equal(module.running_sums(x), x.cumsum(0, dtype=torch.int))
    a, b = torch.randn(30, 50, device="cuda"), torch.randn(50, 20, device="cuda")
    torch.testing.assert_close(module.product(a, b), (a.cpu() @ b.cpu()).cuda())
    for wrong in torch.zeros(3), torch.zeros(3, 4, device="cuda").t():
        try:
            module.swish(wrong)
        except RuntimeError as error:
            assert "not a CUDA tensor" in str(error) or "not contiguous" in str(error)
        else:
            raise AssertionError("a tensor that is refused was taken")


def gradients(module):
    class Swish(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return module.swish(x)

        @staticmethod
        def backward(ctx, grad):
            return module.swish_back(ctx.saved_tensors[0], grad.contiguous())

    x = torch.randn(5, 7, device="cuda", dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(Swish.apply, (x,))
    # A network with it trains as one with PyTorch's own.
    results = []
    for function in Swish.apply, torch.nn.functional.silu:
        torch.manual_seed(2)
        first, last = torch.nn.Linear(8, 32).cuda(), torch.nn.Linear(32, 1).cuda()
        optimiser = torch.optim.Adam([*first.parameters(), *last.parameters()], lr=0.01)
        given = torch.randn(64, 8, device="cuda")
        wanted = given.sin().sum(1, keepdim=True)
        for _ in range(20):
            optimiser.zero_grad()
            loss = torch.nn.functional.mse_loss(last(function(first(given))), wanted)
            loss.backward()
            optimiser.step()
        results.append(loss.item())
    assert abs(results[0] - results[1]) < 1e-4 * results[1], results


def streams(module):
    x = torch.randn(10_000, device="cuda")
    wanted = torch.nn.functional.silu(x)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = module.swish(x)
    torch.cuda.current_stream().wait_stream(side)
    torch.testing.assert_close(y, wanted)
    torch.testing.assert_close(module.swish_beside(x, True), wanted)
    graph = torch.cuda.CUDAGraph()
    module.swish(x)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        y = module.swish(x)
    x.copy_(torch.randn(10_000))
    graph.replay()
    torch.testing.assert_close(y, torch.nn.functional.silu(x))


def operators(fused):
    a, b = (torch.randn(64, 32, device="cuda", requires_grad=True) for _ in range(2))
    torch.testing.assert_close(fused.mul_add(a, b, 2.5), a * b + 2.5)
    torch.testing.assert_close(fused.mul_add(a.cpu(), b.cpu(), 2.5), (a * b + 2.5).cpu())
    h = torch.randn(64, 32, device="cuda", dtype=torch.half)
    torch.testing.assert_close(fused.half_sum(h, h), h + h)
    library.opcheck(fused.mul_add.default, (a, b, 1.0))
    mine = torch.autograd.grad(fused.mul_add(a, b, 2.0).square().sum(), (a, b))
    theirs = torch.autograd.grad((a * b + 2.0).square().sum(), (a, b))
    torch.testing.assert_close(mine, theirs)
    compiled = torch.compile(lambda x, y: fused.mul_add(x.sin(), y, 1.0) * 2, fullgraph=True)
    torch.testing.assert_close(compiled(a, b), (a.sin() * b + 1) * 2)


def checked(millrace):
    """The missing wait is found, and nothing where it is not missing."""
    for how in "missing", "mended":
        command = [millrace, "check", "--", sys.executable, __file__, str(FOLDER), how]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        found = "race: kernel" in done.stderr and "swish_kernel" in done.stderr
        assert found == (how == "missing") == (done.returncode != 0), f"{how}: {done.returncode}\n{done.stderr}"


def one_wait(module, waits):
    y = module.swish_beside(torch.randn(10_000, device="cuda"), waits)
    module.swish(y)
    torch.cuda.synchronize()


def main():
    what = sys.argv[2]
    if what == "check":
        checked(sys.argv[3])
    else:
        assert torch.cuda.is_available() and CUDA_HOME, "there is no device, or CUDA_HOME names no toolkit"
    if what in ("missing", "mended"):
        one_wait(built_inline(), what == "mended")
        return
    if what == "inline":
        module = built_inline()
        values(module)
        gradients(module)
        streams(module)
    elif what == "project":
        operators(built_by_setuptools())
    print(f"pytorch_extension_check.py {what}: all is right")


if __name__ == "__main__":
    main()
