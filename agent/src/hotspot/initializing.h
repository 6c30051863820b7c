// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds which threads wait until another one has initialized a class. JVMTI reports no such wait,
// and the state of the thread is runnable meanwhile.
//
// The JVM's structure of a thread names the class for which it waits, at an offset that the JVM
// does not export. So the first thread that waits at a monitor within the JVM is searched for the
// address of a class that another living thread initializes.

#pragma once

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WEFT_CLASS_NAME_MAX = 256 }; // longer names are truncated

// A thread that waits.
struct weft_initializing {
    uint64_t thread;
    uint64_t holder;                // the thread that initializes the class; 0: none does any more
    uintptr_t structure;            // the JVM's, of the waiting thread
    uintptr_t class;                // the JVM's, of the class
    char name[WEFT_CLASS_NAME_MAX]; // of a class with a holder, with dots, in modified UTF-8
};

// Call at VMInit on the given thread. If the JVM does not export what is needed, no thread is
// found.
void weft_initializing_init(JNIEnv *env, jthread thread);

// Finds the threads that wait, the first ones if there is not enough room. They wait on until they
// have run again, which may be long after the class is initialized. One thread at a time may call
// it.
size_t weft_initializing_find(struct weft_initializing *list, size_t room);

// Whether a thread that was found still waits.
bool weft_initializing_waits(uintptr_t structure, uintptr_t class);

// The structures of the current thread and of the class for which it waits. False if it waits for
// none, or that is not known.
bool weft_initializing_self(JNIEnv *env, uintptr_t *structure, uintptr_t *class);
