// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Locks of virtual threads that have no carrier. From Java 24 on, a virtual thread keeps its locks
// when it unmounts. Those that no thread has contended for are then hard to find: they are no
// longer on a lock stack (lock_stacks.h), and a monitor that is made of one does not name its
// owner. So they are noted, by identity hash, when the thread unmounts.

#pragma once

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

// The current virtual thread is about to unmount, or has been mounted. Mounted must be called for
// each mount, recorded or not.
void weft_unmounted_note(JNIEnv *env, uint64_t id);
void weft_unmounted_forget(uint64_t id);

// Whether a thread may have to be forgotten.
bool weft_unmounted_any(void);

// The id of the unmounted thread that holds an object; 0 if there is none.
uint64_t weft_unmounted_find(jobject object);
