// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "wire/stream.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

// Bytes taken from the socket at once, and how often without a result: a peer that sends what
// decrypts to nothing must not keep the sender busy.
enum { PIECE = 16384, PIECES = 8 };

// Bytes that may wait for the socket: more than one record, and what answers it. A peer that makes
// TLS answer, such as by changes of keys, and does not read must not use up memory.
enum { BACKLOG = 65536 };

bool weft_stream_secure(struct weft_stream *s, const struct weft_tls_config *config,
                        const char *host, char problem[WEFT_TLS_PROBLEM_MAX]) {
    s->tls = weft_tls_open(config, host, problem);
    return s->tls != NULL;
}

static bool is_empty(int error) {
    return error == EAGAIN || error == EWOULDBLOCK;
}

// Sends what waits. False if the socket failed, with errno; it may also be full.
static bool flush(struct weft_stream *s) {
    const unsigned char *data;
    size_t len;
    while ((len = weft_tls_pending(s->tls, &data)) > 0) {
        ssize_t n = send(s->fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0) {
            weft_tls_sent(s->tls, (size_t)n);
        } else if (n < 0 && errno != EINTR) {
            return is_empty(errno);
        }
    }
    return true;
}

// Feeds TLS from the socket: 1, or as recv.
static ssize_t feed(struct weft_stream *s) {
    unsigned char data[PIECE];
    ssize_t n;
    do {
        n = recv(s->fd, data, sizeof data, MSG_DONTWAIT);
    } while (n < 0 && errno == EINTR);
    if (n > 0 && !weft_tls_feed(s->tls, data, (size_t)n)) {
        errno = ENOMEM;
        return -1;
    }
    return n > 0 ? 1 : n;
}

int weft_stream_handshake(struct weft_stream *s) {
    for (int pieces = 0; s->tls != NULL; pieces++) {
        enum weft_tls_result result = weft_tls_handshake(s->tls);
        if (!flush(s) && result != WEFT_TLS_FAILED) { // a failure has an alert to send, too
            return -1;
        }
        if (result == WEFT_TLS_DONE) {
            return 1;
        }
        if (result != WEFT_TLS_HUNGRY) {
            errno = EPROTO;
            return -1;
        }
        ssize_t n = pieces < PIECES ? feed(s) : -1;
        if (n < 0) {
            return pieces == PIECES || is_empty(errno) ? 0 : -1;
        }
        if (n == 0) {
            errno = EPROTO;
            return -1;
        }
    }
    return 1;
}

ssize_t weft_stream_read(struct weft_stream *s, void *to, size_t len) {
    if (s->tls == NULL) {
        return recv(s->fd, to, len, MSG_DONTWAIT);
    }
    for (int pieces = 0; pieces < PIECES; pieces++) {
        size_t count;
        enum weft_tls_result result = weft_tls_read(s->tls, to, len, &count);
        int error = result == WEFT_TLS_FAILED ? EPROTO : 0;
        if (!flush(s)) {
            error = error == 0 ? errno : error;
        }
        if (error == 0 && result == WEFT_TLS_DONE) {
            return (ssize_t)count;
        }
        if (error == 0 && result == WEFT_TLS_CLOSED) {
            return 0;
        }
        if (error != 0) {
            errno = error;
            return -1;
        }
        if (weft_tls_backlog(s->tls) > BACKLOG) {
            errno = ENOBUFS;
            return -1;
        }
        ssize_t n = feed(s);
        if (n == 0) { // without a close_notify anybody on the way may have ended it
            errno = ECONNRESET;
            return -1;
        }
        if (n < 0) {
            return n;
        }
    }
    errno = EAGAIN;
    return -1;
}

ssize_t weft_stream_write(struct weft_stream *s, const void *from, size_t len) {
    if (s->tls == NULL) {
        return send(s->fd, from, len, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    if (!flush(s)) {
        return -1;
    }
    if (weft_stream_pending(s)) { // never more than one record
        errno = EAGAIN;
        return -1;
    }
    size_t count;
    enum weft_tls_result result = weft_tls_write(s->tls, from, len, &count);
    if (result == WEFT_TLS_DONE) {
        return flush(s) ? (ssize_t)count : -1;
    }
    errno = result == WEFT_TLS_HUNGRY ? EAGAIN : EPROTO;
    return -1;
}

bool weft_stream_pending(const struct weft_stream *s) {
    const unsigned char *data;
    return s->tls != NULL && weft_tls_pending(s->tls, &data) > 0;
}

const char *weft_stream_problem(const struct weft_stream *s) {
    return s->tls == NULL ? "" : weft_tls_problem(s->tls);
}

void weft_stream_close(struct weft_stream *s) {
    if (s->tls != NULL) {
        weft_tls_shut(s->tls);
        flush(s); // if the socket is full, the other side sees the end without a farewell
        weft_tls_free(s->tls);
    }
    if (s->fd >= 0) {
        close(s->fd);
    }
    *s = (struct weft_stream){.fd = -1};
}
