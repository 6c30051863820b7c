// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "send/connection.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "record/definitions.h"
#include "record/roster.h"
#include "send/control.h"
#include "wire/endpoint.h"
#include "wire/secret.h"

#define MILLISECOND     ((int64_t)1000000)
#define FIRST_BACKOFF   (50 * MILLISECOND)
#define LAST_BACKOFF    (5000 * MILLISECOND)
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
        .fd = -1,
        .backoff = FIRST_BACKOFF,
    };
    // Any number but 0 spreads the retries of many agents.
    for (size_t i = 0; i < sizeof hello->session; i++) {
        c->random = c->random << 4 ^ c->random >> 60 ^ hello->session[i];
    }
    c->random |= 1;
}

static uint64_t next_random(struct weft_connection *c) {
    c->random ^= c->random << 13;
    c->random ^= c->random >> 7;
    c->random ^= c->random << 17;
    return c->random;
}

void weft_connection_close(struct weft_connection *c, int64_t now) {
    if (c->fd >= 0) {
        close(c->fd);
    }
    c->fd = -1;
    c->state = WEFT_OFF;
    c->run_len = 0;
    c->in_len = 0;
    c->answers.len = 0;
    c->blocked = false;
    c->end_sent = false;
    weft_roster_disconnected();
    // Between half of the back-off and all of it.
    int64_t half = c->backoff / 2;
    c->retry_at = now + half + (int64_t)(next_random(c) % (uint64_t)(half + 1));
    c->backoff = c->backoff * 2 < LAST_BACKOFF ? c->backoff * 2 : LAST_BACKOFF;
}

static void set_run(struct weft_connection *c, enum weft_run_kind kind, const uint8_t *data,
                    size_t len) {
    c->run_kind = kind;
    c->run = data;
    c->run_len = len;
}

static void greet(struct weft_connection *c, int64_t now) {
    struct weft_hello hello = c->hello;
    hello.acked -= c->base;
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

static void start(struct weft_connection *c, int64_t now) {
    bool in_progress;
    c->attempts++;
    c->fd = weft_endpoint_connect(c->endpoint, &in_progress);
    if (c->fd < 0) {
        c->trouble = errno;
        weft_connection_close(c, now);
    } else if (in_progress) {
        c->state = WEFT_CONNECTING;
        c->deadline = now + CONNECT_TIMEOUT;
    } else {
        greet(c, now);
    }
}

static void check_connected(struct weft_connection *c, int64_t now) {
    struct pollfd p = {.fd = c->fd, .events = POLLOUT};
    int error = 0;
    socklen_t len = sizeof error;
    if (poll(&p, 1, 0) == 0) {
        return;
    }
    if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0 || error != 0) {
        c->trouble = error;
        weft_connection_close(c, now);
    } else {
        greet(c, now);
    }
}

// Chooses what to write next. False if there is nothing.
static bool next_run(struct weft_connection *c) {
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
    while (c->run_len > 0 || next_run(c)) {
        if (c->own.failed) {
            c->own.failed = false;
            weft_connection_close(c, now);
            return;
        }
        ssize_t n = send(c->fd, c->run, c->run_len, MSG_NOSIGNAL | MSG_DONTWAIT);
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
            c->trouble = errno;
            weft_connection_close(c, now);
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
            c->backoff = FIRST_BACKOFF;
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
        ssize_t n = recv(c->fd, c->in + c->in_len, sizeof c->in - c->in_len, MSG_DONTWAIT);
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
            c->trouble = error;
            c->over = n == 0 && c->end_sent && c->retain->oldest == NULL;
            weft_connection_close(c, now);
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
    bool waiting = c->state == WEFT_CONNECTING || c->state == WEFT_GREETING || c->blocked;
    if (waiting && now > c->deadline) {
        c->trouble = c->state == WEFT_GREETING ? ENOMSG : ETIMEDOUT;
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
    if (c->fd < 0) {
        return 0;
    }
    return c->state == WEFT_CONNECTING || c->blocked ? POLLIN | POLLOUT : POLLIN;
}

bool weft_connection_settled(const struct weft_connection *c) {
    return c->over || (c->state == WEFT_STREAMING && c->retain->oldest == NULL &&
                       (!c->end_wanted || c->end_sent));
}
