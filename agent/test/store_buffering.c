// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts how often two threads, each of which stores to its own variable and then loads that of the
// other, both miss the other's store. With sequentially consistent accesses this is forbidden.
// Wake-ups rely on it, in java.util.concurrent as well as in this agent.

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

enum { ROUNDS = 1000000, PLACES = 4096, SPINS = 100, LINE = 64 };

struct own {
    _Alignas(LINE) atomic_int round; // that it has reached
    _Alignas(LINE) atomic_int stored[PLACES];
    bool seen[ROUNDS]; // the store of the other thread
};

static struct own both[2];

static void meet(const struct own *other, int round) {
    for (int spins = 0; atomic_load_explicit(&other->round, memory_order_relaxed) < round;
         spins++) {
        if (spins % SPINS == SPINS - 1) {
            sched_yield();
        }
    }
}

static void *run(void *argument) {
    struct own *own = argument;
    struct own *other = own == &both[0] ? &both[1] : &both[0];
    for (int i = 0; i < ROUNDS; i++) {
        atomic_store_explicit(&own->round, i + 1, memory_order_relaxed);
        meet(other, i + 1);
        atomic_store(&own->stored[i % PLACES], i + 1);
        own->seen[i] = atomic_load(&other->stored[i % PLACES]) == i + 1;
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    int missed = 0;
    for (int i = 0; i < 2; i++) {
        if (pthread_create(&threads[i], NULL, run, &both[i]) != 0) {
            return 1;
        }
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < ROUNDS; i++) {
        missed += !both[0].seen[i] && !both[1].seen[i];
    }
    printf("both missed the other's store in %d of %d rounds\n", missed, ROUNDS);
    return 0;
}
