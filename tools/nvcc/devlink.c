/* SPDX-License-Identifier: Apache-2.0 */
/* Linking relocatable device code (-rdc=true).
 *
 * Each object holds its PTX in a section of its own, and calls a function __cudaRegisterLinkedBinary… of its own with a
 * function that registers its kernels and variables. libnvJitLink joins the PTX. What is made here is one more object,
 * with the joined code and these functions: the first call registers the code, each call its object's names with it,
 * and a constructor that runs after all of them ends the registration. */
#include <ctype.h>
#include <nvJitLink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "ptx/host_object.h"
#include "ptx/pack.h"
#include "shim.h"

static const char prefix[] = "__cudaRegisterLinkedBinary";

struct linking {
    const char *path;        /* of the file that is looked at */
    struct mr_words names;   /* the functions that objects call */
    struct mr_words files;   /* files with relocatable code */
    bool found, good;
};

static bool see_container(void *user, const void *data, size_t size, bool relocatable)
{
    struct linking *linking = user;
    (void)data;
    (void)size;
    linking->found |= relocatable;
    return true;
}

static bool see_symbol(void *user, const char *name)
{
    struct linking *linking = user;
    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return true;
    for (const char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("_.$", *at)) {
            linking->good = complain("a symbol has an odd name in", linking->path);
            return false;
        }
    for (size_t i = 0; i < linking->names.count; i++)
        if (strcmp(linking->names.items[i], name) == 0)
            return true;
    mr_words_add(&linking->names, name, "");
    return true;
}

static bool look_at(struct linking *linking, const char *path)
{
    struct mr_text bytes = {.data = NULL};
    struct mr_ptx_object_visitor visitor = {linking, see_container, see_symbol};
    if (!file_read(path, &bytes))
        return false;
    linking->path = path;
    linking->found = false;
    enum mr_ptx_object_status status = mr_ptx_object_visit(mr_text_chars(&bytes), bytes.length, &visitor);
    mr_text_clear(&bytes);
    if (status == MR_PTX_OBJECT_DAMAGED)
        return complain("this object is damaged:", path);
    if (linking->found)
        mr_words_add(&linking->files, path, "");
    return linking->good;
}

/* -lNAME where a folder of -L has it as an archive. */
static bool look_at_library(struct linking *linking, const struct request *request, const char *name)
{
    for (size_t i = 0; i < request->item_count; i++) {
        const char *word = request->items[i].word;
        char path[PATH_MAX];
        if (!word || strncmp(word, "-L", 2) != 0)
            continue;
        if (snprintf(path, sizeof path, "%s/lib%s.a", word + 2, name) < (int)sizeof path && access(path, R_OK) == 0)
            return look_at(linking, path);
    }
    return true;
}

static void print_log(nvJitLinkHandle link)
{
    size_t size = 0;
    nvJitLinkGetErrorLogSize(link, &size);
    char *log = mr_calloc(1, size + 1);
    if (log && nvJitLinkGetErrorLog(link, log) == NVJITLINK_SUCCESS)
        fputs(log, stderr);
    mr_free(log);
}

/* The joined PTX for one architecture. */
static bool join(const struct linking *linking, unsigned target, struct mr_text *text)
{
    char arch[32];
    const char *options[] = {arch, "-lto", "-ptx"};
    nvJitLinkHandle link = NULL;
    size_t size = 0;
    snprintf(arch, sizeof arch, "-arch=compute_%u", target);
    nvJitLinkResult status = nvJitLinkCreate(&link, 3, options);
    for (size_t i = 0; i < linking->files.count && status == NVJITLINK_SUCCESS; i++)
        status = nvJitLinkAddFile(link, NVJITLINK_INPUT_ANY, linking->files.items[i]);
    if (status == NVJITLINK_SUCCESS)
        status = nvJitLinkComplete(link);
    if (status == NVJITLINK_SUCCESS)
        status = nvJitLinkGetLinkedPtxSize(link, &size);
    char *ptx = status == NVJITLINK_SUCCESS ? mr_alloc(size) : NULL;
    bool good = ptx && nvJitLinkGetLinkedPtx(link, ptx) == NVJITLINK_SUCCESS;
    if (good)
        mr_text_put(text, ptx);
    else if (link)
        print_log(link);
    mr_free(ptx);
    if (link)
        nvJitLinkDestroy(&link);
    return good && !text->failed ? true : complain("the device code can't be linked", NULL);
}

/* The newest target that the text states: what a container says of it must not be newer. */
static unsigned target_of(const char *ptx)
{
    const char *found = strstr(ptx, ".target sm_");
    return found ? (unsigned)strtoul(found + 11, NULL, 10) : 0;
}

static bool write_image(const struct request *request, const struct linking *linking, const char *path)
{
    struct mr_text texts[TARGETS_MAX] = {{.data = NULL}};
    struct mr_ptx_pack_entry entries[TARGETS_MAX] = {{.name = NULL}};
    static const unsigned newest = 90;
    size_t count = request->no_targets ? 1 : request->target_count, size = 0;
    const unsigned *targets =
        request->no_targets ? &newest : request->targets; /* without -arch: whatever the objects have */
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        good = join(linking, targets[i], &texts[i]);
        const char *ptx = mr_text_chars(&texts[i]);
        if (good)
            entries[i] = (struct mr_ptx_pack_entry){ptx, texts[i].length, target_of(ptx), "millrace-ptx"};
    }
    unsigned char *bytes = good ? mr_ptx_pack(entries, count, &size) : NULL;
    good = bytes && file_write(request, path, bytes, size);
    mr_free(bytes);
    for (size_t i = 0; i < count; i++)
        mr_text_clear(&texts[i]);
    return good;
}

