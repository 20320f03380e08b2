# SPDX-License-Identifier: Apache-2.0
"""CuPy's Fourier transforms against NumPy's: kinds, ranks, axes, lengths, norms, plans that are kept, plans by hand, streams, large arrays."""
import cupy
import cupyx.scipy.fft
import numpy
from cupy.cuda import cufft

random = numpy.random.default_rng(11)
TOLERANCE = {"F": 2e-6, "D": 1e-14, "f": 2e-6, "d": 1e-14}


def values(shape, kind):
    array = random.standard_normal(shape)
    if kind in "FD":
        array = array + 1j * random.standard_normal(shape)
    return array.astype(kind)


def same(got, wanted, kind):
    got = cupy.asnumpy(got)
    assert got.shape == wanted.shape, (got.shape, wanted.shape)
    scale = max(1.0, float(numpy.abs(wanted).max())) if wanted.size else 1.0
    numpy.testing.assert_allclose(got / scale, wanted / scale, atol=TOLERANCE[kind] * 10, rtol=0)


def one_dimension():
    for kind in "FDfd":
        for n in (1, 2, 7, 64, 97, 1000, 4096, 65536, 100003, 262144):
            a = values((n,), kind)
            same(cupy.fft.fft(cupy.asarray(a)), numpy.fft.fft(a), kind)
            same(cupy.fft.ifft(cupy.asarray(a)), numpy.fft.ifft(a), kind)
            if kind in "fd":
                spectrum = numpy.fft.rfft(a)
                same(cupy.fft.rfft(cupy.asarray(a)), spectrum, kind)
                same(cupy.fft.irfft(cupy.asarray(spectrum.astype(kind.upper())), n), numpy.fft.irfft(spectrum, n), kind)
                same(cupy.fft.ihfft(cupy.asarray(a)), numpy.fft.ihfft(a), kind)


def more_dimensions():
    for kind in "FDfd":
        for shape, axes in (((16, 20), None), ((5, 16, 20), (1, 2)), ((5, 16, 20), (0,)), ((6, 7, 8), (0, 2)),
                            ((12, 10, 14), None),
                            ((2, 3, 4, 5), (1, 2, 3)), ((2, 3, 4, 5), None), ((256, 300), None), ((64, 64, 64), None)):
            a = values(shape, kind)
            for norm in (None, "ortho", "forward"):
                same(cupy.fft.fftn(cupy.asarray(a), axes=axes, norm=norm), numpy.fft.fftn(a, axes=axes, norm=norm),
                     kind)
            same(cupy.fft.ifftn(cupy.asarray(a), axes=axes), numpy.fft.ifftn(a, axes=axes), kind)
            if kind in "fd":
                spectrum = numpy.fft.rfftn(a, axes=axes)
                same(cupy.fft.rfftn(cupy.asarray(a), axes=axes), spectrum, kind)
                sizes = [a.shape[axis] for axis in (axes or range(a.ndim))]
                same(cupy.fft.irfftn(cupy.asarray(spectrum.astype(kind.upper())), s=sizes,
                                     axes=axes or tuple(range(a.ndim))),
                     numpy.fft.irfftn(spectrum, s=sizes, axes=axes or tuple(range(a.ndim))), kind)
        a = values((30, 40), kind)
        same(cupy.fft.fft(cupy.asarray(a).T, axis=0), numpy.fft.fft(a.T, axis=0), kind)
        same(cupy.fft.fft(cupy.asarray(a)[::2, ::3], n=25), numpy.fft.fft(a[::2, ::3], n=25), kind)


def plans():
    a = values((50, 128), "F")
    plan = cupyx.scipy.fft.get_fft_plan(cupy.asarray(a), axes=1)
    with plan:
        same(cupy.fft.fft(cupy.asarray(a)), numpy.fft.fft(a), "F")
    same(cupyx.scipy.fft.fft(cupy.asarray(a), plan=plan), numpy.fft.fft(a), "F")
    in_place = cupy.asarray(a)
    cupyx.scipy.fft.fft(in_place, overwrite_x=True)
    cache = cupy.fft.config.get_plan_cache()
    cache.clear()
    for n in range(10, 40):
        cupy.fft.fft(cupy.asarray(values((n,), "D")))
    assert 0 < cache.get_curr_size() <= cache.get_size()
    by_hand = cufft.Plan1d(64, cufft.CUFFT_Z2Z, 3)
    b = values((3, 64), "D")
    out = cupy.empty_like(cupy.asarray(b))
    by_hand.fft(cupy.asarray(b), out, cufft.CUFFT_FORWARD)
    same(out, numpy.fft.fft(b), "D")
    half = cupy.asarray(values((4, 64, 2), "f").astype("e"))  # complex numbers of half precision
    result = cupy.empty_like(half)
    cufft.XtPlanNd((64,), (64,), 1, 64, "E", (64,), 1, 64, "E", 4, "E", order="C", last_axis=-1, last_size=None).fft(half, result, cufft.CUFFT_FORWARD)
    wanted = cupy.asnumpy(half).astype("f")
    wanted = numpy.fft.fft(wanted[..., 0] + 1j * wanted[..., 1])
    got = cupy.asnumpy(result).astype("f")
    numpy.testing.assert_allclose(got[..., 0] + 1j * got[..., 1], wanted, atol=0.1)


def streams():
    arrays = [values((1 << 14,), "D") for _ in range(8)]
    queues = [cupy.cuda.Stream(non_blocking=True) for _ in arrays]
    results = []
    for array, queue in zip(arrays, queues, strict=True):
        with queue:
            results.append(cupy.fft.ifft(cupy.fft.fft(cupy.asarray(array)) * 2))
    for array, queue, result in zip(arrays, queues, results, strict=True):
        queue.synchronize()
        same(result, array * 2, "D")


def signals():
    a, b = values((1000,), "d"), values((300,), "d")
    same(cupy.convolve(cupy.asarray(a), cupy.asarray(b)), numpy.convolve(a, b), "d")
    same(cupy.fft.fftshift(cupy.fft.fftfreq(17)), numpy.fft.fftshift(numpy.fft.fftfreq(17)), "d")
    same(cupyx.scipy.fft.idct(cupyx.scipy.fft.dct(cupy.asarray(a))), a, "d")


for test in (one_dimension, more_dimensions, plans, streams, signals):
    test()
    print(test.__name__, "ok")
print("cupy_fft_check: ok")
