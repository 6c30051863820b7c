// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that the JVM's structures are trusted only while they show what the current thread owns,
// and that JVMTI is called rarely. The JVM is simulated; it keeps the owner's id in the monitor, or
// 1 if only the owner's lock stack contains the object.

#include "hotspot/owner.h"

#include <stddef.h>

#include "harness.h"
#include "hotspot/addresses.h"
#include "hotspot/jvm.h"
#include "hotspot/living.h"
#include "hotspot/lock_stacks.h"
#include "hotspot/notices.h"
#include "hotspot/vmstructs.h"
#include "wire/clock.h"

struct fake_object {
    jlong tid;
    jlong eetop;
};

static struct {
    uintptr_t header;
    uintptr_t owner;
} monitor;

enum { ENTRIES = 8 };

static struct structure {
    uintptr_t header;
    uintptr_t pending;
    uint64_t id;
    uint32_t top;
    uintptr_t entries[ENTRIES];
    JNIEnv env;
} thread, other;

static struct {
    uint64_t header;
    unsigned begun;
    bool active;
} heap;

static uintptr_t locked = 0x1000; // its address; the reference points here

static struct fake_object truth; // the owner according to JVMTI
static int jvmti_calls;
static const char *absent = ""; // a field that the JVM does not export

void *weft_vmstructs_libjvm(void) {
    return NULL;
}

bool weft_vmstructs_offset(const char *type, const char *field, ptrdiff_t *offset) {
    const struct {
        const char *field;
        size_t offset;
    } fields[] = {
        {"_current_pending_monitor", offsetof(struct structure, pending)},
        {"_monitor_owner_id", offsetof(struct structure, id)},
        {"_lock_stack", offsetof(struct structure, top)},
        {"_top", 0},
        {"_base[0]", offsetof(struct structure, entries) - offsetof(struct structure, top)},
        {"_owner", (size_t)((char *)&monitor.owner - (char *)&monitor)},
        {"_is_stw_gc_active", (size_t)((char *)&heap.active - (char *)&heap)},
        {"_total_collections", (size_t)((char *)&heap.begun - (char *)&heap)},
    };
    (void)type;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (strcmp(fields[i].field, field) == 0 && strcmp(absent, field) != 0) {
            *offset = (ptrdiff_t)fields[i].offset;
            return true;
        }
    }
    return false;
}

bool weft_vmstructs_size(const char *type, uint64_t *size) {
    (void)type;
    *size = offsetof(struct structure, env) - offsetof(struct structure, top);
    return true;
}

bool weft_vmstructs_static(const char *type, const char *field, uintptr_t *value) {
    (void)type;
    (void)field;
    *value = (uintptr_t)&heap;
    return true;
}

static jlong JNICALL get_long(JNIEnv *env, jobject object, jfieldID field) {
    const struct fake_object *o = (const struct fake_object *)(const void *)object;
    (void)env;
    return field == weft_jvm.tid ? o->tid : o->eetop;
}

static jint JNICALL push_frame(JNIEnv *env, jint capacity) {
    (void)env;
    (void)capacity;
    return JNI_OK;
}

static jobject JNICALL pop_frame(JNIEnv *env, jobject result) {
    (void)env;
    return result;
}

static jvmtiError JNICALL all_threads(jvmtiEnv *ti, jint *count, jthread **threads) {
    (void)ti;
    (void)count;
    (void)threads;
    return JVMTI_ERROR_OUT_OF_MEMORY;
}

static jvmtiError JNICALL monitor_usage(jvmtiEnv *ti, jobject object, jvmtiMonitorUsage *usage) {
    (void)ti;
    (void)object;
    jvmti_calls++;
    *usage = (jvmtiMonitorUsage){.owner = (jthread)(void *)&truth};
    return JVMTI_ERROR_NONE;
}

// Sets the objects that a thread has locked.
static void lock(struct structure *s, size_t count, const uintptr_t *objects) {
    memcpy(s->entries, objects, count * sizeof *objects);
    s->top = (uint32_t)(offsetof(struct structure, entries) + count * sizeof *objects);
}

enum { VERSION = 25, ASKED = 21 }; // of Java; JVMTI gives owners up to the second

