/* SPDX-License-Identifier: Apache-2.0 */
/* Programs: loading an image. Loading does everything that can fail because of the image: the container is opened here,
 * its text goes through build.c. Machine code is made at the first launch with a class of block shapes (variants.c).
 * (Driver API manual, Module Management: cuModuleLoadDataEx and its statuses.) */
#include "compile/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/alloc.h"
#include "base/demangle.h"
#include "compile/compiler.h"
#include "compile/dump.h"
#include "ptx/arch.h"
#include "ptx/container.h"
#include "ptx/device_runtime.h"
#include "ptx/join.h"
#include "ptx/host_object.h"
#include "ptx/pack.h"

/* Puts a text into a log of the caller's, cut to its room. */
static void give_log(char *log, size_t room, size_t *used, const char *text)
{
    *used = 0;
    if (!log || room == 0)
        return;
    size_t length = strlen(text);
    if (length >= room)
        length = room - 1;
    memcpy(log, text, length);
    log[length] = '\0';
    *used = length + 1;
}

static void free_program(struct mr_program *program)
{
    size_t made = atomic_load_explicit(&program->made, memory_order_relaxed);
    for (size_t i = 0; i < program->entry_count && made > 0; i++)
        for (unsigned shape = 0; shape < MR_SHAPE_COUNT; shape++) {
            struct mr_variant *variant = atomic_load(&program->code[i].variants[shape]);
            made -= variant != NULL;
            mr_variant_free(variant);
        }
    mr_ahead_forget(program);
    mr_tree_forget(program);
    mr_program_forget(program);
    mr_code_settings_clear(&program->settings);
    mr_free(program->source.packed);
    mr_free(program);
}

/* PTX begins with its version, after white space and comments; text that doesn't is no image at all to hardware. */
static bool begins_with_version(const char *text, size_t length)
{
    static const char word[] = ".version";
    size_t at = 0;
    for (;;) {
        while (at < length && strchr(" \t\r\n\f\v", text[at]) && text[at])
            at++;
        if (length - at < 2 || text[at] != '/' || (text[at + 1] != '/' && text[at + 1] != '*'))
            return length - at >= sizeof word - 1 && memcmp(text + at, word, sizeof word - 1) == 0;
        const char *end = text[at + 1] == '/' ? memchr(text + at, '\n', length - at)
                                              : memmem(text + at + 2, length - at - 2, "*/", 2);
        if (!end)
            return false;
        at = (size_t)(end - text) + (text[at + 1] == '/' ? 1 : 2);
    }
}

/* Warnings, and for CU_JIT_LOG_VERBOSE what each kernel uses. */
static void give_info(const struct mr_program *program, const struct mr_tree *tree, struct mr_program_options *options,
                      const struct mr_ptx_diag *diag)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = options->verbose && options->info_room ? open_memstream(&text, &size) : NULL;
    if (file) {
        mr_program_put_uses(file, program, tree);
        fputs(mr_ptx_diag_text(diag), file);
        fclose(file);
    }
    give_log(options->info_log, options->info_room, &options->info_used, text ? text : mr_ptx_diag_text(diag));
    free(text);
}

static CUresult load_text(const char *text, size_t length, struct mr_program_options *options, struct mr_program **out)
{
    struct mr_ptx_diag diag;
    struct mr_tree *tree = NULL;
    struct mr_program *program = mr_calloc(1, sizeof *program);
    if (!program)
        return CUDA_ERROR_OUT_OF_MEMORY;
    atomic_store(&program->references, 1);
    program->optimisation = options->optimisation;
    program->level_is_said = options->level_is_said;
    program->text = mr_cache_hash_of(text, length);
    mr_ptx_diag_init(&diag);
    mr_dump_text(MR_DUMP_PTX, program->text.high, "", "ptx", text, length);
    program->settings.threads = mr_ahead_threads();
    CUresult status = mr_code_settings_read(&program->settings)
                          ? mr_program_build(program, text, length, options, &diag, &tree)
                          : CUDA_ERROR_OUT_OF_MEMORY;
    if (status == CUDA_SUCCESS && !mr_source_pack(&program->source, text, length))
        status = CUDA_ERROR_OUT_OF_MEMORY;
    if (status == CUDA_SUCCESS && program->entry_count > 0 && !mr_compiler_present())
        status = CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
    if (status != CUDA_SUCCESS) {
        give_log(options->error_log, options->error_room, &options->error_used, mr_ptx_diag_text(&diag));
        mr_log(MR_LOG_INFO, "PTX refused: %s",
               status == CUDA_ERROR_OUT_OF_MEMORY ? "out of memory" : mr_ptx_diag_text(&diag));
        if (status != CUDA_ERROR_OUT_OF_MEMORY)
            mr_program_tell_refused(&diag, options->capability);
        mr_tree_free(tree);
        free_program(program);
    } else {
        give_info(program, tree, options, &diag);
        mr_tree_keep(program, tree);
        if (program->entry_count && strncmp(program->entries[0].name, "_Z", 2) == 0)
            mr_demangle_prepare();
        *out = program;
    }
    mr_ptx_diag_clear(&diag);
    return status;
}

/* A container's PTX that suits the device. If it has none, and nobody has chosen the devices' capability, its oldest
 * PTX for newer ones. */
