// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that no thread reads the structure of a thread after its end. The sanitizers detect it:
// threads free their structures.

#include "hotspot/living.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "harness.h"

enum { THREADS = 100, ENDS = 20000, LOOKERS = 2 };

struct structure {
    uint64_t thread;
};

static atomic_bool over;

static bool is_thread(uintptr_t structure, uint64_t thread, void *wanted) {
    const struct structure *s = (const struct structure *)structure; // NOLINT
    return s->thread == thread && thread == *(const uint64_t *)wanted;
}

static bool finds(uint64_t thread) {
    return weft_living_find(is_thread, &thread);
}

static void *look(void *unused) {
    (void)unused;
    for (uint64_t i = 0; !atomic_load(&over); i++) {
        finds(i % (THREADS + 1));
    }
    return NULL;
}

static struct structure *begin(uint64_t thread) {
    struct structure *s = malloc(sizeof *s);
    s->thread = thread;
    CHECK(weft_living_add((uintptr_t)s, thread));
    return s;
}

static void end(struct structure *s) {
    weft_living_end((uintptr_t)s);
    free(s);
}

TEST(threads_are_found_while_they_live) {
    struct structure *s[THREADS];
    for (uint64_t i = 0; i < THREADS; i++) {
        CHECK(!finds(i + 1));
        s[i] = begin(i + 1);
        CHECK(weft_living_add((uintptr_t)s[i], i + 1)); // has no effect
        CHECK(finds(i + 1));
    }
    for (uint64_t i = 0; i < THREADS; i++) {
        end(s[i]);
        CHECK(!finds(i + 1));
        CHECK(i + 1 == THREADS || finds(THREADS));
    }
}

TEST(another_thread_is_not_listed_if_one_has_ended_meanwhile) {
    struct structure s = {7};
    uint64_t ends = weft_living_ends();
    weft_living_end((uintptr_t)&s);
    CHECK(!weft_living_add_other((uintptr_t)&s, 7, ends));
    CHECK(!finds(7));
    CHECK(weft_living_add_other((uintptr_t)&s, 7, weft_living_ends()));
    CHECK(finds(7));
    weft_living_end((uintptr_t)&s);
}

TEST(the_number_of_threads_is_limited) {
    static struct structure s[WEFT_LIVING_MAX + 1];
    for (int i = 0; i <= WEFT_LIVING_MAX; i++) {
        CHECK_INT(weft_living_add((uintptr_t)&s[i], 1), i < WEFT_LIVING_MAX);
    }
    for (int i = 0; i <= WEFT_LIVING_MAX; i++) {
        weft_living_end((uintptr_t)&s[i]);
    }
    CHECK(!finds(1));
}

TEST(no_ended_thread_is_read) {
    pthread_t lookers[LOOKERS];
    struct structure *s[THREADS];
    for (int i = 0; i < LOOKERS; i++) {
        CHECK_INT(pthread_create(&lookers[i], NULL, look, NULL), 0);
    }
    for (uint64_t i = 0; i < THREADS; i++) {
        s[i] = begin(i + 1);
    }
    for (uint64_t i = 0; i < ENDS; i++) {
        end(s[i % THREADS]);
        s[i % THREADS] = begin(i % THREADS + 1);
    }
    atomic_store(&over, true);
    for (int i = 0; i < LOOKERS; i++) {
        pthread_join(lookers[i], NULL);
    }
    for (uint64_t i = 0; i < THREADS; i++) {
        end(s[i]);
    }
}

int main(void) {
    RUN(threads_are_found_while_they_live);
    RUN(another_thread_is_not_listed_if_one_has_ended_meanwhile);
    RUN(the_number_of_threads_is_limited);
    RUN(no_ended_thread_is_read);
    return harness_end("living");
}
