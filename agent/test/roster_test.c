// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// However many threads come between two passes of the sender, the dead ones are forgotten.

#include "record/roster.h"

#include "harness.h"

enum { PASSES = 5, THREADS = 200000 };

// Virtual threads whose ends are not reported count as dead at once.
TEST(many_dead_threads_are_forgotten) {
    uint64_t id = 1;
    weft_roster_virtual_ends(false);
    for (int pass = 0; pass < PASSES; pass++) {
        for (int i = 0; i < THREADS; i++) {
            weft_roster_announce(id++, WEFT_THREAD_VIRTUAL, "", "");
        }
        weft_roster_collect();
        weft_roster_trim(0);
        CHECK(weft_roster_size() <= WEFT_ROSTER_GONE);
    }
}

// Those that a batch mentions are kept until it is acknowledged.
TEST(mentioned_threads_are_kept) {
    enum { FIRST = 10 * 1000 * 1000, KEPT = 2 * WEFT_ROSTER_GONE };
    for (int i = 0; i < KEPT; i++) {
        weft_roster_announce(FIRST + (uint64_t)i, WEFT_THREAD_VIRTUAL, "", "");
        weft_roster_mention(FIRST + (uint64_t)i, 1);
    }
    weft_roster_trim(0);
    CHECK(weft_roster_size() >= KEPT);
    weft_roster_trim(1);
    for (int i = 0; i < KEPT && weft_roster_size() > WEFT_ROSTER_GONE; i++) {
        weft_roster_trim(1);
    }
    CHECK(weft_roster_size() <= WEFT_ROSTER_GONE);
}

int main(void) {
    RUN(many_dead_threads_are_forgotten);
    RUN(mentioned_threads_are_kept);
    return harness_end("roster");
}
