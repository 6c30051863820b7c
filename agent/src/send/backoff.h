// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// How long to wait before the next attempt to connect: longer each time, and by chance, so that
// many agents do not come at once.

#pragma once

#include <stdint.h>

struct weft_backoff {
    int64_t pause; // nanoseconds
    uint64_t random;
};

// The seed spreads the retries of different agents.
void weft_backoff_init(struct weft_backoff *b, const uint8_t seed[16]);

// After a success.
void weft_backoff_reset(struct weft_backoff *b);

// Returns the pause in nanoseconds before the next attempt: at most five seconds.
int64_t weft_backoff_next(struct weft_backoff *b);
