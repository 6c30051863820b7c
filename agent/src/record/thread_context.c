// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/thread_context.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

// As OTEP 4947 defines it, without attributes.
struct record {
    uint8_t trace_id[16];
    uint8_t span_id[8];
    volatile uint8_t valid; // 1: valid; 0: being changed, or no span
    uint8_t trace_flags;
    uint16_t attributes_size;
};

_Static_assert(sizeof(struct record) == 28,
               "a record of OTEP 4947 without attributes has 28 bytes");
_Static_assert(offsetof(struct record, valid) == 24, "offset of valid in OTEP 4947");

enum { SAMPLED = 1 };

// The name and the type are those of the OTEP. Readers find the symbol of a library in its .dynsym.
__attribute__((visibility("default"))) extern __thread struct record *volatile otel_thread_ctx_v1;
__attribute__((visibility("default"))) __thread struct record *volatile otel_thread_ctx_v1;

static __thread struct record own;

// One number, so that the events of virtual threads cannot be given up while publishing begins.
enum { ENABLED = 1, FOLLOWS_VIRTUAL = 2 };
static atomic_uint state;

static bool has(unsigned flags) {
    return (atomic_load_explicit(&state, memory_order_relaxed) & flags) == flags;
}

void weft_thread_context_enable(void) {
    atomic_fetch_or(&state, ENABLED);
}

bool weft_thread_context_enabled(void) {
    return has(ENABLED);
}

const void *weft_thread_context_slot(void) {
    return (const void *)(uintptr_t)&otel_thread_ctx_v1;
}

void weft_thread_context_follow_virtual(void) {
    atomic_fetch_or(&state, FOLLOWS_VIRTUAL);
}

bool weft_thread_context_leave_virtual(void) {
    unsigned follows = FOLLOWS_VIRTUAL;
    return atomic_compare_exchange_strong(&state, &follows, 0) || !has(FOLLOWS_VIRTUAL);
}

// Stores the bytes of a number, most significant first, as W3C trace context has them.
static void put(uint8_t *at, uint64_t v) {
    v = __builtin_bswap64(v);
    memcpy(at, &v, sizeof v);
}

void weft_thread_context_set(uint64_t trace_high, uint64_t trace_low, uint64_t span,
                             bool is_virtual) {
    if (!has(is_virtual ? ENABLED | FOLLOWS_VIRTUAL : ENABLED)) {
        return;
    }
    struct record *r = &own;
    r->valid = 0;
    atomic_signal_fence(memory_order_seq_cst); // a reader stops this thread, so that is enough
    if (span != 0) {
        put(r->trace_id, trace_high);
        put(r->trace_id + 8, trace_low);
        put(r->span_id, span);
        r->trace_flags = SAMPLED; // others are not reported
        atomic_signal_fence(memory_order_seq_cst);
        r->valid = 1;
    }
    if (otel_thread_ctx_v1 == NULL) {
        atomic_signal_fence(memory_order_seq_cst);
        otel_thread_ctx_v1 = r;
    }
}