static enum mr_ptx_container_status read_container(const void *image, size_t size, struct mr_program_options *options,
                                                   struct mr_ptx_text *ptx)
{
    enum mr_ptx_container_status status = mr_ptx_container_read(image, size, (uint32_t)options->capability, ptx);
    size_t count;
    const int *known = mr_ptx_arch_all(&count);
    unsigned newer = ptx->newer;
    if (status != MR_PTX_CONTAINER_NO_BINARY || !options->takes_newer || !newer || newer > (unsigned)known[count - 1])
        return status;
    mr_log(MR_LOG_INFO, "module image: its PTX for compute capability %u.%u is taken, the oldest that it has",
           newer / 10, newer % 10);
    options->capability = (int)newer;
    return mr_ptx_container_read(image, size, newer, ptx);
}

/* The PTX of an image; free it with mr_ptx_text_free if all went well. */
static CUresult open_image(const void *image, size_t size, struct mr_program_options *options, struct mr_ptx_text *ptx)
{
    options->error_used = options->info_used = 0;
    switch (read_container(image, size, options, ptx)) {
    case MR_PTX_CONTAINER_OK:
        break;
    case MR_PTX_CONTAINER_NO_MEMORY:
        return CUDA_ERROR_OUT_OF_MEMORY;
    case MR_PTX_CONTAINER_NO_BINARY:
        give_log(options->error_log, options->error_room, &options->error_used,
                 "error: the image has no PTX that suits this device\n");
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    default:
        give_log(options->error_log, options->error_room, &options->error_used,
                 "error: the image is neither PTX nor a fat binary\n");
        return CUDA_ERROR_INVALID_IMAGE;
    }
    if (begins_with_version(ptx->text, ptx->length))
        return CUDA_SUCCESS;
    mr_log(MR_LOG_INFO, "image refused: it does not begin with .version");
    give_log(options->error_log, options->error_room, &options->error_used,
             "error: the image does not begin with .version\n");
    mr_ptx_text_free(ptx);
    return CUDA_ERROR_INVALID_IMAGE;
}

struct image_walk {
    bool (*take)(void *user, const void *data, size_t size);
    void *user;
};

static bool see_container(void *user, const void *data, size_t size, bool relocatable)
{
    struct image_walk *walk = user;
    return !relocatable || walk->take(walk->user, data, size);
}

CUresult mr_program_images_in(const void *file, size_t size, bool (*take)(void *user, const void *data, size_t size),
                              void *user)
{
    struct image_walk walk = {take, user};
    const struct mr_ptx_object_visitor visitor = {.user = &walk, .container = see_container};
    if (mr_ptx_is_device_runtime(file, size)) {
        take(user, mr_ptx_device_runtime, strlen(mr_ptx_device_runtime));
        return CUDA_SUCCESS;
    }
    return mr_ptx_object_visit(file, size, &visitor) == MR_PTX_OBJECT_OK ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}

CUresult mr_program_join(const struct mr_program_image *images, unsigned count, struct mr_program_options *options,
                         char **text)
{
    struct mr_ptx_text *texts = mr_calloc(count, sizeof *texts);
    struct mr_ptx_join_input *inputs = mr_calloc(count, sizeof *inputs);
    CUresult status = texts && inputs ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    unsigned opened = 0;
    while (status == CUDA_SUCCESS && opened < count) {
        int capability = options->capability;
        status = open_image(images[opened].data, images[opened].size, options, &texts[opened]);
        if (status != CUDA_SUCCESS)
            break;
        inputs[opened] = (struct mr_ptx_join_input){texts[opened].text, texts[opened].length};
        if (mr_ptx_is_device_runtime_text(inputs[opened].text, inputs[opened].length)) {
            inputs[opened] = (struct mr_ptx_join_input){mr_ptx_device_runtime, strlen(mr_ptx_device_runtime)};
            options->capability = capability;
        }
        opened++;
    }
    if (status == CUDA_SUCCESS) {
        struct mr_ptx_diag diag;
        mr_ptx_diag_init(&diag);
        *text = mr_ptx_join(inputs, count, options->limits.registers, &diag);
        if (!*text) {
            status = mr_program_status_of(&diag);
            give_log(options->error_log, options->error_room, &options->error_used, mr_ptx_diag_text(&diag));
        }
        mr_ptx_diag_clear(&diag);
    }
    while (opened > 0)
        mr_ptx_text_free(&texts[--opened]);
    mr_free(texts);
    mr_free(inputs);
    return status;
}

char *mr_program_pack(const char *text, size_t length, unsigned capability, size_t *size)
{
    struct mr_ptx_pack_entry entry = {.text = text, .length = length, .capability = capability, .bare = true};
    return (char *)mr_ptx_pack(&entry, 1, size);
}

CUresult mr_program_load(const void *image, size_t size, struct mr_program_options *options, struct mr_program **out)
{
    struct mr_ptx_text ptx;
    CUresult status = open_image(image, size, options, &ptx);
    if (status != CUDA_SUCCESS)
        return status;
    status = load_text(ptx.text, ptx.length, options, out);
    mr_ptx_text_free(&ptx);
    return status;
}

void mr_program_hold(struct mr_program *program)
{
    atomic_fetch_add_explicit(&program->references, 1, memory_order_relaxed);
}

bool mr_program_try_hold(struct mr_program *program)
{
    uint32_t references = atomic_load_explicit(&program->references, memory_order_relaxed);
    while (references != 0)
        if (atomic_compare_exchange_weak_explicit(&program->references, &references, references + 1,
                                                  memory_order_relaxed, memory_order_relaxed))
            return true;
    return false;
}

void mr_program_drop(struct mr_program *program)
{
    if (program && atomic_fetch_sub_explicit(&program->references, 1, memory_order_acq_rel) == 1)
        free_program(program);
}
