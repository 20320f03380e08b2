/* SPDX-License-Identifier: Apache-2.0 */
/* fatbinary: packs PTX, and machine code if there is any, into a fat binary, as compilers and builds call NVIDIA's.
 *
 * A *fat binary* is a container of images: the same device code as PTX, or as machine code for one chip or another. A
 * driver takes the image that suits its device. Our ptxas writes PTX, even if its caller calls the result machine code,
 * so it goes in as PTX. Machine code for GPUs goes in as it is, for other drivers; Millrace's takes the PTX beside it.
 */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "ptx/container.h"
#include "ptx/pack.h"
#include "toolkit.h"

const char toolkit_program[] = "fatbinary";

static const char version[] = "fatbinary: Millrace " MR_VERSION ", in place of NVIDIA's\n"
                              "Cuda compilation tools, release 13.0, V13.0.0\n";

static const char usage[] =
    "Usage: fatbinary [options]\n"
    "\n"
    "Packs device code into a fat binary, which the driver loads as a module.\n"
    "\n"
    "  --create FILE              the fat binary\n"
    "  --embedded-fatbin FILE     also a C file that holds it, for a host object\n"
    "  --image3=kind=KIND,sm=NUMBER,file=FILE\n"
    "                             one image; KIND is ptx or elf. May be given many times\n"
    "  --image=profile=PROFILE,file=FILE\n"
    "                             the same as older tools spell it: compute_80 is PTX, sm_80 machine code\n"
    "  --ident NAME               whose code it is\n"
    "  --cmdline OPTIONS          the assembler's options\n"
    "  -g, --debug                compiled for a debugger\n"
    "  -c, --device-c             relocatable code, which is linked later; --link: code that was linked\n"
    "  --compress true|false, --compress-all, --compress-mode default|size|speed|balance|none\n"
    "  -64, --no-asm              always so\n"
    "  --options-file FILE        more options\n"
    "  --version, --help\n";

enum effect {
    IDLE,
    CREATE,
    EMBED,
    IMAGE,
    OLD_IMAGE,
    IDENT,
    OPTIONS,
    DEBUG,
    RELOCATABLE,
    LINKED,
    COMPRESS,
    COMPRESS_ALL,
    MODE,
    REFUSED,
    HELP,
    VERSION
};

static const struct mr_option options[] = {
    {"create", "create", true, CREATE},
    {"embedded-fatbin", "fatbin", true, EMBED},
    {"image3", "image3", true, IMAGE},
    {"image", "image", true, OLD_IMAGE},
    {"image2", "image2", true, REFUSED},
    {"ident", "ident", true, IDENT},
    {"cmdline", "cmdline", true, OPTIONS},
    {"debug", "g", false, DEBUG},
    {"device-c", "c", false, RELOCATABLE},
    {"link", "link", false, LINKED},
    {"compress", "compress", true, COMPRESS},
    {"compress-all", "compress-all", false, COMPRESS_ALL},
    {"compress-mode", "compress-mode", true, MODE},
    {"64", "64", false, IDLE},
    {"cuda", "cuda", false, IDLE},
    {"no-asm", "no-asm", false, IDLE},
    {"32", "32", false, REFUSED},
    {"options-file", "optf", true, MR_OPTIONS_FILE},
    {"help", "h", false, HELP},
    {"version", "V", false, VERSION},
};

#define IMAGES_MAX 256

struct image {
    struct mr_text bytes;
    unsigned capability;
    bool machine;
};

struct request {
    struct mr_words words;
    const char *create, *embed, *ident, *assembler;
    struct image images[IMAGES_MAX];
    size_t count;
    bool debug, relocatable, linked, compress, compress_all, help, version;
    enum mr_ptx_packing packing;
};

/* The value of KEY= in a list KEY=VALUE,... A file's name may have no comma in it. */
static bool field(const char *list, const char *key, char *out, size_t room)
{
    size_t length = strlen(key);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        if (strncmp(at, key, length) != 0 || at[length] != '=')
            continue;
        size_t size = strcspn(at + length + 1, ",");
        if (size == 0 || size >= room)
            return false;
        memcpy(out, at + length + 1, size);
        out[size] = '\0';
        return true;
    }
    return false;
}

static bool is_machine_code(const struct mr_text *bytes)
{
    return bytes->length >= SELFMAG && memcmp(bytes->data, ELFMAG, SELFMAG) == 0;
}

