/* SPDX-License-Identifier: Apache-2.0 */
/* cuobjdump: lists, shows and extracts the device code that a file holds, in the words of NVIDIA's command. The file
 * may be an executable, an object, a library, an archive of objects, a fat binary, or PTX by itself. An *image* is one
 * piece of device code in it: PTX, which is decompressed, or machine code, which is listed and extracted but not
 * disassembled. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "ptx/container.h"
#include "ptx/host_object.h"
#include "toolkit.h"

const char toolkit_program[] = "cuobjdump";

static const char version[] = "cuobjdump: Millrace " MR_VERSION ", in place of NVIDIA's\n"
                              "Cuda compilation tools, release 13.0, V13.0.0\n";

static const char usage[] =
    "Usage: cuobjdump [options] FILE\n"
    "\n"
    "Shows the device code in FILE: a program, an object, a library, a fat binary, or PTX by itself.\n"
    "\n"
    "  (no option)               what each image is\n"
    "  -lptx, --list-ptx         the names of PTX images\n"
    "  -lelf, --list-elf         the names of images of machine code\n"
    "  -ptx, --dump-ptx          the text of PTX images\n"
    "  -xptx, --extract-ptx NAME writes PTX images into files in this folder: those with NAME in their name, or all\n"
    "  -xelf, --extract-elf NAME the same for machine code\n"
    "  -arch, --gpu-architecture NAME  images for this architecture alone\n"
    "  -all, --all-fatbin        relocatable code too where there is linked code\n"
    "  --options-file FILE       more options\n"
    "  --version, --help\n"
    "\n"
    "Machine code for GPUs can't be taken apart (-sass, -elf): there is no such code in what Millrace makes.\n";

enum effect { LIST_PTX, LIST_ELF, DUMP_PTX, EXTRACT_PTX, EXTRACT_ELF, ARCHITECTURE, ALL, REFUSED, HELP, VERSION };

static const struct mr_option options[] = {
    {"list-ptx", "lptx", false, LIST_PTX},
    {"list-elf", "lelf", false, LIST_ELF},
    {"dump-ptx", "ptx", false, DUMP_PTX},
    {"extract-ptx", "xptx", true, EXTRACT_PTX},
    {"extract-elf", "xelf", true, EXTRACT_ELF},
    {"gpu-architecture", "arch", true, ARCHITECTURE},
    {"all-fatbin", "all", false, ALL},
    {"dump-elf", "elf", false, REFUSED},
    {"dump-elf-symbols", "elf-syms", false, REFUSED},
    {"dump-sass", "sass", false, REFUSED},
    {"dump-resource-usage", "res-usage", false, REFUSED},
    {"function", "fun", true, REFUSED},
    {"list-text", "ltext", false, REFUSED},
    {"extract-text", "xtext", true, REFUSED},
    {"sort-functions", "sort", false, REFUSED},
    {"options-file", "optf", true, MR_OPTIONS_FILE},
    {"help", "h", false, HELP},
    {"version", "V", false, VERSION},
};

struct request {
    struct mr_words words;
    const char *file, *extract_ptx, *extract_elf;
    unsigned architecture; /* 0: each */
    bool list_ptx, list_elf, dump_ptx, all, help, version;
};

/* One walk through the file. */
struct walk {
    const struct request *request;
    const char *base;      /* the file's name without folders and ending */
    bool relocatable;      /* whether this walk is of relocatable code, or of the other */
    bool good;
    unsigned ptx, elf;     /* images so far whose names counted */
    size_t containers, images;
    bool alone;            /* the image is a file of its own */
    const char *member;    /* of an archive, until its first image is shown; or NULL */
    size_t member_length;
};

static bool is_kind(const struct mr_ptx_container_entry *entry, bool ptx)
{
    return entry->kind == (ptx ? MR_PTX_ENTRY_PTX : MR_PTX_ENTRY_ELF);
}

static void describe(const struct mr_ptx_container_entry *entry)
{
    const char *kind = is_kind(entry, true) ? "ptx" : is_kind(entry, false) ? "elf" : "other";
    printf("\nFatbin %s code:\n================\narch = sm_%u\ncode version = [%u,%u]\nhost = %s\ncompile_size = %s\n",
           kind, entry->target, entry->major, entry->minor, entry->flags & MR_PTX_ENTRY_LINUX ? "linux" : "unknown",
           entry->flags & MR_PTX_ENTRY_64_BIT ? "64bit" : "32bit");
    if (entry->flags & MR_PTX_ENTRY_COMPRESSED)
        puts("compressed");
    if (entry->flags & MR_PTX_ENTRY_DEBUG)
        puts("has debug info");
    if (entry->name)
        printf("identifier = %.*s\n", (int)entry->name_length, entry->name);
    if (entry->options)
        printf("ptxasOptions = %.*s\n", (int)entry->options_length, entry->options);
}