static void begin(void) {
    static struct JNINativeInterface_ functions;
    static jvmtiInterface_1 tool;
    static jvmtiEnv ti = &tool;
    static struct fake_object self;
    static int fields[2];
    functions.GetLongField = get_long;
    functions.PushLocalFrame = push_frame;
    functions.PopLocalFrame = pop_frame;
    tool.GetObjectMonitorUsage = monitor_usage;
    tool.GetAllThreads = all_threads;
    thread.env = &functions;
    thread.pending = 0;
    lock(&thread, 0, &locked);
    self.eetop = (jlong)(uintptr_t)&thread;
    weft_jvm.ti = &ti;
    weft_jvm.tid = (jfieldID)(void *)&fields[0];
    weft_jvm.eetop = (jfieldID)(void *)&fields[1];
    weft_owner_init(&thread.env, (jthread)(void *)&self);
    thread.pending = (uintptr_t)&monitor;
    weft_owner_note(VERSION);
    jvmti_calls = 0;
}

static bool unknown;

static uintptr_t to_check;

static uint64_t owner_now(void) {
    return weft_owner(&thread.env, (jobject)(void *)&locked, &unknown, &to_check);
}

// Blocks for the monitor and enters it; then the monitor names this owner.
static void enter(uintptr_t named, uint64_t self) {
    owner_now();
    monitor.owner = named;
    weft_owner_entered(to_check, self);
}

static void note(void *to, const char *text) {
    const char **noted = (const char **)to;
    *noted = **noted == '\0' ? text : "several";
}

// Must be the first test: later, the structures are known.
TEST(what_is_missing_is_noticed) {
    const struct {
        const char *field;
        const char *notice;
    } cases[] = {
        {"_current_pending_monitor", "owners of monitors are not recorded"},
        {"_owner", "owners of monitors are not recorded"},
        {"_lock_stack", "owners of newly contended monitors are not recorded"},
        {"_top", "owners of newly contended monitors are not recorded"},
        {"_base[0]", "owners of newly contended monitors are not recorded"},
        {"_is_stw_gc_active", "owners of newly contended monitors are not recorded"},
        {"_total_collections", "owners of newly contended monitors are not recorded"},
        {"_monitor_owner_id", "owners of monitors are not recorded"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *text = "";
        absent = cases[i].field;
        begin();
        weft_owner_note(25);
        weft_notices_show(note, (void *)&text);
        CHECK(strncmp(text, cases[i].notice, strlen(cases[i].notice)) == 0);
        CHECK_INT(text[0] == '\0', cases[i].notice[0] == '\0');
        weft_notices_withdraw(WEFT_NOTICE_NO_OWNERS);
        weft_notices_withdraw(WEFT_NOTICE_NO_LOCK_STACKS);
    }
    weft_owner_note(22); // needs no lock stacks
    CHECK(weft_notices_take() == NULL);
}

TEST(the_first_answers_are_checked) {
    begin();
    for (int i = 0; i < 50; i++) {
        monitor.owner = 7;
        CHECK_INT(owner_now(), 7);
        CHECK_INT(to_check != 0, i < 16);
        enter(5, 5);
    }
    CHECK_INT(jvmti_calls, 0);
    CHECK(weft_notices_take() == NULL);
}

TEST(a_free_monitor_has_no_owner) {
    begin();
    monitor.owner = 0;
    CHECK_INT(owner_now(), 0);
    CHECK(!unknown);
}

TEST(three_mismatches_disable_the_structures) {
    begin();
    for (int i = 0; i < 3; i++) {
        monitor.owner = 8;
        CHECK_INT(owner_now(), 8);
        enter(i == 0 ? 0 : 8, 5);
    }
    CHECK(strstr(weft_notices_take(), "owners of monitors are not recorded") != NULL);
    CHECK_INT(owner_now(), 0);
    CHECK(unknown);
    CHECK_INT(to_check, 0);
    CHECK_INT(jvmti_calls, 0);
}

// Follows the previous test: the structures give no owner now.
TEST(jvmti_is_called_at_most_100_times_a_second) {
    int64_t start = weft_clock();
    int answered = 0;
    weft_owner_note(ASKED);
    weft_notices_withdraw(WEFT_NOTICE_NO_OWNERS);
    truth.tid = 7;
    for (int i = 0; i < 1000; i++) {
        answered += owner_now() == 7;
    }
    int64_t more = (weft_clock() - start) / 10000000;
    CHECK(answered >= 99);
    CHECK(answered <= 100 + more + 1);
}

TEST(an_anonymous_owner_is_found_by_its_lock_stack) {
    begin();
    other.id = 9;
    monitor.owner = 1;
    lock(&other, 3, (uintptr_t[]){0x2000, locked, 0x3000});
    CHECK(weft_living_add((uintptr_t)&other, 9));
    for (int i = 0; i < 50; i++) {
        CHECK_INT(owner_now(), 9);
        CHECK(!unknown);
    }
    CHECK_INT(jvmti_calls, 0);
}

// Follows the previous test, as do the next ones.
TEST(only_locked_objects_count) {
    lock(&other, 1, (uintptr_t[]){0x2000});
    CHECK(!weft_lock_stacks_find((jobject)(void *)&locked, &(uint64_t){0}));
    other.top = UINT32_MAX;
    CHECK(!weft_lock_stacks_find((jobject)(void *)&locked, &(uint64_t){0}));
    other.top = 0;
    CHECK(!weft_lock_stacks_find((jobject)(void *)&locked, &(uint64_t){0}));
    lock(&other, 1, &locked);
    CHECK(weft_lock_stacks_find((jobject)(void *)&locked, &(uint64_t){0}));
}

TEST(nothing_is_found_during_a_collection) {
    heap.active = true;
    CHECK(!weft_lock_stacks_find((jobject)(void *)&locked, &(uint64_t){0}));
    heap.active = false;
    CHECK(weft_lock_stacks_find((jobject)(void *)&locked, &(uint64_t){0}));
}

TEST(an_ended_thread_owns_nothing) {
    weft_living_end((uintptr_t)&other);
    CHECK(!weft_lock_stacks_find((jobject)(void *)&locked, &(uint64_t){0}));
}

TEST(an_owner_without_an_answer_is_unknown) {
    int missing = 0;
    begin();
    monitor.owner = 1;
    for (int i = 0; i < 10; i++) {
        CHECK_INT(owner_now(), 0);
        missing += unknown;
    }
    CHECK_INT(missing, 10);
    monitor.owner = 0;
    CHECK_INT(owner_now(), 0);
    CHECK(!unknown);
}

TEST(three_mismatches_disable_the_lock_stacks) {
    jobject object = (jobject)(void *)&locked;
    begin();
    monitor.owner = 1;
    weft_owner_holds(object, 5); // found nowhere: not counted
    lock(&other, 1, &locked);
    CHECK(weft_living_add((uintptr_t)&other, 9));
    weft_owner_holds(object, 9);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(owner_now(), 9);
        weft_owner_holds(object, 5);
    }
    CHECK(strstr(weft_notices_take(), "owners of newly contended monitors") != NULL);
    CHECK(owner_now() != 9);
    monitor.owner = 8;
    CHECK_INT(owner_now(), 8);
    CHECK_INT(jvmti_calls, 0);
    weft_living_end((uintptr_t)&other);
}

