/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unloading modules and libraries while work is pending: what it waits for. A
 * thread opens the gate shortly after; a call that has waited finds the stream
 * empty.
 */
#include "gold.h"

#include <pthread.h>

#define EMPTY ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry empty()\n{\n    ret;\n}\n"
#define VARIABLE \
    ".version 7.0\n.target sm_75\n.address_size 64\n.visible .global .u32 word;\n" \
    ".visible .entry empty()\n{\n    ret;\n}\n"

static void *open_soon(void *gate)
{
    gold_sleep_ms(50);
    gold_gate_open(*(struct gold_gate *)gate);
    return NULL;
}

/* Unloads the library, or else the module, in that context (NULL: the same) while the stream is busy, and says whether
 * the stream's work is done then. The stream is of the current context. */
static void unload_in(CUcontext context, CUstream busy, CUmodule module, CUlibrary library)
{
    CUcontext current;
    pthread_t opener;
    NEED(cuCtxGetCurrent(&current));
    struct gold_gate gate = gold_gate_close(busy);
    if (context)
        NEED(cuCtxSetCurrent(context));
    if (pthread_create(&opener, NULL, open_soon, &gate))
        gold_stop("pthread_create");
    say(library ? cuLibraryUnload(library) : cuModuleUnload(module));
    NEED(cuCtxSetCurrent(current));
    say(cuStreamQuery(busy));
    pthread_join(opener, NULL);
    NEED(cuStreamSynchronize(busy));
}

static void unload(CUstream busy, CUmodule module, CUlibrary library)
{
    unload_in(NULL, busy, module, library);
}

/* A new context, which is not made current. */
static CUcontext other_context(void)
{
    CUcontext current, other;
    NEED(cuCtxGetCurrent(&current));
    other = gold_context_new();
    NEED(cuCtxSetCurrent(current));
    return other;
}

static CUmodule used(const char *text, CUstream stream)
{
    CUmodule module = gold_load(text);
    CUfunction empty;
    NEED(cuModuleGetFunction(&empty, module, "empty"));
    NEED(gold_launch(empty, 1, stream, NULL));
    NEED(cuStreamSynchronize(stream));
    return module;
}

static CUlibrary loaded(const char *text)
{
    CUlibrary library;
    NEED(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
    return library;
}

/* In the current context. */
static void use(CUlibrary library)
{
    CUkernel empty;
    NEED(cuLibraryGetKernel(&empty, library, "empty"));
    NEED(gold_launch((CUfunction)empty, 1, NULL, NULL));
    NEED(cuCtxSynchronize());
}

/* The module's own kernels have ended; another one keeps the stream busy. */
CASE(unload, waits_for_context)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    unload(stream, used(VARIABLE, stream), NULL);
}

CASE(unload, waits_without_variables)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    unload(stream, used(EMPTY, stream), NULL);
}

CASE(unload, never_used)
{
    unload(gold_stream(CU_STREAM_NON_BLOCKING), gold_load(EMPTY), NULL);
}

CASE(unload, other_context_current, .alone = true)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUmodule module = used(EMPTY, stream);
    unload_in(other_context(), stream, module, NULL);
}

/* The module is of the other context, which has nothing to do. */
CASE(unload, other_context_busy, .alone = true)
{
    CUcontext first, other = other_context();
    NEED(cuCtxGetCurrent(&first));
    CUstream busy = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuCtxSetCurrent(other));
    CUmodule module = used(EMPTY, gold_stream(CU_STREAM_NON_BLOCKING));
    NEED(cuCtxSetCurrent(first));
    unload_in(other, busy, module, NULL);
}

CASE(unload, cu_library)
{
    CUlibrary library = loaded(VARIABLE);
    use(library);
    unload(gold_stream(CU_STREAM_NON_BLOCKING), NULL, library);
}

CASE(unload, cu_library_without_variables)
{
    CUlibrary library = loaded(EMPTY);
    use(library);
    unload(gold_stream(CU_STREAM_NON_BLOCKING), NULL, library);
}

CASE(unload, cu_library_never_used)
{
    unload(gold_stream(CU_STREAM_NON_BLOCKING), NULL, loaded(EMPTY));
}

/* The busy context has used the library, the current one too. */
CASE(unload, cu_library_in_two_contexts, .alone = true)
{
    CUlibrary library = loaded(EMPTY);
    CUcontext first, other = other_context();
    NEED(cuCtxGetCurrent(&first));
    use(library);
    NEED(cuCtxSetCurrent(other));
    use(library);
    NEED(cuCtxSetCurrent(first));
    unload_in(other, gold_stream(CU_STREAM_NON_BLOCKING), NULL, library);
}

/* The busy context has not used the library, the current one has. */
CASE(unload, cu_library_of_other_context, .alone = true)
{
    CUlibrary library = loaded(EMPTY);
    CUcontext first, other = other_context();
    NEED(cuCtxGetCurrent(&first));
    NEED(cuCtxSetCurrent(other));
    use(library);
    NEED(cuCtxSetCurrent(first));
    unload_in(other, gold_stream(CU_STREAM_NON_BLOCKING), NULL, library);
}

struct inside {
    CUmodule module;
    CUlibrary held;
    CUresult status[2];
};

static void CUDA_CB unload_inside(void *data)
{
    struct inside *inside = data;
    inside->status[0] = cuModuleUnload(inside->module);
    inside->status[1] = cuLibraryUnload(inside->held);
}

CASE(unload, in_host_function)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    struct inside inside = {.module = used(EMPTY, stream), .held = loaded(EMPTY)};
    use(inside.held);
    NEED(cuLaunchHostFunc(stream, unload_inside, &inside));
    NEED(cuStreamSynchronize(stream));
    say(inside.status[0]);
    say(inside.status[1]);
    say(cuModuleUnload(inside.module));
    say(cuLibraryUnload(inside.held));
}
