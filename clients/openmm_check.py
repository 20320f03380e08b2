#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""OpenMM's CUDA platform beside its Reference platform: clients/openmm_check.py, under `millrace run`.

Each system's forces and energy are worked out by both. The Reference platform is OpenMM's own plain code in double
precision, so the limits are those of single precision: OpenMM's testInstallation takes 1e-4 of the size of a force as
the median, and this program takes the worst atom. PME is the long-range sum of charges by Fourier transforms, which is
cuFFT."""
import openmm
from openmm import app, unit
import numpy

KJ = unit.kilojoule_per_mole
FORCE = KJ / unit.nanometer


def water(count_a_side, method):
    """A box of water on a grid, turned a little from molecule to molecule, that TIP3P describes."""
    field = app.ForceField("amber14/tip3pfb.xml")
    topology, positions = app.Topology(), []
    chain = topology.addChain()
    hydrogen, oxygen = app.Element.getBySymbol("H"), app.Element.getBySymbol("O")
    shape = numpy.array([[0, 0, 0], [0.09572, 0, 0], [-0.02399, 0.09266, 0]])
    generator = numpy.random.default_rng(7)
    for cell in numpy.ndindex(count_a_side, count_a_side, count_a_side):
        residue = topology.addResidue("HOH", chain)
        o = topology.addAtom("O", oxygen, residue)
        h1, h2 = (topology.addAtom(name, hydrogen, residue) for name in ("H1", "H2"))
        topology.addBond(o, h1)
        topology.addBond(o, h2)
        turn, _ = numpy.linalg.qr(generator.normal(size=(3, 3)))
        positions += list(shape @ turn.T + (numpy.array(cell) + 0.5) * 0.3107)
    side = count_a_side * 0.3107
    topology.setUnitCellDimensions(openmm.Vec3(side, side, side) * unit.nanometer)
    system = field.createSystem(topology, nonbondedMethod=method, nonbondedCutoff=0.7 * unit.nanometer,
                                rigidWater=False, ewaldErrorTolerance=1e-5)
    return system, numpy.array(positions)


def chain_of_beads():
    """Forces that users write as formulas, which OpenMM compiles into kernels: bonds, angles, pairs, a field, groups."""
    generator = numpy.random.default_rng(11)
    count = 60
    system = openmm.System()
    for _ in range(count):
        system.addParticle(12)
    bonds = openmm.CustomBondForce("k*(r-r0)^2+0.3*k*(r-r0)^3")
    bonds.addGlobalParameter("k", 800)
    bonds.addPerBondParameter("r0")
    angles = openmm.CustomAngleForce("40*(1-cos(theta-2))")
    torsions = openmm.CustomTorsionForce("5*cos(2*theta-0.3)")
    pairs = openmm.CustomNonbondedForce("4*((0.2/r)^12-(0.2/r)^6)+q1*q2/r*erfc(r)")
    pairs.addPerParticleParameter("q")
    field = openmm.CustomExternalForce("0.7*x^2+sin(3*y)+exp(-z^2)")
    groups = openmm.CustomCentroidBondForce(2, "3*distance(g1,g2)^2")
    born = openmm.GBSAOBCForce()
    for i in range(count):
        charge = 0.4 * (-1) ** i
        pairs.addParticle([charge])
        field.addParticle(i)
        born.addParticle(charge, 0.15 + 0.001 * (i % 7), 0.8)
        if i + 1 < count:
            bonds.addBond(i, i + 1, [0.15])
            pairs.addExclusion(i, i + 1)
        if i + 2 < count:
            angles.addAngle(i, i + 1, i + 2)
        if i + 3 < count:
            torsions.addTorsion(i, i + 1, i + 2, i + 3)
    groups.addGroup(list(range(0, 20)))
    groups.addGroup(list(range(40, 60)))
    groups.addBond([0, 1])
    for force in (bonds, angles, torsions, pairs, field, groups, born):
        system.addForce(force)
    steps = generator.normal(size=(count, 3))
    steps *= 0.17 / numpy.linalg.norm(steps, axis=1, keepdims=True)
    steps[:, 0] = abs(steps[:, 0])
    return system, numpy.cumsum(steps, axis=0)


def state_of(system, positions, platform, properties=None):
    integrator = openmm.VerletIntegrator(0.001)
    context = openmm.Context(system, integrator, openmm.Platform.getPlatformByName(platform), properties or {})
    context.setPositions(positions)
    state = context.getState(getForces=True, getEnergy=True)
    return state.getForces(asNumpy=True).value_in_unit(FORCE), state.getPotentialEnergy().value_in_unit(KJ)


def compared(name, system, positions, precision, limit):
    expected, energy = state_of(system, positions, "Reference")
    found, found_energy = state_of(system, positions, "CUDA", {"Precision": precision})
    size = numpy.sqrt((expected ** 2).sum(axis=1)).mean()
    worst = numpy.sqrt(((found - expected) ** 2).sum(axis=1)).max() / size
    off = abs(found_energy - energy) / max(1, abs(energy))
    print(f"{name}, {precision}: worst force {worst:.1e} of the mean force, energy {off:.1e} off")
    assert size > 1 and worst < limit and off < limit, name


def energy_is_kept(system, positions):
    """Two hundred steps without a thermostat, of water that was brought to rest: the total energy stays."""
    integrator = openmm.VerletIntegrator(0.0005)
    context = openmm.Context(system, integrator, openmm.Platform.getPlatformByName("CUDA"), {"Precision": "mixed"})
    context.setPositions(positions)
    openmm.LocalEnergyMinimizer.minimize(context, 10, 50)
    context.setVelocitiesToTemperature(300, 5)
    integrator.step(20)
    totals, kinetic = [], 0
    for _ in range(10):
        integrator.step(20)
        state = context.getState(getEnergy=True)
        kinetic = state.getKineticEnergy().value_in_unit(KJ)
        totals.append(state.getPotentialEnergy().value_in_unit(KJ) + kinetic)
    drift = (max(totals) - min(totals)) / kinetic
    print(f"dynamics: the total energy stays within {drift:.1e} of the kinetic energy")
    assert drift < 0.02
    # A checkpoint holds positions, velocities and random numbers: what follows it is the same, bit for bit.
    saved = context.createCheckpoint()
    integrator.step(5)
    once = context.getState(getPositions=True).getPositions(asNumpy=True)._value
    context.loadCheckpoint(saved)
    integrator.step(5)
    again = context.getState(getPositions=True).getPositions(asNumpy=True)._value
    print(f"after a checkpoint: {abs(once - again).max():.1e} nm apart")
    assert abs(once - again).max() < 1e-5


def temperature_is_held(system, positions):
    integrator = openmm.LangevinMiddleIntegrator(300, 20, 0.001)
    integrator.setRandomNumberSeed(3)
    context = openmm.Context(system, integrator, openmm.Platform.getPlatformByName("CUDA"), {"Precision": "single"})
    context.setPositions(positions)
    openmm.LocalEnergyMinimizer.minimize(context, 10, 50)
    context.setVelocitiesToTemperature(300, 5)
    integrator.step(200)
    kinetic = []
    for _ in range(20):
        integrator.step(10)
        kinetic.append(context.getState(getEnergy=True).getKineticEnergy().value_in_unit(KJ))
    temperature = 2 * numpy.mean(kinetic) / (3 * len(positions) * 0.00831446)
    print(f"Langevin dynamics at 300 K: {temperature:.0f} K")
    assert 270 < temperature < 330


pme = water(6, app.PME)
compared("water with PME", *pme, "single", 2e-4)
compared("water with PME", *pme, "double", 2e-5)
compared("water with PME for dispersion too", *water(6, app.LJPME), "mixed", 2e-4)
compared("water with Ewald sums", *water(5, app.Ewald), "single", 5e-4)
compared("water with a reaction field", *water(6, app.CutoffPeriodic), "single", 2e-4)
compared("formulas", *chain_of_beads(), "single", 1e-3)
compared("formulas", *chain_of_beads(), "double", 1e-6)
energy_is_kept(*pme)
temperature_is_held(*pme)
print("OpenMM: ok")
