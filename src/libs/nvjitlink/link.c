/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs and their joining.
 *
 * Every input comes down to PTX texts: the text itself, the one in a fat binary that fits the architecture best, or
 * those in the objects of an archive. Each is parsed and verified when it is added, except for what it leaves to
 * others; mr_link_complete joins them (ptx/join.h) and checks the whole as the driver would when it loads it. */
#include "libs/nvjitlink/link.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/alloc.h"
#include "compile/codegen.h"
#include "ptx/arch.h"
#include "ptx/container.h"
#include "ptx/device_runtime.h"
#include "ptx/join.h"
#include "ptx/host_object.h"
#include "ptx/pack.h"

nvJitLinkResult mr_link_refuse(struct nvJitLink *link, nvJitLinkResult status, const char *what, const char *name)
{
    mr_text_format(&link->errors, "error: %s%s%s\n", what, name ? " " : "", name ? name : "");
    mr_log(MR_LOG_INFO, "nvJitLink: %s%s%s", what, name ? " " : "", name ? name : "");
    return link->errors.failed ? NVJITLINK_ERROR_INTERNAL : status;
}

static nvJitLinkResult short_of_memory(struct nvJitLink *link)
{
    return mr_link_refuse(link, NVJITLINK_ERROR_INTERNAL, "out of memory", NULL);
}

/* --- Inputs -------------------------------------------------------------------- */

/* Parses and verifies; `partial`: names may be left to others. The messages go to the error log. The text's target goes
 * to link->target. */
static bool check_text(struct nvJitLink *link, const char *text, size_t length, bool partial)
{
    struct mr_ptx_diag diag;
    mr_ptx_diag_init(&diag);
    struct mr_ptx_module *module = mr_ptx_parse(text, length, &diag);
    bool good = module != NULL;
    if (good) {
        module->is_partial = partial;
        good = mr_ptx_verify(module, &diag);
        good = good && mr_codegen_check(module, &diag);
        if (good && module->target_sm > link->capability) {
            mr_ptx_diag_error(&diag, 0, 0, "the PTX is for sm_%u and the link for sm_%u", module->target_sm,
                              link->capability);
            good = false;
        }
        link->target = module->target_sm;
    }
    if (!good)
        mr_text_put(&link->errors, mr_ptx_diag_text(&diag));
    mr_ptx_module_destroy(module);
    mr_ptx_diag_clear(&diag);
    return good;
}

static nvJitLinkResult add_text(struct nvJitLink *link, const char *text, size_t length, const char *name)
{
    length = strnlen(text, length);
    if (!check_text(link, text, length, true)) {
        link->failed = true;
        return mr_link_refuse(link, NVJITLINK_ERROR_PTX_COMPILE, "this input is not PTX that can be linked:", name);
    }
    struct mr_link_input input = {mr_alloc(length + 1), length, mr_memdup(name, strlen(name) + 1)};
    if (!input.text || !input.name ||
        !mr_array_reserve((void **)&link->inputs, &link->room, link->count + 1, sizeof input)) {
        mr_free(input.text);
        mr_free(input.name);
        return short_of_memory(link);
    }
    memcpy(input.text, text, length);
    input.text[length] = '\0';
    link->inputs[link->count++] = input;
    return NVJITLINK_SUCCESS;
}

/* The PTX in a text or a fat binary. */
static nvJitLinkResult add_image(struct nvJitLink *link, const void *data, size_t size, const char *name)
{
    struct mr_ptx_text ptx;
    switch (mr_ptx_container_read(data, size, link->capability, &ptx)) {
    case MR_PTX_CONTAINER_OK:
        break;
    case MR_PTX_CONTAINER_NO_BINARY:
        link->failed = true;
        return mr_link_refuse(link, NVJITLINK_ERROR_ARCH_MISMATCH,
                              "there is no PTX for this architecture, only machine code, LTO code or newer PTX, in",
                              name);
    case MR_PTX_CONTAINER_NO_MEMORY:
        return short_of_memory(link);
    default:
        link->failed = true;
        return mr_link_refuse(link, NVJITLINK_ERROR_INVALID_INPUT, "this input is damaged:", name);
    }
    nvJitLinkResult status = mr_ptx_is_device_runtime_text(ptx.text, ptx.length)
                                 ? add_text(link, mr_ptx_device_runtime, strlen(mr_ptx_device_runtime), name)
                                 : add_text(link, ptx.text, ptx.length, name);
    mr_ptx_text_free(&ptx);
    return status;
}

struct adding {
    struct nvJitLink *link;
    const char *name;
    nvJitLinkResult status;
};

