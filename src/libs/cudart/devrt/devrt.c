/* SPDX-License-Identifier: Apache-2.0 */
/* libcudadevrt.a. NVIDIA's archive of this name holds device code for launches from kernels. In code that Millrace
 * compiles, what these need is in the headers, so the archive has no device code: it is there because build systems
 * name it when they link. This note is all that is in it. */
const char mr_cudadevrt_note[] = "Millrace: this archive holds no device code; what kernels call is in the headers";
