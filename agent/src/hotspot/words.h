// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads memory of the JVM.

#pragma once

#include <stdint.h>

static inline uintptr_t word_at(uintptr_t at) {
    return *(const volatile uintptr_t *)at; // NOLINT(performance-no-int-to-ptr)
}

static inline int32_t int_at(uintptr_t at) {
    return *(const volatile int32_t *)at; // NOLINT(performance-no-int-to-ptr)
}

static inline uint8_t byte_at(uintptr_t at) {
    return *(const volatile uint8_t *)at; // NOLINT(performance-no-int-to-ptr)
}
