// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks batches and their events.

#include "record/buffer.h"
#include "witness_parts.h"

// Numbers from the specification, deliberately not from the generated header.
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
    PARK = 17,
    UNPARKED = 18,
    UNPARK = 19,
    GAP = 26,
    CONTEXT = 27,
    OWNER_STACK = 29,
    CPU = 30,
    OWNER_CONTEXT = 31,
    REQUEST_END = 32,
    RUNNING = 33,
};

static const char *const names[WITNESS_LAST_KIND + 1] = {
    "none",
    "threadStart",
    "threadEnd",
    "startCalled",
    "interruptCalled",
    "interrupted",
    "contendedEnter",
    "contendedEntered",
    "wait",
    "waited",
    "waitReturned",
    "notify",
    "notifyAll",
    "joinStart",
    "joinEnd",
    "sleepStart",
    "sleepEnd",
    "park",
    "unparked",
    "unpark",
    "yield",
    "suspend",
    "resume",
    "stop",
    "mount",
    "unmount",
    "gap",
    "context",
    "snapshot",
    "ownerStack",
    "cpu",
    "ownerContext",
    "requestEnd",
    "running",
    "runQueue",
};

const char *witness_kind(unsigned kind) {
    return names[kind];
}

static void print_event(struct witness *w, const struct witness_thread *t, unsigned kind,
                        unsigned flags, uint64_t class_id, uint64_t peer, uint64_t span,
                        int64_t arg, uint64_t stack) {
    const char *class_name = "-";
    const char *peer_name = "-";
    if (class_id != 0 && class_id < WITNESS_CLASSES) {
        class_name = w->by_class[class_id].name;
    }
    if (peer != 0) {
        peer_name = witness_thread_of(w, peer)->name;
    }
    if (kind == CONTEXT || kind == OWNER_CONTEXT || kind == REQUEST_END) {
        fprintf(w->print, "%lld %s %s %s span=%llx\n", (long long)t->last, t->name,
                witness_kind(kind), class_name, (unsigned long long)span);
        return;
    }
    if (kind == RUNNING) {
        fprintf(w->print, "%lld %s running - %s %lld %lld %s\n", (long long)t->last, t->name,
                peer_name, (long long)(t->last - arg), (long long)arg,
                stack == 0 ? "-" : w->stack_texts[stack]);
        return;
    }
    fprintf(w->print, "%lld %s %s %s %s%s%s%s%s%s\n", (long long)t->last, t->name,
            witness_kind(kind), class_name, peer_name, (flags & 1U) != 0 ? " timedOut" : "",
            (flags & 2U) != 0 ? " interrupted" : "", (flags & 8U) != 0 ? " snapshot" : "",
            (flags & 32U) != 0 ? " pinned" : "", (flags & 64U) != 0 ? " virtualPeer" : "");
}

