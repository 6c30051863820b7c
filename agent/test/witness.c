// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "witness.h"

#include <stdlib.h>
#include <string.h>

#include "witness_parts.h"

uint64_t witness_number(struct cursor *c, size_t size) {
    uint64_t v = 0;
    if (c->left < size) {
        c->bad = true;
        c->left = 0;
        return 0;
    }
    for (size_t i = 0; i < size; i++) {
        v |= (uint64_t)c->at[i] << (8 * i);
    }
    c->at += size;
    c->left -= size;
    return v;
}

struct cursor witness_string(struct cursor *c) {
    size_t len = (size_t)witness_number(c, 2);
    struct cursor s = {c->at, len, false};
    if (c->left < len) {
        c->bad = true;
        s.left = 0;
        return s;
    }
    c->at += len;
    c->left -= len;
    return s;
}

void witness_init(struct witness *w) {
    *w = (struct witness){0};
    w->classes = calloc(WITNESS_IDS, sizeof *w->classes);
    w->methods = calloc(WITNESS_IDS, sizeof *w->methods);
    w->stack_ids = calloc(WITNESS_IDS, sizeof *w->stack_ids);
}

void witness_free(struct witness *w) {
    free(w->in);
    free(w->classes);
    free(w->methods);
    free(w->stack_ids);
    free(w->threads);
    for (size_t i = 0; i < WITNESS_IDS; i++) {
        free(w->method_names == NULL ? NULL : w->method_names[i]);
        free(w->stack_texts == NULL ? NULL : w->stack_texts[i]);
    }
    free(w->method_names);
    free(w->stack_texts);
}

void witness_connect(struct witness *w) {
    w->connections++;
    w->in_len = 0;
    w->hello = false;
}

struct witness_thread *witness_thread_of(struct witness *w, uint64_t id) {
    if (w->thread_count * 2 >= w->thread_cap) {
        struct witness_thread *old = w->threads;
        size_t old_cap = w->thread_cap;
        w->thread_cap = old_cap == 0 ? 1024 : old_cap * 2;
        w->threads = calloc(w->thread_cap, sizeof *w->threads);
        w->thread_count = 0;
        for (size_t i = 0; i < old_cap; i++) {
            if (old[i].id != 0) {
                *witness_thread_of(w, old[i].id) = old[i];
            }
        }
        free(old);
    }
    size_t at = (size_t)(id * 0x9E3779B97F4A7C15U) % w->thread_cap;
    while (w->threads[at].id != 0 && w->threads[at].id != id) {
        at = (at + 1) % w->thread_cap;
    }
    if (w->threads[at].id == 0) {
        w->threads[at].id = id;
        w->threads[at].last = INT64_MIN;
        w->threads[at].open = -1;
        w->thread_count++;
    }
    return &w->threads[at];
}

// Whether the text is the session in hexadecimal.
static bool names_session(struct cursor text, const uint8_t session[16]) {
    char hex[33];
    for (size_t i = 0; i < 16; i++) {
        snprintf(hex + 2 * i, 3, "%02x", session[i]);
    }
    return text.left == 32 && memcmp(text.at, hex, 32) == 0;
}

static bool take_hello(struct witness *w, struct cursor c) {
    uint8_t session[16];
    for (size_t i = 0; i < sizeof session; i++) {
        session[i] = (uint8_t)witness_number(&c, 1);
    }
    witness_number(&c, 8);
    int64_t monotonic = (int64_t)witness_number(&c, 8);
    witness_number(&c, 4);
    w->hello_acked = witness_number(&c, 8);
    size_t count = (size_t)witness_number(&c, 2);
    for (size_t i = 0; i < count; i++) {
        struct cursor key = witness_string(&c);
        struct cursor value = witness_string(&c);
        if (key.left == 12 && memcmp(key.at, "service.name", 12) == 0 && value.left < 128) {
            memcpy(w->service, value.at, value.left);
            w->service[value.left] = '\0';
        }
        if (key.left == 19 && memcmp(key.at, "service.instance.id", 19) == 0) {
            w->own_instance = names_session(value, session);
        }
    }
    if (c.bad || session[0] == 0 || w->hello) {
        return fail(w, "hello is not whole, not the only one, or has a session that begins with 0");
    }
    bool another = memcmp(session, w->session, sizeof session) != 0;
    if (another && w->sessions > 0 && !w->taken) {
        return fail(w, "another session");
    }
    if (another) {
        w->sessions++;
        w->newest = 0;
        w->base = w->total;
    } else if (w->taken) {
        return fail(w, "the same session, which is somebody else's");
    }
    w->taken = false;
    if (w->batches == 0) {
        w->watermark = monotonic;
    }
    memcpy(w->session, session, sizeof session);
    w->hello = true;
    return w->service[0] != '\0' || fail(w, "no service.name");
}