/* Is a part of a list with commas in the name? */
static bool is_wanted(const char *parts, const char *name)
{
    while (parts && *parts) {
        char part[512];
        size_t length = strcspn(parts, ",");
        snprintf(part, sizeof part, "%.*s", (int)(length < sizeof part ? length : 0), parts);
        if (strcmp(part, "all") == 0 || (*part && strstr(name, part)))
            return true;
        parts += length + (parts[length] == ',');
    }
    return false;
}

/* An image of PTX or machine code, decompressed. */
static void show(struct walk *walk, const struct mr_ptx_container_entry *entry, const struct mr_ptx_text *content)
{
    const struct request *request = walk->request;
    bool ptx = is_kind(entry, true);
    if (request->architecture && request->architecture != entry->target)
        return;
    unsigned number = ptx ? ++walk->ptx : ++walk->elf;
    const char *what = ptx ? "PTX" : "ELF", *extract = ptx ? request->extract_ptx : request->extract_elf;
    char name[512];
    if (walk->alone && !entry->target)
        snprintf(name, sizeof name, "%.400s.%s", walk->base, ptx ? "ptx" : "cubin");
    else if (walk->alone)
        snprintf(name, sizeof name, "%.400s.sm_%u.%s", walk->base, entry->target, ptx ? "ptx" : "cubin");
    else
        snprintf(name, sizeof name, "%.400s.%u.sm_%u.%s", walk->base, number, entry->target, ptx ? "ptx" : "cubin");
    if (ptx ? request->list_ptx : request->list_elf)
        printf("%s file    %u: %s\n", what, number, name);
    if (is_wanted(extract, name)) {
        printf("Extracting %s file%s    %u: %s", what, ptx ? " and ptxas options" : "", number, name);
        if (ptx)
            printf(" -arch=sm_%u %.*s", entry->target, (int)entry->options_length,
                   entry->options ? entry->options : "");
        putchar('\n');
        walk->good &= toolkit_write(name, content->text, content->length);
    }
    if (request->dump_ptx)
        describe(entry);
    if (request->dump_ptx && ptx) {
        putchar('\n');
        fwrite(content->text, 1, content->length, stdout);
        putchar('\n');
    }
}

static bool see_entry(void *user, const struct mr_ptx_container_entry *entry)
{
    struct walk *walk = user;
    const struct request *request = walk->request;
    bool plain = !request->list_ptx && !request->list_elf && !request->dump_ptx && !request->extract_ptx &&
                 !request->extract_elf;
    struct mr_ptx_text content;
    walk->images++;
    if (walk->member)
        printf("\nmember %s:%.*s:\n", request->file, (int)walk->member_length, walk->member);
    walk->member = NULL;
    if (plain && (!request->architecture || request->architecture == entry->target))
        describe(entry);
    if (plain || (!is_kind(entry, true) && !is_kind(entry, false)))
        return true;
    enum mr_ptx_container_status status = mr_ptx_container_unpack(entry, &content);
    if (status != MR_PTX_CONTAINER_OK) {
        walk->good = toolkit_complain(status == MR_PTX_CONTAINER_NO_MEMORY ? "out of memory for an image of"
                                                                           : "an image is damaged in",
                                      request->file);
        return true;
    }
    show(walk, entry, &content);
    mr_ptx_text_free(&content);
    return true;
}

static bool see_container(void *user, const void *data, size_t size, bool relocatable)
{
    struct walk *walk = user;
    if (relocatable != walk->relocatable)
        return true;
    walk->containers++;
    if (mr_ptx_container_visit(data, size, walk, see_entry) != MR_PTX_CONTAINER_OK)
        walk->good = toolkit_complain("a fat binary is damaged in", walk->request->file);
    return true;
}

static void see_member(void *user, const char *name, size_t length)
{
    struct walk *walk = user;
    walk->member = name;
    walk->member_length = length;
}

/* Linked code; relocatable code if there is none, or with -all. */
static bool look_through(const struct request *request, struct walk *walk, const struct mr_text *bytes)
{
    struct mr_ptx_object_visitor visitor = {.user = walk, .container = see_container, .member = see_member};
    for (int pass = 0; pass < 2; pass++) {
        walk->relocatable = pass == 1;
        if (pass == 1 && walk->containers > 0 && !request->all)
            break;
        enum mr_ptx_object_status status = mr_ptx_object_visit(bytes->data, bytes->length, &visitor);
        if (status != MR_PTX_OBJECT_OK)
            return toolkit_complain(status == MR_PTX_OBJECT_DAMAGED ? "this file is cut short or damaged:"
                                                                    : "this file is for no machine of 64 bits:",
                                    request->file);
    }
    return true;
}

/* The target that PTX states; 0 if it states none. */
static unsigned target_of(const char *text)
{
    const char *found = strstr(text, ".target");
    found = found ? strstr(found, "sm_") : NULL;
    return found ? (unsigned)strtoul(found + 3, NULL, 10) : 0;
}

