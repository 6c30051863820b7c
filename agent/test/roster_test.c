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

// The frames of the threads that are new or changed since the last call; the caller frees them.
static struct weft_bytes frames(void) {
    struct weft_bytes out = {0};
    weft_roster_collect();
    weft_roster_encode(&out);
    return out;
}

TEST(a_thread_that_has_left_its_group_keeps_it) {
    enum { MAIN = 90 * 1000 * 1000 };
    struct weft_bytes expected = {0};
    weft_roster_connected();
    weft_roster_announce(MAIN, 0, "main", "servers");
    struct weft_bytes out = frames();
    weft_bytes_free(&out);
    weft_roster_announce(MAIN, 0, "main", "");
    out = frames();
    CHECK_INT(out.len, 0);
    weft_roster_announce(MAIN, WEFT_THREAD_DAEMON, "done", "");
    out = frames();
    weft_wire_put_thread(&expected, MAIN, WEFT_THREAD_DAEMON, "done", "servers");
    CHECK_INT(out.len, expected.len);
    CHECK(out.len == expected.len && memcmp(out.data, expected.data, out.len) == 0);
    weft_bytes_free(&out);
    weft_bytes_free(&expected);
    weft_roster_disconnected();
}

int main(void) {
    RUN(many_dead_threads_are_forgotten);
    RUN(mentioned_threads_are_kept);
    RUN(a_thread_that_has_left_its_group_keeps_it);
    return harness_end("roster");
}
