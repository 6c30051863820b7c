// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "send/connection.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "record/definitions.h"
#include "record/roster.h"
#include "send/clock_reading.h"
#include "send/control.h"
#include "wire/endpoint.h"
#include "wire/secret.h"

#define MILLISECOND     ((int64_t)1000000)
#define CONNECT_TIMEOUT (2000 * MILLISECOND)
#define WELCOME_TIMEOUT (5000 * MILLISECOND)
#define WRITE_TIMEOUT   (30000 * MILLISECOND)

// More answers pile up only if a receiver sends requests without reading: it is broken.
enum { MAX_ANSWERS = 256 * 1024 };

// Per step, so that a receiver that never stops sending does not block the sender.
enum { MAX_READS = 16 };

void weft_connection_init(struct weft_connection *c, const char *endpoint,
                          struct weft_retain *retain, const struct weft_hello *hello) {
    *c = (struct weft_connection){
        .endpoint = endpoint,
        .retain = retain,
        .hello = *hello,
        .stream = {.fd = -1},
    };
    weft_backoff_init(&c->backoff, hello->session);
}

void weft_connection_close(struct weft_connection *c, int64_t now) {
    weft_stream_close(&c->stream);
    c->state = WEFT_OFF;
    c->run_len = 0;
    c->in_len = 0;
    c->answers.len = 0;
    c->blocked = false;
    c->end_sent = false;
    c->unauthorized = false;
    weft_roster_disconnected();
    c->retry_at = now + weft_backoff_next(&c->backoff);
}

// Closes the connection for a reason that has its own words.
static void close_telling(struct weft_connection *c, int64_t now, const char *detail) {
    snprintf(c->detail, sizeof c->detail, "%s", detail);
    c->trouble = WEFT_TROUBLE_DETAIL;
    weft_connection_close(c, now);
}

static void close_broken(struct weft_connection *c, int64_t now, int error) {
    const char *problem = weft_stream_problem(&c->stream);
    if (c->unauthorized) {
        problem = "the receiver does not accept the credentials; check token-file or headers, and "
                  "see its log";
    }
    if (problem[0] != '\0') {
        close_telling(c, now, problem);
    } else {
        c->trouble = error;
        weft_connection_close(c, now);
    }
}

static void set_run(struct weft_connection *c, enum weft_run_kind kind, const uint8_t *data,
                    size_t len) {
    c->run_kind = kind;
    c->run = data;
    c->run_len = len;
}

static void greet(struct weft_connection *c, int64_t now) {
    struct weft_attribute headers[WEFT_MAX_HEADERS];
    struct weft_hello hello = c->hello;
    hello.acked -= c->base;
    if (c->credentials != NULL) {
        char problem[WEFT_TLS_PROBLEM_MAX];
        int count = weft_credentials_headers(c->credentials, headers, problem);
        if (count < 0) {
            close_telling(c, now, problem);
            return;
        }
        hello.headers = headers;
        hello.header_count = (uint16_t)count;
    }
    c->own.len = 0;
    weft_wire_put_preamble(&c->own);
    weft_wire_put_hello(&c->own, &hello);
    if (c->own.failed) {
        c->own.failed = false;
        weft_connection_close(c, now);
        return;
    }
    c->state = WEFT_GREETING;
    c->deadline = now + WELCOME_TIMEOUT;
    set_run(c, WEFT_RUN_OWN, c->own.data, c->own.len);
}

static void continue_handshake(struct weft_connection *c, int64_t now) {
    int done = weft_stream_handshake(&c->stream);
    if (done > 0) {
        greet(c, now);
    } else if (done < 0) {
        close_broken(c, now, errno);
    }
}

// Nothing is sent before the other side is verified, if it is to be.
static void begin(struct weft_connection *c, int64_t now) {
    char host[WEFT_HOST_MAX];
    char problem[WEFT_TLS_PROBLEM_MAX];
    if (!weft_endpoint_secure(c->endpoint, host)) {
        greet(c, now);
    } else if (!weft_stream_secure(&c->stream, &c->credentials->tls, host, problem)) {
        close_telling(c, now, problem);
    } else {
        c->state = WEFT_SECURING;
        c->deadline = now + WELCOME_TIMEOUT;
        continue_handshake(c, now);
    }
}

static void start(struct weft_connection *c, int64_t now) {
    bool in_progress;
    c->attempts++;
    c->stream.fd = weft_endpoint_connect(c->endpoint, &in_progress);
    if (c->stream.fd < 0) {
        c->trouble = errno;
        weft_connection_close(c, now);
    } else if (in_progress) {
        c->state = WEFT_CONNECTING;
        c->deadline = now + CONNECT_TIMEOUT;
    } else {
        begin(c, now);
    }
}

