// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What is to be recorded right now? The part of the options that every callback and hook looks at;
// it can change at any moment.

#ifndef WEFT_SETTINGS_H
#define WEFT_SETTINGS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options/options.h"
#include "wire/wire_kinds.h"

// Where stacks are taken, with a depth of its own each.
enum weft_place {
    WEFT_PLACE_BLOCK, // contendedEnter, joinStart, sleepStart, startCalled, interruptCalled
    WEFT_PLACE_WAIT,
    WEFT_PLACE_NOTIFY,
    WEFT_PLACE_PARK,
    WEFT_PLACE_UNPARK,
    WEFT_PLACES,
};

struct weft_settings {
    _Atomic uint64_t kinds; // a bit for each kind of event
    atomic_int depths[WEFT_PLACES];
    atomic_bool aggregated;   // waits are added up, and no events are sent
    _Atomic int64_t interval; // nanoseconds from one aggregate to the next
    atomic_bool report;       // an aggregate is wanted now; the sender sets it back
    atomic_int deepest;       // less under pressure
    _Atomic int64_t min_duration;
};

extern struct weft_settings weft_settings;

// False while there is no session or it pauses: callbacks and hooks then do nothing but their
// original.
extern atomic_bool weft_tracing;

// How often events were stopped so far. What threads do from then on is not known.
extern atomic_uint weft_pauses;

// How often nothing at all was recorded, sums neither: what had begun may have ended meanwhile. A
// change of the mode is a pause, but not one of these.
extern atomic_uint weft_blackouts;

// Puts options into effect.
void weft_settings_apply(const struct weft_options *options);

// Begins to record, or stops.
void weft_settings_record(bool on);

// Whether events of a kind are to be recorded. An end is recorded if its beginning was, whatever
// this says: so no interval stays open for nothing.
static inline bool weft_settings_wanted(uint16_t kind) {
    uint64_t kinds = atomic_load_explicit(&weft_settings.kinds, memory_order_relaxed);
    return (kinds >> kind & 1) != 0;
}

static inline bool weft_settings_aggregated(void) {
    return atomic_load_explicit(&weft_settings.aggregated, memory_order_relaxed);
}

// How full the pool of events is: from half on stacks are less deep, from three quarters on there
// are none. What a stack costs is then spent on getting rid of the events.
void weft_settings_pressure(size_t used, size_t chunks);

// Whether stacks are less deep for that reason.
bool weft_settings_pressed(void);

// How many frames of a stack are to be taken.
static inline int weft_settings_depth(enum weft_place place) {
    int depth = atomic_load_explicit(&weft_settings.depths[place], memory_order_relaxed);
    int deepest = atomic_load_explicit(&weft_settings.deepest, memory_order_relaxed);
    return depth < deepest ? depth : deepest;
}

#endif
