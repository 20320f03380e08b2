/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels: their names, and the memory that their parameters lead to.
 *
 * A kernel's handle is a function of a module or a kernel of a library, and the driver behind is asked in different
 * ways of the two. So handles are noted when calls give them out. Of others nothing is known. That driver may not tell
 * of a kernel before its thread has a context; then it is asked again when the kernel is launched.
 *
 * A parameter leads to an allocation if one of its words is an address in it. Which of its bytes the kernel touches
 * nobody tells, nor whether it touches any: each box is a whole allocation, and has MR_ACCESS_MAY. A
 * kernel that may overlap with the one in front is taken to wait for that one before it touches anything. */
#define __CUDA_API_VERSION_INTERNAL
#include "libs/forward/works.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "observe/calls.h"
#include "observe/names.h"

enum { HEADS = 1024, PARAMS = 64, TEXT = 4096 };

struct param {
    uint32_t offset, size;
    bool reads; /* a pointer to what is constant */
};

struct function {
    struct function *next;
    const void *handle;
    const char *name;
    bool is_kernel;
    bool is_whole; /* the driver behind has told all that there is */
    uint32_t count;
    struct param params[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the table */
static struct function *heads[HEADS];

static struct function **head_of(const void *handle)
{
    return &heads[(uintptr_t)handle * 0x9e3779b97f4a7c15u >> 54];
}

/* The parameters of a C++ name, as demangled, that are pointers to what is constant: "add(int*, int const*, int)".
 * False if the name doesn't have `count` parameters. */
static bool find_constant(const char *name, struct param *params, size_t count)
{
    char text[TEXT];
    size_t length, at = 0, found = 0, depth = 0;
    mr_demangle(name, text, sizeof text);
    length = strlen(text);
    if (length + 1 == sizeof text || length == 0 || text[length - 1] != ')')
        return false;
    for (at = length; at > 0; at--) { /* back to the parenthesis where the parameters begin */
        depth += text[at - 1] == ')';
        if (text[at - 1] == '(' && --depth == 0)
            break;
    }
    for (size_t first = at; at > 0 && at < length; at++) {
        char letter = text[at];
        bool ends = at + 1 == length || (letter == ',' && depth == 0);
        depth += letter == '<' || letter == '(' || letter == '[';
        depth -= depth > 0 && (letter == '>' || letter == ')' || letter == ']');
        if (!ends)
            continue;
        static const char constant[] = " const*";
        size_t size = at - first, of_constant = sizeof constant - 1;
        if (found < count)
            params[found].reads = size > of_constant && memcmp(text + at - of_constant, constant, of_constant) == 0;
        found++;
        first = at + 2; /* behind a comma comes a blank */
    }
    return found == count;
}

static struct function *make(const void *handle, bool is_kernel)
{
    struct param params[PARAMS] = {{0}};
    const char *name = NULL;
    size_t count = 0, offset, size;
    CUresult status = CUDA_ERROR_NOT_SUPPORTED;
    const struct mr_forward_driver *driver = &mr_forward_driver;
    CUfunction function = (CUfunction)handle;
    CUkernel kernel = (CUkernel)handle;
    if (is_kernel ? driver->kernel_name != NULL : driver->function_name != NULL)
        (void)(is_kernel ? driver->kernel_name(&name, kernel) : driver->function_name(&name, function));
    if (is_kernel ? driver->kernel_param != NULL : driver->function_param != NULL)
        for (; count < PARAMS; count++) {
            status = is_kernel ? driver->kernel_param(kernel, count, &offset, &size)
                               : driver->function_param(function, count, &offset, &size);
            if (status != CUDA_SUCCESS)
                break;
            params[count].offset = (uint32_t)offset;
            params[count].size = (uint32_t)size;
        }
    if (name && !find_constant(name, params, count))
        for (size_t i = 0; i < count; i++)
            params[i].reads = false;
    struct function *made = malloc(sizeof *made + count * sizeof *params);
    if (!made)
        return NULL;
    /* Behind the last parameter the index is wrong. */
    bool is_whole = status == CUDA_SUCCESS || status == CUDA_ERROR_INVALID_VALUE || status == CUDA_ERROR_NOT_SUPPORTED;
    *made = (struct function){.handle = handle,
                              .name = mr_observe_name(name),
                              .is_kernel = is_kernel,
                              .is_whole = is_whole,
                              .count = (uint32_t)count};
    memcpy(made->params, params, count * sizeof *params);
    return made;
}

/* Records stay: another thread may be reading one whose handle has been given out again. */
static void note(const void *handle, bool is_kernel)
{
    struct function *made = handle ? make(handle, is_kernel) : NULL;
    if (!made)
        return;
    pthread_mutex_lock(&lock);
    const struct function *known = *head_of(handle);
    while (known && known->handle != handle)
        known = known->next;
    bool same = known && known->name == made->name && known->count == made->count && known->is_whole == made->is_whole;
    if (!same) {
        made->next = *head_of(handle);
        *head_of(handle) = made;
    }
    pthread_mutex_unlock(&lock);
    if (same)
        free(made);
}

static const struct function *find_noted(const void *handle)
{
    pthread_mutex_lock(&lock);
    const struct function *found = *head_of(handle);
    while (found && found->handle != handle)
        found = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}

static const struct function *find(const void *handle)
{
    const struct function *found = find_noted(handle);
    if (!found || found->is_whole)
        return found;
    note(handle, found->is_kernel);
    return find_noted(handle);
}

void mr_forward_functions_leave(const struct mr_observed_call *call)
{
    switch (call->call) {
    case MR_CALL_cuModuleGetFunction: {
        const struct mr_params_cuModuleGetFunction *params = call->params;
        note(*params->hfunc, false);
        break;
    }
    case MR_CALL_cuModuleEnumerateFunctions: {
        const struct mr_params_cuModuleEnumerateFunctions *params = call->params;
        for (unsigned i = 0; i < params->numFunctions; i++)
            note(params->functions[i], false);
        break;
    }
    case MR_CALL_cuKernelGetFunction: {
        const struct mr_params_cuKernelGetFunction *params = call->params;
        note(*params->pFunc, false);
        break;
    }
    case MR_CALL_cuLibraryGetKernel: {
        const struct mr_params_cuLibraryGetKernel *params = call->params;
        note(*params->pKernel, true);
        break;
    }
    case MR_CALL_cuLibraryEnumerateKernels: {
        const struct mr_params_cuLibraryEnumerateKernels *params = call->params;
        for (unsigned i = 0; i < params->numKernels; i++)
            note(params->kernels[i], true);
        break;
    }
    default:
        break;
    }
}

const char *mr_forward_function_name(CUfunction function)
{
    const struct function *found = find(function);
    return found ? found->name : NULL;
}

/* The allocation that the address is in, if it is in one. */
static void lead_to(uintptr_t address, uint32_t how, struct mr_forward_boxes *boxes)
{
    enum { LOWEST = 65536 };
    CUdeviceptr first = 0;
    size_t size = 0;
    CUpointer_attribute what[] = {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE};
    void *into[] = {&first, &size};
    if (address < LOWEST || address >> 57 ||
        mr_forward_driver.pointer_attributes(2, what, into, address) != CUDA_SUCCESS || !first || !size)
        return;
    mr_forward_box(boxes, (uintptr_t)first, size, 1, size, how | MR_ACCESS_MAY | MR_ACCESS_PAST_GRIDS);
}

void mr_forward_function_boxes(CUfunction function, void **params, void **extra, struct mr_forward_boxes *boxes)
{
    const struct function *found = find(function);
    const char *buffer = NULL;
    for (size_t i = 0; extra && !params && extra[i] != CU_LAUNCH_PARAM_END; i += 2)
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[i + 1];
    if (!found || (!params && !buffer))
        return;
    for (uint32_t i = 0; i < found->count; i++) {
        const struct param *param = &found->params[i];
        const char *value = params ? params[i] : buffer + param->offset;
        uint32_t how = MR_ACCESS_READ | (param->reads ? 0u : (uint32_t)MR_ACCESS_WRITE);
        for (uint32_t at = 0; value && at + sizeof(uintptr_t) <= param->size; at += sizeof(uintptr_t)) {
            uintptr_t word;
            memcpy(&word, value + at, sizeof word);
            lead_to(word, how, boxes);
        }
    }
}
