# SPDX-License-Identifier: Apache-2.0
"""Warp: kernels in Python, compiled by the NVRTC in its library, whose copy of NVIDIA's runtime library has no names. Each
beside Warp's own on the processor, or NumPy. MILLRACE_DRIVER_VERSION must be as new as Warp's toolkit, or it makes
machine code."""
import numpy as np
import warp as wp

wp.config.quiet = True
wp.init()
DEVICE = "cuda:0"


def compare(name, of, tolerance):
    """What a function gives on the device and on the processor."""
    difference = np.abs(np.asarray(of(DEVICE), float) - np.asarray(of("cpu"), float)).max()
    assert difference <= tolerance, (name, difference)
    print(f"{name}: good")


@wp.struct
class Particle:
    place: wp.vec3
    mass: float


@wp.kernel
def moment(particles: wp.array(dtype=Particle), out: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    wp.atomic_add(out, 0, particles[i].place * particles[i].mass)


def moments(device):
    numbers, particles = np.random.default_rng(1), []
    for _ in range(100):
        particle = Particle()
        particle.place, particle.mass = wp.vec3(*numbers.random(3)), float(numbers.random())
        particles.append(particle)
    out = wp.zeros(1, dtype=wp.vec3, device=device)
    wp.launch(moment, dim=100, inputs=[wp.array(particles, dtype=Particle, device=device), out], device=device)
    return out.numpy()


@wp.kernel
def waves(x: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, wp.sin(x[i]) * x[i])


def gradients(device):
    x = wp.array(np.linspace(0, 3, 64, dtype=np.float32), requires_grad=True, device=device)
    loss = wp.zeros(1, dtype=float, requires_grad=True, device=device)
    with wp.Tape() as tape:
        wp.launch(waves, dim=64, inputs=[x, loss], device=device)
    tape.backward(loss)
    return np.append(loss.numpy(), x.grad.numpy())


@wp.kernel
def cast(mesh: wp.uint64, out: wp.array(dtype=float)):
    i = wp.tid()
    hit = wp.mesh_query_ray(mesh, wp.vec3(float(i) * 0.01, 0.3, 2.0), wp.vec3(0.0, 0.0, -1.0), 10.0)
    if hit.result:
        out[i] = hit.t


def rays(device):
    corners = np.array([[0, 0, 0], [1, 0, 0.2], [0, 1, 0.4], [1, 1, 0]], np.float32)
    points = wp.array(corners, dtype=wp.vec3, device=device)
    mesh = wp.Mesh(points=points, indices=wp.array(np.array([0, 1, 2, 1, 3, 2], np.int32), dtype=int, device=device))
    out = wp.zeros(100, dtype=float, device=device)
    wp.launch(cast, dim=100, inputs=[mesh.id, out], device=device)
    return out.numpy()


@wp.kernel
def count(grid: wp.uint64, points: wp.array(dtype=wp.vec3), counts: wp.array(dtype=int)):
    i = wp.hash_grid_point_id(grid, wp.tid())
    near = int(0)
    for other in wp.hash_grid_query(grid, points[i], 0.2):
        if wp.length(points[other] - points[i]) < 0.2:
            near += 1
    counts[i] = near


def neighbours(device):
    points = wp.array(np.random.default_rng(2).random((500, 3)).astype(np.float32), dtype=wp.vec3, device=device)
    grid, counts = wp.HashGrid(16, 16, 16, device=device), wp.zeros(500, dtype=int, device=device)
    grid.build(points, 0.2)
    wp.launch(count, dim=500, inputs=[grid.id, points, counts], device=device)
    return counts.numpy()


def utilities():
    numbers = np.random.default_rng(3).integers(0, 1000, 1000).astype(np.int32)
    keys = wp.array(np.concatenate([numbers, numbers]), dtype=int, device=DEVICE)
    wp.utils.radix_sort_pairs(keys, wp.array(np.arange(2000), dtype=int, device=DEVICE), 1000)
    assert (keys.numpy()[:1000] == np.sort(numbers)).all()
    source = wp.array(numbers, dtype=int, device=DEVICE)
    sums = wp.zeros_like(source)
    wp.utils.array_scan(source, sums, inclusive=True)
    assert (sums.numpy() == np.cumsum(numbers)).all()
    print("sort and scan: good")


@wp.kernel
def increase(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = x[i] + 1.0


def streams():
    x = wp.zeros(1000, dtype=float, device=DEVICE)
    begin, end = wp.Event(DEVICE, enable_timing=True), wp.Event(DEVICE, enable_timing=True)
    wp.load_module(device=DEVICE)
    with wp.ScopedCapture(DEVICE) as capture:
        for _ in range(10):
            wp.launch(increase, dim=1000, inputs=[x], device=DEVICE)
    wp.record_event(begin)
    for _ in range(3):
        wp.capture_launch(capture.graph)
    wp.record_event(end)
    wp.synchronize_event(end)
    assert (x.numpy() == 30).all() and wp.get_event_elapsed_time(begin, end) >= 0
    stream = wp.Stream(DEVICE)
    with wp.ScopedStream(stream):
        wp.launch(increase, dim=1000, inputs=[x], device=DEVICE)
        done = stream.record_event()
    wp.wait_event(done)
    assert (x.numpy() == 31).all()
    print("graph, events, streams: good")


compare("structures and atomic additions", moments, 1e-4)
compare("gradients", gradients, 1e-4)
compare("rays and a mesh", rays, 1e-5)
compare("neighbours in a grid", neighbours, 0)
utilities()
streams()
