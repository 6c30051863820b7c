// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// How do sums become aggregates, and when? See report.h.

#include "report.h"

#include "batch.h"
#include "histogram.h"
#include "settings.h"
#include "sums.h"

static int64_t last_report;

// An aggregate that is being written.
struct report {
    struct weft_drain *drain;
    int64_t to;
};

static void open_aggregate(const struct report *r) {
    struct weft_drain *d = r->drain;
    d->batch = weft_open_aggregate(&d->out, d->sequence + 1, d->watermark, d->before, d->reported,
                                   r->to, WEFT_SCALE);
    d->events = 0;
    d->open = true;
}

static bool room(void *to) {
    const size_t most = WEFT_SERIES_SIZE + WEFT_BUCKETS * sizeof(uint64_t);
    const struct report *r = to;
    if (r->drain->out.len + most <= WEFT_BATCH_LIMIT) {
        return true;
    }
    if (!weft_batch_close(r->drain)) {
        return false;
    }
    open_aggregate(r);
    return true;
}

static void put(void *to, const struct weft_series *series, const uint64_t *buckets,
                uint16_t count) {
    const struct report *r = to;
    weft_put_series(&r->drain->out, series, buckets, count);
}

// The mode may have been another when the sums were made.
static bool is_due(int64_t now, bool last) {
    if (atomic_exchange(&weft_settings.report, false)) {
        return true;
    }
    if (last) {
        return weft_aggregated() || weft_sums_have_news();
    }
    return (weft_aggregated() || weft_sums_have_news()) &&
           now - last_report >= atomic_load_explicit(&weft_settings.interval, memory_order_relaxed);
}

bool weft_report(struct weft_drain *d, int64_t now, bool last) {
    if (weft_retain_full(d->retain) || (d->open && !weft_batch_close(d))) {
        return false; // and a report that is asked for is not forgotten
    }
    if (!is_due(now, last)) {
        return true;
    }
    struct report report = {.drain = d, .to = now};
    open_aggregate(&report);
    weft_sums_collect(&(struct weft_sink){room, put, &report});
    d->reported = last_report = now;
    return weft_batch_close(d); // if there is no memory, the next pass closes it
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
    weft_sums_collect(&(struct weft_sink){always_room, forget, NULL});
    atomic_store(&weft_settings.report, false);
    last_report = now;
}
