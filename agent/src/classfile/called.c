// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "classfile/called.h"

#include "classfile/bytecode.h"

bool weft_called(const struct weft_constants *pool, const uint8_t *code, uint32_t size,
                 const struct weft_calls *calls, const struct weft_call *call) {
    struct weft_instruction in;
    struct weft_member m;
    for (uint32_t at = 0; at < size && weft_bytecode_read(code, size, at, &in); at += in.length) {
        if (in.op == WEFT_OP_INVOKESTATIC &&
            weft_constants_member(pool, weft_bytecode_constant(&in), &m) &&
            weft_constants_is(&m.class_name, calls->class_name) &&
            weft_constants_is(&m.descriptor, calls->descriptor) &&
            weft_constants_is(&m.name, call->callee)) {
            return true;
        }
    }
    return false;
}
