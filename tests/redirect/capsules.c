/* SPDX-License-Identifier: Apache-2.0 */
/* A Python module that looks like cuda.bindings': functions that it hands out by capsules, and no symbols. Built as
 * runtime.so and runtime_ptds.so. ONE_STEP: made in one step, as old modules are. VERSION: of the runtime library that
 * it stands for. Python's headers may not be here, so what is used of its stable interface is declared here. */
#include <dlfcn.h>
#include <stddef.h>

#define JOIN(a, b) a##b
#define INIT(name) JOIN(PyInit_, name)

struct slot {
    int kind;
    void *value;
};
struct definition {
    ptrdiff_t references;
    void *type, *init;
    ptrdiff_t index;
    void *copy;
    const char *name, *text;
    ptrdiff_t size;
    void *methods;
    struct slot *slots;
    void *traverse, *clear, *release;
};

extern void *PyModule_Create2(struct definition *definition, int version);
extern void *PyModuleDef_Init(struct definition *definition);
extern int PyModule_AddObject(void *module, const char *name, void *value);
extern void *PyDict_New(void);
extern int PyDict_SetItemString(void *dict, const char *key, void *value);
extern void *PyCapsule_New(void *pointer, const char *name, void *destructor);
extern void *PyLong_FromLong(long value);

static int get_version(int *version)
{
    *version = -1;
    return dlsym(RTLD_DEFAULT, "no_such_function") ? 1 : 0; /* as a runtime library inside finds the driver */
}

static int own(void)
{
    return 12345;
}

static int fill(void *module)
{
    void *dict = PyDict_New();
    static const struct {
        const char *name, *signature;
        void *function;
    } functions[] = {
        {"_cudaRuntimeGetVersion", "cudaError_t (int *)", (void *)get_version},
        {"_cudaStreamGetId", "cudaError_t (cudaStream_t, unsigned PY_LONG_LONG *)", (void *)own},
        {"_cudaGetErrorName", "char const *(cudaError_t)", (void *)own},
        {"_cudaGetDeviceCount", "int (PyObject *)", (void *)own},        /* not the library's, by its signature */
        {"_cudaNoSuchFunction", "cudaError_t (void)", (void *)own},      /* by its name */
        {"cudaDeviceSynchronize", "cudaError_t (void)", (void *)own},    /* another module's wrapper */
        {"helper", "cudaError_t (void)", (void *)own},
        {"own", "own", (void *)own},
#if VERSION == 11
        {"_cudaProfilerInitialize", "cudaError_t (char const *, char const *, enum cudaOutputMode)", (void *)own},
        {"_cudaMalloc", "cudaError_t (void **, size_t)", (void *)own},
        {"_cudaCreateTextureObject", "cudaError_t (cudaTextureObject_t *, void const *, void const *, void const *)",
         (void *)own},
        {"_cudaGetTextureObjectTextureDesc", "cudaError_t (void *, cudaTextureObject_t)", (void *)own},
#elif VERSION == 12
        {"_cudaGetDeviceProperties_v2", "cudaError_t (struct cudaDeviceProp *, int)", (void *)own},
#endif
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        PyDict_SetItemString(dict, functions[i].name,
                             PyCapsule_New(functions[i].function, functions[i].signature, NULL));
    PyDict_SetItemString(dict, "_cudaNoCapsule", PyLong_FromLong(1));
    PyDict_SetItemString(dict, "_cudaNoName", PyCapsule_New((void *)own, NULL, NULL));
    return PyModule_AddObject(module, "__pyx_capi__", dict);
}

static struct slot slots[] = {{2, (void *)fill}, {0, NULL}};
static struct definition definition = {.references = 1, .name = "runtime", .slots = slots};

extern void *INIT(NAME)(void);
__attribute__((visibility("default"))) void *INIT(NAME)(void)
{
#ifdef ONE_STEP
    definition.slots = NULL;
    definition.size = -1;
    void *module = PyModule_Create2(&definition, 1013);
    if (module)
        fill(module);
    return module;
#else
    return PyModuleDef_Init(&definition);
#endif
}
