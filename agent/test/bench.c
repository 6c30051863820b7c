// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures writing an event: the path of every event without the JVM's part.

#include <stdio.h>

#include "record/min_duration.h"

enum { RECORDS = 100000, ROUNDS = 50 };

static void drain(struct weft_buffer *b) {
    size_t count;
    uint64_t limit = atomic_load(&b->written);
    while (weft_buffer_peek(b, limit, &count) != NULL) {
        weft_buffer_advance(b, count);
    }
}

int main(void) {
    double best[3] = {1e9, 1e9, 1e9};
    struct weft_buffer *b = weft_pool_init((size_t)16 << 20) ? weft_buffer_open(1) : NULL;
    if (b == NULL) {
        return 1;
    }
    for (int round = 0; round < ROUNDS; round++) {
        struct weft_record r = {.kind = WEFT_EV_YIELD};
        int64_t times[4];
        volatile int64_t sink = 0;
        times[0] = weft_clock();
        for (int i = 0; i < RECORDS; i++) {
            sink = weft_clock();
        }
        times[1] = weft_clock();
        for (int i = 0; i < RECORDS; i++) {
            weft_min_duration_put_now(b, &r, 0);
        }
        times[2] = weft_clock();
        drain(b);
        times[3] = weft_clock();
        (void)sink;
        for (int i = 0; i < 3; i++) {
            double ns = (double)(times[i + 1] - times[i]) / RECORDS;
            best[i] = ns < best[i] ? ns : best[i];
        }
    }
    printf("%-44s %8.1f\n", "read the clock", best[0]);
    printf("%-44s %8.1f\n", "write a record (with the clock)", best[1]);
    printf("%-44s %8.2f\n", "find a record again (sender)", best[2]);
    return 0;
}
