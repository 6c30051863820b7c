// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// How long do the arguments of a Java method say? In nanoseconds, as events have it: 0 is no limit.

#ifndef WEFT_TIMEOUT_H
#define WEFT_TIMEOUT_H

#include <stdbool.h>
#include <stdint.h>

// A negative number, for which the JVM throws, becomes 0.
static inline int64_t weft_timeout_nanoseconds(int64_t millis) {
    if (millis <= 0) {
        return 0;
    }
    return millis > INT64_MAX / 1000000 ? INT64_MAX : millis * 1000000;
}

// Unsafe.park: an absolute time is in milliseconds since the epoch; now is that, in nanoseconds. A
// time that is over already becomes 1, as 0 would be none.
static inline int64_t weft_timeout_of_park(bool absolute, int64_t time, int64_t now) {
    if (!absolute && time == 0) {
        return 0;
    }
    if (time <= 0) {
        return 1;
    }
    int64_t left = absolute ? weft_timeout_nanoseconds(time) - now : time;
    return left < 1 ? 1 : left;
}

#endif
