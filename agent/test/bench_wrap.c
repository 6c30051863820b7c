// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What does a callback cost inside a real JVM? Linked into a copy of the agent with --wrap: times
// each call of a callback, and prints the medians to standard error at the end.

#include <jvmti.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "../src/clock.h"

enum { SAMPLES = 1 << 20 };

struct series {
    const char *name;
    _Atomic uint32_t count;
    uint32_t ns[SAMPLES];
};

static struct series series[] = {
    {.name = "contendedEnter, with owner"},
    {.name = "contendedEntered"},
    {.name = "wait"},
    {.name = "waited"},
};

static void add(struct series *s, int64_t since) {
    uint32_t at = atomic_fetch_add(&s->count, 1);
    if (at < SAMPLES) {
        s->ns[at] = (uint32_t)(weft_clock() - since);
    }
}

void JNICALL __real_weft_on_contended_enter(jvmtiEnv *, JNIEnv *, jthread, jobject);
void JNICALL __real_weft_on_contended_entered(jvmtiEnv *, JNIEnv *, jthread, jobject);
void JNICALL __real_weft_on_wait(jvmtiEnv *, JNIEnv *, jthread, jobject, jlong);
void JNICALL __real_weft_on_waited(jvmtiEnv *, JNIEnv *, jthread, jobject, jboolean);
void JNICALL __wrap_weft_on_contended_enter(jvmtiEnv *, JNIEnv *, jthread, jobject);
void JNICALL __wrap_weft_on_contended_entered(jvmtiEnv *, JNIEnv *, jthread, jobject);
void JNICALL __wrap_weft_on_wait(jvmtiEnv *, JNIEnv *, jthread, jobject, jlong);
void JNICALL __wrap_weft_on_waited(jvmtiEnv *, JNIEnv *, jthread, jobject, jboolean);

void JNICALL __wrap_weft_on_contended_enter(jvmtiEnv *ti, JNIEnv *env, jthread t, jobject o) {
    int64_t since = weft_clock();
    __real_weft_on_contended_enter(ti, env, t, o);
    add(&series[0], since);
}

void JNICALL __wrap_weft_on_contended_entered(jvmtiEnv *ti, JNIEnv *env, jthread t, jobject o) {
    int64_t since = weft_clock();
    __real_weft_on_contended_entered(ti, env, t, o);
    add(&series[1], since);
}

void JNICALL __wrap_weft_on_wait(jvmtiEnv *ti, JNIEnv *env, jthread t, jobject o, jlong millis) {
    int64_t since = weft_clock();
    __real_weft_on_wait(ti, env, t, o, millis);
    add(&series[2], since);
}

void JNICALL __wrap_weft_on_waited(jvmtiEnv *ti, JNIEnv *env, jthread t, jobject o, jboolean out) {
    int64_t since = weft_clock();
    __real_weft_on_waited(ti, env, t, o, out);
    add(&series[3], since);
}

static int ascending(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

__attribute__((destructor)) static void report(void) {
    for (size_t i = 0; i < sizeof series / sizeof series[0]; i++) {
        struct series *s = &series[i];
        size_t n = s->count < SAMPLES ? s->count : SAMPLES;
        if (n < 100) {
            continue;
        }
        qsort(s->ns, n, sizeof s->ns[0], ascending);
        fprintf(stderr, "  %-42s %8u   90%%: %u, calls: %zu\n", s->name, s->ns[n / 2],
                s->ns[n / 10 * 9], n);
    }
}
