// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The buckets of durations: OpenTelemetry's exponential histogram with a fixed scale. Bucket i
// counts durations above 2^(i/4) and up to 2^((i+1)/4) nanoseconds.

#pragma once

#include <stdint.h>

// Buckets for all positive int64_t; the first has index WEFT_FIRST_BUCKET.
enum { WEFT_SCALE = 2, WEFT_FIRST_BUCKET = -1, WEFT_BUCKETS = 63 * 4 + 1 };

// Returns the exact bucket index of a duration of at least 1.
static inline int weft_histogram_bucket(int64_t duration) {
    uint64_t v = (uint64_t)duration;
    int zeros = __builtin_clzll(v);
    uint64_t mantissa = v << zeros;
    int index = (63 - zeros) * 4;
    if (mantissa << 1 == 0) { // a power of two is the upper bound of its bucket
        return index - 1;
    }
    // 2^63 times the first, second and third power of the fourth root of 2, rounded down.
    return index + (mantissa > 0x9837f0518db8a96fU) + (mantissa > 0xb504f333f9de6484U) +
           (mantissa > 0xd744fccad69d6af4U);
}
