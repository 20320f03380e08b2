/* SPDX-License-Identifier: Apache-2.0 */
/* pthread_exit unwinds the stack up to the latest clean-up handler and runs that in its own frame. Ours jumps back to
 * the call, so that the handler is taken off as after any other. */
#include "base/call_program.h"

#include <pthread.h>
#include <setjmp.h>

#include "base/call.h"

static void come_back(void *data)
{
    siglongjmp(*(sigjmp_buf *)data, 1);
}

bool mr_call_program(void (*function)(void *data), void *data)
{
    sigjmp_buf place;
    volatile bool returned = false;
    const char *volatile name = mr_call_name; /* the function may make calls */
    pthread_cleanup_push(come_back, &place);
    if (sigsetjmp(place, 0) == 0) {
        function(data);
        returned = true;
    }
    pthread_cleanup_pop(0);
    mr_call_name = name;
    return returned;
}
