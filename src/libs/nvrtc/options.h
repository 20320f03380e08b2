/* SPDX-License-Identifier: Apache-2.0 */
/* NVRTC's options, read into what the compiler is to be told.
 *
 * Nothing of a program's words reaches the compiler as a word of its own: each value is joined behind a spelling of
 * ours ("-D", "-I"), so no value can be an option, a response file or a plugin. A path that begins with '@' gets "./"
 * before it: clang's inner part sees it as a word. */
#ifndef MR_NVRTC_OPTIONS_H
#define MR_NVRTC_OPTIONS_H

#include <stdbool.h>

#include "base/text.h"

struct mr_options {
    unsigned capability;     /* 80 for sm_80 */
    char suffix;             /* 'a' for sm_90a, 'f' for sm_100f, else 0 */
    bool real;               /* sm_80, not compute_80: a cubin is wanted too */
    bool default_device;     /* functions without a mark are the device's */
    bool no_source_folder;   /* the source's folder is not searched for headers */
    bool no_move_forward;    /* std::move and std::forward need an include */
    bool tell_uses;          /* what each kernel uses, in the log */
    bool relocatable;        /* to be linked with others: what is declared extern is elsewhere */
    bool whole;              /* -rdc=false was said */
    bool link_time;          /* -dlto: the result is code for the linker, which is relocatable, and no PTX */
    char standard[8];        /* "c++17" */
    struct mr_words words;   /* for the compiler */
};

/* Reads `count` options. False for one that can't be honoured, or when memory is short (then options->words.failed):
 * the reason is then in *log. Free with mr_options_clear in both cases. */
bool mr_options_read(struct mr_options *options, int count, const char *const *words, struct mr_text *log);
void mr_options_clear(struct mr_options *options);

#endif
