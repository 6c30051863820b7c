// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The current span of each thread that has one. A thread changes its own without a lock; other
// threads may read it at any time.
//
// Contexts are never freed, so a reader may look at one that has become another thread's: it
// compares the thread. Beyond WEFT_CONTEXTS threads with a context, further ones have none.
// In theory, ids could crowd in a part of the table, which would be full before.

#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { WEFT_CONTEXTS = 1 << 16 };

// A span of the application; all 0: none. The first byte of an id is the most significant.
struct weft_span {
    uint64_t trace_high;
    uint64_t trace_low;
    uint64_t id;
};

struct weft_context {
    _Atomic uint32_t version; // odd while the thread changes what readers see
    _Atomic uint32_t sent;    // the epoch in which the span was reported; 0: it was not
    _Atomic uint64_t thread;  // 0: unused
    _Atomic uint64_t trace_high;
    _Atomic uint64_t trace_low;
    _Atomic uint64_t span;
    _Atomic int64_t sent_at; // time of that event; INT64_MAX: it may never be sent
    atomic_bool noted;       // another thread was given the span, to report it
    atomic_bool published;   // the span is what another library publishes (published.h)
    // Only the thread itself uses these.
    int64_t since;          // when a span became current after none
    struct weft_span first; // that one: the outermost of the request
    bool has_waited;        // it has waited since then while the receiver knew the span
    _Atomic uint32_t next;  // in the list of unused contexts
};

// Whether any thread has had a context.
extern atomic_bool weft_contexts_used;

// Gives a thread, which has none, a context; NULL if there are too many. Only the thread itself may
// take, change and give its context.
struct weft_context *weft_contexts_take(uint64_t thread);
void weft_contexts_give(struct weft_context *c);

// NULL if the thread has none.
struct weft_context *weft_contexts_find(uint64_t thread);

struct weft_span weft_contexts_span(const struct weft_context *c);
void weft_contexts_set(struct weft_context *c, const struct weft_span *span);
void weft_contexts_set_published(struct weft_context *c, const struct weft_span *span);
void weft_contexts_mark_sent(struct weft_context *c, uint32_t epoch, int64_t at);

// Any thread: the current span of another one, as the application reports it. False if it has none,
// or if it was sent before a time. If true, the context is noted until its next change.
bool weft_contexts_unsent(uint64_t thread, uint32_t epoch, int64_t before, struct weft_span *span);

static inline bool weft_contexts_is_none(const struct weft_span *s) {
    return (s->trace_high | s->trace_low | s->id) == 0;
}