static bool take_status(struct witness *w, struct cursor c) {
    char depth[16] = "";
    char pause[16] = "";
    witness_number(&c, 4);
    struct cursor error = witness_string(&c);
    size_t count = (size_t)witness_number(&c, 2);
    for (size_t i = 0; i < count; i++) {
        struct cursor key = witness_string(&c);
        struct cursor value = witness_string(&c);
        bool is_depth = key.left == 5 && memcmp(key.at, "depth", 5) == 0;
        bool is_pause = key.left == 5 && memcmp(key.at, "pause", 5) == 0;
        if ((is_depth || is_pause) && value.left < sizeof depth) {
            memcpy(is_depth ? depth : pause, value.at, value.left);
            (is_depth ? depth : pause)[value.left] = '\0';
        }
    }
    if (c.bad || c.left != 0 || count == 0) {
        return fail(w, "a status is not whole");
    }
    w->answers++;
    w->refusals += error.left != 0;
    snprintf(w->answer, sizeof w->answer, "%.*s|%s|%s", (int)error.left, (const char *)error.at,
             depth, pause);
    return true;
}

static bool take_frame(struct witness *w, unsigned kind, struct cursor c) {
    if (w->ended && kind != HELLO && kind > STACK && kind != BATCH && kind != END &&
        kind != AGGREGATE && kind != CLOCK) {
        return fail(w, "frame %u after the end", kind);
    }
    if (!w->hello && kind != HELLO) {
        return fail(w, "frame %u before hello", kind);
    }
    switch (kind) {
    case HELLO:
        return take_hello(w, c);
    case THREAD:
    case CLASS:
    case METHOD:
    case STACK:
        return witness_definition(w, kind, c);
    case BATCH:
        return witness_batch(w, c);
    case AGGREGATE:
        return witness_aggregate(w, c);
    case CLOCK:
        return witness_number(&c, 8) > 0 && witness_number(&c, 8) > 0;
    case END:
        w->ended = true;
        w->end = (int64_t)witness_number(&c, 8);
        return true;
    case STATUS:
        return take_status(w, c);
    default:
        return fail(w, "frame kind %u", kind);
    }
}

bool witness_feed(struct witness *w, const void *data, size_t len) {
    if (w->in_cap < w->in_len + len) {
        w->in_cap = (w->in_len + len) * 2;
        w->in = realloc(w->in, w->in_cap);
    }
    memcpy(w->in + w->in_len, data, len);
    w->in_len += len;
    struct cursor c = {w->in, w->in_len, false};
    if (!w->hello) {
        if (c.left < 8) {
            return true;
        }
        if (memcmp(c.at, "WEFT\x01\0\0\0", 8) != 0) {
            return fail(w, "no preamble");
        }
        c.at += 8;
        c.left -= 8;
    }
    while (c.left >= 8) {
        struct cursor header = c;
        size_t length = (size_t)witness_number(&header, 4);
        unsigned kind = (unsigned)witness_number(&header, 2);
        witness_number(&header, 2);
        if (length > 1048576 ||
            ((kind == BATCH || kind == AGGREGATE) && length > 256 * 1024 + 64)) {
            return fail(w, "frame %u of %zu bytes", kind, length);
        }
        if (header.left < length) {
            break;
        }
        struct cursor payload = {header.at, length, false};
        if (!take_frame(w, kind, payload)) {
            return fail(w, "frame %u", kind);
        }
        c.at = header.at + length;
        c.left = header.left - length;
    }
    if (w->hello) {
        memmove(w->in, c.at, c.left);
        w->in_len = c.left;
    }
    return true;
}
