// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What is being said on the socket right now? One connection after another to the same endpoint:
// connect, hello, welcome, then definitions and batches, and acknowledgements back. Nothing here
// blocks; the sender calls in when the socket or the clock says so.

#ifndef WEFT_CONNECTION_H
#define WEFT_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "send/retain.h"
#include "wire/wire.h"

enum weft_connection_state {
    WEFT_OFF,        // until retry_at
    WEFT_CONNECTING, // until the socket can be written to
    WEFT_GREETING,   // hello is on its way, welcome is not here yet
    WEFT_STREAMING,
};

enum weft_run_kind {
    WEFT_RUN_OWN,
    WEFT_RUN_ANSWERS,
    WEFT_RUN_DEFINITIONS,
    WEFT_RUN_BATCH,
    WEFT_RUN_END
};

struct weft_connection {
    const char *endpoint;
    struct weft_retain *retain;
    struct weft_hello hello; // acked in it is the highest acknowledged batch

    enum weft_connection_state state;
    int fd;
    int trouble; // what ended the last one, for weft_endpoint_describe
    int64_t retry_at;
    int64_t backoff;
    int64_t deadline; // of the state, or of the write that does not move
    uint64_t random;
    uint64_t attempts;

    uint64_t sent;        // the newest batch that was sent as a whole on this connection
    uint64_t definitions; // position in the log up to which definitions were sent

    struct weft_bytes own;     // frames that are made for this connection
    struct weft_bytes answers; // status frames that are to be sent
    const uint8_t *run;        // what is being written
    size_t run_len;
    enum weft_run_kind run_kind;
    uint64_t run_sequence;
    bool blocked; // the socket takes nothing at the moment

    bool end_wanted;
    bool end_sent;
    bool over; // the receiver has closed after the end: there is nothing to connect again for
    int64_t end_time;
    uint16_t end_reason;

    size_t in_len;
    uint8_t in[WEFT_MAX_REPLY + WEFT_FRAME_HEADER_SIZE];
};

void weft_connection_init(struct weft_connection *c, const char *endpoint,
                          struct weft_retain *retain, const struct weft_hello *hello);

// Does all that can be done without waiting.
void weft_connection_step(struct weft_connection *c, int64_t now);

// For poll: the events to wait for; 0 if there is no socket.
short weft_connection_events(const struct weft_connection *c);

// All batches are sent and acknowledged, and the end, if it is wanted, is sent. It stays so when
// the receiver then closes.
bool weft_connection_settled(const struct weft_connection *c);

void weft_connection_close(struct weft_connection *c, int64_t now);

#endif
