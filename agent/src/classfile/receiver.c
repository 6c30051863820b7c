// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "classfile/receiver.h"

#include <stdlib.h>
#include <string.h>

#include "classfile/bytecode.h"

// HotSpot does not compile larger methods.
enum { MOST_CODE = 8000 };

enum { LOCALS = 64, JOINS = 16, MANY = 2 };

struct analysis {
    const struct weft_code *code;
    struct weft_operands stack;
    // A variable that is assigned in one place has the same source wherever it can be used.
    struct weft_source locals[LOCALS];
    uint8_t stores[LOCALS];          // up to MANY
    uint8_t loop[MOST_CODE / 8 + 1]; // by index: the target of a jump back
    uint8_t join[MOST_CODE / 8 + 1]; // by index: the target of a jump so far
    unsigned join_count;
    struct {
        uint32_t target;
        struct weft_operands stack;
    } joins[JOINS];
};

static void mark(uint8_t *bits, uint32_t at) {
    bits[at / 8] = (uint8_t)(bits[at / 8] | 1U << at % 8);
}

static bool is_marked(const uint8_t *bits, uint32_t at) {
    return (bits[at / 8] >> at % 8 & 1) != 0;
}

static struct weft_operands *find_join(struct analysis *a, uint32_t target) {
    for (unsigned i = 0; i < a->join_count; i++) {
        if (a->joins[i].target == target) {
            return &a->joins[i].stack;
        }
    }
    return NULL;
}

// Notes the stack at a jump forward. Without a note it is unknown at the target.
static void jump(struct analysis *a, uint32_t target) {
    struct weft_operands *known = find_join(a, target);
    if (known != NULL) {
        weft_operands_merge(known, &a->stack);
    } else if (!is_marked(a->join, target) && a->stack.depth > 0 && a->join_count < JOINS) {
        a->joins[a->join_count].target = target;
        a->joins[a->join_count++].stack = a->stack;
    }
    mark(a->join, target);
}

// The stack where an instruction begins.
static void arrive(struct analysis *a, uint32_t at, bool by_jump_only) {
    const struct weft_operands *known = find_join(a, at);
    if (is_marked(a->loop, at) || (is_marked(a->join, at) && known == NULL) ||
        (by_jump_only && known == NULL)) {
        a->stack.depth = 0;
    } else if (known != NULL && by_jump_only) {
        a->stack = *known;
    } else if (known != NULL) {
        weft_operands_merge(&a->stack, known);
    }
}

static bool is(const struct weft_text *text, const char *want) {
    return text->len == strlen(want) && memcmp(text->at, want, text->len) == 0;
}

static bool returns_class(const struct weft_text *descriptor) {
    return is(descriptor, "()Ljava/lang/Class;");
}

// A task may wait for anything, so the object that is run says nothing about the lock. Otherwise an
// idle worker of a pool would wait for its own task.
static bool starts_task(const struct weft_member *m) {
    return (is(&m->name, "run") && is(&m->descriptor, "()V")) ||
           (is(&m->name, "call") && is(&m->descriptor, "()Ljava/lang/Object;"));
}

static void use_field(struct analysis *a, const struct weft_instruction *in) {
    struct weft_member m;
    uint16_t index = weft_bytecode_constant(in);
    bool is_get = in->op == WEFT_OP_GETFIELD || in->op == WEFT_OP_GETSTATIC;
    bool has_object = in->op == WEFT_OP_GETFIELD || in->op == WEFT_OP_PUTFIELD;
    if (!weft_constants_member(a->code->constants, index, &m)) {
        a->stack.depth = 0;
        return;
    }
    unsigned slots = weft_constants_slots(&m.descriptor);
    weft_operands_pop_many(&a->stack, (is_get ? 0 : slots) + has_object);
    if (is_get && slots == 1) {
        weft_operands_push(&a->stack, (struct weft_source){WEFT_FIELD, index, 0});
    } else if (is_get) {
        weft_operands_push_unknown(&a->stack, slots);
    }
}

static void call(struct analysis *a, const struct weft_instruction *in) {
    struct weft_member m;
    uint16_t index = weft_bytecode_constant(in);
    if (!weft_constants_member(a->code->constants, index, &m)) {
        a->stack.depth = 0;
        return;
    }
    unsigned result;
    unsigned arguments = weft_constants_arguments(&m.descriptor, &result);
    bool on_object = in->op != WEFT_OP_INVOKESTATIC && in->op != WEFT_OP_INVOKEDYNAMIC;
    weft_operands_pop_many(&a->stack, arguments);
    struct weft_source on =
        on_object ? weft_operands_pop(&a->stack) : (struct weft_source){WEFT_THIS, 0, 0};
    // A class is named by the lock itself.
    bool known = arguments == 0 && result == 1 && !returns_class(&m.descriptor) &&
                 in->op != WEFT_OP_INVOKEDYNAMIC && (on.kind == WEFT_THIS || on.kind == WEFT_FIELD);
    if (known) {
        weft_operands_push(&a->stack, (struct weft_source){WEFT_CALL, index, on.member});
    } else {
        weft_operands_push_unknown(&a->stack, result);
    }
}

