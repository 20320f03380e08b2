/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The common header of the cases about the runtime API.
 *
 * As gold.h, which it takes its words from; the same source is built against
 * NVIDIA's runtime library to record the answers and against Millrace's to
 * compare them, so cases use nothing but the public headers of the runtime and
 * the driver, and are plain C: kernels are PTX, in a library of the runtime
 * (rt_kernel) or registered as a compiler would do it (rt_register.c).
 *
 * A row of ordinary cases shares one process, in which device 0 is in use and
 * the last error is clear when a case starts.  What is .alone has a process of its
 * own, with the same; what is .bare finds a process that has called nothing.
 */
#ifndef RT_H
#define RT_H

#include "../gold.h"

#include <cuda_runtime_api.h>

/* Says the status's name. */
void rt(cudaError_t status);
/*
 * Says the status's name and what it left as last error: nothing where that is the
 * status itself, "clear" where there is none, otherwise its name.  Clears it.
 */
void rt_noted(cudaError_t status);
/*
 * For a case in which NVIDIA's library crashes: what is right instead.  Such a case is one call with one bad argument,
 * so that nothing else is lost with it.
 */
#define RT_CRASHES(answer) .alone = true, .allow = answer, .why = "NVIDIA's library crashes on the argument"

/* Says "last=" and what cudaGetLastError gives, which clears it. */
void rt_last(void);
/* The status's name, or NULL for a number that CUDA 13.0 does not know. */
const char *rt_status_name(cudaError_t status);

/* A step that has to succeed for the case to mean anything: ends the case otherwise. */
#define RT_NEED(expr) rt_need((expr), #expr)
void rt_need(cudaError_t status, const char *what);

/* A kernel of the common module (../gold_ptx.c), as cudaLaunchKernel and others take it. */
const void *rt_kernel(const char *name);
cudaKernel_t rt_kernel_handle(const char *name);
cudaLibrary_t rt_library(void);

cudaStream_t rt_stream(unsigned flags);
cudaEvent_t rt_event(unsigned flags);
void *rt_alloc(size_t bytes);
/* Device memory filled with the 32-bit word VALUE, and a word of it. */
unsigned *rt_words(size_t count, unsigned value);
unsigned rt_word(const void *address);

/* Launches KERNEL with one block of THREADS threads. */
cudaError_t rt_launch(const void *kernel, unsigned threads, cudaStream_t stream, void **params);
/* Enqueues a kernel that stores VALUE, or adds it, at ADDRESS. */
void rt_store(cudaStream_t stream, void *address, unsigned value);
void rt_add(cudaStream_t stream, void *address, unsigned value);

/* Keeps a stream busy until the gate is opened, or for eight seconds at most: see gold.h. */
struct rt_gate {
    volatile unsigned *flag;
};
struct rt_gate rt_gate_close(cudaStream_t stream);
void rt_gate_open(struct rt_gate gate);

/* Runs TASK on a thread of its own and waits for its end. */
void rt_thread(void (*task)(void *argument), void *argument);

/* A graph with the common kernels' parameters made easy. */
cudaGraph_t rt_graph(void);
cudaGraphNode_t rt_graph_empty(cudaGraph_t graph);
/* A node that stores VALUE at ADDRESS, after DEPENDENCY if there is one. */
cudaGraphNode_t rt_graph_store(cudaGraph_t graph, cudaGraphNode_t dependency, void *address, unsigned value);

/*
 * What a compiler would have registered: host addresses that stand for kernels
 * and variables of the common module.  Any address of the host can be asked about.
 */
extern char rt_host_empty, rt_host_store, rt_host_bounded, rt_host_missing;
extern char rt_host_counter, rt_host_table, rt_host_constants, rt_host_missing_variable;

/* Launches rt_host_empty as the stub of nvcc 13 does it, and gives what cudaGetLastError says then, which clears it. */
cudaError_t rt_stub_launch(dim3 grid, dim3 block, size_t shared);

#endif
