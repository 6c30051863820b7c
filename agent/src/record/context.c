// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/context.h"

#include <stddef.h>

#include "options/settings.h"
#include "record/min_duration.h"
#include "record/published.h"
#include "record/thread_context.h"
#include "wire/clock.h"

atomic_bool weft_context_reported;

static uint32_t epoch(void) {
    return atomic_load_explicit(&weft_epoch, memory_order_relaxed);
}

static unsigned gaps(const struct weft_scope *scope) {
    return atomic_load_explicit(&scope->self->buffer->gapped, memory_order_relaxed);
}

static uint32_t sent_in(const struct weft_context *c) {
    return atomic_load_explicit(&c->sent, memory_order_relaxed);
}

static bool is_noted(const struct weft_context *c) {
    return atomic_load_explicit(&c->noted, memory_order_relaxed);
}

// Whether the receiver knows the span. It forgets that of a platform thread at a gap.
static bool is_known(const struct weft_scope *scope, const struct weft_context *c) {
    return sent_in(c) == epoch() &&
           (scope->subject != 0 || scope->self->context_gaps == gaps(scope));
}

static struct weft_context *context_of(const struct weft_scope *scope) {
    if (scope->subject == 0) {
        return scope->self->context;
    }
    return atomic_load_explicit(&weft_contexts_used, memory_order_relaxed)
               ? weft_contexts_find(scope->subject)
               : NULL;
}

static struct weft_record event_of(const struct weft_scope *scope, uint16_t kind, int64_t time,
                                   const struct weft_span *span) {
    return (struct weft_record){
        .kind = kind,
        .time = time,
        .peer = span->trace_high,
        .arg = (int64_t)span->trace_low,
        .hash = (uint32_t)(span->id >> 32),
        .class_id = (uint32_t)span->id,
        .flags = scope->subject != 0 ? WEFT_FLAG_VIRTUAL : 0,
    };
}

static bool is_reported(void) {
    return atomic_load_explicit(&weft_context_reported, memory_order_relaxed);
}

static bool is_published(const struct weft_context *c) {
    return atomic_load_explicit(&c->published, memory_order_relaxed);
}

// Whether the end of the request will be known.
static bool has_end(const struct weft_context *c) {
    return is_reported() && !is_published(c);
}

static bool is_same(const struct weft_span *a, const struct weft_span *b) {
    return a->id == b->id && a->trace_low == b->trace_low && a->trace_high == b->trace_high;
}

// Takes over the span that another library publishes. Returns true if it has changed, and the
// receiver knows the former one.
static bool take_published(const struct weft_scope *scope) {
    struct weft_span span;
    struct weft_context *c = context_of(scope);
    if (!weft_published_read(&scope->self->published, &span) ||
        (c == NULL && weft_contexts_is_none(&span))) {
        return false;
    }
    if (c == NULL) {
        c = weft_contexts_take(scope->subject != 0 ? scope->subject : scope->self->thread);
        if (scope->subject == 0) {
            scope->self->context = c;
        }
    }
    struct weft_span former = c == NULL ? span : weft_contexts_span(c);
    if (is_same(&former, &span)) {
        return false;
    }
    bool was_known = is_known(scope, c);
    weft_contexts_set_published(c, &span);
    return was_known;
}

// Forgets a span that was taken over before the application reported any. Returns true if the
// receiver knows it.
static bool forget_published(const struct weft_scope *scope) {
    struct weft_context *c = context_of(scope);
    if (c == NULL || !is_published(c) || (scope->subject == 0 && scope->self->context_held)) {
        return false;
    }
    bool was_known = is_known(scope, c);
    weft_contexts_set(c, &(struct weft_span){0});
    return was_known;
}

