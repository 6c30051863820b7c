// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the caches of recurring objects and walks. The JVM is simulated: a reference is the
// object's address, a weak reference a counting handle.

#include <stddef.h>

#include "harness.h"
#include "hotspot/jvm.h"
#include "hotspot/walk_cache.h"
#include "record/object_cache.h"

struct weft_jvm weft_jvm;

static struct { jobject object; } handle;
static int handles; // not released yet
static int made;
static bool code_is_there;

bool weft_jvm_clear_exception(JNIEnv *env) {
    (void)env;
    return false;
}

bool weft_code_cache_has(const struct weft_code_blob *list, size_t count) {
    return code_is_there && (count == 0 || list[0].number == 5);
}

static jweak JNICALL new_weak(JNIEnv *env, jobject object) {
    (void)env;
    handle.object = object;
    handles++;
    made++;
    return (jweak)(void *)&handle;
}

static void JNICALL delete_weak(JNIEnv *env, jweak weak) {
    (void)env;
    handle.object = NULL;
    handles -= weak == (jweak)(void *)&handle;
}

static jboolean JNICALL is_same(JNIEnv *env, jobject weak, jobject object) {
    (void)env;
    return weak == (jobject)(void *)&handle && handle.object == object;
}

static const struct JNINativeInterface_ functions = {
    .NewWeakGlobalRef = new_weak,
    .DeleteWeakGlobalRef = delete_weak,
    .IsSameObject = is_same,
};
static const struct JNINativeInterface_ *table = &functions;
static JNIEnv *env = &table;

static int objects[4];

// Waits for an object with its hash and class. Returns whether it was recognized.
static bool wait_for(int which, uint32_t hash) {
    jobject object = (jobject)(void *)&objects[which];
    struct weft_record r = {.kind = WEFT_EV_WAIT};
    if (weft_object_cache_find(env, object, &r)) {
        CHECK_INT(r.hash, hash);
        CHECK_INT(r.class_id, 10 + which);
        return true;
    }
    if (weft_object_cache_due(r.kind)) {
        weft_object_cache_note(env, object, r.kind, hash, 10 + (uint32_t)which);
    }
    return false;
}

TEST(a_recurring_object_is_cached) {
    int recognized = 0;
    for (int i = 0; i < 100; i++) {
        recognized += wait_for(1, 77);
    }
    CHECK_INT(recognized, 100 - 16);
    CHECK_INT(made, 1);
}

TEST(an_object_with_the_same_hash_is_not_recognized) {
    CHECK(!wait_for(2, 77));
    CHECK(wait_for(1, 77));
    struct weft_record other = {.kind = WEFT_EV_PARK};
    CHECK(!weft_object_cache_find(env, (jobject)(void *)&objects[1], &other));
}

TEST(an_unused_reference_is_released) {
    for (int i = 0; i < 4; i++) {
        CHECK_INT(handles, 1);
        CHECK(!wait_for(2, 78));
    }
    CHECK_INT(handles, 0);
    CHECK(!wait_for(1, 77));
}

TEST(alternating_objects_are_not_cached) {
    made = 0;
    for (int i = 0; i < 1000; i++) {
        CHECK(!wait_for(i % 3, 100 + (uint32_t)i % 3));
    }
    CHECK_INT(made, 0);
}

TEST(an_ending_thread_releases_its_references) {
    for (int i = 0; i < 100; i++) {
        wait_for(3, 5);
    }
    CHECK_INT(handles, 1);
    weft_object_cache_free(env);
    CHECK_INT(handles, 0);
    CHECK(!wait_for(3, 5));
}

static uintptr_t stack[WEFT_WALK_CACHE_WORDS + 1];

// A walk that uses this many words and one code blob. Returns whether it was skipped.
static bool walk(unsigned words, int count, uint64_t print) {
    struct weft_cached_walk *trail;
    struct weft_code_blob code = {.number = 5};
    uint64_t known = weft_walk_cache_find(0x7000, 0x100, count, &trail);
    CHECK(known == 0 || known == print);
    for (unsigned i = 0; known == 0 && i < words; i++) {
        weft_walk_cache_add_word(trail, (uintptr_t)&stack[i], stack[i]);
    }
    if (known == 0) {
        weft_walk_cache_add_blob(trail, &code);
        weft_walk_cache_end(trail, print);
    }
    return known != 0;
}

TEST(the_third_walk_is_skipped) {
    code_is_there = true;
    CHECK(!walk(WEFT_WALK_CACHE_WORDS, 16, 1));
    CHECK(!walk(WEFT_WALK_CACHE_WORDS, 16, 1));
    CHECK(walk(WEFT_WALK_CACHE_WORDS, 16, 1));
    CHECK(walk(WEFT_WALK_CACHE_WORDS, 16, 1));
}

TEST(a_changed_word_invalidates_a_walk) {
    for (unsigned i = 0; i < WEFT_WALK_CACHE_WORDS; i++) {
        stack[i]++;
        CHECK(!walk(WEFT_WALK_CACHE_WORDS, 16, 2 + i));
        CHECK(walk(WEFT_WALK_CACHE_WORDS, 16, 2 + i));
    }
}

TEST(freed_code_invalidates_a_walk) {
    code_is_there = false;
    CHECK(!walk(3, 16, 90));
    CHECK(!walk(3, 16, 91));
    code_is_there = true;
    CHECK(walk(3, 16, 91));
}

TEST(another_depth_is_another_walk) {
    CHECK(!walk(3, 6, 92));
    CHECK(!walk(3, 6, 92));
    CHECK(walk(3, 6, 92));
    CHECK(!walk(3, 16, 93));
}

TEST(an_unfinished_walk_is_not_cached) {
    struct weft_cached_walk *trail;
    CHECK_INT(weft_walk_cache_find(0x7000, 0x100, 6, &trail), 0);
    CHECK_INT(weft_walk_cache_find(0x7000, 0x100, 6, &trail), 0);
    CHECK(trail != NULL);
    CHECK_INT(weft_walk_cache_find(0x7000, 0x100, 6, &trail), 0);
}

TEST(a_walk_that_does_not_fit_is_not_cached) {
    for (int i = 0; i < 5; i++) {
        CHECK(!walk(WEFT_WALK_CACHE_WORDS + 1, 20, 94));
    }
    weft_walk_cache_free();
}

int main(void) {
    RUN(a_recurring_object_is_cached);
    RUN(an_object_with_the_same_hash_is_not_recognized);
    RUN(an_unused_reference_is_released);
    RUN(alternating_objects_are_not_cached);
    RUN(an_ending_thread_releases_its_references);
    RUN(the_third_walk_is_skipped);
    RUN(a_changed_word_invalidates_a_walk);
    RUN(freed_code_invalidates_a_walk);
    RUN(another_depth_is_another_walk);
    RUN(an_unfinished_walk_is_not_cached);
    RUN(a_walk_that_does_not_fit_is_not_cached);
    return harness_end("again");
}
