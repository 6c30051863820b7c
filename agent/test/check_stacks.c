// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares recognized stacks with JVMTI. Linked into a copy of the agent with --wrap, it asks JVMTI
// for each stack again and reports at the end how many stacks there were, how many could be
// recognized, and how many were wrong.

#include <stdatomic.h>
#include <stdio.h>

#include "record/stacks.h"

static _Atomic unsigned long long requests;
static _Atomic unsigned long long walked;
static _Atomic unsigned long long failed;
static _Atomic unsigned long long wrong;

uint32_t __real_weft_stacks_id(JNIEnv *env, int depth, bool plain);
uint32_t __wrap_weft_stacks_id(JNIEnv *env, int depth, bool plain);
uint64_t __real_weft_walk(JNIEnv *env, int count);
uint64_t __wrap_weft_walk(JNIEnv *env, int count);

uint32_t __wrap_weft_stacks_id(JNIEnv *env, int depth, bool plain) {
    uint32_t id = __real_weft_stacks_id(env, depth, plain);
    if (depth > 0) {
        atomic_fetch_add(&requests, 1);
        if (weft_stacks_resolved(env, depth) != id) {
            atomic_fetch_add(&wrong, 1);
        }
    }
    return id;
}

uint64_t __wrap_weft_walk(JNIEnv *env, int count) {
    uint64_t print = __real_weft_walk(env, count);
    atomic_fetch_add(print != 0 ? &walked : &failed, 1);
    return print;
}

__attribute__((destructor)) static void report(void) {
    fprintf(stderr, "stacks: %llu taken, %llu walked, %llu not, %llu wrong, %s\n", requests, walked,
            failed, wrong, weft_stacks_recognized() ? "kept" : "given up");
}
