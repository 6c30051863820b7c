// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that each class and method gets one id, even while other threads are blocked in the JVM.
// The JVM is simulated.

#include "record/identity.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "harness.h"
#include "hotspot/jvm.h"
#include "hotspot/vmstructs.h"
#include "record/definitions.h"

// References, strong and weak, are the addresses of their objects.
struct class {
    const char *signature;
    atomic_int held_up; // number of callers of GetClassSignature to block
};

static struct class classes[64];
static atomic_int asking;

static jvmtiError JNICALL hash_code(jvmtiEnv *ti, jobject object, jint *hash) {
    (void)ti;
    *hash = (jint)((uintptr_t)object >> 4 & 7) + 1; // so that there are collisions
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL signature(jvmtiEnv *ti, jclass class, char **text, char **generic) {
    struct class *c = (struct class *)class;
    (void)ti;
    (void)generic;
    atomic_fetch_add(&asking, 1);
    while (atomic_load(&c->held_up) > 0) { // otherwise the watchdog ends it
        usleep(1000);
    }
    *text = strdup(c->signature);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *ti, unsigned char *memory) {
    (void)ti;
    free(memory);
    return JVMTI_ERROR_NONE;
}

static unsigned listed; // calls of GetLoadedClasses

static jvmtiError JNICALL loaded_classes(jvmtiEnv *ti, jint *count, jclass **loaded) {
    (void)ti;
    listed++;
    *count = 1;
    *loaded = malloc(sizeof(jclass));
    **loaded = (jclass)&classes[0];
    return JVMTI_ERROR_NONE;
}

static jboolean JNICALL same(JNIEnv *env, jobject a, jobject b) {
    (void)env;
    return a == b;
}

static jweak JNICALL new_weak(JNIEnv *env, jobject object) {
    (void)env;
    return object;
}

static void JNICALL delete_weak(JNIEnv *env, jweak object) {
    (void)env;
    (void)object;
}

static jboolean JNICALL assignable(JNIEnv *env, jclass class, jclass super) {
    (void)env;
    (void)class;
    (void)super;
    return JNI_FALSE;
}

static void JNICALL delete_local(JNIEnv *env, jobject object) {
    (void)env;
    (void)object;
}

static jboolean JNICALL no_exception(JNIEnv *env) {
    (void)env;
    return JNI_FALSE;
}

void *weft_vmstructs_libjvm(void) {
    return NULL;
}

static const jvmtiInterface_1 tools = {.GetObjectHashCode = hash_code,
                                       .GetClassSignature = signature,
                                       .GetLoadedClasses = loaded_classes,
                                       .Deallocate = deallocate};
static const struct JNINativeInterface_ natives = {.IsSameObject = same,
                                                   .DeleteLocalRef = delete_local,
                                                   .NewWeakGlobalRef = new_weak,
                                                   .DeleteWeakGlobalRef = delete_weak,
                                                   .IsAssignableFrom = assignable,
                                                   .ExceptionCheck = no_exception};
static jvmtiEnv ti = &tools;
static JNIEnv env = &natives;

static void *ask(void *class) {
    return (void *)(uintptr_t)weft_identity_class(&env, (jclass) class);
}

static uint32_t answer(pthread_t thread) {
    void *id;
    pthread_join(thread, &id);
    return (uint32_t)(uintptr_t)id;
}

// The JVM may suspend a thread that calls it, as long as a debugger likes.
TEST(no_thread_waits_for_one_blocked_in_the_jvm) {
    pthread_t held[2];
    atomic_store(&classes[0].held_up, 1);
    for (int i = 0; i < 2; i++) {
        pthread_create(&held[i], NULL, ask, &classes[0]);
    }
    while (atomic_load(&asking) == 0) {
        usleep(1000);
    }
    uint32_t other = weft_identity_class(&env, (jclass)&classes[1]);
    CHECK(other != 0);
    CHECK(weft_identity_class_by_name("named") != 0);
    atomic_store(&classes[0].held_up, 0);
    uint32_t first = answer(held[0]);
    CHECK(first != 0 && first != other);
    CHECK_INT(answer(held[1]), first);
    CHECK_INT(weft_identity_class(&env, (jclass)&classes[0]), first);
    CHECK_INT(weft_identity_class(&env, (jclass)&classes[1]), other);
}

enum { THREADS = 8, COUNT = sizeof classes / sizeof classes[0] };

static uint32_t ids[THREADS][COUNT];

static void *ask_all(void *to) {
    for (size_t i = 0; i < COUNT; i++) {
        ((uint32_t *)to)[i] = weft_identity_class(&env, (jclass)&classes[i]);
    }
    return NULL;
}

TEST(all_threads_get_the_same_ids) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, ask_all, ids[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(memcmp(ids[i], ids[0], sizeof ids[0]) == 0);
    }
    for (size_t i = 0; i < COUNT; i++) {
        CHECK(ids[0][i] != 0);
        for (size_t k = 0; k < i; k++) {
            CHECK(ids[0][k] != ids[0][i]);
        }
    }
}

// The class object of a primitive type is not among the loaded classes.
TEST(a_class_object_that_is_not_loaded_is_looked_for_once) {
    jint hash;
    hash_code(&ti, (jobject)&classes[0], &hash);
    uint32_t any = weft_identity_class_by_name("java.lang.Class");
    for (int i = 0; i < 3; i++) {
        CHECK_INT(weft_identity_mirror_by_hash(&env, 100), any);
    }
    CHECK_INT(listed, 1);
    uint32_t found = weft_identity_mirror_by_hash(&env, (uint32_t)hash);
    CHECK(found != any);
    CHECK_INT(weft_identity_mirror_by_hash(&env, (uint32_t)hash), found);
    CHECK_INT(listed, 2);
}

TEST(no_class_object_is_looked_for_if_none_can_be_defined) {
    uint32_t any = weft_identity_class_by_name("java.lang.Class");
    weft_definitions_init(0);
    CHECK_INT(weft_identity_class_by_name("too late"), 0);
    listed = 0;
    CHECK_INT(weft_identity_mirror_by_hash(&env, 101), any);
    CHECK_INT(listed, 0);
    weft_definitions_init(1U << 20);
    CHECK_INT(weft_identity_mirror_by_hash(&env, 101), any);
    CHECK_INT(listed, 1);
}

int main(void) {
    alarm(600);
    weft_jvm.ti = &ti;
    weft_jvm.ownable.looked = 1; // it is not loaded
    weft_jvm.read_write.looked = 1;
    weft_jvm.task.looked = 1;
    for (size_t i = 0; i < COUNT; i++) {
        classes[i].signature = "LTest;";
    }
    weft_definitions_init(1U << 20);
    RUN(no_thread_waits_for_one_blocked_in_the_jvm);
    RUN(all_threads_get_the_same_ids);
    RUN(a_class_object_that_is_not_loaded_is_looked_for_once);
    RUN(no_class_object_is_looked_for_if_none_can_be_defined);
    return harness_end("identity");
}
