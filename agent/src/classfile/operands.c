// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "classfile/operands.h"

#include <stdbool.h>
#include <string.h>

#include "classfile/bytecode.h"

void weft_operands_push(struct weft_operands *s, struct weft_source v) {
    if (s->depth == WEFT_OPERANDS) {
        memmove(s->slots, s->slots + 1, (WEFT_OPERANDS - 1) * sizeof *s->slots);
        s->depth--;
    }
    s->slots[s->depth++] = v;
}

struct weft_source weft_operands_pop(struct weft_operands *s) {
    return s->depth == 0 ? (struct weft_source){WEFT_UNKNOWN, 0, 0} : s->slots[--s->depth];
}

void weft_operands_pop_many(struct weft_operands *s, unsigned count) {
    s->depth -= count < s->depth ? count : s->depth;
}

void weft_operands_push_unknown(struct weft_operands *s, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        weft_operands_push(s, (struct weft_source){WEFT_UNKNOWN, 0, 0});
    }
}

static bool same(struct weft_source a, struct weft_source b) {
    return a.kind == b.kind && a.member == b.member && a.of == b.of;
}

void weft_operands_merge(struct weft_operands *into, const struct weft_operands *other) {
    unsigned depth = into->depth < other->depth ? into->depth : other->depth;
    struct weft_operands merged = {.depth = depth};
    for (unsigned i = 1; i <= depth; i++) {
        struct weft_source v = into->slots[into->depth - i];
        bool agree = same(v, other->slots[other->depth - i]);
        merged.slots[depth - i] = agree ? v : (struct weft_source){WEFT_UNKNOWN, 0, 0};
    }
    *into = merged;
}

// The order of slots after dup to dup2_x2 and swap, the top last, by depth before them.
void weft_operands_shuffle(struct weft_operands *s, uint8_t op) {
    static const char *const orders[] = {"aa", "aba", "acba", "baba", "bacba", "badcba", "ab"};
    const char *order = orders[op - WEFT_OP_DUP];
    struct weft_source taken[4];
    unsigned count = 0;
    for (const char *c = order; *c != '\0'; c++) {
        unsigned needed = (unsigned)(*c - 'a') + 1;
        count = needed > count ? needed : count;
    }
    for (unsigned i = 0; i < count; i++) {
        taken[i] = weft_operands_pop(s);
    }
    for (const char *c = order; *c != '\0'; c++) {
        weft_operands_push(s, taken[*c - 'a']);
    }
}