static bool write_source(const struct request *request, const struct linking *linking, const char *image,
                         const char *path)
{
    static const char begin[] =
        "extern void **__cudaRegisterFatBinary(void *);\n"
        "extern void __cudaRegisterFatBinaryEnd(void **);\n"
        "extern void __cudaUnregisterFatBinary(void **);\n"
        "extern int atexit(void (*)(void));\n"
        "extern const char mr_linked_image[] __attribute__((visibility(\"hidden\")));\n"
        "static const struct { int magic, version; const void *image; void *more; } wrapper\n"
        "    __attribute__((section(\".nvFatBinSegment\"), used)) = { 0x466243b1, 1, mr_linked_image, 0 };\n"
        "static void **volatile handle;\n" /* or clang runs the constructor when it compiles */
        "static void unregister(void) { __cudaUnregisterFatBinary(handle); }\n"
        "static void add(void (*callback)(void **))\n"
        "{\n    if (!handle)\n        handle = __cudaRegisterFatBinary((void *)&wrapper);\n    callback(handle);\n}\n"
        "__attribute__((constructor)) static void complete(void)\n"
        "{\n    if (handle) {\n        __cudaRegisterFatBinaryEnd(handle);\n        atexit(unregister);\n    }\n}\n";
    struct mr_text text = {.data = NULL};
    mr_text_put(&text, begin);
    mr_text_format(
        &text,
        "__asm__(\".section .nv_fatbin,\\\"a\\\"\\n.balign 8\\n.hidden mr_linked_image\\nmr_linked_image:\\n.incbin \\\"%s\\\"\\n.previous\\n\");\n",
        image);
    for (size_t i = 0; i < linking->names.count; i++)
        mr_text_format(
            &text,
            "void f%zu(void (*callback)(void **), void *, void *, void *) __asm__(\"%s\") __attribute__((visibility(\"hidden\")));\n"
            "void f%zu(void (*callback)(void **), void *a, void *b, void *c) { (void)a, (void)b, (void)c; add(callback); }\n",
            i, linking->names.items[i], i);
    bool good = !text.failed && file_write(request, path, text.data, text.length);
    mr_text_clear(&text);
    return good;
}

/* The object that registers the code. It is compiled in the folder of its parts: no path stands in its source. */
static int make_object(const struct request *request, const struct linking *linking, const char *output)
{
    char *image = step_file(request, "device-link", ".fatbin"), *source = step_file(request, "device-link", ".c");
    char *object = step_file(request, "device-link", ".o");
    struct mr_words words = {.items = NULL};
    static const char nothing[] = "extern int nothing;\n";
    bool written = linking->files.count > 0 ? write_image(request, linking, image) &&
                                                  write_source(request, linking, "device-link.fatbin", source)
                                            : file_write(request, source, nothing, sizeof nothing - 1);
    int status = written ? 0 : 1;
    const char *const command[] = {nvidia_chosen() ? "clang-19" : host_program(request),
                                   "-fPIC",
                                   "-O1",
                                   "-c",
                                   "-o",
                                   "device-link.o",
                                   "-x",
                                   "c", /* g++ takes it for C++ by itself */
                                   "device-link.c"};
    for (size_t i = 0; i < sizeof command / sizeof *command; i++)
        mr_words_add(&words, command[i], "");
    if (status == 0)
        status = step_run(request, &words, step_folder(request));
    struct mr_text bytes = {.data = NULL};
    if (status == 0 && !request->dry_run &&
        !(file_read(object, &bytes) && file_write(request, output, bytes.data, bytes.length)))
        status = 1;
    mr_text_clear(&bytes);
    mr_words_clear(&words);
    mr_free(image);
    mr_free(source);
    mr_free(object);
    return status;
}

/* The linked code by itself: as --cubin the text, as --fatbin a container. */
static int make_image(const struct request *request, const struct linking *linking, const char *output)
{
    struct mr_text text = {.data = NULL};
    bool good = request->dry_run;
    if (!good && linking->files.count == 0)
        complain("there is no relocatable device code in the objects", NULL);
    else if (!good && request->linked == PHASE_FATBIN)
        good = write_image(request, linking, output);
    else if (!good)
        good =
            join(linking, request->targets[0], &text) && file_write(request, output, mr_text_chars(&text), text.length);
    mr_text_clear(&text);
    return good ? 0 : 1;
}

int device_link(const struct request *request, char *const *objects, const char *output, bool always, bool *made)
{
    struct linking linking = {.good = true};
    int status = 0;
    *made = false;
    if (request->dry_run && !request->relocatable)
        return 0;
    for (size_t i = 0; i < request->item_count && status == 0; i++) {
        const char *word = request->items[i].word;
        if (request->dry_run)
            break;
        if (!word)
            status = look_at(&linking, objects[request->items[i].input]) ? 0 : 1;
        else if (strncmp(word, "-l", 2) == 0)
            status = look_at_library(&linking, request, word + 2) ? 0 : 1;
    }
    if (linking.names.failed || linking.files.failed)
        status = failed("out of memory", NULL);
    *made = linking.files.count > 0;
    if (status == 0 && (request->linked == PHASE_CUBIN || request->linked == PHASE_FATBIN))
        status = make_image(request, &linking, output);
    else if (status == 0 && (*made || always))
        status = make_object(request, &linking, output);
    mr_words_clear(&linking.names);
    mr_words_clear(&linking.files);
    return status;
}
