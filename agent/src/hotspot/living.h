// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The JVM's structures of living threads. Any thread may read them: a thread that ends waits until
// no thread reads its own, and only then lets the JVM free it.

#pragma once

#include <stdbool.h>
#include <stdint.h>

// Further threads are not listed.
enum { WEFT_LIVING_MAX = 4096 };

// How many threads have ended.
uint64_t weft_living_ends(void);

// Lists the structure of a thread whose end will be reported. The current thread may list itself.
// Another thread was seen alive after ends was read; it is not listed if a thread has ended since,
// because it may be that one.
bool weft_living_add(uintptr_t structure, uint64_t thread);
bool weft_living_add_other(uintptr_t structure, uint64_t thread, uint64_t ends);

// Reports the end of the current thread, listed or not. No thread reads its structure from then on.
void weft_living_end(uintptr_t structure);

// Calls look for the listed structures until it returns true, beginning with the one found last,
// which it may see twice. Returns whether it did. Look must be short and must not call the JVM.
bool weft_living_find(bool (*look)(uintptr_t structure, uint64_t thread, void *to), void *to);
