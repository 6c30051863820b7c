// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that a look at a mount is never torn, and that no mount leaves the looking thread asleep.

#include "record/mounts.h"

#include <pthread.h>
#include <sched.h>

#include "harness.h"

enum { CARRIERS = 3, MOUNTS = 50000, WAKES = 1000 };

static bool find(uint64_t carrier, struct weft_mount *mount) {
    for (size_t i = 0; i < weft_mounts_size(); i++) {
        if (weft_mounts_look(i, mount) && mount->carrier == carrier) {
            return weft_mounts_still(i, mount);
        }
    }
    return false;
}

TEST(a_mount_is_seen_until_its_end) {
    struct weft_mount mount = {0};
    struct weft_carrier *place = weft_mounts_enter(7);
    CHECK(!find(7, &mount));
    weft_mounts_put(place, 70, 1000);
    CHECK(find(7, &mount));
    CHECK_INT(mount.thread, 70);
    CHECK_INT(mount.since, 1000);
    const struct weft_mount first = mount;
    weft_mounts_clear(place);
    CHECK(!find(7, &mount));
    CHECK(!weft_mounts_still(0, &first));
    weft_mounts_put(place, 70, 2000); // the same thread again
    CHECK(!weft_mounts_still(0, &first));
    weft_mounts_leave(place);
    CHECK(!find(7, &mount));
    CHECK(weft_mounts_enter(8) == place);
    CHECK(!find(8, &mount));
    weft_mounts_leave(place);
}

TEST(a_full_table_refuses) {
    struct weft_carrier *all[WEFT_CARRIERS];
    for (uint64_t i = 0; i < WEFT_CARRIERS; i++) {
        all[i] = weft_mounts_enter(i + 1);
        CHECK(all[i] != NULL);
    }
    CHECK(weft_mounts_enter(9999) == NULL);
    weft_mounts_leave(all[5]);
    CHECK(weft_mounts_enter(9999) == all[5]);
    for (uint64_t i = 0; i < WEFT_CARRIERS; i++) {
        weft_mounts_leave(all[i]);
    }
}

static atomic_int running;

// The id of each thread is the time of its mount, and the carrier's number its last digit.
static void *carry(void *number) {
    uint64_t carrier = *(const uint64_t *)number;
    struct weft_carrier *place = weft_mounts_enter(carrier);
    for (uint64_t i = 1; i <= MOUNTS; i++) {
        weft_mounts_put(place, i * 10 + carrier, (int64_t)(i * 10 + carrier));
        weft_mounts_clear(place);
        if (i % 1000 == 0) { // another carrier, perhaps at this place
            weft_mounts_leave(place);
            place = weft_mounts_enter(carrier);
        }
    }
    weft_mounts_leave(place);
    atomic_fetch_sub(&running, 1);
    return NULL;
}

TEST(a_look_is_of_one_mount) {
    pthread_t threads[CARRIERS];
    uint64_t numbers[CARRIERS];
    uint64_t wrong = 0;
    atomic_store(&running, CARRIERS);
    for (uint64_t i = 0; i < CARRIERS; i++) {
        numbers[i] = i + 1;
        pthread_create(&threads[i], NULL, carry, &numbers[i]);
    }
    while (atomic_load(&running) > 0) {
        struct weft_mount mount;
        for (size_t i = 0; i < CARRIERS; i++) {
            if (weft_mounts_look(i, &mount)) {
                wrong +=
                    mount.thread != (uint64_t)mount.since || mount.thread % 10 != mount.carrier;
            }
        }
    }
    for (int i = 0; i < CARRIERS; i++) {
        pthread_join(threads[i], NULL);
    }
    CHECK_INT(wrong, 0);
}

static atomic_bool stop;
static _Atomic int64_t seen; // the newest mount that the looking thread saw

static void *await(void *unused) {
    (void)unused;
    struct weft_mount mount;
    while (!atomic_load(&stop)) {
        weft_mounts_await(100, &stop);
        if (weft_mounts_look(0, &mount)) {
            atomic_store(&seen, mount.since);
        }
    }
    return NULL;
}

// If one was missed, this would hang. Mounts before the given time count for nothing.
TEST(each_mount_wakes) {
    pthread_t thread;
    struct weft_carrier *place = weft_mounts_enter(1);
    weft_mounts_put(place, 1, 99);
    pthread_create(&thread, NULL, await, NULL);
    for (int64_t i = 100; i < 100 + WAKES; i++) {
        weft_mounts_put(place, 1, i);
        while (atomic_load(&seen) != i) {
            sched_yield();
        }
        weft_mounts_clear(place);
    }
    atomic_store(&stop, true);
    weft_mounts_wake();
    pthread_join(thread, NULL);
    weft_mounts_leave(place);
}

int main(void) {
    RUN(a_mount_is_seen_until_its_end);
    RUN(a_full_table_refuses);
    RUN(a_look_is_of_one_mount);
    RUN(each_mount_wakes);
    return harness_end("mounts");
}
