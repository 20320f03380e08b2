/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel sources include this header by habit. What it would bring them is in millrace_device.h, which the nvcc shim includes first. */
