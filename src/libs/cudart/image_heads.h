/* SPDX-License-Identifier: Apache-2.0 */
/* What the heads of the program's images say: for which compute capabilities they hold PTX. */
#ifndef MR_CUDART_IMAGE_HEADS_H
#define MR_CUDART_IMAGE_HEADS_H

#include <stdbool.h>

/* Of the containers seen so far. */
struct mr_rt_image_heads {
    unsigned wanted; /* the lowest capability, as 80 for 8.0, for which each that has PTX has some; 0: none has */
    bool lacks;      /* one has no PTX */
};

/* Looks at an image, and at the objects to be linked with it (a list that ends with NULL, or NULL). `seen` is a struct
 * mr_rt_image_heads: mr_rt_each_image takes this function. Broken ones have no PTX. Any thread, any lock. */
void mr_rt_see_image(void *seen, const void *data, void *const *objects);

/* Warns in the log of an image that has no code for this device: which file holds it, and what its user can do. The
 * arguments as above. Any thread, any lock. */
void mr_rt_tell_no_code(const void *data, void *const *objects);

#endif