static void check_connected(struct weft_connection *c, int64_t now) {
    int error = weft_endpoint_progress(c->stream.fd);
    if (error == 0) {
        begin(c, now);
    } else if (error != EINPROGRESS) {
        c->trouble = error;
        weft_connection_close(c, now);
    }
}

// Chooses what to write next. False if there is nothing.
static bool next_run(struct weft_connection *c, int64_t now) {
    if (c->state != WEFT_STREAMING || c->end_sent) { // nothing follows an end
        return false;
    }
    const struct weft_batch *batch = c->retain->unsent;
    // Not between definitions, whose runs may end within a frame.
    if (c->answers.len > 0 && (batch == NULL || c->definitions >= batch->definitions)) {
        set_run(c, WEFT_RUN_ANSWERS, c->answers.data, c->answers.len);
        return true;
    }
    if (batch == NULL) {
        if (!c->end_wanted) {
            return false;
        }
        c->own.len = 0;
        weft_wire_put_end(&c->own, c->end_time, c->end_reason);
        set_run(c, WEFT_RUN_END, c->own.data, c->own.len);
        return !c->own.failed;
    }
    if (c->definitions < batch->definitions) {
        size_t len;
        const uint8_t *data = weft_definitions_read(c->definitions, batch->definitions, &len);
        set_run(c, WEFT_RUN_DEFINITIONS, data, len);
        return true;
    }
    c->own.len = 0;
    weft_roster_encode(&c->own);
    weft_clock_reading_put(&c->own, &c->clock_sent, now);
    if (c->own.len > 0) {
        set_run(c, WEFT_RUN_OWN, c->own.data, c->own.len);
        return true;
    }
    c->run_sequence = batch->sequence;
    set_run(c, WEFT_RUN_BATCH, batch->data, batch->len);
    return true;
}

// Accounts for a written run, or a part of definitions.
static void wrote(struct weft_connection *c, size_t len) {
    c->run += len;
    c->run_len -= len;
    if (c->run_kind == WEFT_RUN_DEFINITIONS) {
        c->definitions += len;
    } else if (c->run_len == 0 && c->run_kind == WEFT_RUN_BATCH) {
        c->sent = c->run_sequence;
        weft_retain_sent(c->retain);
    } else if (c->run_len == 0 && c->run_kind == WEFT_RUN_ANSWERS) {
        c->answers.len = 0;
    } else if (c->run_len == 0 && c->run_kind == WEFT_RUN_END) {
        c->end_sent = true;
    }
}

static void write_out(struct weft_connection *c, int64_t now) {
    while (c->run_len > 0 || next_run(c, now)) {
        if (c->own.failed) {
            c->own.failed = false;
            weft_connection_close(c, now);
            return;
        }
        ssize_t n = weft_stream_write(&c->stream, c->run, c->run_len);
        if (n > 0) {
            c->blocked = false;
            wrote(c, (size_t)n);
        } else if (n < 0 && errno == EINTR) {
            continue;
        } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            if (!c->blocked) {
                c->blocked = true;
                if (c->state == WEFT_STREAMING) {
                    c->deadline = now + WRITE_TIMEOUT;
                }
            }
            return;
        } else {
            close_broken(c, now, errno);
            return;
        }
    }
}

// Appends the answer to a control. Answers that are being written must not move in memory, so the
// new one is built elsewhere. Returns false if out of memory.
static bool answer(struct weft_connection *c, const struct weft_reply *control) {
    bool writing = c->run_len > 0 && c->run_kind == WEFT_RUN_ANSWERS;
    struct weft_bytes fresh = {0};
    weft_control_answer(control, &fresh);
    if (writing) {
        struct weft_bytes rest = {0};
        weft_bytes_append(&rest, c->run, c->run_len);
        weft_bytes_free(&c->answers);
        c->answers = rest;
    }
    weft_bytes_append(&c->answers, fresh.data, fresh.len);
    bool ok = !fresh.failed && !c->answers.failed;
    weft_bytes_free(&fresh);
    if (ok && writing) {
        set_run(c, WEFT_RUN_ANSWERS, c->answers.data, c->answers.len);
    }
    if (!ok) {
        c->answers.failed = false;
        c->answers.len = 0;
    }
    return ok;
}