static bool read_image(struct request *request, const char *spec, unsigned capability, bool machine)
{
    char path[4096];
    if (request->count == IMAGES_MAX)
        return toolkit_complain("too many images: one more is", spec);
    if (!field(spec, "file", path, sizeof path))
        return toolkit_complain("the image names no file:", spec);
    struct image *image = &request->images[request->count];
    if (!toolkit_read(path, &image->bytes))
        return false;
    request->count++;
    image->capability = capability;
    image->machine = is_machine_code(&image->bytes);
    if (!machine && image->machine)
        return toolkit_complain("this file is machine code, and no PTX:", path);
    if (image->machine)
        return true;
    image->bytes.length = strlen(mr_text_chars(&image->bytes));
    if (!memmem(mr_text_chars(&image->bytes), image->bytes.length, ".version", 8))
        return toolkit_complain("this file is neither PTX nor machine code:", path);
    /* The same text twice says nothing more: our ptxas hands on what it gets. */
    for (size_t i = 0; i + 1 < request->count; i++) {
        const struct image *other = &request->images[i];
        if (!other->machine && other->capability == capability && other->bytes.length == image->bytes.length &&
            memcmp(other->bytes.data, image->bytes.data, image->bytes.length) == 0) {
            mr_text_clear(&image->bytes);
            request->count--;
            break;
        }
    }
    return true;
}

static bool read_number(const char *text, unsigned *number)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    *number = (unsigned)value;
    /* A letter behind the number says that the code is for that chip alone, or for its family. */
    return end != text && value >= 10 && value < 1000 && (!*end || (strchr("af", *end) && !end[1]));
}

static bool add_image(struct request *request, const char *spec)
{
    char kind[32], sm[32];
    unsigned capability;
    if (!field(spec, "kind", kind, sizeof kind) || (strcmp(kind, "ptx") != 0 && strcmp(kind, "elf") != 0))
        return toolkit_complain("the image's kind must be ptx or elf:", spec);
    if (!field(spec, "sm", sm, sizeof sm) || !read_number(sm, &capability))
        return toolkit_complain("the image needs an architecture, as in sm=80:", spec);
    return read_image(request, spec, capability, strcmp(kind, "elf") == 0);
}

static bool add_old_image(struct request *request, const char *spec)
{
    char profile[64];
    unsigned capability;
    bool good = field(spec, "profile", profile, sizeof profile);
    bool virtual = good && strncmp(profile, "compute_", 8) == 0;
    if (!good || (!virtual && strncmp(profile, "sm_", 3) != 0) ||
        !read_number(profile + (virtual ? 8 : 3), &capability))
        return toolkit_complain("the image needs a profile, as in profile=compute_80:", spec);
    return read_image(request, spec, capability, !virtual);
}

static bool set_mode(struct request *request, const char *mode)
{
    static const struct {
        const char *name;
        enum mr_ptx_packing packing;
    } modes[] = {{"default", MR_PTX_PACKING_ZSTD},
                 {"size", MR_PTX_PACKING_ZSTD},
                 {"balance", MR_PTX_PACKING_ZSTD},
                 {"speed", MR_PTX_PACKING_LZ4},
                 {"none", MR_PTX_PACKING_NONE}};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(modes[i].name, mode) == 0) {
            request->packing = modes[i].packing;
            return true;
        }
    return toolkit_complain("default, size, speed, balance or none is wanted, not", mode);
}

static bool take(void *user, const struct mr_option *option, const char *word, const char *value)
{
    struct request *request = user;
    if (!option)
        return toolkit_complain("a word that is no option:", word);
    switch (option->effect) {
    case CREATE:
        request->create = value;
        return true;
    case EMBED:
        request->embed = value;
        return true;
    case IMAGE:
        return add_image(request, value);
    case OLD_IMAGE:
        return add_old_image(request, value);
    case IDENT:
        request->ident = value;
        return true;
    case OPTIONS:
        request->assembler = value;
        return true;
    case DEBUG:
        return request->debug = true;
    case RELOCATABLE:
        return request->relocatable = true;
    case LINKED:
        return request->linked = true;
    case COMPRESS:
        request->compress = strcmp(value, "true") == 0;
        return request->compress || strcmp(value, "false") == 0 ||
               toolkit_complain("true or false is wanted, not", value);
    case COMPRESS_ALL:
        return request->compress_all = true;
    case MODE:
        return set_mode(request, value);
    case REFUSED:
        return toolkit_complain("cannot honour the option", word);
    case HELP:
        return request->help = true;
    case VERSION:
        return request->version = true;
    default:
        return true;
    }
}