static bool add_container(void *user, const void *data, size_t size, bool relocatable)
{
    struct adding *adding = user;
    if (relocatable)
        adding->status = add_image(adding->link, data, size, adding->name);
    return adding->status == NVJITLINK_SUCCESS;
}

/* Objects without relocatable device code add nothing, as with any linker. */
static nvJitLinkResult add_object(struct nvJitLink *link, const void *data, size_t size, const char *name)
{
    struct adding adding = {link, name, NVJITLINK_SUCCESS};
    struct mr_ptx_object_visitor visitor = {.user = &adding, .container = add_container};
    if (mr_ptx_is_device_runtime(data, size))
        return add_text(link, mr_ptx_device_runtime, strlen(mr_ptx_device_runtime), name);
    if (mr_ptx_object_visit(data, size, &visitor) != MR_PTX_OBJECT_OK) {
        link->failed = true;
        return mr_link_refuse(link, NVJITLINK_ERROR_INVALID_INPUT, "this object or library is damaged:", name);
    }
    return adding.status;
}

/* What the bytes are, as a type of input; NONE if they are nothing known. Machine code and objects are both ELF. */
static nvJitLinkInputType find_type(const void *data, size_t size)
{
    enum mr_ptx_image_kind kind = mr_ptx_image_kind_find(data, size);
    if (mr_ptx_object_is(data, size))
        return kind == MR_PTX_IMAGE_ELF ? NVJITLINK_INPUT_OBJECT : NVJITLINK_INPUT_LIBRARY;
    if (kind == MR_PTX_IMAGE_FATBIN)
        return NVJITLINK_INPUT_FATBIN;
    return kind == MR_PTX_IMAGE_TEXT && memmem(data, size, ".version", 8) ? NVJITLINK_INPUT_PTX : NVJITLINK_INPUT_NONE;
}

/* ELF's number for NVIDIA's machines. */
static bool is_machine_code(const void *data, size_t size)
{
    const unsigned char *bytes = data;
    return size >= 20 && bytes[18] == 190 && bytes[19] == 0;
}

nvJitLinkResult mr_link_add(struct nvJitLink *link, nvJitLinkInputType type, const void *data, size_t size,
                            const char *name)
{
    nvJitLinkInputType found = find_type(data, size);
    bool elf = mr_ptx_image_kind_find(data, size) == MR_PTX_IMAGE_ELF;
    if ((int)type == NVJITLINK_INPUT_LTOIR && !link->lto)
        return mr_link_refuse(link, NVJITLINK_ERROR_LTO_NOT_ENABLED, "LTO code is linked with the option -lto:", name);
    /* What goes by the name of LTO code here is a fat binary with PTX (libnvrtc, the nvcc shim), or PTX alone (NVIDIA's
     * libnvvm under `millrace run`, libs/redirect/nvvm.h). */
    if ((int)type == NVJITLINK_INPUT_LTOIR && found != NVJITLINK_INPUT_FATBIN && found != NVJITLINK_INPUT_PTX)
        return mr_link_refuse(link, NVJITLINK_ERROR_NVVM_COMPILE,
                              "this is not LTO code of Millrace's compilers, and no other is linked here:", name);
    if ((int)type == NVJITLINK_INPUT_LTOIR)
        return add_image(link, data, size, name);
    if ((type < NVJITLINK_INPUT_CUBIN || type > NVJITLINK_INPUT_INDEX) && type != NVJITLINK_INPUT_ANY)
        return mr_link_refuse(link, NVJITLINK_ERROR_INCORRECT_INPUT_TYPE, "unsupported input type:", name);
    if (type == NVJITLINK_INPUT_ANY && found == NVJITLINK_INPUT_NONE)
        return mr_link_refuse(link, NVJITLINK_ERROR_UNRECOGNIZED_INPUT, "unrecognized input:", name);
    if (elf && is_machine_code(data, size) && (type == NVJITLINK_INPUT_CUBIN || type == NVJITLINK_INPUT_ANY)) {
        link->failed = true;
        return mr_link_refuse(link, NVJITLINK_ERROR_ARCH_MISMATCH,
                              "machine code is not linked here, only PTX and containers of it:", name);
    }
    /* What goes by the name of a cubin here is a fat binary (libnvrtc) or PTX text (the nvcc shim). */
    bool fits = type == NVJITLINK_INPUT_ANY || type == found ||
                (type == NVJITLINK_INPUT_CUBIN && (found == NVJITLINK_INPUT_FATBIN || found == NVJITLINK_INPUT_PTX));
    /* A text that lacks .version is broken PTX rather than something else. */
    fits |= type == NVJITLINK_INPUT_PTX && mr_ptx_image_kind_find(data, size) == MR_PTX_IMAGE_TEXT;
    if (!fits)
        return mr_link_refuse(link, NVJITLINK_ERROR_INCORRECT_INPUT_TYPE,
                              "the input is not of the type that it is said to be:", name);
    if (found == NVJITLINK_INPUT_OBJECT || found == NVJITLINK_INPUT_LIBRARY)
        return add_object(link, data, size, name);
    return add_image(link, data, size, name);
}

