// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Decides from repeated looks at a thread whether it waits for I/O: if two in a row saw it in a
// call for the same descriptor, and it was neither on a processor nor in its run queue for more
// than a tenth of the time between them. So a thread that computes never seems to wait.

#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/system_call.h"

// What one look saw.
struct weft_sight {
    int64_t time;
    uint64_t written; // events of the thread so far
    bool runnable;    // it is on a processor, or waits for one
    struct weft_io io;
    int64_t active; // time on a processor and in its run queue so far, in nanoseconds
};

struct weft_sightings {
    struct weft_sight last;
    int64_t since; // the first look of those in a row; 0: none
    bool reported; // its wait
};

enum weft_verdict {
    WEFT_SEEN_NOTHING_NEW,
    WEFT_SEEN_WAITING, // since the time since; set reported once it is
    WEFT_SEEN_GONE,    // from what was reported; reset reported once it is
};

// Takes the next look into account. A thread that has written events since is known to have left
// what it waited for.
enum weft_verdict weft_sighting_next(struct weft_sightings *s, const struct weft_sight *sight);
