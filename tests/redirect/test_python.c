/* SPDX-License-Identifier: Apache-2.0 */
/* Python modules that carry a runtime library (redirect/python.h), with stand-ins for the functions of Python's that
 * are used, so that sanitizers see the code; test_redirect.py has the true Python. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libs/redirect/libraries.h"
#include "libs/redirect/python.h"
#include "libs/redirect/slots.h"

/* What slots.c takes from libraries.c and from the assembly; nothing is opened or called here. */
const char *mr_redirect_folder(void)
{
    return "";
}
const char mr_redirect_stubs[MR_REDIRECT_NAMES * MR_REDIRECT_VERSIONS * 16], mr_redirect_first_calls[1];

/* What python.c finds by name in the program. */
#pragma GCC visibility push(default)
extern int PyModuleDef_Type;
extern void *PyObject_GetAttrString(void *object, const char *name);
extern int PyDict_Next(void *of, intptr_t *position, void **key, void **value);
extern int PyDict_SetItem(void *of, void *key, void *value);
extern const char *PyUnicode_AsUTF8AndSize(void *unicode, intptr_t *size);
extern void *PyCapsule_New(void *pointer, const char *name, void *destructor);
extern const char *PyCapsule_GetName(void *capsule);
extern void Py_DecRef(void *object);
extern void PyErr_Clear(void);
#pragma GCC visibility pop

/* Every object of the stand-in: a text, a capsule or neither. */
struct object {
    int references;
    const char *text; /* NULL: it is no text */
    bool is_capsule;
    void *pointer;
    const char *name; /* of a capsule; may be NULL */
};
enum { PAIRS = 8 };
struct pair {
    struct object *key, *value;
};
static struct pair dict[PAIRS];
static int dict_references, live; /* capsules that were made and not let go */
static bool has_dict = true, has_memory = true, takes_values = true, error;

int PyModuleDef_Type;
void *PyObject_GetAttrString(void *object, const char *name)
{
    (void)object;
    error = !has_dict || strcmp(name, "__pyx_capi__") != 0;
    dict_references += !error;
    return error ? NULL : dict;
}
int PyDict_Next(void *of, intptr_t *position, void **key, void **value)
{
    assert_ptr_equal(of, dict);
    if (*position >= PAIRS || !dict[*position].key)
        return 0;
    *key = dict[*position].key;
    *value = dict[*position].value;
    ++*position;
    return 1;
}
int PyDict_SetItem(void *of, void *key, void *value)
{
    struct object *object = value;
    assert_ptr_equal(of, dict);
    for (int i = 0; takes_values && i < PAIRS; i++)
        if (dict[i].key == key) {
            object->references++;
            dict[i].value = object;
            return 0;
        }
    error = true;
    return -1;
}
const char *PyUnicode_AsUTF8AndSize(void *unicode, intptr_t *size)
{
    assert_null(size);
    error |= !((struct object *)unicode)->text;
    return ((struct object *)unicode)->text;
}
void *PyCapsule_New(void *pointer, const char *name, void *destructor)
{
    assert_null(destructor);
    struct object *made = has_memory ? calloc(1, sizeof *made) : NULL;
    error |= !made;
    if (!made)
        return NULL;
    live++;
    *made = (struct object){.references = 1, .is_capsule = true, .pointer = pointer, .name = name};
    return made;
}
const char *PyCapsule_GetName(void *capsule)
{
    struct object *object = capsule;
    error |= !object->is_capsule;
    return object->is_capsule ? object->name : NULL;
}
void Py_DecRef(void *object)
{
    if (object == dict) {
        dict_references--;
        return;
    }
    struct object *one = object;
    if (--one->references == 0) {
        live--;
        free(one);
    }
}
void PyErr_Clear(void)
{
    error = false;
}

/* The dictionary of the tests: one text each, and what it leads to. */
static char own;
static struct object keys[PAIRS], values[PAIRS];

static void put(int at, const char *key, const char *signature)
{
    keys[at] = (struct object){.references = 1, .text = key};
    values[at] = (struct object){.references = 1, .is_capsule = true, .pointer = &own, .name = signature};
    dict[at] = (struct pair){&keys[at], &values[at]};
}

static void fill(void)
{
    static char long_name[400];
    memset(long_name, 'x', sizeof long_name - 1);
    memcpy(long_name, "_cudaMalloc", 11);
    put(0, "_cudaRuntimeGetVersion", "cudaError_t (int *)");
    put(1, "_cudaStreamGetId", "cudaError_t (cudaStream_t, unsigned long long *)");
    put(2, "helper", "cudaError_t (void)");
    put(3, "_cudaMalloc", NULL); /* a capsule without a name */
    put(4, "_cudaFree", "cudaError_t (void *)");
    values[4].is_capsule = false;
    put(5, NULL, "cudaError_t (void *)"); /* a key that is no text */
    put(6, long_name, "cudaError_t (void)");
    dict[7] = (struct pair){0};
}

/* What lies at `at` in the dictionary is Millrace's function of that name, or the module's own. */
static void assert_is(int at, const char *name)
{
    void *expected = name ? (void *)mr_redirect_stub(mr_redirect_name(name), MR_REDIRECT_13) : &own;
    assert_true(!name || mr_redirect_name(name) >= 0);
    assert_ptr_equal(dict[at].value->pointer, expected);
}

