// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks aggregates and counts their waits.

#include <math.h>

#include "witness_parts.h"

// The waits of a bucket are longer than its lower bound and not longer than its upper bound, so
// their sum lies between, with a tolerance for waits above 2^52 ns, for which a double is not
// exact.
static bool take_buckets(struct witness *w, struct cursor *c, uint64_t count, int offset,
                         uint64_t *waits, double *least, double *most) {
    for (uint64_t i = 0; i < count; i++) {
        uint64_t n = witness_number(c, 8);
        int index = offset + (int)i;
        *waits += n;
        *least += (double)n * exp2(index / 4.0);
        *most += (double)n * exp2((index + 1) / 4.0);
        if ((i == 0 || i == count - 1) && n == 0) {
            return fail(w, "a series begins or ends with an empty bucket");
        }
    }
    return true;
}

static bool take_series(struct witness *w, struct cursor *c) {
    uint64_t size = witness_number(c, 2);
    uint64_t kind = witness_number(c, 2);
    uint64_t flags = witness_number(c, 2);
    uint64_t count = witness_number(c, 2);
    uint64_t class_id = witness_number(c, 4);
    uint64_t stack = witness_number(c, 4);
    uint64_t sum = witness_number(c, 8);
    uint64_t max = witness_number(c, 8);
    uint64_t zero = witness_number(c, 8);
    int offset = (int32_t)witness_number(c, 4);
    witness_number(c, 4);
    uint64_t waits = zero;
    double least = 0;
    double most = 0;
    if (c->bad || size != 48 + 8 * count || kind >= WITNESS_KINDS) {
        return fail(w, "a series is broken");
    }
    if ((stack != 0 && !witness_defined(w, w->stack_ids, stack)) ||
        (class_id != 0 && !witness_defined(w, w->classes, class_id))) {
        return fail(w, "a series of an unknown stack or class");
    }
    if (!take_buckets(w, c, count, offset, &waits, &least, &most)) {
        return false;
    }
    bool overflow = (flags & 1U) != 0; // its sum may be in the next aggregate
    if (waits == 0 && !overflow) {
        return fail(w, "a series without waits");
    }
    if (!overflow && ((double)sum < least * 0.999999 - 1 || (double)sum > most * 1.000001 + 1 ||
                      max > sum || (waits > zero && max == 0))) {
        return fail(w, "sum %llu and max %llu do not fit the buckets", (unsigned long long)sum,
                    (unsigned long long)max);
    }
    w->sums[kind] += waits;
    w->sum_ns[kind] += sum;
    w->overflow += overflow ? waits : 0;
    w->series_with_stack += stack != 0;
    if (class_id != 0 && class_id < WITNESS_CLASSES) {
        w->by_class[class_id].sums[kind] += waits;
    }
    return true;
}

bool witness_aggregate(struct witness *w, struct cursor c) {
    unsigned long long sequence = witness_number(&c, 8);
    int64_t watermark = (int64_t)witness_number(&c, 8);
    uint64_t before = witness_number(&c, 8);
    int64_t from = (int64_t)witness_number(&c, 8);
    int64_t to = (int64_t)witness_number(&c, 8);
    int scale = (int32_t)witness_number(&c, 4);
    witness_number(&c, 4);
    if (sequence <= w->newest) {
        return true; // sent again
    }
    if (c.bad || sequence != w->newest + 1 || before != w->total - w->base ||
        watermark < w->watermark) {
        return fail(w, "aggregate %llu: its header does not fit", sequence);
    }
    bool more = w->aggregates > 0 && from != w->reported; // of the previous one
    if (scale != 2 || to < from || (more && to != w->reported)) {
        return fail(w, "aggregate %llu: from %lld to %lld, after %lld, of scale %d", sequence,
                    (long long)from, (long long)to, (long long)w->reported, scale);
    }
    while (c.left > 0) {
        if (!take_series(w, &c)) {
            return false;
        }
    }
    w->reported = to;
    w->newest = sequence;
    w->watermark = watermark;
    w->aggregates++;
    return true;
}
