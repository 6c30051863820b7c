// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures callbacks in a real JVM. Linked into a copy of the agent with --wrap, it times each call
// of a callback and an empty measurement in the same place, and prints the difference of the means
// to standard error at the end, without the lowest and the highest tenth: the clock may advance in
// steps of ten nanoseconds.

#include <jvmti.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "wire/clock.h"

enum { SAMPLES = 1 << 20 };

struct samples {
    _Atomic uint32_t count;
    uint32_t ns[SAMPLES];
};

static struct series {
    const char *name;
    struct samples calls;
    struct samples nothing;
} series[] = {
    {.name = "contendedEnter"},
    {.name = "contendedEntered"},
    {.name = "wait"},
    {.name = "waited"},
};

static void add(struct samples *s, int64_t ns) {
    uint32_t at = atomic_fetch_add(&s->count, 1);
    if (at < SAMPLES) {
        s->ns[at] = (uint32_t)ns;
    }
}

static void end(struct series *s, int64_t since) {
    int64_t now = weft_clock();
    int64_t again = weft_clock();
    int64_t last = weft_clock();
    add(&s->calls, now - since);
    add(&s->nothing, last - again);
}

void JNICALL __real_weft_monitors_on_contended_enter(jvmtiEnv *, JNIEnv *, jthread, jobject);
void JNICALL __real_weft_monitors_on_contended_entered(jvmtiEnv *, JNIEnv *, jthread, jobject);
void JNICALL __real_weft_monitors_on_wait(jvmtiEnv *, JNIEnv *, jthread, jobject, jlong);
void JNICALL __real_weft_monitors_on_waited(jvmtiEnv *, JNIEnv *, jthread, jobject, jboolean);
void JNICALL __wrap_weft_monitors_on_contended_enter(jvmtiEnv *, JNIEnv *, jthread, jobject);
void JNICALL __wrap_weft_monitors_on_contended_entered(jvmtiEnv *, JNIEnv *, jthread, jobject);
void JNICALL __wrap_weft_monitors_on_wait(jvmtiEnv *, JNIEnv *, jthread, jobject, jlong);
void JNICALL __wrap_weft_monitors_on_waited(jvmtiEnv *, JNIEnv *, jthread, jobject, jboolean);

void JNICALL __wrap_weft_monitors_on_contended_enter(jvmtiEnv *ti, JNIEnv *env, jthread t,
                                                     jobject o) {
    int64_t since = weft_clock();
    __real_weft_monitors_on_contended_enter(ti, env, t, o);
    end(&series[0], since);
}

void JNICALL __wrap_weft_monitors_on_contended_entered(jvmtiEnv *ti, JNIEnv *env, jthread t,
                                                       jobject o) {
    int64_t since = weft_clock();
    __real_weft_monitors_on_contended_entered(ti, env, t, o);
    end(&series[1], since);
}

void JNICALL __wrap_weft_monitors_on_wait(jvmtiEnv *ti, JNIEnv *env, jthread t, jobject o,
                                          jlong millis) {
    int64_t since = weft_clock();
    __real_weft_monitors_on_wait(ti, env, t, o, millis);
    end(&series[2], since);
}

void JNICALL __wrap_weft_monitors_on_waited(jvmtiEnv *ti, JNIEnv *env, jthread t, jobject o,
                                            jboolean out) {
    int64_t since = weft_clock();
    __real_weft_monitors_on_waited(ti, env, t, o, out);
    end(&series[3], since);
}

static int ascending(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static double mean(struct samples *s, size_t n) {
    double sum = 0;
    qsort(s->ns, n, sizeof s->ns[0], ascending);
    for (size_t i = n / 10; i < n - n / 10; i++) {
        sum += s->ns[i];
    }
    size_t taken = n - 2 * (n / 10);
    return sum / (double)taken;
}

__attribute__((destructor)) static void report(void) {
    for (size_t i = 0; i < sizeof series / sizeof series[0]; i++) {
        struct series *s = &series[i];
        size_t n = s->calls.count < SAMPLES ? s->calls.count : SAMPLES;
        if (n < 100) {
            continue;
        }
        double nothing = mean(&s->nothing, n);
        double calls = mean(&s->calls, n);
        fprintf(stderr,
                "  %-42s %8.1f   10%% %u, median %u, 90%% %u; %.1f for measuring is taken off; %zu "
                "calls\n",
                s->name, calls - nothing, s->calls.ns[n / 10], s->calls.ns[n / 2],
                s->calls.ns[n / 10 * 9], nothing, n);
    }
}
