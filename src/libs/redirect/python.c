/* SPDX-License-Identifier: Apache-2.0 */
/* Changing the capsules of a module. Python makes an extension module in two steps: PyInit_NAME gives a definition, and
 * the functions in the definition's slots then fill the module. Ours is put behind them. All that is used of Python is
 * its stable interface (the limited API), which has been the same since 3.5. */
#include "libs/redirect/python.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "libs/redirect/eleven.h"

/* Modules of one process: cuda.bindings has two. */
enum { MODULES = 8 };

/* The parts of Python's PyModuleDef that are used. Before them there is an object's head, of two words; free-threaded
 * Pythons, and those that trace references, have one of four words. The head's last word is the object's type. */
struct slot {
    int kind; /* 0 ends the list */
    void *value;
};
struct definition {
    void *init, *copy_index, *copy;
    const char *name, *text;
    intptr_t size;
    void *methods;
    struct slot *slots;
};
enum { SLOT_EXEC = 2, HEADS = 2 };
static const unsigned heads[HEADS] = {2, 4};

/* Python's functions, which the program has. */
static struct {
    void *definition_type; /* PyModuleDef_Type */
    void *(*get_attribute)(void *object, const char *name);
    int (*next)(void *dict, intptr_t *position, void **key, void **value);
    int (*set)(void *dict, void *key, void *value);
    const char *(*text)(void *unicode, intptr_t *size);
    void *(*new_capsule)(void *pointer, const char *name, void *destructor);
    const char *(*capsule_name)(void *capsule);
    void (*release)(void *object);
    void (*clear_error)(void);
} python;

static bool find_python(void)
{
    static const struct {
        const char *name;
        void *at;
    } functions[] = {
        {"PyModuleDef_Type", &python.definition_type},
        {"PyObject_GetAttrString", &python.get_attribute},
        {"PyDict_Next", &python.next},
        {"PyDict_SetItem", &python.set},
        {"PyUnicode_AsUTF8AndSize", &python.text},
        {"PyCapsule_New", &python.new_capsule},
        {"PyCapsule_GetName", &python.capsule_name},
        {"Py_DecRef", &python.release},
        {"PyErr_Clear", &python.clear_error},
    };
    void *program = dlmopen(LM_ID_BASE, NULL, RTLD_LAZY);
    bool found = program != NULL;
    for (size_t i = 0; found && i < sizeof functions / sizeof *functions; i++) {
        void *function = dlsym(program, functions[i].name);
        memcpy(functions[i].at, &function, sizeof function);
        found = function != NULL;
    }
    return found;
}

/* The runtime library's function that a capsule holds, or -1: the module calls cudaMalloc's _cudaMalloc. A module for
 * per-thread default streams calls the forms for those by the same names. */
static int function_of(const char *key, const char *signature, bool per_thread)
{
    static const char *const suffixes[] = {"_ptsz", "_ptds", ""};
    char name[128];
    bool answers_otherwise = strcmp(key, "_cudaGetErrorName") == 0 || strcmp(key, "_cudaGetErrorString") == 0 ||
                             strcmp(key, "_cudaCreateChannelDesc") == 0;
    if (strncmp(key, "_cuda", 5) != 0 || (strncmp(signature, "cudaError_t (", 13) != 0 && !answers_otherwise))
        return -1;
    for (unsigned i = per_thread ? 0 : 2; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", key + 1, suffixes[i]);
        if (mr_redirect_name(name) >= 0)
            return mr_redirect_name(name);
    }
    return -1;
}

/* Whether the dictionary has a text for a key. */
static bool has_key(void *dict, const char *wanted)
{
    intptr_t position = 0;
    void *key, *value;
    while (python.next(dict, &position, &key, &value)) {
        const char *name = python.text(key, NULL);
        if (name && strcmp(name, wanted) == 0)
            return true;
    }
    return false;
}

/* Returns the number of capsules that were changed. Python's lock is held. */
static unsigned change_capsules(void *dict, enum mr_redirect_version version, bool per_thread)
{
    unsigned done = 0;
    intptr_t position = 0;
    void *key, *value;
    while (python.next(dict, &position, &key, &value)) {
        const char *name = python.text(key, NULL), *signature = name ? python.capsule_name(value) : NULL;
        int number = signature ? function_of(name, signature, per_thread) : -1;
        if (number < 0)
            continue;
        /* The signature is a text of the module's, which Python never unloads. */
        void *capsule = python.new_capsule((void *)mr_redirect_target(number, version), signature, NULL);
        /* A value may be changed while the dictionary is gone through; a key may not be added. */
        if (capsule && python.set(dict, key, capsule) == 0)
            done++;
        if (capsule)
            python.release(capsule);
    }
    python.clear_error();
    return done;
}

