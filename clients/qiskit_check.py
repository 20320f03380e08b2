# SPDX-License-Identifier: Apache-2.0
"""Qiskit Aer's simulator with device="GPU" beside device="CPU": state vectors and density matrices of circuits drawn at
random, single and double precision, and counts of measurements."""
import numpy as np
from qiskit import QuantumCircuit, transpile
from qiskit.circuit.random import random_circuit
from qiskit_aer import AerSimulator

assert "GPU" in AerSimulator().available_devices()


def state(circuit: QuantumCircuit, device: str, method: str, precision: str) -> np.ndarray:
    simulator = AerSimulator(method=method, device=device, precision=precision, fusion_enable=device == "CPU")
    result = simulator.run(transpile(circuit, simulator)).result()
    assert result.success, result.status
    return np.asarray(result.data(0)[method])


for method, qubits in (("statevector", 10), ("density_matrix", 5)):
    for seed in range(4):
        circuit = random_circuit(qubits, 8, seed=seed)
        getattr(circuit, "save_" + method)()
        for precision, most in (("double", 1e-10), ("single", 1e-4)):
            difference = np.abs(state(circuit, "GPU", method, precision) - state(circuit, "CPU", method, precision)).max()
            assert difference < most, (method, seed, precision, difference)
    print(f"{method}, four circuits: good")

pair = QuantumCircuit(2)
pair.h(0)
pair.cx(0, 1)
pair.measure_all()
counts = AerSimulator(device="GPU").run(pair, shots=4000, seed_simulator=1).result().get_counts()
assert set(counts) == {"00", "11"} and abs(counts["00"] - 2000) < 300, counts
print("measurements: good")
