// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/sighting.h"

enum { LEAST_WAIT = 10 }; // nine tenths

static bool goes_on(const struct weft_sightings *s, const struct weft_sight *sight) {
    const struct weft_sight *last = &s->last;
    return s->since != 0 && last->written == sight->written && last->io.verb == sight->io.verb &&
           last->io.of == sight->io.of &&
           (sight->active - last->active) * LEAST_WAIT <= sight->time - last->time;
}

enum weft_verdict weft_sighting_next(struct weft_sightings *s, const struct weft_sight *sight) {
    if (sight->written != s->last.written) {
        s->reported = false;
    }
    bool waits = sight->io.verb != WEFT_IO_NONE && goes_on(s, sight);
    s->last = *sight;
    if (waits) {
        return s->reported ? WEFT_SEEN_NOTHING_NEW : WEFT_SEEN_WAITING;
    }
    s->since = sight->io.verb == WEFT_IO_NONE ? 0 : sight->time;
    return s->reported ? WEFT_SEEN_GONE : WEFT_SEEN_NOTHING_NEW;
}
