/* SPDX-License-Identifier: Apache-2.0 */
/* A link of libnvJitLink: inputs in, one image out. Read this first.
 *
 * An *input* is PTX, alone or in a container (a fat binary, an object, a library). Linking here is joining the texts:
 * each input's PTX becomes a part of one module, in which names are resolved as the driver's own linker does it. The
 * *image* is what the program gets for that: PTX, or, for a program that asks for a cubin, a container with the PTX.
 *
 * api.c checks handles and hands out results; options.c reads the options; link.c takes inputs in and joins them. One
 * thread works on a link at a time; links are independent of one another. */
#ifndef MR_NVJITLINK_LINK_H
#define MR_NVJITLINK_LINK_H

#include <nvJitLink.h>
#include <stdbool.h>

#include "base/text.h"

struct mr_link_input {
    char *text;      /* PTX, NUL-terminated; ours */
    size_t length;
    char *name;      /* for messages; ours */
};

struct nvJitLink {
    nvJitLinkResult created;   /* anything but success: the link takes no inputs */
    unsigned capability;       /* 80 for sm_80; 0 before the option */
    unsigned registers;        /* -maxrregcount; 0: no limit */
    bool virtual_arch;         /* compute_80 */
    bool lto, ptx, verbose, timed;
    struct mr_link_input *inputs;
    size_t count, room;
    bool failed;               /* an input was refused for what is in it */
    bool complete;             /* and the result is there */
    unsigned target;           /* of the text that was checked last; in the end, of the result */
    struct mr_text result;     /* linked PTX */
    unsigned char *cubin;      /* NULL where PTX is wanted */
    size_t cubin_size;
    struct mr_text errors, infos;
};

/* Adds a line to the link's error log and to ours; returns `status`. `name` may be NULL. */
nvJitLinkResult mr_link_refuse(struct nvJitLink *link, nvJitLinkResult status, const char *what, const char *name);

/* options.c: reads the options into the link. */
nvJitLinkResult mr_link_options(struct nvJitLink *link, uint32_t count, const char *const *options);

/* link.c */
nvJitLinkResult mr_link_add(struct nvJitLink *link, nvJitLinkInputType type, const void *data, size_t size,
                            const char *name);
nvJitLinkResult mr_link_add_file(struct nvJitLink *link, nvJitLinkInputType type, const char *path);
nvJitLinkResult mr_link_complete(struct nvJitLink *link);

#endif
