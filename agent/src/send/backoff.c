// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "send/backoff.h"

#include <stddef.h>

#define MILLISECOND ((int64_t)1000000)
#define FIRST       (50 * MILLISECOND)
#define LAST        (5000 * MILLISECOND)

void weft_backoff_init(struct weft_backoff *b, const uint8_t seed[16]) {
    enum { BYTES = 16 };
    *b = (struct weft_backoff){.pause = FIRST};
    // Any number but 0 spreads the retries of many agents.
    for (size_t i = 0; i < BYTES; i++) {
        b->random = b->random << 4 ^ b->random >> 60 ^ seed[i];
    }
    b->random |= 1;
}

void weft_backoff_reset(struct weft_backoff *b) {
    b->pause = FIRST;
}

int64_t weft_backoff_next(struct weft_backoff *b) {
    b->random ^= b->random << 13;
    b->random ^= b->random >> 7;
    b->random ^= b->random << 17;
    // Between half of the pause and all of it.
    int64_t half = b->pause / 2;
    b->pause = b->pause * 2 < LAST ? b->pause * 2 : LAST;
    return half + (int64_t)(b->random % (uint64_t)(half + 1));
}
