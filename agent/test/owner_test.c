// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that the JVM's structures are trusted only while they agree with JVMTI, and that JVMTI is
// called rarely. The JVM is simulated; it keeps the owner's id in the monitor.

#include "hotspot/owner.h"

#include <stddef.h>

#include "harness.h"
#include "hotspot/addresses.h"
#include "hotspot/jvm.h"
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

static struct {
    uintptr_t header;
    uintptr_t pending;
    JNIEnv env;
} thread;

static struct fake_object truth; // the owner according to JVMTI
static uintptr_t changes_to;     // the monitor's owner after a call of JVMTI; 0: unchanged
static int jvmti_calls;

void *weft_vmstructs_libjvm(void) {
    return NULL;
}

bool weft_vmstructs_offset(const char *type, const char *field, ptrdiff_t *offset) {
    bool of_monitor = strcmp(type, "ObjectMonitor") == 0;
    (void)field;
    *offset = of_monitor ? (char *)&monitor.owner - (char *)&monitor
                         : (char *)&thread.pending - (char *)&thread;
    return true;
}

static jlong JNICALL get_long(JNIEnv *env, jobject object, jfieldID field) {
    const struct fake_object *o = (const struct fake_object *)(const void *)object;
    (void)env;
    return field == weft_jvm.tid ? o->tid : o->eetop;
}

static void JNICALL delete_local(JNIEnv *env, jobject object) {
    (void)env;
    (void)object;
}

static jvmtiError JNICALL monitor_usage(jvmtiEnv *ti, jobject object, jvmtiMonitorUsage *usage) {
    (void)ti;
    (void)object;
    jvmti_calls++;
    *usage = (jvmtiMonitorUsage){.owner = (jthread)(void *)&truth};
    if (changes_to != 0) {
        monitor.owner = changes_to;
    }
    return JVMTI_ERROR_NONE;
}

static void begin(void) {
    static struct JNINativeInterface_ functions;
    static jvmtiInterface_1 tool;
    static jvmtiEnv ti = &tool;
    static struct fake_object self;
    static int fields[2];
    functions.GetLongField = get_long;
    functions.DeleteLocalRef = delete_local;
    tool.GetObjectMonitorUsage = monitor_usage;
    thread.env = &functions;
    thread.pending = 0;
    self.eetop = (jlong)(uintptr_t)&thread;
    weft_jvm.ti = &ti;
    weft_jvm.tid = (jfieldID)(void *)&fields[0];
    weft_jvm.eetop = (jfieldID)(void *)&fields[1];
    weft_owner_init(&thread.env, (jthread)(void *)&self);
    thread.pending = (uintptr_t)&monitor;
    changes_to = 0;
    jvmti_calls = 0;
}

static uint64_t owner_now(void) {
    return weft_owner(&thread.env, NULL);
}

TEST(the_first_answers_are_checked) {
    begin();
    truth.tid = 7;
    monitor.owner = 7;
    for (int i = 0; i < 50; i++) {
        CHECK_INT(owner_now(), 7);
    }
    CHECK_INT(jvmti_calls, 16);
}

TEST(a_free_monitor_has_no_owner_and_needs_no_check) {
    begin();
    monitor.owner = 0;
    CHECK_INT(owner_now(), 0);
    CHECK_INT(jvmti_calls, 0);
}

TEST(a_changed_owner_is_no_mismatch) {
    begin();
    truth.tid = 7;
    changes_to = 7;
    for (int i = 0; i < 10; i++) {
        monitor.owner = 8;
        CHECK_INT(owner_now(), 8);
    }
    CHECK_INT(jvmti_calls, 10);
}

TEST(three_mismatches_disable_the_structures) {
    begin();
    truth.tid = 7;
    monitor.owner = 8;
    for (int i = 0; i < 3; i++) {
        CHECK_INT(owner_now(), 8);
    }
    CHECK_INT(jvmti_calls, 3);
    CHECK_INT(owner_now(), 7);
    CHECK_INT(jvmti_calls, 4);
}

// Follows the previous test: every owner requires JVMTI now, and one call was made.
TEST(jvmti_is_called_at_most_100_times_a_second) {
    int64_t start = weft_clock();
    int answered = 0;
    for (int i = 0; i < 1000; i++) {
        answered += owner_now() == 7;
    }
    int64_t more = (weft_clock() - start) / 10000000;
    CHECK(answered >= 99);
    CHECK(answered <= 100 + more + 1);
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
    RUN(an_address_belongs_to_its_current_thread);
    RUN(the_first_answers_are_checked);
    RUN(a_free_monitor_has_no_owner_and_needs_no_check);
    RUN(a_changed_owner_is_no_mismatch);
    RUN(three_mismatches_disable_the_structures);
    RUN(jvmti_is_called_at_most_100_times_a_second);
    return harness_end("owner");
}
