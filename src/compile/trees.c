/* SPDX-License-Identifier: Apache-2.0 */
/* Which trees are kept, and the packed text from which a program gets another one.
 *
 * A syntax tree takes ten to twenty times the memory of its text, and is wanted only while machine code is made, by one
 * thread at a time. Programs load thousands of modules, and launch each soon afterwards, or have its code on disk. So
 * the few trees used last are kept, of one program or of several; where there is none, the text is unpacked and parsed
 * again, which takes a fiftieth of the time of making code. */
#include <lz4.h>

#include "base/alloc.h"
#include "compile/program.h"

/* As many as threads may well take turns with. */
#define KEPT_MOST 8u

static mr_lock lock = MR_LOCK_INIT(TREES); /* held while a tree is put on the list or taken off */
static struct mr_list kept = {&kept, &kept}; /* trees that nobody uses, the one used last at the end */
static unsigned kept_count;

bool mr_source_pack(struct mr_source *source, const char *text, size_t length)
{
    int bound = length <= LZ4_MAX_INPUT_SIZE ? LZ4_compressBound((int)length) : 0;
    char *room = bound > 0 ? mr_alloc((size_t)bound) : NULL;
    int packed = room ? LZ4_compress_default(text, room, (int)length, bound) : 0;
    source->packed = packed > 0 ? mr_memdup(room, (size_t)packed) : NULL;
    source->packed_size = packed > 0 ? (size_t)packed : 0;
    source->length = length;
    mr_free(room);
    return source->packed;
}

static struct mr_tree *parse_again(const struct mr_source *source)
{
    char *text = mr_alloc(source->length);
    struct mr_tree *tree = NULL;
    if (text &&
        LZ4_decompress_safe(source->packed, text, (int)source->packed_size, (int)source->length) == (int)source->length)
        tree = mr_tree_again(text, source->length);
    mr_free(text);
    return tree;
}

/* A tree of the program's, or of any program's for NULL, the one that has been kept longest; NULL if there is none.
 * Lock held. */
static struct mr_tree *take_off(const struct mr_program *program)
{
    MR_HELD(&lock);
    for (struct mr_list *link = kept.next; link != &kept; link = link->next) {
        struct mr_tree *tree = MR_CONTAINER(link, struct mr_tree, kept_link);
        if (program && tree->program != program)
            continue;
        mr_list_remove(&tree->kept_link);
        kept_count--;
        return tree;
    }
    return NULL;
}

struct mr_tree *mr_tree_take(struct mr_program *program)
{
    mr_lock_take(&lock);
    struct mr_tree *tree = take_off(program);
    mr_lock_drop(&lock);
    return tree ? tree : parse_again(&program->source);
}

void mr_tree_keep(struct mr_program *program, struct mr_tree *tree)
{
    if (!tree)
        return;
    tree->program = program;
    mr_lock_take(&lock);
    struct mr_tree *oldest = kept_count == KEPT_MOST ? take_off(NULL) : NULL;
    mr_list_append(&kept, &tree->kept_link);
    kept_count++;
    mr_lock_drop(&lock);
    mr_tree_free(oldest);
}

void mr_tree_forget(struct mr_program *program)
{
    for (;;) {
        mr_lock_take(&lock);
        struct mr_tree *tree = take_off(program);
        mr_lock_drop(&lock);
        if (!tree)
            return;
        mr_tree_free(tree);
    }
}