nvJitLinkResult mr_link_add_file(struct nvJitLink *link, nvJitLinkInputType type, const char *path)
{
    struct mr_text bytes = {.data = NULL};
    char part[65536];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? 1 : -1;
    while (got > 0) {
        got = read(fd, part, sizeof part);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            mr_text_add(&bytes, part, (size_t)got);
    }
    if (fd >= 0)
        close(fd);
    nvJitLinkResult status;
    if (got < 0)
        status = mr_link_refuse(link, NVJITLINK_ERROR_INVALID_INPUT, "no such file:", path);
    else if (bytes.failed)
        status = short_of_memory(link);
    else if (!bytes.length)
        status = mr_link_refuse(link, NVJITLINK_ERROR_INVALID_INPUT, "this file is empty:", path);
    else
        status = mr_link_add(link, type, bytes.data, bytes.length, path);
    mr_text_clear(&bytes);
    return status;
}

/* --- The result ----------------------------------------------------------------- */

static bool join(struct nvJitLink *link)
{
    struct mr_ptx_join_input *inputs = mr_calloc(link->count, sizeof *inputs);
    struct mr_ptx_diag diag;
    mr_ptx_diag_init(&diag);
    for (size_t i = 0; inputs && i < link->count; i++)
        inputs[i] = (struct mr_ptx_join_input){link->inputs[i].text, link->inputs[i].length};
    char *text = inputs ? mr_ptx_join(inputs, (uint32_t)link->count, link->registers, &diag) : NULL;
    if (text)
        mr_text_put(&link->result, text);
    else
        mr_text_put(&link->errors, inputs && !diag.out_of_memory ? mr_ptx_diag_text(&diag) : "error: out of memory\n");
    bool good = text && !link->result.failed;
    mr_free(text);
    mr_free(inputs);
    mr_ptx_diag_clear(&diag);
    return good;
}

/* Which input is which, for the messages that number them. */
static void list_inputs(struct nvJitLink *link)
{
    for (size_t i = 0; i < link->count; i++)
        mr_text_format(&link->errors, "input %zu is %s\n", i + 1, link->inputs[i].name);
}

static bool make_result(struct nvJitLink *link)
{
    if (link->count == 0)
        mr_ptx_retarget(".version 7.0\n.target sm_50\n.address_size 64\n", link->capability, 0, &link->result);
    else if (link->count == 1 && !link->registers)
        mr_text_add(&link->result, link->inputs[0].text, link->inputs[0].length);
    else if (!join(link))
        return false;
    if (link->result.failed || !check_text(link, link->result.data, link->result.length, false))
        return false;
    if (link->ptx)
        return true;
    struct mr_ptx_pack_entry entry = {link->result.data, link->result.length, link->target, "millrace-ptx"};
    link->cubin = mr_ptx_pack(&entry, 1, &link->cubin_size);
    return link->cubin != NULL;
}

nvJitLinkResult mr_link_complete(struct nvJitLink *link)
{
    struct timespec begun, ended;
    if (link->failed || link->complete)
        return mr_link_refuse(
            link, NVJITLINK_ERROR_INTERNAL,
            link->failed ? "an input was refused: there is nothing to link" : "the link is complete already", NULL);
    clock_gettime(CLOCK_MONOTONIC, &begun);
    if (!make_result(link)) {
        mr_text_clear(&link->result);
        list_inputs(link);
        return mr_link_refuse(link, NVJITLINK_ERROR_INTERNAL, "the inputs can't be linked", NULL);
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    link->complete = true;
    if (link->verbose)
        mr_text_format(&link->infos, "info: %zu inputs linked for sm_%u: %zu bytes of PTX\n", link->count,
                       link->capability, link->result.length);
    if (link->timed)
        mr_text_format(&link->infos, "info: link time = %.3f ms\n",
                       (double)(ended.tv_sec - begun.tv_sec) * 1e3 + (double)(ended.tv_nsec - begun.tv_nsec) / 1e6);
    return NVJITLINK_SUCCESS;
}
