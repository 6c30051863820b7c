// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The conversation with the receiver: one connection after another to the same endpoint. Each
// consists of connect, hello, welcome, then definitions and batches, and acknowledgements back.
// Nothing here blocks; the sender calls when the socket or the clock requires it.

#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "send/backoff.h"
#include "send/credentials.h"
#include "send/retain.h"
#include "wire/stream.h"
#include "wire/wire.h"

enum weft_connection_state {
    WEFT_OFF,        // until retry_at
    WEFT_CONNECTING, // until the socket is writable
    WEFT_SECURING,   // until the TLS handshake is done
    WEFT_GREETING,   // hello sent, welcome not received yet
    WEFT_STREAMING,
};

enum weft_run_kind {
    WEFT_RUN_OWN,
    WEFT_RUN_ANSWERS,
    WEFT_RUN_DEFINITIONS,
    WEFT_RUN_BATCH,
    WEFT_RUN_END
};

// In place of an errno: the connection's detail says what happened.
enum { WEFT_TROUBLE_DETAIL = -1 };

struct weft_connection {
    const char *endpoint;
    const struct weft_credentials *credentials; // may be NULL for an endpoint without TLS
    struct weft_retain *retain;
    struct weft_hello hello; // its acked is the highest acknowledged batch
    uint64_t base; // batches before the session took its identity; the wire counts from there
    bool mistaken; // the receiver has more of this session than was sent: see below
    bool renewed;  // since the last acknowledgement

    enum weft_connection_state state;
    struct weft_stream stream;
    int trouble;                       // what ended the previous one, for weft_endpoint_describe
    char detail[WEFT_TLS_PROBLEM_MAX]; // one line with the remedy
    int64_t retry_at;
    struct weft_backoff backoff;
    int64_t deadline; // of the state, or of a stalled write
    uint64_t attempts;

    uint64_t sent;        // the newest batch completely sent on this connection
    int64_t clock_sent;   // when the last reading of the clocks was sent on it; 0: none
    uint64_t definitions; // position in the log up to which definitions were sent

    struct weft_bytes own;     // frames built for this connection
    struct weft_bytes answers; // status frames to send
    const uint8_t *run;        // being written
    size_t run_len;
    enum weft_run_kind run_kind;
    uint64_t run_sequence;
    bool blocked; // the socket is not writable

    bool unauthorized; // the receiver said so
    bool end_wanted;
    bool end_sent;
    bool over; // the receiver closed after the end: do not reconnect
    int64_t end_time;
    uint16_t end_reason;

    size_t in_len;
    uint8_t in[WEFT_MAX_REPLY + WEFT_FRAME_HEADER_SIZE];
};

void weft_connection_init(struct weft_connection *c, const char *endpoint,
                          struct weft_retain *retain, const struct weft_hello *hello);

// Does everything that is possible without waiting.
void weft_connection_step(struct weft_connection *c, int64_t now);

// Continues under another identity, without waiting, unless it did so since the last
// acknowledgement. Call it when the connection is mistaken, after renumbering the batches.
void weft_connection_renew(struct weft_connection *c, int64_t now);

// Whether a trouble lasts until somebody corrects it.
static inline bool weft_connection_is_lasting(int trouble) {
    return trouble == WEFT_TROUBLE_DETAIL || trouble == EKEYREJECTED || trouble == EPERM ||
           trouble == ENOSYS || trouble == EAFNOSUPPORT;
}

// The events to poll for; 0 without a socket.
short weft_connection_events(const struct weft_connection *c);

// Whether all batches are acknowledged and the receiver closed the connection after the end, which
// confirms it: what was only written may be lost with the connection.
bool weft_connection_settled(const struct weft_connection *c);

void weft_connection_close(struct weft_connection *c, int64_t now);