void weft_context_look(const struct weft_scope *scope, const struct weft_record *next,
                       struct weft_context_due *due) {
    due->context = NULL;
    due->at_once = is_reported() ? forget_published(scope) : take_published(scope);
    struct weft_context *c = context_of(scope);
    if (c == NULL || (scope->subject == 0 && scope->self->context_held) || is_known(scope, c)) {
        return;
    }
    struct weft_span span = weft_contexts_span(c);
    if (weft_contexts_is_none(&span) && !due->at_once) {
        return;
    }
    due->context = c;
    due->epoch = epoch();
    due->gaps = gaps(scope);
    due->event = event_of(scope, WEFT_EV_CONTEXT, next->time, &span);
    if (scope->subject == 0) {
        scope->self->context_gaps = due->gaps;
    }
}

void weft_context_sent(const struct weft_scope *scope, const struct weft_context_due *due,
                       bool waits) {
    struct weft_span span = weft_contexts_span(due->context);
    if (weft_contexts_is_none(&span)) {
        if (scope->subject != 0) {
            weft_contexts_give(due->context);
        }
        return;
    }
    bool held = waits && !due->at_once && scope->subject == 0 &&
                weft_min_duration_holds_pair(scope->self->buffer);
    scope->self->context_held = scope->self->context_held || held;
    due->context->has_waited =
        has_end(due->context) && (due->context->has_waited || (waits && !held));
    // An earlier epoch: it may be lost, so it is sent again, and its change in any case.
    bool lost = scope->subject != 0 && gaps(scope) != due->gaps;
    weft_contexts_mark_sent(due->context, due->epoch - lost, held ? INT64_MAX : due->event.time);
}

void weft_context_waits(const struct weft_scope *scope) {
    struct weft_context *c = context_of(scope);
    if (c != NULL && has_end(c) && is_known(scope, c)) {
        c->has_waited = true;
    }
}

void weft_context_settle(const struct weft_scope *scope, bool kept) {
    struct weft_context *c = scope->self->context;
    if (c == NULL || !kept) {
        scope->self->context_held = false;
        if (c != NULL) {
            weft_contexts_mark_sent(c, 0, 0);
        }
    } else if (!weft_min_duration_holds_pair(scope->self->buffer)) {
        scope->self->context_held = false;
        c->has_waited = has_end(c);
        weft_contexts_mark_sent(c, sent_in(c), weft_clock());
    }
}

void weft_context_forgotten(const struct weft_scope *scope) {
    struct weft_context *c = context_of(scope);
    if (c != NULL && sent_in(c) != 0) {
        weft_contexts_mark_sent(c, 0, 0);
    }
}

void weft_context_note_owner(struct weft_scope *scope, const struct weft_record *wait) {
    if (wait->peer == 0 || scope->aggregated || !is_reported() ||
        !weft_contexts_unsent(wait->peer, epoch(), wait->time, &scope->owner)) {
        scope->owner = (struct weft_span){0};
    }
}

bool weft_context_of_owner(const struct weft_scope *scope, const struct weft_record *wait,
                           struct weft_record *event) {
    if (weft_contexts_is_none(&scope->owner)) {
        return false;
    }
    *event = event_of(scope, WEFT_EV_OWNER_CONTEXT, wait->time, &scope->owner);
    return true;
}

// Writes what the receiver must know of a change: the end of a request in which the thread waited,
// and the new span if it knows the former one. The end names no trace: it is that of the context.
static void write_change(const struct weft_scope *scope, struct weft_context *c,
                         const struct weft_span *span, bool ends, uint32_t name, int64_t now) {
    struct weft_buffer *b = scope->self->buffer;
    struct weft_span former = weft_contexts_span(c);
    struct weft_record r;
    if (ends) {
        if (!is_known(scope, c) || !is_same(&former, &c->first)) {
            r = event_of(scope, WEFT_EV_CONTEXT, now, &c->first);
            weft_min_duration_put(b, &r, scope->subject);
        }
        r = (struct weft_record){.kind = WEFT_EV_REQUEST_END, .time = now, .peer = c->first.id};
        r.arg = now - c->since;
        r.class_id = name;
        r.flags = scope->subject != 0 ? WEFT_FLAG_VIRTUAL : 0;
        weft_min_duration_put(b, &r, scope->subject);
    }
    r = event_of(scope, WEFT_EV_CONTEXT, now, span);
    weft_min_duration_put(b, &r, scope->subject);
}

