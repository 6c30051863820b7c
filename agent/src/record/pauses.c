// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/pauses.h"

#include <sched.h>
#include <stdatomic.h>

#include "options/settings.h"
#include "record/buffer.h"
#include "record/identity.h"
#include "record/min_duration.h"

static _Atomic(struct weft_buffer *) buffer; // NULL: no session
static atomic_bool writing;                  // the VM thread may use the buffer
static uint32_t collection;                  // the name, set before the buffer
static struct weft_buffer *open;             // has a pause that has not ended; the VM thread's own

static bool wanted(void) {
    return atomic_load(&weft_tracing) && !weft_settings_aggregated() &&
           weft_settings_wanted(WEFT_EV_PARK);
}

static void put(struct weft_buffer *b, uint16_t kind) {
    struct weft_record r = {.kind = kind};
    weft_buffer_begin(b);
    r.time = weft_clock();
    if (kind == WEFT_EV_PARK) {
        r.class_id = collection;
        weft_min_duration_put(b, &r, 0);
    } else if (weft_min_duration_put(b, &r, 0)) {
        struct weft_record gap = {.kind = WEFT_EV_GAP, .time = r.time};
        weft_min_duration_put(b, &gap, 0);
    }
    weft_buffer_end(b);
}

// Returns the buffer, NULL if there is none. It stays open until leave.
static struct weft_buffer *enter(void) {
    atomic_store(&writing, true); // before the buffer is read: stop waits for it
    return atomic_load(&buffer);
}

static void leave(void) {
    atomic_store(&writing, false);
}

void weft_pauses_begin(void) {
    struct weft_buffer *b = enter();
    open = NULL;
    if (b != NULL && wanted()) {
        put(b, WEFT_EV_PARK);
        open = b;
    }
    leave();
}

void weft_pauses_end(void) {
    struct weft_buffer *b = enter();
    if (b != NULL && b == open) {
        put(b, WEFT_EV_UNPARKED);
    }
    open = NULL;
    leave();
}

void weft_pauses_start(void) {
    collection = weft_identity_define("garbage collection");
    if (collection != 0) {
        atomic_store(&buffer, weft_buffer_open(WEFT_PAUSES_THREAD));
    }
}

void weft_pauses_stop(void) {
    struct weft_buffer *b = atomic_exchange(&buffer, NULL);
    while (atomic_load(&writing)) { // for the microseconds of one event
        sched_yield();
    }
    if (b != NULL) {
        weft_buffer_close(b);
    }
}