/* The C file. nvcc's host code includes it and registers __fatDeviceText, or with relocatable code the variable that
 * is named after the module. */
static bool embed(const struct request *request, const unsigned char *bytes, size_t size)
{
    struct mr_text text = {.data = NULL};
    mr_text_format(
        &text,
        "#ifndef __SKIP_INTERNAL_FATBINARY_HEADERS\n#include \"fatbinary_section.h\"\n#endif\n"
        "#define __CUDAFATBINSECTION  \".nvFatBinSegment\"\n#define __CUDAFATBINDATASECTION  \"%s\"\n"
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
        "static const unsigned long long fatbinData[] __attribute__((section(__CUDAFATBINDATASECTION), aligned(8))) = {",
        request->relocatable ? "__nv_relfatbin" : ".nv_fatbin");
    for (size_t i = 0; i < size; i += 8) {
        unsigned long long word;
        memcpy(&word, bytes + i, 8); /* little-endian, as the file is */
        mr_text_format(&text, "%s0x%016llxull,", i % 32 ? " " : "\n", word);
    }
    mr_text_put(&text, "\n};\n");
    if (request->relocatable)
        mr_text_put(&text, "#undef __FATIDNAME_CORE\n#undef __FATIDNAME\n#define __FATIDNAME_CORE(x) __fatbinwrap##x\n"
                           "#define __FATIDNAME(x) __FATIDNAME_CORE(x)\n"
                           "extern const __fatBinC_Wrapper_t __FATIDNAME(__NV_MODULE_ID);\n"
                           "const __fatBinC_Wrapper_t __FATIDNAME(__NV_MODULE_ID)");
    else
        mr_text_put(&text, "static const __fatBinC_Wrapper_t __fatDeviceText");
    mr_text_format(
        &text,
        " __attribute__((aligned(8), section(__CUDAFATBINSECTION))) =\n\t{ 0x466243b1, %d, fatbinData, %s };\n"
        "#ifdef __cplusplus\n}\n#endif\n",
        request->linked ? 2 : 1, request->linked ? "(void **)__cudaPrelinkedFatbins" : "0");
    bool good = text.failed ? toolkit_complain("out of memory for", request->embed)
                            : toolkit_write(request->embed, text.data, text.length);
    mr_text_clear(&text);
    return good;
}

static bool pack(const struct request *request)
{
    struct mr_ptx_pack_entry entries[IMAGES_MAX];
    size_t size = 0, ptx = 0;
    for (size_t i = 0; i < request->count; i++) {
        const struct image *image = &request->images[i];
        bool packed = image->machine ? request->compress_all : request->compress || request->compress_all;
        ptx += !image->machine;
        entries[i] = (struct mr_ptx_pack_entry){.text = mr_text_chars(&image->bytes),
                                                .length = image->bytes.length,
                                                .capability = image->capability,
                                                .name = request->ident,
                                                .bare = true,
                                                .machine = image->machine,
                                                .debug = request->debug,
                                                .packing = packed ? request->packing : MR_PTX_PACKING_NONE,
                                                .options = request->assembler};
    }
    if (request->count > 0 && ptx == 0)
        fputs(
            "fatbinary (Millrace): warning: there is no PTX among the images, and Millrace's driver runs nothing else\n",
            stderr);
    unsigned char *bytes = mr_ptx_pack(entries, request->count, &size);
    if (!bytes)
        return toolkit_complain("out of memory for", "the fat binary");
    bool good = (!request->create || toolkit_write(request->create, bytes, size)) &&
                (!request->embed || embed(request, bytes, size));
    mr_free(bytes);
    return good;
}

int main(int argc, char **argv)
{
    static struct request request = {.compress = true, .packing = MR_PTX_PACKING_ZSTD};
    mr_log_setup();
    bool good = toolkit_words(argc, argv, options, sizeof options / sizeof *options, &request.words, take, &request);
    if (good && (request.help || request.version || argc < 2))
        fputs(request.version && !request.help ? version : usage, stdout);
    else
        good = good && pack(&request);
    for (size_t i = 0; i < request.count; i++)
        mr_text_clear(&request.images[i].bytes);
    mr_words_clear(&request.words);
    return toolkit_end(good ? 0 : 1, 1);
}