// What a thread may do next. After a gap or a snapshot this is unknown: snapshots have their own
// class ids, and unobserved ends are missing. Ends of virtual threads may be missing as well. A
// thread that started before the session may be in a call that began before it.
static const char *pairing(struct witness_thread *t, unsigned kind, unsigned flags, uint64_t lock) {
    const char *wrong = NULL;
    if (kind == GAP || (flags & (4U | 8U)) != 0) {
        t->open = (flags & 4U) != 0 && kind != GAP ? 0 : -1;
        t->ended = t->ended || kind == THREAD_END;
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
        t->open = 0;
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
    case PARK:
        wrong = t->open > 0 ? "a second wait" : NULL;
        t->open = (int)kind;
        break;
    case WAITED:
        wrong = t->open != WAIT && t->open != JOIN_START && t->open >= 0 ? "waited, no wait" : NULL;
        break;
    case WAIT_RETURNED:
    case JOIN_END:
    case SLEEP_END:
    case UNPARKED: {
        int begin = kind == WAIT_RETURNED ? WAIT
                    : kind == JOIN_END    ? JOIN_START
                    : kind == SLEEP_END   ? SLEEP_START
                                          : PARK;
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
    int64_t time = (int64_t)witness_number(c, 8);
    uint64_t peer = witness_number(c, 8);
    int64_t arg = (int64_t)witness_number(c, 8);
    uint64_t hash = witness_number(c, 4);
    uint64_t class_id = witness_number(c, 4);
    uint64_t stack = witness_number(c, 4);
    unsigned kind = (unsigned)witness_number(c, 2);
    unsigned flags = (unsigned)witness_number(c, 2);
    unsigned long long id = thread;
    uint64_t span = peer;
    if (kind == CONTEXT || kind == OWNER_CONTEXT) {
        span = hash << 32 | class_id;
        peer = hash = class_id = 0; // ids from the application
    } else if (kind == REQUEST_END) {
        peer = 0;
    }
    if (peer != 0 && witness_thread_of(w, peer)->connection != w->connections) {
        return fail(w, "thread %llu: peer %llu unknown", id, (unsigned long long)peer);
    }
    struct witness_thread *t = witness_thread_of(w, thread);
    if (kind == 0 || kind > WITNESS_LAST_KIND) {
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
    if ((stack != 0 && !witness_defined(w, w->stack_ids, stack)) ||
        (class_id != 0 && !witness_defined(w, w->classes, class_id))) {
        return fail(w, "thread %llu: kind %u: unknown stack or class", id, kind);
    }
    const char *wrong = pairing(t, kind, flags, hash << 32 | class_id);
    if (wrong != NULL) {
        return fail(w, "thread %llu: kind %u: %s", id, kind, wrong);
    }
    // Collections and slow disks come at any time: no kind counts them.
    bool counts = thread != WEFT_PAUSES_THREAD && (flags & WEFT_FLAG_SYSTEM_CALL) == 0;
    w->events[kind] += counts;
    w->found += (flags & 8U) != 0;
    if (kind == GAP) {
        w->lost += (uint64_t)arg;
        w->worker_lost += t->worker ? (uint64_t)arg : 0;
        return true;
    }
    if (counts && class_id < WITNESS_CLASSES) {
        struct witness_class *at = &w->by_class[class_id];
        at->events[kind]++;
        at->worker_events[kind] += t->worker;
        at->found[kind] += (flags & 8U) != 0;
        at->timed += arg > 0 && kind == PARK;
        at->owned += peer != 0 && kind != OWNER_STACK;
        at->worker_owned += peer != 0 && kind != OWNER_STACK && t->worker;
        at->timed_out += (flags & 1U) != 0;
        at->interrupted += (flags & 2U) != 0;
    }
    bool to_peer = kind == START_CALLED || kind == UNPARK;
    bool worker = to_peer ? witness_thread_of(w, peer)->worker : t->worker;
    w->worker_events[kind] += worker;
    w->main_events[kind] += t->main;
    w->carrier_events[kind] += t->carrier;
    w->total++;
    w->timed_out += (flags & 1U) != 0;
    w->interrupted += (flags & 2U) != 0;
    w->owned += kind == CONTENDED_ENTER && peer != 0;
    w->stacks += stack != 0;
    if (w->print != NULL) {
        print_event(w, t, kind, flags, class_id, peer, span, arg, stack);
    }
    return true;
}

bool witness_batch(struct witness *w, struct cursor c) {
    uint64_t sequence = witness_number(&c, 8);
    int64_t watermark = (int64_t)witness_number(&c, 8);
    uint64_t before = witness_number(&c, 8);
    if (sequence <= w->newest) {
        return true; // sent again
    }
    if (sequence != w->newest + 1) {
        return fail(w, "batch %llu after %llu", (unsigned long long)sequence,
                    (unsigned long long)w->newest);
    }
    if (before != w->total - w->base) {
        return fail(w, "batch %llu: %llu events before, not %llu", (unsigned long long)sequence,
                    (unsigned long long)before, (unsigned long long)(w->total - w->base));
    }
    if (watermark < w->watermark) {
        return fail(w, "batch %llu: the watermark falls", (unsigned long long)sequence);
    }
    while (c.left > 0) {
        uint64_t thread = witness_number(&c, 8);
        uint64_t count = witness_number(&c, 4);
        uint64_t size = witness_number(&c, 2);
        witness_number(&c, 2);
        struct witness_thread *t = witness_thread_of(w, thread);
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