/* Lets go what the dictionary holds of new capsules; nothing else may be left. */
static void assert_nothing_left(void)
{
    for (int i = 0; i < PAIRS; i++)
        if (dict[i].key && dict[i].value != &values[i]) {
            Py_DecRef(dict[i].value);
            dict[i].value = &values[i];
        }
    assert_int_equal(live, 0);
    assert_int_equal(dict_references, 0);
    assert_false(error);
}

/* Modules made in two steps: a definition, with a head of so many words, and its slots. */
struct slot {
    int kind;
    int (*function)(void *);
};
struct definition {
    void *head[4];
    void *init, *copy_index, *copy;
    const char *name, *text;
    intptr_t size;
    void *methods;
    const struct slot *slots;
};
static int runs;
static int fill_slot(void *module)
{
    (void)module;
    runs++;
    fill();
    return 0;
}
static const struct slot slots[] = {{1, NULL}, {2, fill_slot}, {0, NULL}};
static struct definition plain = {.head = {NULL, NULL, NULL, &PyModuleDef_Type}, .slots = slots};
static struct definition threaded = {.head = {NULL, NULL, NULL, &PyModuleDef_Type}, .slots = NULL};

static void *init_plain(void)
{
    return &plain.head[2]; /* a head of two words: the two before it are not Python's */
}
static void *init_threaded(void)
{
    return &threaded.head[0];
}
static void *init_at_once(void)
{
    static void *module[4];
    fill();
    return module;
}
static void *init_nothing(void)
{
    return NULL;
}

/* What Python does with a name of such a module. */
static void *begin(const char *name, void *(*init)(void))
{
    uintptr_t address = mr_python_symbol(name, (uintptr_t)init);
    assert_true(address != (uintptr_t)init);
    assert_true(address == mr_python_symbol(name, (uintptr_t)init));
    return ((void *(*)(void))address)();
}

static void run_slots(const struct definition *definition)
{
    for (const struct slot *slot = definition->slots; slot->kind != 0; slot++)
        if (slot->kind == 2)
            assert_int_equal(slot->function(NULL), 0);
}

static void two_steps(void **state)
{
    (void)state;
    assert_ptr_equal(begin("PyInit_runtime", init_plain), &plain.head[2]);
    assert_ptr_not_equal(plain.slots, slots);
    const struct slot *first = plain.slots;
    assert_ptr_equal(begin("PyInit_runtime", init_plain), &plain.head[2]);
    assert_ptr_equal(plain.slots, first); /* not once more */
    run_slots(&plain);
    assert_int_equal(runs, 1);
    assert_is(0, "cudaRuntimeGetVersion");
    assert_is(1, "cudaStreamGetId");
    for (int i = 2; i < 7; i++)
        assert_is(i, NULL);
    assert_nothing_left();
}

static void a_head_of_four_words(void **state)
{
    (void)state;
    assert_ptr_equal(begin("PyInit_runtime_ptds", init_threaded), &threaded.head[0]);
    assert_non_null(threaded.slots);
    fill();
    run_slots(&threaded);
    assert_is(0, "cudaRuntimeGetVersion");
    assert_is(1, "cudaStreamGetId_ptsz");
    assert_nothing_left();
}

static void one_step(void **state)
{
    (void)state;
    assert_non_null(begin("PyInit_cyruntime", init_at_once));
    assert_is(0, "cudaRuntimeGetVersion");
    assert_nothing_left();
    assert_null(begin("PyInit_cyruntime_ptds", init_nothing));
    assert_nothing_left();
}

static void failures(void **state)
{
    (void)state;
    bool *const switches[] = {&has_dict, &has_memory, &takes_values};
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
        *switches[i] = false;
        begin("PyInit_cyruntime", init_at_once);
        *switches[i] = true;
        assert_is(0, NULL);
        assert_nothing_left();
    }
}

static void names_and_numbers(void **state)
{
    (void)state;
    static char places[16];
    assert_true(mr_python_symbol("PyInit_runtime", 0) == 0);
    assert_true(mr_python_symbol("malloc", (uintptr_t)places) == (uintptr_t)places);
    int kept = 0;
    for (int i = 0; i < 16; i++)
        kept += mr_python_symbol("PyInit_runtime", (uintptr_t)(places + i)) == (uintptr_t)(places + i);
    assert_int_equal(kept, 16 - (8 - 4)); /* four modules came before, and there are eight places */
    assert_true(mr_python_may_carry("/a/runtime.cpython-313-x86_64-linux-gnu.so"));
    assert_true(mr_python_may_carry("/a/cyruntime_ptds.abi3.so"));
    assert_false(mr_python_may_carry("/a/runtimes.so") || mr_python_may_carry("runtime.so") ||
                 mr_python_may_carry("/runtime./a.so"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_steps), cmocka_unit_test(a_head_of_four_words), cmocka_unit_test(one_step),
        cmocka_unit_test(failures),  cmocka_unit_test(names_and_numbers),
    };
    setenv("MILLRACE_LOG", "off", 1);
    unsetenv("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
