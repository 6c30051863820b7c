// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Each notice is printed once, and shown as often as somebody asks.

#include "hotspot/notices.h"

#include <pthread.h>

#include "harness.h"

enum { THREADS = 4 };

static void count(void *to, const char *text) {
    CHECK(strchr(text, '\n') == NULL);
    ++*(int *)to;
}

static int shown(void) {
    int all = 0;
    weft_notices_show(count, &all);
    return all;
}

static int taken(void) {
    int all = 0;
    while (weft_notices_take() != NULL) {
        all++;
    }
    return all;
}

static void *raise_all(void *unused) {
    (void)unused;
    for (int i = 0; i < WEFT_NOTICES; i++) {
        weft_notices_raise((enum weft_notice)i);
    }
    return NULL;
}

TEST(nothing_is_noticed_at_first) {
    CHECK_INT(taken(), 0);
    CHECK_INT(shown(), 0);
}

TEST(a_notice_is_printed_once_and_shown_always) {
    weft_notices_raise(WEFT_NOTICE_WRONG_OWNERS);
    weft_notices_raise(WEFT_NOTICE_WRONG_OWNERS);
    CHECK_INT(taken(), 1);
    weft_notices_raise(WEFT_NOTICE_WRONG_OWNERS);
    CHECK_INT(taken(), 0);
    CHECK_INT(shown(), 1);
    CHECK_INT(shown(), 1);
}

// Follows the previous test.
TEST(a_withdrawn_notice_may_come_again) {
    weft_notices_withdraw(WEFT_NOTICE_WRONG_OWNERS);
    CHECK_INT(shown(), 0);
    weft_notices_raise(WEFT_NOTICE_WRONG_OWNERS);
    CHECK_INT(taken(), 1);
}

// Follows the previous test.
TEST(threads_notice_the_same) {
    pthread_t threads[THREADS];
    int all = 0;
    for (int i = 0; i < THREADS; i++) {
        CHECK_INT(pthread_create(&threads[i], NULL, raise_all, NULL), 0);
    }
    all += taken();
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    all += taken();
    CHECK_INT(all, WEFT_NOTICES - 1);
    CHECK_INT(shown(), WEFT_NOTICES);
}

int main(void) {
    RUN(nothing_is_noticed_at_first);
    RUN(a_notice_is_printed_once_and_shown_always);
    RUN(a_withdrawn_notice_may_come_again);
    RUN(threads_notice_the_same);
    return harness_end("notices");
}