/* cuda.bindings asks for per-thread default streams by this variable, and its module for others then calls the other
 * module, or did so up to 13.0. */
static bool wants_per_thread(void)
{
    const char *text = getenv("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM");
    return text && strtol(text, NULL, 10) != 0;
}

/* The version of the runtime library inside. The first name is version 12's alone, and 12 dropped the second. */
static enum mr_redirect_version version_of(void *dict)
{
    if (has_key(dict, "_cudaGetDeviceProperties_v2"))
        return MR_REDIRECT_12;
    return has_key(dict, "_cudaProfilerInitialize") ? MR_REDIRECT_11 : MR_REDIRECT_13;
}

static void change_module(void *module, const char *name)
{
    void *dict = python.get_attribute(module, "__pyx_capi__");
    python.clear_error();
    if (!dict)
        return;
    bool per_thread = strstr(name, "_ptds") != NULL || wants_per_thread();
    enum mr_redirect_version version = version_of(dict);
    mr_redirect_slots_setup();
    unsigned done = change_capsules(dict, version, per_thread);
    python.release(dict);
    if (done > 0)
        mr_log(MR_LOG_INFO, "the Python module %s: %u functions of the runtime library inside go to libcudart.so.%s",
               name, done, mr_redirect_version_name(version));
}

/* A module whose PyInit_… was asked for. */
struct module {
    void *(*init)(void);
    const char *name; /* behind PyInit_ */
    bool is_extended; /* its definition has our slot */
};
static struct module modules[MODULES];

/* The definition's slots with one more; the old ones stay, as they may be constant. */
static void extend(struct module *module, struct definition *definition, int (*exec)(void *))
{
    size_t count = 0;
    while (definition->slots && definition->slots[count].kind != 0)
        count++;
    struct slot *slots = calloc(count + 2, sizeof *slots);
    if (!slots)
        return;
    if (count > 0)
        memcpy(slots, definition->slots, count * sizeof *slots);
    slots[count] = (struct slot){SLOT_EXEC, (void *)exec};
    definition->slots = slots;
    module->is_extended = true;
}

/* Calls the module's own PyInit_…. Python's lock is held. */
static void *begin(struct module *module, int (*exec)(void *))
{
    void **object = module->init();
    if (!object || module->is_extended || !find_python())
        return object;
    for (unsigned i = 0; i < HEADS; i++)
        if (object[heads[i] - 1] == python.definition_type) {
            extend(module, (struct definition *)(object + heads[i]), exec);
            return object;
        }
    change_module(object, module->name); /* it is the module, made in one step */
    return object;
}

#define MODULE(n) \
    static int exec_##n(void *module) \
    { \
        change_module(module, modules[n].name); \
        return 0; \
    } \
    static void *init_##n(void) \
    { \
        return begin(&modules[n], exec_##n); \
    }
MODULE(0)
MODULE(1)
MODULE(2)
MODULE(3)
MODULE(4)
MODULE(5)
MODULE(6)
MODULE(7)
#undef MODULE

bool mr_python_may_carry(const char *path)
{
    static const char *const stems[] = {"runtime.", "runtime_ptds.", "cyruntime.", "cyruntime_ptds."};
    const char *slash = strrchr(path, '/');
    for (unsigned i = 0; slash && i < sizeof stems / sizeof *stems; i++)
        if (strncmp(slash + 1, stems[i], strlen(stems[i])) == 0)
            return true;
    return false;
}

uintptr_t mr_python_symbol(const char *name, uintptr_t address)
{
    static void *(*const inits[MODULES])(void) = {init_0, init_1, init_2, init_3, init_4, init_5, init_6, init_7};
    static const char prefix[] = "PyInit_";
    if (!address || strncmp(name, prefix, sizeof prefix - 1) != 0)
        return address;
    for (unsigned i = 0; i < MODULES; i++) {
        if (!modules[i].init) {
            const char *own = strdup(name + sizeof prefix - 1);
            if (!own)
                return address;
            modules[i] = (struct module){.init = (void *(*)(void))address, .name = own};
        }
        if ((uintptr_t)modules[i].init == address)
            return (uintptr_t)inits[i];
    }
    mr_log(MR_LOG_INFO, "%s: too many Python modules that may carry a runtime library; it keeps its own", name);
    return address;
}
