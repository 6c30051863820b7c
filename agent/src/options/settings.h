// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What is recorded now: the part of the options that callbacks and hooks read. It can change at any
// moment.

#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options/options.h"
#include "wire/wire_kinds.h"

// Where stacks are taken, each with its own depth.
enum weft_place {
    WEFT_PLACE_BLOCK, // contendedEnter, joinStart, sleepStart, startCalled, interruptCalled
    WEFT_PLACE_WAIT,
    WEFT_PLACE_NOTIFY,
    WEFT_PLACE_PARK,
    WEFT_PLACE_UNPARK,
    WEFT_PLACES,
};

struct weft_settings {
    _Atomic uint64_t kinds; // a bit per kind of event
    atomic_int depths[WEFT_PLACES];
    atomic_bool blind;        // some kinds of waits are not sent as events
    atomic_bool aggregated;   // sum waits instead of sending events
    _Atomic int64_t interval; // nanoseconds between aggregates
    atomic_bool report;       // send an aggregate now; the sender resets it
    atomic_int deepest;       // lower under pressure
    _Atomic int64_t min_duration;
    atomic_bool io;       // look for waits for I/O
    atomic_bool io_names; // name peers, files and processes
};

extern struct weft_settings weft_settings;

// False without a session or during a pause: callbacks and hooks then only call the original.
extern atomic_bool weft_tracing;

// How often recording of events, or of a kind of wait, has stopped. What threads do from then on is
// unknown.
extern atomic_uint weft_pauses;

// How often all recording has stopped, including sums: open waits may have ended meanwhile. A
// change of the mode is a pause but not a blackout.
extern atomic_uint weft_blackouts;

// How often the receiver may have lost what it knows of all threads, from 1 on: threads then report
// their current spans again.
extern atomic_uint weft_epoch;

void weft_settings_apply(const struct weft_options *options);

// Recording of events has stopped, or another session begins.
void weft_settings_pause(void);

// Starts or stops recording.
void weft_settings_record(bool on);

// Whether events of a kind are recorded. An end is recorded if its beginning was, regardless of
// this, so that no interval stays open.
static inline bool weft_settings_wanted(uint16_t kind) {
    uint64_t kinds = atomic_load_explicit(&weft_settings.kinds, memory_order_relaxed);
    return (kinds >> kind & 1) != 0;
}

// Whether a thread may be in a wait that is not sent as an event. After an event that shows it
// running its state is then unknown.
static inline bool weft_settings_blind(void) {
    return atomic_load_explicit(&weft_settings.blind, memory_order_relaxed);
}

static inline bool weft_settings_aggregated(void) {
    return atomic_load_explicit(&weft_settings.aggregated, memory_order_relaxed);
}

static inline bool weft_settings_io(void) {
    return atomic_load_explicit(&weft_settings.io, memory_order_relaxed);
}

static inline bool weft_settings_io_names(void) {
    return atomic_load_explicit(&weft_settings.io_names, memory_order_relaxed);
}

// Adapts stack depth to the use of the pool: smaller from half on, none from three quarters on, so
// that the time goes into draining.
void weft_settings_pressure(size_t used, size_t chunks);

// Whether stacks are limited by pressure.
bool weft_settings_pressed(void);

// The number of frames to take.
static inline int weft_settings_depth(enum weft_place place) {
    int depth = atomic_load_explicit(&weft_settings.depths[place], memory_order_relaxed);
    int deepest = atomic_load_explicit(&weft_settings.deepest, memory_order_relaxed);
    return depth < deepest ? depth : deepest;
}
