// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "send/report.h"

#include "options/settings.h"
#include "record/sums.h"
#include "wire/histogram.h"

static int64_t last_report;

// An aggregate that is being written.
struct report {
    struct weft_batch_writer *batch;
    int64_t from;
    int64_t to;
};

static bool room(void *to) {
    const size_t most = WEFT_SERIES_SIZE + WEFT_BUCKETS * sizeof(uint64_t);
    const struct report *r = to;
    if (r->batch->out.len + most <= WEFT_BATCH_LIMIT) {
        return true;
    }
    if (!weft_batch_close(r->batch)) {
        return false;
    }
    weft_batch_open_aggregate(r->batch, r->from, r->to);
    return true;
}

static void put(void *to, const struct weft_series *series, const uint64_t *buckets,
                uint16_t count) {
    const struct report *r = to;
    weft_wire_put_series(&r->batch->out, series, buckets, count);
}

// The mode may have changed since the sums were made.
static bool is_due(int64_t now, bool last) {
    if (atomic_exchange(&weft_settings.report, false)) {
        return true;
    }
    if (last) {
        return weft_settings_aggregated() || weft_sums_have_news();
    }
    return (weft_settings_aggregated() || weft_sums_have_news()) &&
           now - last_report >= atomic_load_explicit(&weft_settings.interval, memory_order_relaxed);
}

bool weft_report(struct weft_batch_writer *batch, int64_t now, bool last) {
    if (weft_retain_full(batch->retain) || (batch->open && !weft_batch_close(batch))) {
        return false; // a requested report stays requested
    }
    if (!is_due(now, last)) {
        return true;
    }
    struct report report = {batch, last_report, now};
    weft_batch_open_aggregate(batch, last_report, now);
    weft_sums_collect(&(struct weft_sink){room, put, &report});
    last_report = now;
    return weft_batch_close(batch); // without memory, the next pass closes it
}

static bool always_room(void *to) {
    (void)to;
    return true;
}

static void forget(void *to, const struct weft_series *series, const uint64_t *buckets,
                   uint16_t count) {
    (void)to;
    (void)series;
    (void)buckets;
    (void)count;
}

void weft_report_restart(int64_t now) {
    static bool again; // looking through empty tables would cost 100 page faults at start
    if (again) {
        weft_sums_collect(&(struct weft_sink){always_room, forget, NULL});
    }
    again = true;
    atomic_store(&weft_settings.report, false);
    last_report = now;
}
