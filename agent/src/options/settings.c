// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "options/settings.h"

#include <stddef.h>

#include "options/filter.h"

enum { NO_LIMIT = 1 << 20, PRESSED_DEPTH = 4 };

struct weft_settings weft_settings = {.deepest = NO_LIMIT};
atomic_bool weft_tracing;
atomic_uint weft_pauses;
atomic_uint weft_blackouts;
atomic_uint weft_epoch = 1;

#define KIND(name) (UINT64_C(1) << WEFT_EV_##name)

// The kinds that show whether a thread waits. Aggregated mode needs no others.
static const uint64_t WAITS = KIND(CONTENDED_ENTER) | KIND(CONTENDED_ENTERED) | KIND(WAIT) |
                              KIND(WAITED) | KIND(WAIT_RETURNED) | KIND(JOIN_START) |
                              KIND(JOIN_END) | KIND(SLEEP_START) | KIND(SLEEP_END) | KIND(PARK) |
                              KIND(UNPARKED);

// The kinds that the switches turn off. Others, such as threadStart, are always recorded.
static uint64_t kinds_off(const struct weft_options *o) {
    const struct {
        bool on;
        uint64_t kinds;
    } groups[] = {
        {o->monitor, KIND(CONTENDED_ENTER) | KIND(CONTENDED_ENTERED)},
        {o->wait,
         KIND(WAIT) | KIND(WAITED) | KIND(WAIT_RETURNED) | KIND(JOIN_START) | KIND(JOIN_END)},
        {o->notify, KIND(NOTIFY) | KIND(NOTIFY_ALL)},
        {o->park, KIND(PARK) | KIND(UNPARKED) | KIND(UNPARK)},
        {o->sleep, KIND(SLEEP_START) | KIND(SLEEP_END)},
        {o->start, KIND(START_CALLED)},
        {o->interrupt, KIND(INTERRUPT_CALLED) | KIND(INTERRUPTED)},
        {o->yield, KIND(YIELD)},
        {o->cpu, KIND(CPU) | KIND(RUN_QUEUE)},
        {o->owner_stacks, KIND(OWNER_STACK)},
        {o->mounts || o->virtual == WEFT_VIRTUAL_EXACT, KIND(MOUNT) | KIND(UNMOUNT)},
        {o->virtual == WEFT_VIRTUAL_EXACT, KIND(RUNNING)},
    };
    uint64_t off = 0;
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        off |= groups[i].on ? 0 : groups[i].kinds;
    }
    return off;
}

void weft_settings_apply(const struct weft_options *o) {
    const int depths[WEFT_PLACES] = {o->depth, o->wait_depth, o->notify_depth, o->park_depth,
                                     o->unpark_depth};
    for (int i = 0; i < WEFT_PLACES; i++) {
        atomic_store_explicit(&weft_settings.depths[i], depths[i], memory_order_relaxed);
    }
    atomic_store_explicit(&weft_settings.min_duration, o->min_duration, memory_order_relaxed);
    atomic_store_explicit(&weft_settings.io, o->io, memory_order_relaxed);
    atomic_store_explicit(&weft_settings.io_names, o->io_names, memory_order_relaxed);
    weft_filter_apply(o);
    uint64_t kinds = ~kinds_off(o) & (o->aggregated ? WAITS : ~UINT64_C(0));
    uint64_t before = atomic_exchange(&weft_settings.kinds, kinds);
    bool was = atomic_exchange(&weft_settings.aggregated, o->aggregated);
    atomic_store(&weft_settings.blind, o->aggregated || (kinds & WAITS) != WAITS);
    bool stops = (o->aggregated && !was) || (before & ~kinds & WAITS) != 0;
    if (stops && atomic_load(&weft_tracing)) {
        weft_settings_pause();
    }
    atomic_store_explicit(&weft_settings.interval, o->interval, memory_order_relaxed);
    if (o->report) {
        atomic_store(&weft_settings.report, true);
    }
}

void weft_settings_pause(void) {
    atomic_fetch_add(&weft_pauses, 1);
    atomic_fetch_add(&weft_epoch, 1);
}

void weft_settings_record(bool on) {
    if (atomic_exchange(&weft_tracing, on) && !on) {
        atomic_fetch_add(&weft_blackouts, 1);
        weft_settings_pause();
    }
}

bool weft_settings_pressed(void) {
    return atomic_load_explicit(&weft_settings.deepest, memory_order_relaxed) != NO_LIMIT;
}

void weft_settings_pressure(size_t used, size_t chunks) {
    int deepest = NO_LIMIT;
    if (used > chunks / 4 * 3) {
        deepest = 0;
    } else if (used > chunks / 2) {
        deepest = PRESSED_DEPTH;
    } else if (used > chunks / 4) {
        return; // hysteresis
    }
    atomic_store_explicit(&weft_settings.deepest, deepest, memory_order_relaxed);
}
