// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Converts the timeouts of Java methods to nanoseconds, as in events; 0 means unlimited.

#pragma once

#include <stdbool.h>
#include <stdint.h>

// Negative numbers, for which the JVM throws, become 0.
static inline int64_t weft_timeout_nanoseconds(int64_t millis) {
    if (millis <= 0) {
        return 0;
    }
    return millis > INT64_MAX / 1000000 ? INT64_MAX : millis * 1000000;
}

// Converts a timeout of Unsafe.park. An absolute time is in milliseconds since the epoch, now in
// nanoseconds since the epoch. An expired time becomes 1, because 0 means none.
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