static bool is_device_elf(const struct mr_text *bytes)
{
    Elf64_Ehdr head;
    enum { EM_OF_CUDA = 190 };
    if (bytes->length < sizeof head || memcmp(bytes->data, ELFMAG, SELFMAG) != 0)
        return false;
    memcpy(&head, bytes->data, sizeof head);
    return head.e_machine == EM_OF_CUDA;
}

/* PTX or machine code that is a file of its own is shown like an image in a container. */
static void look_at_image(struct walk *walk, const struct mr_text *bytes, bool ptx)
{
    struct mr_ptx_text content = {.text = bytes->data, .length = ptx ? strlen(bytes->data) : bytes->length};
    struct mr_ptx_container_entry entry = {.kind = ptx ? MR_PTX_ENTRY_PTX : MR_PTX_ENTRY_ELF,
                                           .target = ptx ? target_of(bytes->data) : 0,
                                           .flags = MR_PTX_ENTRY_64_BIT | MR_PTX_ENTRY_LINUX};
    const char *found = ptx ? strstr(bytes->data, ".version ") : NULL;
    if (found)
        sscanf(found + 9, "%u.%u", &entry.major, &entry.minor);
    entry.data = (const unsigned char *)content.text;
    entry.size = content.length;
    walk->alone = true;
    see_entry(walk, &entry);
}

static const char none_of[] =
    "cuobjdump info    : No %s file found to extract from '%s'. You may try with -all option.\n";

static bool look_at(const struct request *request)
{
    struct mr_text bytes = {.data = NULL}, base = {.data = NULL};
    const char *slash = strrchr(request->file, '/'), *name = slash ? slash + 1 : request->file;
    const char *dot = strrchr(name, '.');
    struct walk walk = {.request = request, .good = true};
    if (!toolkit_read(request->file, &bytes))
        return false;
    mr_text_add(&base, name, dot && dot != name ? (size_t)(dot - name) : strlen(name));
    walk.base = mr_text_chars(&base);
    enum mr_ptx_image_kind kind = mr_ptx_image_kind_find(mr_text_chars(&bytes), bytes.length);
    if (is_device_elf(&bytes))
        look_at_image(&walk, &bytes, false);
    else if (mr_ptx_object_is(mr_text_chars(&bytes), bytes.length))
        walk.good &= look_through(request, &walk, &bytes);
    else if (kind == MR_PTX_IMAGE_FATBIN)
        see_container(&walk, bytes.data, bytes.length, false);
    else if (kind == MR_PTX_IMAGE_TEXT && target_of(bytes.data))
        look_at_image(&walk, &bytes, true);
    else
        walk.good = toolkit_complain("this file is no program, library, object, fat binary or PTX:", request->file);
    if (walk.good && walk.images == 0)
        printf("cuobjdump info    : File '%s' does not contain device code\n", request->file);
    if (walk.good && walk.images > 0 && request->list_elf && !walk.elf)
        printf(none_of, "ELF", request->file);
    if (walk.good && walk.images > 0 && request->list_ptx && !walk.ptx)
        printf(none_of, "PTX", request->file);
    mr_text_clear(&bytes);
    mr_text_clear(&base);
    return walk.good;
}

static bool set_architecture(struct request *request, const char *value)
{
    const char *number = strncmp(value, "sm_", 3) == 0        ? value + 3
                         : strncmp(value, "compute_", 8) == 0 ? value + 8
                                                              : "";
    request->architecture = (unsigned)strtoul(number, NULL, 10);
    return request->architecture || toolkit_complain("an architecture is wanted, as in sm_80, not", value);
}

static bool take(void *user, const struct mr_option *option, const char *word, const char *value)
{
    struct request *request = user;
    if (!option) {
        if (request->file)
            return toolkit_complain("one file at a time, not also", word);
        request->file = value;
        return true;
    }
    switch (option->effect) {
    case LIST_PTX:
        return request->list_ptx = true;
    case LIST_ELF:
        return request->list_elf = true;
    case DUMP_PTX:
        return request->dump_ptx = true;
    case EXTRACT_PTX:
        request->extract_ptx = value;
        return true;
    case EXTRACT_ELF:
        request->extract_elf = value;
        return true;
    case ARCHITECTURE:
        return set_architecture(request, value);
    case ALL:
        return request->all = true;
    case HELP:
        return request->help = true;
    case VERSION:
        return request->version = true;
    default:
        return toolkit_complain(
            "machine code for GPUs can't be taken apart here (-ptx shows PTX); cannot honour the option", word);
    }
}

int main(int argc, char **argv)
{
    struct request request = {.file = NULL};
    mr_log_setup();
    bool good = toolkit_words(argc, argv, options, sizeof options / sizeof *options, &request.words, take, &request);
    if (good && (request.help || request.version))
        fputs(request.help ? usage : version, stdout);
    else if (good)
        good = request.file ? look_at(&request)
                            : toolkit_complain("name the file to look at, as in", "cuobjdump -lptx program");
    mr_words_clear(&request.words);
    return toolkit_end(good ? 0 : 1, 255);
}
