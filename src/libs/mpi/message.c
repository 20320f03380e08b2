/* SPDX-License-Identifier: Apache-2.0 */
#include "libs/mpi/message.h"

#include <stdlib.h>

#include "libs/mpi/request.h"

struct message mr_message(const char *call, const void *site)
{
    return (struct message){.call = call, .site = site, .outermost = mr_mpi_enter()};
}

void mr_message_touches(struct message *message, const void *buffer, int64_t count, word type, uint32_t how)
{
    mr_mpi_concerns *concerns = atomic_load_explicit(&millrace_mpi.concerns, memory_order_acquire);
    intptr_t first, end;
    if (concerns && message->outermost && count > 0 && mr_layout_span(type, count, &first, &end) &&
        concerns((uintptr_t)buffer + (uintptr_t)first, (uintptr_t)buffer + (uintptr_t)end))
        mr_layout_add(&message->boxes, (uintptr_t)buffer, count, type, how);
}

void mr_message_begin(struct message *message)
{
    if (message->boxes.count)
        message->number = millrace_mpi.begin(message->call, message->boxes.at, message->boxes.count, message->site);
    free(message->boxes.at);
    message->boxes = (struct boxes){0};
}

void mr_message_returns(struct message *message, const void *request)
{
    mr_mpi_leave();
    if (message->number && request)
        mr_request_add(request, message->number);
    else if (message->number)
        millrace_mpi.end(message->number);
}