// Returns whether it was reported, and the time.
static bool report_change(JNIEnv *env, struct weft_context *c, const struct weft_span *span,
                          uint32_t name, int64_t *now) {
    struct weft_scope scope;
    bool ends = c->has_waited && weft_contexts_is_none(span);
    if ((sent_in(c) == 0 && !ends && !is_noted(c)) || !weft_settings_wanted(WEFT_EV_CONTEXT) ||
        !weft_self_enter(env, NULL, &scope)) {
        return false;
    }
    if (scope.subject == 0) {
        scope.self->context_held = false;
    }
    weft_buffer_begin(scope.self->buffer);
    *now = weft_clock();
    unsigned before = gaps(&scope);
    write_change(&scope, c, span, ends, name, *now);
    weft_buffer_end(scope.self->buffer);
    bool sent = scope.subject == 0 || gaps(&scope) == before;
    if (scope.subject == 0) {
        scope.self->context_gaps = before;
    }
    weft_self_leave(&scope);
    return sent;
}

static void change(JNIEnv *env, struct weft_context *c, const struct weft_span *span,
                   uint32_t name) {
    bool is_virtual = weft_self_is_virtual(c);
    struct weft_span former = weft_contexts_span(c);
    uint32_t now_epoch = epoch();
    int64_t now = 0;
    bool is_sent = report_change(env, c, span, name, &now);
    if (weft_contexts_is_none(&former) || c->since == 0) {
        c->since = weft_clock();
        c->first = *span;
        c->has_waited = false;
    }
    weft_contexts_set(c, span);
    weft_thread_context_set(span->trace_high, span->trace_low, span->id, is_virtual);
    if (weft_contexts_is_none(span)) {
        c->has_waited = false;
        weft_self_context_unused(c);
    } else if (is_sent) {
        weft_contexts_mark_sent(c, now_epoch, now);
    }
}

// Whether a session has begun. Before, as in an agent named earlier on the command line, the JVM's
// handles may not be looked up yet.
static bool was_session(void) {
    return atomic_load_explicit(&weft_epoch, memory_order_acquire) != 1;
}

bool weft_context_change(JNIEnv *env, const struct weft_span *span) {
    if (!was_session()) {
        return false;
    }
    if (!weft_contexts_is_none(span) && !is_reported()) {
        atomic_store(&weft_context_reported, true);
    }
    struct weft_context *c = weft_self_context(env, !weft_contexts_is_none(span));
    if (c == NULL) {
        return false;
    }
    if (weft_contexts_is_none(span) && c->has_waited && weft_settings_wanted(WEFT_EV_CONTEXT)) {
        return true;
    }
    struct weft_span former = weft_contexts_span(c);
    if (!is_same(&former, span) || is_published(c)) {
        change(env, c, span, 0);
    }
    return false;
}

void weft_context_end(JNIEnv *env, uint32_t name) {
    struct weft_context *c = was_session() ? weft_self_context(env, false) : NULL;
    if (c != NULL) {
        change(env, c, &(struct weft_span){0}, name);
    }
}

void weft_context_mounted(uint64_t thread) {
    if (weft_thread_context_enabled()) {
        const struct weft_context *c = weft_contexts_find(thread);
        bool is_own = c != NULL && !is_published(c);
        struct weft_span span = is_own ? weft_contexts_span(c) : (struct weft_span){0};
        weft_thread_context_set(span.trace_high, span.trace_low, span.id, true);
    }
}

void weft_context_unmounted(void) {
    weft_thread_context_set(0, 0, 0, true);
}
