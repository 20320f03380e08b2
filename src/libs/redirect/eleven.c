/* SPDX-License-Identifier: Apache-2.0 */
/* Each function here has the parameters that CUDA 11.8's headers declare, and calls that of version 12. Handles and
 * enums are as wide there; none is looked at. */
#include "libs/redirect/eleven.h"

#include <stddef.h>
#include <string.h>

enum { ATTRIBUTES_11 = 56, ATTRIBUTES_12 = 144 }; /* bytes of cudaFuncAttributes; the newer begins with the older */

/* cudaTextureDesc, whose last member 12 added; cudaCreateTextureObject_v2 of 11.8 has it, too. */
enum { TEXTURE_11 = 68, TEXTURE_12 = 72 };

struct instantiate_params {
    unsigned long long flags;
    void *upload_stream, *error_node;
    int result;
};

struct update_result {
    int result;
    void *error_node, *error_from_node;
};

/* Version 12's function, by way of its stub. */
static uintptr_t twelve(const char *name)
{
    return mr_redirect_stub(mr_redirect_name(name), MR_REDIRECT_12);
}

static int func_get_attributes(void *attributes, const void *function)
{
    int (*call)(void *, const void *) = (int (*)(void *, const void *))twelve("cudaFuncGetAttributes");
    _Alignas(8) char all[ATTRIBUTES_12];
    int status = call(attributes ? all : NULL, function);
    if (status == 0 && attributes)
        memcpy(attributes, all, ATTRIBUTES_11);
    return status;
}

static int graph_instantiate(void **exec, void *graph, void **error_node, char *log, size_t size)
{
    int (*call)(void **, void *, struct instantiate_params *) =
        (int (*)(void **, void *, struct instantiate_params *))twelve("cudaGraphInstantiateWithParams");
    struct instantiate_params params = {0};
    int status = call(exec, graph, &params);
    if (error_node)
        *error_node = params.error_node;
    if (log && size > 0)
        *log = '\0';
    return status;
}

static int graph_exec_update(void *exec, void *graph, void **error_node, int *result)
{
    int (*call)(void *, void *, struct update_result *) =
        (int (*)(void *, void *, struct update_result *))twelve("cudaGraphExecUpdate");
    struct update_result info = {0};
    int status = call(exec, graph, &info);
    if (error_node)
        *error_node = info.error_node;
    if (result)
        *result = info.result;
    return status;
}

typedef int entry_point_12(const char *symbol, void **function, unsigned long long flags, int *found);

static int get_driver_entry_point(const char *symbol, void **function, unsigned long long flags)
{
    return ((entry_point_12 *)twelve("cudaGetDriverEntryPoint"))(symbol, function, flags, NULL);
}

static int get_driver_entry_point_ptsz(const char *symbol, void **function, unsigned long long flags)
{
    return ((entry_point_12 *)twelve("cudaGetDriverEntryPoint_ptsz"))(symbol, function, flags, NULL);
}

typedef int create_texture(unsigned long long *object, const void *what, const void *how, const void *view);
typedef int get_texture(void *how, unsigned long long object);

static int create_texture_object_v2(unsigned long long *object, const void *what, const void *how, const void *view)
{
    return ((create_texture *)twelve("cudaCreateTextureObject"))(object, what, how, view);
}

static int create_texture_object(unsigned long long *object, const void *what, const void *how, const void *view)
{
    _Alignas(8) char all[TEXTURE_12] = {0};
    if (how)
        memcpy(all, how, TEXTURE_11);
    return create_texture_object_v2(object, what, how ? all : NULL, view);
}

static int get_texture_object_texture_desc_v2(void *how, unsigned long long object)
{
    return ((get_texture *)twelve("cudaGetTextureObjectTextureDesc"))(how, object);
}

static int get_texture_object_texture_desc(void *how, unsigned long long object)
{
    _Alignas(8) char all[TEXTURE_12];
    int status = get_texture_object_texture_desc_v2(how ? all : NULL, object);
    if (status == 0 && how)
        memcpy(how, all, TEXTURE_11);
    return status;
}

uintptr_t mr_redirect_target(int name, enum mr_redirect_version version)
{
    static const struct {
        const char *name;
        uintptr_t function;
    } functions[] = {
        {"cudaCreateTextureObject", (uintptr_t)create_texture_object},
        {"cudaCreateTextureObject_v2", (uintptr_t)create_texture_object_v2},
        {"cudaFuncGetAttributes", (uintptr_t)func_get_attributes},
        {"cudaGetDriverEntryPoint", (uintptr_t)get_driver_entry_point},
        {"cudaGetDriverEntryPoint_ptsz", (uintptr_t)get_driver_entry_point_ptsz},
        {"cudaGetTextureObjectTextureDesc", (uintptr_t)get_texture_object_texture_desc},
        {"cudaGetTextureObjectTextureDesc_v2", (uintptr_t)get_texture_object_texture_desc_v2},
        {"cudaGraphExecUpdate", (uintptr_t)graph_exec_update},
        {"cudaGraphInstantiate", (uintptr_t)graph_instantiate},
    };
    if (version != MR_REDIRECT_11)
        return mr_redirect_stub(name, version);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (mr_redirect_name(functions[i].name) == name)
            return functions[i].function;
    return mr_redirect_stub(name, MR_REDIRECT_12);
}
