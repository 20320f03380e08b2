/* SPDX-License-Identifier: Apache-2.0 */
/* Modules and libraries that the driver behind has loaded, and their variables, for the observer's question what goes
 * when one is unloaded (`parts` in observe/observe.h).
 *
 * Nobody tells which variables a module has. Known are those that the program has asked for: no other one can lie among
 * the parameters of a kernel or of a copy. A module that ends with its context stays in the list until its handle is
 * given out again. */
#include <pthread.h>
#include <stdlib.h>

#include "libs/forward/works.h"
#include "observe/calls.h"

struct module {
    struct module *next;
    const void *handle;
    bool library;
    size_t count, room;
    struct mr_observed_part *parts; /* itself, then its variables */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list and what is in it */
static struct module *modules;

/* Of the call that the thread is in, which unloads it. Once the driver behind has it, its handle may be another's. */
static _Thread_local struct module *leaving;

static struct module **find(const void *handle, bool library)
{
    struct module **at = &modules;
    while (*at && ((*at)->handle != handle || (*at)->library != library))
        at = &(*at)->next;
    return at;
}

static struct module *take(const void *handle, bool library)
{
    struct module **at = find(handle, library), *found = *at;
    if (found)
        *at = found->next;
    return found;
}

static void drop(struct module *module)
{
    if (module)
        free(module->parts);
    free(module);
}

static bool add_part(struct module *module, struct mr_observed_part part)
{
    if (module->count == module->room) {
        size_t room = module->room ? 2 * module->room : 2;
        struct mr_observed_part *grown = realloc(module->parts, room * sizeof *grown);
        if (!grown)
            return false;
        module->parts = grown;
        module->room = room;
    }
    module->parts[module->count++] = part;
    return true;
}

static void loaded(const void *handle, bool library, CUcontext context)
{
    static uint64_t numbers; /* given out; guarded by the lock */
    struct module *made = calloc(1, sizeof *made);
    pthread_mutex_lock(&lock);
    struct module *old = take(handle, library);
    if (made && add_part(made, (struct mr_observed_part){.module = numbers + 1, .context = context})) {
        numbers++;
        made->handle = handle;
        made->library = library;
        made->next = modules;
        modules = made;
        made = NULL;
    }
    pthread_mutex_unlock(&lock);
    drop(old);
    drop(made);
}

/* The program has been told where a variable is. */
static void told(const void *handle, bool library, const CUdeviceptr *pointer, const size_t *bytes, CUcontext context)
{
    size_t size = 0;
    CUpointer_attribute what[] = {CU_POINTER_ATTRIBUTE_RANGE_SIZE};
    void *into[] = {&size};
    if (!pointer || !*pointer)
        return;
    if (bytes)
        size = *bytes;
    else if (mr_forward_driver.pointer_attributes(1, what, into, *pointer) != CUDA_SUCCESS)
        return;
    pthread_mutex_lock(&lock);
    struct module *module = *find(handle, library);
    bool known = !module || size == 0;
    for (size_t i = 0; !known && i < module->count; i++)
        known = module->parts[i].size && module->parts[i].first == *pointer;
    if (!known)
        (void)add_part(module, (struct mr_observed_part){module->parts[0].module, context, *pointer, size});
    pthread_mutex_unlock(&lock);
}

size_t mr_forward_parts(uint64_t handle, bool library, struct mr_observed_part *parts, size_t room)
{
    pthread_mutex_lock(&lock);
    const struct module *module = *find((const void *)(uintptr_t)handle, library);
    size_t count = module ? module->count : 0;
    for (size_t i = 0; i < count && i < room; i++)
        parts[i] = module->parts[i];
    pthread_mutex_unlock(&lock);
    return count;
}

#define P(name) const struct mr_params_##name *p = call->params

/* ---- calls ---- */

void mr_forward_modules_enter(const struct mr_observed_call *call)
{
    const void *handle = NULL;
    bool library = call->call == MR_CALL_cuLibraryUnload;
    if (library) {
        P(cuLibraryUnload);
        handle = p->library;
    } else if (call->call == MR_CALL_cuModuleUnload) {
        P(cuModuleUnload);
        handle = p->hmod;
    } else {
        return;
    }
    pthread_mutex_lock(&lock);
    leaving = take(handle, library);
    pthread_mutex_unlock(&lock);
}

/* The module that the call was to unload is gone, or is still there. */
static void end_leaving(CUresult status)
{
    if (status == CUDA_SUCCESS) {
        drop(leaving);
    } else {
        pthread_mutex_lock(&lock);
        leaving->next = modules;
        modules = leaving;
        pthread_mutex_unlock(&lock);
    }
    leaving = NULL;
}

#define LOADS(name, field, library) \
    case MR_CALL_##name: { \
        P(name); \
        loaded(*p->field, library, call->context); \
        break; \
    }
#define GLOBAL(name, field, library) \
    case MR_CALL_##name: { \
        P(name); \
        told(p->field, library, p->dptr, p->bytes, call->context); \
        break; \
    }

void mr_forward_modules_leave(const struct mr_observed_call *call, CUresult status)
{
    if (leaving)
        end_leaving(status);
    if (status != CUDA_SUCCESS)
        return;
    switch (call->call) {
        LOADS(cuModuleLoad, module, false)
        LOADS(cuModuleLoadData, module, false)
        LOADS(cuModuleLoadDataEx, module, false)
        LOADS(cuModuleLoadFatBinary, module, false)
        LOADS(cuLibraryLoadData, library, true)
        LOADS(cuLibraryLoadFromFile, library, true)
        GLOBAL(cuModuleGetGlobal_v2, hmod, false)
        GLOBAL(cuLibraryGetGlobal, library, true)
        GLOBAL(cuLibraryGetManaged, library, true)
    default:
        break;
    }
}
