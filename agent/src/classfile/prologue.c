// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "classfile/prologue.h"

#include <string.h>

#include "classfile/bytecode.h"
#include "classfile/input.h"
#include "classfile/put.h"

enum { MOVED = WEFT_PROLOGUE_BYTES, MAX_CODE = 65535 };

// Frames of a StackMapTable by their first byte (JVMS 4.7.4).
enum {
    SAME = 63,
    SAME_ONE = 127, // from 64: with one entry on the stack
    SAME_ONE_FAR = 247,
    CHOP = 248, // to 250
    SAME_FAR = 251,
    APPEND = 252, // to 254
    FULL = 255,
};

// Kinds of verification types with an operand.
enum { TYPE_OBJECT = 7, TYPE_UNINITIALIZED = 8 };

// Copies a position in the code, moved.
static void move(struct weft_input *in, struct weft_bytes *out) {
    weft_put_u16(out, (uint32_t)weft_input_u16(in) + MOVED);
}

static void copy(struct weft_input *in, size_t len, struct weft_bytes *out) {
    const uint8_t *at = weft_input_skip(in, len);
    if (at != NULL) {
        weft_bytes_append(out, at, len);
    }
}

static void move_exceptions(struct weft_input *in, struct weft_bytes *out) {
    uint16_t count = weft_input_u16(in);
    weft_put_u16(out, count);
    for (uint16_t i = 0; i < count && !in->failed; i++) {
        move(in, out); // from
        move(in, out); // to
        move(in, out); // handler
        copy(in, 2, out);
    }
}

// The line of the first instruction is that of the call, too.
static void move_lines(struct weft_input *in, struct weft_bytes *out) {
    uint16_t count = weft_input_u16(in);
    weft_put_u16(out, count);
    for (uint16_t i = 0; i < count && !in->failed; i++) {
        uint32_t start = weft_input_u16(in);
        weft_put_u16(out, start == 0 ? 0 : start + MOVED);
        copy(in, 2, out);
    }
}

// Parameters have their values during the call, too.
static void move_variables(struct weft_input *in, struct weft_bytes *out) {
    uint16_t count = weft_input_u16(in);
    weft_put_u16(out, count);
    for (uint16_t i = 0; i < count && !in->failed; i++) {
        uint32_t start = weft_input_u16(in);
        uint32_t length = weft_input_u16(in);
        weft_put_u16(out, start == 0 ? 0 : start + MOVED);
        weft_put_u16(out, start == 0 ? length + MOVED : length);
        copy(in, 6, out);
    }
}

static void move_types(struct weft_input *in, uint32_t count, struct weft_bytes *out) {
    for (uint32_t i = 0; i < count && !in->failed; i++) {
        uint8_t type = weft_input_u8(in);
        weft_put_u8(out, type);
        if (type == TYPE_UNINITIALIZED) {
            move(in, out); // where it was created
        } else if (type == TYPE_OBJECT) {
            copy(in, 2, out);
        }
        in->failed = in->failed || type > TYPE_UNINITIALIZED;
    }
}

// Positions are differences, so only that of the first frame changes. It may need a longer form.
static void move_frame(struct weft_input *in, uint32_t by, struct weft_bytes *out) {
    uint8_t kind = weft_input_u8(in);
    if (kind <= SAME_ONE) {
        uint8_t form = kind <= SAME ? 0 : SAME + 1;
        uint32_t delta = kind - form + by;
        if (delta <= SAME) {
            weft_put_u8(out, (uint8_t)(form + delta));
        } else {
            weft_put_u8(out, form == 0 ? SAME_FAR : SAME_ONE_FAR);
            weft_put_u16(out, delta);
        }
        move_types(in, form == 0 ? 0 : 1, out);
        return;
    }
    in->failed = in->failed || kind < SAME_ONE_FAR;
    weft_put_u8(out, kind);
    weft_put_u16(out, weft_input_u16(in) + by);
    if (kind == SAME_ONE_FAR) {
        move_types(in, 1, out);
    } else if (kind >= APPEND && kind < FULL) {
        move_types(in, kind - SAME_FAR, out);
    } else if (kind == FULL) {
        for (int i = 0; i < 2; i++) { // local variables, stack
            uint16_t count = weft_input_u16(in);
            weft_put_u16(out, count);
            move_types(in, count, out);
        }
    }
}

static void move_frames(struct weft_input *in, struct weft_bytes *out) {
    uint16_t count = weft_input_u16(in);
    weft_put_u16(out, count);
    for (uint16_t i = 0; i < count && !in->failed; i++) {
        move_frame(in, i == 0 ? MOVED : 0, out);
    }
}

static const struct {
    const char *name;
    void (*move)(struct weft_input *, struct weft_bytes *);
} tables[] = {
    {"LineNumberTable", move_lines},
    {"LocalVariableTable", move_variables},
    {"LocalVariableTypeTable", move_variables},
    {"StackMapTable", move_frames},
};

// Others may contain positions, too.
static void move_attribute(const struct weft_constants *pool, struct weft_input *in,
                           struct weft_bytes *out) {
    struct weft_text name;
    uint16_t index = weft_input_u16(in);
    struct weft_input content = weft_input_part(in, weft_input_u32(in));
    if (in->failed || !weft_constants_text(pool, index, &name)) {
        in->failed = true;
        return;
    }
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        if (weft_constants_is(&name, tables[i].name)) {
            struct weft_bytes moved = {0};
            tables[i].move(&content, &moved);
            weft_put_u16(out, index);
            weft_put_u32(out, (uint32_t)moved.len);
            weft_bytes_append(out, moved.data, moved.len);
            in->failed = content.failed || content.left != 0 || moved.failed;
            weft_bytes_free(&moved);
            return;
        }
    }
    in->failed = true;
}

bool weft_prologue_add(const struct weft_constants *pool, const uint8_t *code, size_t len,
                       uint16_t callee, struct weft_bytes *out) {
    struct weft_input in = {code, len, false};
    uint16_t stack = weft_input_u16(&in);
    uint16_t locals = weft_input_u16(&in);
    uint32_t size = weft_input_u32(&in);
    if (in.failed || locals == 0 || size == 0 || size > MAX_CODE - MOVED) {
        return false;
    }
    weft_put_u16(out, stack == 0 ? 1 : stack);
    weft_put_u16(out, locals);
    weft_put_u32(out, size + MOVED);
    weft_put_u8(out, WEFT_OP_ALOAD_0);
    weft_put_u8(out, WEFT_OP_INVOKESTATIC);
    weft_put_u16(out, callee);
    copy(&in, size, out);
    move_exceptions(&in, out);
    uint16_t attributes = weft_input_u16(&in);
    weft_put_u16(out, attributes);
    for (uint16_t i = 0; i < attributes && !in.failed; i++) {
        move_attribute(pool, &in, out);
    }
    return !in.failed && in.left == 0 && !out->failed;
}