static struct weft_source load(const struct analysis *a, unsigned local) {
    if (local == 0 && !a->code->is_static && a->stores[0] == 0) {
        return (struct weft_source){WEFT_THIS, 0, 0};
    }
    bool known = local < LOCALS && local >= a->code->parameters && a->stores[local] == 1;
    return known ? a->locals[local] : (struct weft_source){WEFT_UNKNOWN, 0, 0};
}

static void execute(struct analysis *a, const struct weft_instruction *in) {
    bool pair;
    int stored = weft_bytecode_stored(in, &pair);
    int loaded = weft_bytecode_loaded(in);
    if (stored >= 0) {
        struct weft_source v = weft_operands_pop(&a->stack);
        if (pair) {
            v = (struct weft_source){WEFT_UNKNOWN, 0, 0};
            weft_operands_pop(&a->stack);
        }
        if (stored < LOCALS) {
            a->locals[stored] = v;
        }
    } else if (loaded >= 0) {
        weft_operands_push(&a->stack, load(a, (unsigned)loaded));
    } else if (in->op >= WEFT_OP_GETSTATIC && in->op <= WEFT_OP_PUTFIELD) {
        use_field(a, in);
    } else if (in->op >= WEFT_OP_INVOKEVIRTUAL && in->op <= WEFT_OP_INVOKEDYNAMIC) {
        call(a, in);
    } else if (in->op >= WEFT_OP_DUP && in->op <= WEFT_OP_SWAP) {
        weft_operands_shuffle(&a->stack, in->op);
    } else {
        weft_operands_pop_many(&a->stack, weft_bytecode_pops(in));
        weft_operands_push_unknown(&a->stack, weft_bytecode_pushes(in));
    }
}

// Passes over the whole method; false if it is malformed.
static bool survey(struct analysis *a) {
    const struct weft_code *code = a->code;
    struct weft_instruction in;
    for (uint32_t at = 0; at < code->size; at += in.length) {
        if (!weft_bytecode_read(code->bytes, code->size, at, &in)) {
            return false;
        }
        bool pair;
        int stored = weft_bytecode_stored(&in, &pair);
        for (int i = stored; stored >= 0 && i <= stored + pair && i < LOCALS; i++) {
            a->stores[i] = (uint8_t)(a->stores[i] < MANY ? a->stores[i] + 1 : MANY);
        }
        for (uint32_t i = 0; i < weft_bytecode_targets(&in); i++) {
            int64_t target = weft_bytecode_target(&in, i);
            if (target < 0 || target >= code->size) {
                return false;
            }
            if (target <= at) {
                mark(a->loop, (uint32_t)target);
            }
        }
    }
    return true;
}

static bool has_receiver(uint8_t op) {
    return op == WEFT_OP_INVOKEVIRTUAL || op == WEFT_OP_INVOKESPECIAL ||
           op == WEFT_OP_INVOKEINTERFACE;
}

// The object that an instruction uses, before it is executed.
static struct weft_source used(struct analysis *a, const struct weft_instruction *in) {
    struct weft_member m;
    struct weft_operands stack = a->stack;
    if (in->op != WEFT_OP_MONITORENTER) {
        unsigned result;
        if (!weft_constants_member(a->code->constants, weft_bytecode_constant(in), &m) ||
            starts_task(&m)) {
            return (struct weft_source){WEFT_UNKNOWN, 0, 0};
        }
        weft_operands_pop_many(&stack, weft_constants_arguments(&m.descriptor, &result));
    }
    return weft_operands_pop(&stack);
}

static bool is_used(const struct weft_instruction *in, uint32_t location, enum weft_use use) {
    if (use == WEFT_USE_CALL) {
        return in->at == location && has_receiver(in->op);
    }
    return in->op == WEFT_OP_MONITORENTER &&
           (in->at == location || in->at + in->length == location);
}

static struct weft_source find(struct analysis *a, uint32_t location, enum weft_use use) {
    const struct weft_code *code = a->code;
    struct weft_instruction in;
    bool by_jump_only = false;
    for (uint32_t at = 0; at <= location && at < code->size; at += in.length) {
        weft_bytecode_read(code->bytes, code->size, at, &in);
        arrive(a, at, by_jump_only);
        if (is_used(&in, location, use)) {
            return used(a, &in);
        }
        execute(a, &in);
        for (uint32_t i = 0; i < weft_bytecode_targets(&in); i++) {
            int64_t target = weft_bytecode_target(&in, i);
            if (target > at) {
                jump(a, (uint32_t)target);
            }
        }
        by_jump_only = weft_bytecode_leaves(&in);
    }
    return (struct weft_source){WEFT_UNKNOWN, 0, 0};
}

bool weft_receiver_may_use(const struct weft_code *code, uint32_t at, enum weft_use use) {
    if (use == WEFT_USE_CALL) {
        return at < code->size && has_receiver(code->bytes[at]);
    }
    return (at < code->size && code->bytes[at] == WEFT_OP_MONITORENTER) ||
           (at > 0 && at <= code->size && code->bytes[at - 1] == WEFT_OP_MONITORENTER);
}

struct weft_source weft_receiver_find(const struct weft_code *code, uint32_t at,
                                      enum weft_use use) {
    struct weft_source found = {WEFT_UNKNOWN, 0, 0};
    struct analysis *a = code->size > MOST_CODE ? NULL : calloc(1, sizeof *a);
    if (a != NULL) {
        a->code = code;
        found = survey(a) ? find(a, at, use) : found;
        free(a);
    }
    return found;
}
