// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/record.h"

#include "options/settings.h"
#include "record/aggregate.h"
#include "record/context.h"
#include "record/min_duration.h"
#include "record/stacks.h"
#include "record/usage.h"

// Stacks of virtual threads come from JVMTI, which costs ten times as much.
enum { VIRTUAL_DEPTH = 16 };

int weft_record_virtual_depth(int depth) {
    if (depth <= VIRTUAL_DEPTH) {
        return depth;
    }
    return depth / 2 > VIRTUAL_DEPTH ? depth / 2 : VIRTUAL_DEPTH;
}

uint32_t weft_record_stack(const struct weft_scope *scope, JNIEnv *env, int depth) {
    bool plain = scope->subject == 0 && !scope->self->carrier;
    return weft_stacks_id(env, plain ? depth : weft_record_virtual_depth(depth), plain);
}

// Whether an event is summed instead of sent.
static bool is_summed(const struct weft_scope *scope, uint16_t kind) {
    if (scope->subject != 0) {
        return weft_aggregate_takes_virtual(scope->subject, kind, scope->aggregated);
    }
    return weft_aggregate_takes(&scope->self->open, kind, scope->aggregated);
}

static void add_up(const struct weft_scope *scope, const struct weft_record *record) {
    unsigned home = (unsigned)scope->self->thread;
    if (scope->subject != 0) {
        weft_aggregate_take_virtual(scope->subject, record, home);
    } else {
        weft_aggregate_take(&scope->self->open, record, home);
    }
}

static bool begins_wait(uint16_t kind) {
    return kind == WEFT_EV_CONTENDED_ENTER || kind == WEFT_EV_WAIT || kind == WEFT_EV_JOIN_START ||
           kind == WEFT_EV_SLEEP_START || kind == WEFT_EV_PARK;
}

// A reading of the thread's clocks, with the same timestamp as the event next to it.
static void put_usage(const struct weft_scope *scope, int64_t time) {
    struct weft_usage used;
    if (!weft_usage_own(&used)) {
        return;
    }
    if (used.queued >= 0) {
        struct weft_record r = {.kind = WEFT_EV_RUN_QUEUE, .time = time, .arg = used.queued};
        weft_min_duration_put(scope->self->buffer, &r, 0);
    }
    struct weft_record r = {.kind = WEFT_EV_CPU, .time = time, .arg = used.cpu};
    weft_min_duration_put(scope->self->buffer, &r, 0);
}

// Virtual threads have no clocks of their own.
static bool has_clocks(const struct weft_scope *scope) {
    return scope->subject == 0 && weft_settings_wanted(WEFT_EV_CPU);
}

// Whether a thread runs after an event that begins no wait, as far as the event shows.
static bool shows_running(uint16_t kind) {
    switch (kind) {
    case WEFT_EV_WAITED:
    case WEFT_EV_THREAD_END:
    case WEFT_EV_INTERRUPTED:
    case WEFT_EV_MOUNT:
    case WEFT_EV_UNMOUNT:
    case WEFT_EV_CONTEXT:
    case WEFT_EV_OWNER_STACK:
    case WEFT_EV_OWNER_CONTEXT:
        return false;
    default:
        return true;
    }
}

// Writes the beginning of a wait, with the spans that are current on the thread and on the owner of
// the lock, unless the receiver knows them.
static void put_wait(const struct weft_scope *scope, struct weft_record *wait) {
    struct weft_context_due due;
    struct weft_record owner;
    weft_context_look(scope, wait, &due);
    bool before = due.context != NULL && due.at_once;
    bool with = due.context != NULL && !due.at_once;
    if (before) {
        weft_min_duration_put(scope->self->buffer, &due.event, scope->subject);
    }
    weft_min_duration_put_pair(scope->self->buffer, with ? &due.event : NULL, wait, scope->subject);
    if (before || with) {
        weft_context_sent(scope, &due, true);
    } else {
        weft_context_waits(scope);
    }
    if (weft_context_of_owner(scope, wait, &owner)) {
        weft_min_duration_put(scope->self->buffer, &owner, scope->subject);
    }
}

// Before a thread unparks another one, which may wait for what this one held.
static void put_context(const struct weft_scope *scope, const struct weft_record *unpark) {
    struct weft_context_due due;
    weft_context_look(scope, unpark, &due);
    if (due.context != NULL) {
        weft_min_duration_put(scope->self->buffer, &due.event, scope->subject);
        weft_context_sent(scope, &due, false);
    }
}

// Writes an event and what belongs to it. If the thread's next wait may be invisible, a gap without
// lost events follows, so that the thread does not seem to run until its next event. After a wait
// that was dropped, the gap before it still applies.
static void put(const struct weft_scope *scope, struct weft_record *record) {
    bool stops = begins_wait(record->kind) || record->kind == WEFT_EV_THREAD_END;
    if (stops && has_clocks(scope) && weft_usage_waits(&scope->self->run, record->time)) {
        put_usage(scope, record->time);
    }
    if (begins_wait(record->kind)) {
        put_wait(scope, record);
        return;
    }
    if (record->kind == WEFT_EV_UNPARK) {
        put_context(scope, record);
    }
    bool kept = weft_min_duration_put(scope->self->buffer, record, scope->subject);
    if (scope->self->context_held && scope->subject == 0) {
        weft_context_settle(scope, kept);
    }
    if (shows_running(record->kind) && has_clocks(scope) &&
        weft_usage_runs(&scope->self->run, record->time)) {
        put_usage(scope, record->time);
    }
    if (kept && weft_settings_blind() && shows_running(record->kind)) {
        struct weft_record gap = {.kind = WEFT_EV_GAP, .time = record->time};
        gap.flags = record->flags & WEFT_FLAG_VIRTUAL;
        weft_min_duration_put(scope->self->buffer, &gap, scope->subject);
        weft_context_forgotten(scope);
    }
}

void weft_record_now(const struct weft_scope *scope, struct weft_record *record) {
    if (is_summed(scope, record->kind)) {
        record->time = weft_clock();
        add_up(scope, record);
        return;
    }
    if (scope->subject != 0) {
        record->flags |= WEFT_FLAG_VIRTUAL;
    }
    weft_buffer_begin(scope->self->buffer);
    record->time = weft_clock();
    put(scope, record);
    weft_buffer_end(scope->self->buffer);
}

void weft_record_event(JNIEnv *env, jthread thread, uint16_t kind) {
    struct weft_scope scope;
    if (weft_self_enter(env, thread, &scope)) {
        struct weft_record r = {.kind = kind};
        weft_record_now(&scope, &r);
        weft_self_leave(&scope);
    }
}

// Flags a record between begin and end that is summed.
enum { SUMMED = 0x8000 };

void weft_record_begin(const struct weft_scope *scope, struct weft_record *record) {
    if (is_summed(scope, record->kind)) {
        record->flags |= SUMMED;
        record->time = weft_clock();
        return;
    }
    if (scope->subject != 0) {
        record->flags |= WEFT_FLAG_VIRTUAL;
    }
    weft_buffer_begin(scope->self->buffer);
    record->time = weft_clock();
}

void weft_record_end(const struct weft_scope *scope, struct weft_record *record, bool happened) {
    if ((record->flags & SUMMED) != 0) {
        record->flags &= (uint16_t)~SUMMED;
        if (happened) {
            add_up(scope, record);
        }
        return;
    }
    if (happened) {
        put(scope, record);
    }
    weft_buffer_end(scope->self->buffer);
}
