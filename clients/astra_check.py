# SPDX-License-Identifier: Apache-2.0
"""The ASTRA toolbox on the device: projections by textures, filtered back projection by Fourier transforms, and an iterative
method, of a picture and of a volume, beside its code for the processor and beside the picture itself."""
import astra
import numpy as np

assert astra.use_cuda()
picture = np.zeros((128, 128), np.float32)
picture[40:90, 30:70] = 1
picture[60:70, 60:100] += 0.5
angles = np.linspace(0, np.pi, 90, False)
volume, rays = astra.create_vol_geom(128, 128), astra.create_proj_geom("parallel", 1.0, 192, angles)


def rebuilt(method: str, sinogram: int, projector: int | None, rounds: int) -> np.ndarray:
    result = astra.data2d.create("-vol", volume)
    configuration = astra.astra_dict(method) | {"ReconstructionDataId": result, "ProjectionDataId": sinogram}
    if projector is not None:
        configuration["ProjectorId"] = projector
    algorithm = astra.algorithm.create(configuration)
    astra.algorithm.run(algorithm, rounds)
    return astra.data2d.get(result)


def error(found: np.ndarray) -> float:
    return float(np.sqrt(np.mean((found - picture) ** 2)))


projectors = {side: astra.create_projector(side, rays, volume) for side in ("cuda", "linear")}
sinograms = {side: astra.create_sino(picture, projector) for side, projector in projectors.items()}
assert np.abs(sinograms["cuda"][1] - sinograms["linear"][1]).max() < 0.05
print("projections: good")
direct = error(rebuilt("FBP", sinograms["linear"][0], projectors["linear"], 1))
assert error(rebuilt("FBP_CUDA", sinograms["cuda"][0], None, 1)) < 1.1 * direct
print("filtered back projection: good")
assert error(rebuilt("SIRT_CUDA", sinograms["cuda"][0], None, 100)) < 1.1 * error(rebuilt("SIRT", sinograms["linear"][0], projectors["linear"], 100))
print("SIRT: good")

space = astra.create_vol_geom(32, 32, 32)
cube = np.zeros((32, 32, 32), np.float32)
cube[8:20, 10:24, 12:28] = 1
identity, _ = astra.create_sino3d_gpu(cube, astra.create_proj_geom("parallel3d", 1.0, 1.0, 48, 48, np.linspace(0, np.pi, 60, False)), space)
result = astra.data3d.create("-vol", space)
algorithm = astra.algorithm.create(astra.astra_dict("CGLS3D_CUDA") | {"ReconstructionDataId": result, "ProjectionDataId": identity})
astra.algorithm.run(algorithm, 30)
assert np.sqrt(np.mean((astra.data3d.get(result) - cube) ** 2)) < 0.05
print("a volume by CGLS: good")
