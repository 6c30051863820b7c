// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which virtual thread each carrier runs. Up to Java 23 the JVM's structures name the carrier as
// the owner of what its virtual thread has locked; the virtual thread does not leave it meanwhile.
// It tries to, each time that it waits or yields, and only then is refused. So a carrier counts as
// that thread until it runs another one or is idle: between two it locks hardly anything.

#pragma once

#include <stdbool.h>
#include <stdint.h>

// Until it is enabled, set must not be called, and the other functions do nothing.
void weft_mounted_enable(void);
bool weft_mounted_enabled(void);

// A carrier was found; what it runs is not known yet.
void weft_mounted_add(uint64_t carrier);

// The current carrier runs a virtual thread from here on; 0: it is idle.
void weft_mounted_set(uint64_t carrier, uint64_t thread);

// The current thread has ended.
void weft_mounted_end(uint64_t carrier);

// Replaces the id of a carrier by that of the thread that it runs. False if that is not known.
// State changes with each mount.
bool weft_mounted_resolve(uint64_t *id, uint64_t *state);