// Handles one frame from the receiver. False if the frame is not allowed now.
static bool take_reply(struct weft_connection *c, const struct weft_reply *reply) {
    uint64_t *acked = &c->hello.acked;
    switch (reply->kind) {
    case WEFT_FRAME_WELCOME: {
        uint64_t newest = c->retain->newest == NULL ? *acked : c->retain->newest->sequence;
        if (c->state != WEFT_GREETING || c->run_len > 0) {
            return false;
        }
        if (reply->sequence > newest - c->base) {
            c->mistaken = true;
            return false;
        }
        if (reply->sequence > *acked - c->base) {
            *acked = reply->sequence + c->base;
        }
        weft_retain_drop(c->retain, *acked);
        weft_retain_rewind(c->retain);
        c->sent = *acked;
        c->definitions = 0;
        c->clock_sent = 0;
        c->state = WEFT_STREAMING;
        weft_roster_connected();
        return true;
    }
    case WEFT_FRAME_ACK:
        if (c->state != WEFT_STREAMING || reply->sequence > c->sent - c->base) {
            return false;
        }
        if (reply->sequence > *acked - c->base) {
            *acked = reply->sequence + c->base;
            weft_backoff_reset(&c->backoff);
            c->renewed = false;
            weft_retain_drop(c->retain, *acked);
        }
        return true;
    case WEFT_FRAME_CONTROL:
        if (c->state != WEFT_STREAMING || c->answers.len > MAX_ANSWERS) {
            return false;
        }
        return answer(c, reply);
    case WEFT_FRAME_REFUSE:
        c->unauthorized = reply->code == WEFT_REFUSE_UNAUTHORIZED;
        return false;
    default:
        return true;
    }
}

// Handles all complete frames. False if the connection must be closed.
static bool take_replies(struct weft_connection *c) {
    size_t at = 0;
    for (;;) {
        struct weft_reply reply;
        ptrdiff_t n = weft_wire_read_reply(c->in + at, c->in_len - at, &reply);
        if (n < 0 || (n > 0 && !take_reply(c, &reply))) {
            return false;
        }
        if (n == 0) {
            break;
        }
        at += (size_t)n;
    }
    for (size_t i = at; i < c->in_len; i++) {
        c->in[i - at] = c->in[i];
    }
    c->in_len -= at;
    return true;
}

static void read_in(struct weft_connection *c, int64_t now) {
    for (int reads = 0; reads < MAX_READS; reads++) {
        ssize_t n = weft_stream_read(&c->stream, c->in + c->in_len, sizeof c->in - c->in_len);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            return;
        }
        int error = n < 0 ? errno : EPROTO;
        if (n > 0) {
            c->in_len += (size_t)n;
        }
        if (n <= 0 || !take_replies(c)) {
            c->over = n == 0 && c->end_sent && c->retain->oldest == NULL;
            close_broken(c, now, error);
            return;
        }
    }
}

void weft_connection_step(struct weft_connection *c, int64_t now) {
    if (c->state == WEFT_OFF && !c->over && now >= c->retry_at) {
        start(c, now);
    }
    if (c->state == WEFT_CONNECTING) {
        check_connected(c, now);
    } else if (c->state == WEFT_SECURING) {
        continue_handshake(c, now);
    }
    if (c->state == WEFT_GREETING || c->state == WEFT_STREAMING) {
        write_out(c, now);
    }
    if (c->state == WEFT_GREETING || c->state == WEFT_STREAMING) {
        read_in(c, now);
    }
    if (c->state == WEFT_STREAMING && !c->blocked) {
        write_out(c, now); // the welcome may just have arrived
    }
    bool silent = c->state == WEFT_SECURING || c->state == WEFT_GREETING;
    bool waiting = c->state == WEFT_CONNECTING || silent || c->blocked;
    if (waiting && now > c->deadline) {
        c->trouble = silent ? ENOMSG : ETIMEDOUT;
        weft_connection_close(c, now);
    }
}

void weft_connection_renew(struct weft_connection *c, int64_t now) {
    weft_secret_draw(c->hello.secret, c->hello.session);
    c->base = c->hello.acked;
    c->mistaken = false;
    if (!c->renewed) {
        c->renewed = true;
        c->retry_at = now;
    }
}

short weft_connection_events(const struct weft_connection *c) {
    if (c->stream.fd < 0) {
        return 0;
    }
    bool writes = c->state == WEFT_CONNECTING || c->blocked || weft_stream_pending(&c->stream);
    return writes ? POLLIN | POLLOUT : POLLIN;
}

bool weft_connection_settled(const struct weft_connection *c) {
    return c->over;
}
