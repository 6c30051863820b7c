// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Is a stream what the protocol says? See witness.h.

#include "witness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Numbers from the specification, on purpose not from the generated header.
enum { HELLO = 1, THREAD, CLASS, METHOD, STACK, BATCH, END };
enum {
    THREAD_START = 1,
    THREAD_END = 2,
    START_CALLED = 3,
    CONTENDED_ENTER = 6,
    CONTENDED_ENTERED = 7,
    WAIT = 8,
    WAITED = 9,
    WAIT_RETURNED = 10,
    JOIN_START = 13,
    JOIN_END = 14,
    SLEEP_START = 15,
    SLEEP_END = 16,
    GAP = 26,
};

struct cursor {
    const uint8_t *at;
    size_t left;
    bool bad;
};

// Keeps the first problem; its value is false.
#define fail(w, ...)                                                                               \
    ((w)->problem[0] == '\0' ? (void)snprintf((w)->problem, sizeof(w)->problem, __VA_ARGS__)       \
                             : (void)0,                                                            \
     false)

static uint64_t number(struct cursor *c, size_t size) {
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

static struct cursor string(struct cursor *c) {
    size_t len = (size_t)number(c, 2);
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
}

void witness_connect(struct witness *w) {
    w->connections++;
    w->in_len = 0;
    w->hello = false;
}

// The thread's state, made at first sight.
static struct witness_thread *thread_of(struct witness *w, uint64_t id) {
    if (w->thread_count * 2 >= w->thread_cap) {
        struct witness_thread *old = w->threads;
        size_t old_cap = w->thread_cap;
        w->thread_cap = old_cap == 0 ? 1024 : old_cap * 2;
        w->threads = calloc(w->thread_cap, sizeof *w->threads);
        w->thread_count = 0;
        for (size_t i = 0; i < old_cap; i++) {
            if (old[i].id != 0) {
                *thread_of(w, old[i].id) = old[i];
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
        w->thread_count++;
    }
    return &w->threads[at];
}

static bool take_hello(struct witness *w, struct cursor c) {
    uint8_t session[16];
    for (size_t i = 0; i < sizeof session; i++) {
        session[i] = (uint8_t)number(&c, 1);
    }
    number(&c, 8);
    int64_t monotonic = (int64_t)number(&c, 8);
    number(&c, 4);
    w->hello_acked = number(&c, 8);
    size_t count = (size_t)number(&c, 2);
    for (size_t i = 0; i < count; i++) {
        struct cursor key = string(&c);
        struct cursor value = string(&c);
        if (key.left == 12 && memcmp(key.at, "service.name", 12) == 0 && value.left < 128) {
            memcpy(w->service, value.at, value.left);
            w->service[value.left] = '\0';
        }
    }
    if (c.bad || session[0] == 0 || w->hello) {
        return fail(w, "hello is not whole, not the only one, or has a session that begins with 0");
    }
    if (w->connections > 1 && memcmp(session, w->session, sizeof session) != 0) {
        return fail(w, "another session");
    }
    if (w->batches == 0) {
        w->watermark = monotonic;
    }
    memcpy(w->session, session, sizeof session);
    w->hello = true;
    return w->service[0] != '\0' || fail(w, "no service.name");
}

static bool defined(const struct witness *w, const uint32_t *table, uint64_t id) {
    return id < WITNESS_IDS && table[id] == (uint32_t)w->connections;
}

static bool define(struct witness *w, uint32_t *table, uint64_t id, const char *what) {
    if (id == 0 || id >= WITNESS_IDS) {
        return fail(w, "%s %llu: no good id", what, (unsigned long long)id);
    }
    table[id] = (uint32_t)w->connections;
    w->definition_frames++;
    return true;
}

static bool take_definition(struct witness *w, unsigned kind, struct cursor c) {
    uint64_t id = number(&c, kind == THREAD ? 8 : 4);
    if (kind == THREAD) {
        number(&c, 2);
        struct cursor name = string(&c);
        string(&c);
        struct witness_thread *t = thread_of(w, id);
        t->connection = w->connections;
        t->worker = name.left > 7 && memcmp(name.at, "worker-", 7) == 0;
        w->thread_frames++;
        return id != 0 || fail(w, "thread 0");
    }
    if (kind == CLASS) {
        struct cursor name = string(&c);
        if (id < WITNESS_CLASSES && name.left < sizeof w->by_class[id].name) {
            memcpy(w->by_class[id].name, name.at, name.left);
            w->by_class[id].name[name.left] = '\0';
        }
        return define(w, w->classes, id, "class") && (name.left > 0 || fail(w, "class no name"));
    }
    if (kind == METHOD) {
        uint64_t class_id = number(&c, 4);
        string(&c);
        string(&c);
        string(&c);
        size_t lines = (size_t)number(&c, 2);
        uint64_t last = 0;
        for (size_t i = 0; i < lines; i++) {
            uint64_t start = number(&c, 4);
            number(&c, 4);
            if (start < last) {
                return fail(w, "method %llu: lines do not ascend", (unsigned long long)id);
            }
            last = start;
        }
        return define(w, w->methods, id, "method") &&
               (defined(w, w->classes, class_id) || fail(w, "method of an unknown class"));
    }
    number(&c, 2);
    size_t frames = (size_t)number(&c, 2);
    for (size_t i = 0; i < frames; i++) {
        uint64_t method = number(&c, 4);
        number(&c, 4);
        if (!defined(w, w->methods, method)) {
            return fail(w, "stack %llu: unknown method", (unsigned long long)id);
        }
    }
    return define(w, w->stack_ids, id, "stack") && (!c.bad || fail(w, "stack is cut off"));
}

// What a thread may do next. After a gap nothing is known; virtual threads have no waitReturned.
static const char *pairing(struct witness_thread *t, unsigned kind, unsigned flags, uint64_t lock) {
    const char *wrong = NULL;
    if (kind == GAP || (flags & 4U) != 0) {
        t->open = kind == GAP ? -1 : 0;
        t->blocked = 0;
        return NULL;
    }
    if (t->ended) {
        return "an event after threadEnd";
    }
    switch (kind) {
    case THREAD_START:
        wrong = t->started ? "a second threadStart" : NULL;
        t->started = true;
        break;
    case THREAD_END:
        t->ended = true;
        wrong = t->blocked != 0 || t->open > 0 ? "threadEnd while blocked" : NULL;
        break;
    case CONTENDED_ENTER:
        wrong = t->blocked != 0 ? "contendedEnter while blocked" : NULL;
        t->blocked = lock;
        break;
    case CONTENDED_ENTERED:
        wrong = t->blocked != lock && t->open >= 0 ? "contendedEntered without enter" : NULL;
        t->blocked = 0;
        break;
    case WAIT:
    case JOIN_START:
    case SLEEP_START:
        wrong = t->open > 0 ? "a second wait" : NULL;
        t->open = (int)kind;
        break;
    case WAITED:
        wrong = t->open != WAIT && t->open != JOIN_START && t->open >= 0 ? "waited, no wait" : NULL;
        break;
    case WAIT_RETURNED:
    case JOIN_END:
    case SLEEP_END: {
        int begin = kind == WAIT_RETURNED ? WAIT : kind == JOIN_END ? JOIN_START : SLEEP_START;
        wrong = t->open != begin && t->open >= 0 ? "an end without a beginning" : NULL;
        t->open = 0;
        break;
    }
    default:
        break;
    }
    return wrong;
}

static bool take_record(struct witness *w, struct cursor *c, uint64_t thread, int64_t former) {
    int64_t time = (int64_t)number(c, 8);
    uint64_t peer = number(c, 8);
    int64_t arg = (int64_t)number(c, 8);
    uint64_t hash = number(c, 4);
    uint64_t class_id = number(c, 4);
    uint64_t stack = number(c, 4);
    unsigned kind = (unsigned)number(c, 2);
    unsigned flags = (unsigned)number(c, 2);
    unsigned long long id = thread;
    if (peer != 0 && thread_of(w, peer)->connection != w->connections) {
        return fail(w, "thread %llu: peer %llu unknown", id, (unsigned long long)peer);
    }
    struct witness_thread *t = thread_of(w, thread);
    if (kind == 0 || kind > GAP) {
        return fail(w, "thread %llu: kind %u", id, kind);
    }
    if (time < former) {
        return fail(w, "thread %llu: kind %u is %lld ns before the watermark", id, kind,
                    (long long)(former - time));
    }
    if (time < t->last) {
        return fail(w, "thread %llu: kind %u goes back %lld ns", id, kind,
                    (long long)(t->last - time));
    }
    t->last = time;
    if ((stack != 0 && !defined(w, w->stack_ids, stack)) ||
        (class_id != 0 && !defined(w, w->classes, class_id))) {
        return fail(w, "thread %llu: kind %u: unknown stack or class", id, kind);
    }
    const char *wrong = pairing(t, kind, flags, hash << 32 | class_id);
    if (wrong != NULL) {
        return fail(w, "thread %llu: kind %u: %s", id, kind, wrong);
    }
    w->events[kind]++;
    if (kind == GAP) {
        w->lost += (uint64_t)arg;
        return true;
    }
    if (class_id != 0 && class_id < WITNESS_CLASSES) {
        struct witness_class *at = &w->by_class[class_id];
        at->events[kind]++;
        at->owned += peer != 0;
        at->timed_out += (flags & 1U) != 0;
        at->interrupted += (flags & 2U) != 0;
    }
    bool worker = kind == START_CALLED ? thread_of(w, peer)->worker : t->worker;
    w->worker_events[kind] += worker;
    w->total++;
    w->timed_out += (flags & 1U) != 0;
    w->interrupted += (flags & 2U) != 0;
    w->owned += kind == CONTENDED_ENTER && peer != 0;
    w->stacks += stack != 0;
    return true;
}

static bool take_batch(struct witness *w, struct cursor c) {
    uint64_t sequence = number(&c, 8);
    int64_t watermark = (int64_t)number(&c, 8);
    uint64_t before = number(&c, 8);
    if (sequence <= w->newest) {
        return true; // sent again
    }
    if (sequence != w->newest + 1) {
        return fail(w, "batch %llu after %llu", (unsigned long long)sequence,
                    (unsigned long long)w->newest);
    }
    if (before != w->total) {
        return fail(w, "batch %llu: %llu events before, not %llu", (unsigned long long)sequence,
                    (unsigned long long)before, (unsigned long long)w->total);
    }
    if (watermark < w->watermark) {
        return fail(w, "batch %llu: the watermark falls", (unsigned long long)sequence);
    }
    while (c.left > 0) {
        uint64_t thread = number(&c, 8);
        uint64_t count = number(&c, 4);
        uint64_t size = number(&c, 2);
        number(&c, 2);
        struct witness_thread *t = thread_of(w, thread);
        if (c.bad || size != 40 || count == 0 || count * size > c.left) {
            return fail(w, "batch %llu: a section is broken", (unsigned long long)sequence);
        }
        if (t->connection != w->connections || t->section == sequence) {
            return fail(w, "batch %llu: thread %llu unknown or twice", (unsigned long long)sequence,
                        (unsigned long long)thread);
        }
        t->section = sequence;
        for (uint64_t i = 0; i < count; i++) {
            if (!take_record(w, &c, thread, w->watermark)) {
                return false;
            }
        }
    }
    w->newest = sequence;
    w->watermark = watermark;
    w->batches++;
    return true;
}

static bool take_frame(struct witness *w, unsigned kind, struct cursor c) {
    if (w->ended && kind != HELLO && kind > STACK && kind != BATCH && kind != END) {
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
        return take_definition(w, kind, c);
    case BATCH:
        return take_batch(w, c);
    case END:
        w->ended = true;
        return true;
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
        size_t length = (size_t)number(&header, 4);
        unsigned kind = (unsigned)number(&header, 2);
        number(&header, 2);
        if (length > 1048576 || (kind == BATCH && length > 256 * 1024 + 64)) {
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