TEST(only_the_first_answers_of_lock_stacks_are_checked) {
    begin();
    lock(&other, 1, &locked);
    CHECK(weft_living_add((uintptr_t)&other, 9));
    for (int i = 0; i < 50; i++) {
        weft_owner_holds((jobject)(void *)&locked, i < 16 ? 9 : 5);
    }
    CHECK(weft_notices_take() == NULL);
    monitor.owner = 1;
    CHECK_INT(owner_now(), 9);
    weft_living_end((uintptr_t)&other);
}

// The last result is invalid once threads have come or gone.
TEST(an_address_belongs_to_its_current_thread) {
    uintptr_t structure = (uintptr_t)&thread.env;
    CHECK_INT(weft_addresses_find(structure), 0);
    weft_addresses_enable(0);
    CHECK_INT(weft_addresses_find(structure), 0);
    weft_addresses_add_structure(structure, 7);
    CHECK_INT(weft_addresses_find(structure), 7);
    CHECK_INT(weft_addresses_find(structure), 7);
    weft_addresses_add_structure(structure, 8);
    CHECK_INT(weft_addresses_find(structure), 8);
    weft_addresses_gone(&thread.env);
    CHECK_INT(weft_addresses_find(structure), 0);
}

int main(void) {
    RUN(what_is_missing_is_noticed);
    RUN(an_address_belongs_to_its_current_thread);
    RUN(the_first_answers_are_checked);
    RUN(a_free_monitor_has_no_owner);
    RUN(an_anonymous_owner_is_found_by_its_lock_stack);
    RUN(only_locked_objects_count);
    RUN(nothing_is_found_during_a_collection);
    RUN(an_ended_thread_owns_nothing);
    RUN(three_mismatches_disable_the_structures);
    RUN(jvmti_is_called_at_most_100_times_a_second);
    RUN(an_owner_without_an_answer_is_unknown);
    RUN(only_the_first_answers_of_lock_stacks_are_checked);
    RUN(three_mismatches_disable_the_lock_stacks);
    return harness_end("owner");
}
