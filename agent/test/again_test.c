// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Is what comes again recognized, and nothing else? The objects that a thread comes back to, and
// the places of its walks. The JVM is a few lines here: a reference is the object's address, a weak
// one is a handle that counts.

#include <stddef.h>

#include "harness.h"
#include "hotspot/jvm.h"
#include "hotspot/walk_cache.h"
#include "record/object_cache.h"

struct weft_jvm weft_jvm;

static struct { jobject object; } handle;
static int handles; // that are not given back
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

// Waits for an object of the hash and class that go with it. Returns whether it was recognized.
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

TEST(an_object_that_comes_again_is_kept) {
    int recognized = 0;
    for (int i = 0; i < 100; i++) {
        recognized += wait_for(1, 77);
    }
    CHECK_INT(recognized, 100 - 16);
    CHECK_INT(made, 1);
}

TEST(another_of_the_same_hash_is_not_mistaken_for_it) {
    CHECK(!wait_for(2, 77));
    CHECK(wait_for(1, 77));
    struct weft_record other = {.kind = WEFT_EV_PARK};
    CHECK(!weft_object_cache_find(env, (jobject)(void *)&objects[1], &other));
}

TEST(what_does_not_come_again_is_given_back) {
    for (int i = 0; i < 4; i++) {
        CHECK_INT(handles, 1);
        CHECK(!wait_for(2, 78));
    }
    CHECK_INT(handles, 0);
    CHECK(!wait_for(1, 77));
}

TEST(objects_in_turn_are_not_kept) {
    made = 0;
    for (int i = 0; i < 1000; i++) {
        CHECK(!wait_for(i % 3, 100 + (uint32_t)i % 3));
    }
    CHECK_INT(made, 0);
}

TEST(a_thread_that_ends_keeps_nothing) {
    for (int i = 0; i < 100; i++) {
        wait_for(3, 5);
    }
    CHECK_INT(handles, 1);
    weft_object_cache_free(env);
    CHECK_INT(handles, 0);
    CHECK(!wait_for(3, 5));
}

static uintptr_t stack[WEFT_WALK_CACHE_WORDS + 1];

// A walk that uses so many words and one piece of code. Returns whether it could be saved.
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

TEST(the_third_walk_is_saved) {
    code_is_there = true;
    CHECK(!walk(WEFT_WALK_CACHE_WORDS, 16, 1));
    CHECK(!walk(WEFT_WALK_CACHE_WORDS, 16, 1));
    CHECK(walk(WEFT_WALK_CACHE_WORDS, 16, 1));
    CHECK(walk(WEFT_WALK_CACHE_WORDS, 16, 1));
}

TEST(each_word_counts) {
    for (unsigned i = 0; i < WEFT_WALK_CACHE_WORDS; i++) {
        stack[i]++;
        CHECK(!walk(WEFT_WALK_CACHE_WORDS, 16, 2 + i));
        CHECK(walk(WEFT_WALK_CACHE_WORDS, 16, 2 + i));
    }
}

TEST(code_that_is_gone_counts) {
    code_is_there = false;
    CHECK(!walk(3, 16, 90));
    CHECK(!walk(3, 16, 91));
    code_is_there = true;
    CHECK(walk(3, 16, 91));
}

TEST(so_does_the_depth) {
    CHECK(!walk(3, 6, 92));
    CHECK(!walk(3, 6, 92));
    CHECK(walk(3, 6, 92));
    CHECK(!walk(3, 16, 93));
}

TEST(a_walk_that_was_not_finished_is_not_kept) {
    struct weft_cached_walk *trail;
    CHECK_INT(weft_walk_cache_find(0x7000, 0x100, 6, &trail), 0);
    CHECK_INT(weft_walk_cache_find(0x7000, 0x100, 6, &trail), 0);
    CHECK(trail != NULL);
    CHECK_INT(weft_walk_cache_find(0x7000, 0x100, 6, &trail), 0);
}

TEST(a_walk_of_more_than_there_is_room_for_is_not_kept) {
    for (int i = 0; i < 5; i++) {
        CHECK(!walk(WEFT_WALK_CACHE_WORDS + 1, 20, 94));
    }
    weft_walk_cache_free();
}

int main(void) {
    RUN(an_object_that_comes_again_is_kept);
    RUN(another_of_the_same_hash_is_not_mistaken_for_it);
    RUN(what_does_not_come_again_is_given_back);
    RUN(objects_in_turn_are_not_kept);
    RUN(a_thread_that_ends_keeps_nothing);
    RUN(the_third_walk_is_saved);
    RUN(each_word_counts);
    RUN(code_that_is_gone_counts);
    RUN(so_does_the_depth);
    RUN(a_walk_that_was_not_finished_is_not_kept);
    RUN(a_walk_of_more_than_there_is_room_for_is_not_kept);
    return harness_end("again");
}
