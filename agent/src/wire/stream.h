// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// A connected socket, plain or with TLS. Nothing here blocks or raises a signal.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "wire/tls.h"

struct weft_stream {
    int fd;               // -1: closed
    struct weft_tls *tls; // NULL: plain
};

// Makes a connected socket a TLS connection, before anything is sent. False on failure, with the
// problem.
bool weft_stream_secure(struct weft_stream *s, const struct weft_tls_config *config,
                        const char *host, char problem[WEFT_TLS_PROBLEM_MAX]);

// Continues the handshake. 1: it is done, or none is needed; 0: call again when the socket allows;
// -1: failed, see errno. EPROTO: see weft_stream_problem if it is not empty.
int weft_stream_handshake(struct weft_stream *s);

// As recv and send on a socket that does not block. A TLS stream may keep a part of what it has
// taken; see weft_stream_pending.
ssize_t weft_stream_read(struct weft_stream *s, void *to, size_t len);
ssize_t weft_stream_write(struct weft_stream *s, const void *from, size_t len);

// Whether bytes that were written still wait for the socket; reading and writing send them.
bool weft_stream_pending(const struct weft_stream *s);

// Why TLS failed, in one line with the remedy; empty if it did not.
const char *weft_stream_problem(const struct weft_stream *s);

void weft_stream_close(struct weft_stream *s);
