// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The instructions of a method's bytecode: how long they are, and what they take from and put onto
// the operand stack.

#pragma once

#include <stdbool.h>
#include <stdint.h>

// The instructions with a meaning here.
enum weft_op {
    WEFT_OP_LDC = 18,
    WEFT_OP_ILOAD = 21,
    WEFT_OP_ALOAD = 25,
    WEFT_OP_ALOAD_0 = 42,
    WEFT_OP_ALOAD_3 = 45,
    WEFT_OP_ISTORE = 54,
    WEFT_OP_ASTORE = 58,
    WEFT_OP_ISTORE_0 = 59,
    WEFT_OP_ASTORE_0 = 75,
    WEFT_OP_ASTORE_3 = 78,
    WEFT_OP_DUP = 89,
    WEFT_OP_SWAP = 95,
    WEFT_OP_GOTO = 167,
    WEFT_OP_JSR = 168,
    WEFT_OP_RET = 169,
    WEFT_OP_TABLESWITCH = 170,
    WEFT_OP_LOOKUPSWITCH = 171,
    WEFT_OP_RETURN = 177,
    WEFT_OP_GETSTATIC = 178,
    WEFT_OP_PUTSTATIC = 179,
    WEFT_OP_GETFIELD = 180,
    WEFT_OP_PUTFIELD = 181,
    WEFT_OP_INVOKEVIRTUAL = 182,
    WEFT_OP_INVOKESPECIAL = 183,
    WEFT_OP_INVOKESTATIC = 184,
    WEFT_OP_INVOKEINTERFACE = 185,
    WEFT_OP_INVOKEDYNAMIC = 186,
    WEFT_OP_ATHROW = 191,
    WEFT_OP_CHECKCAST = 192,
    WEFT_OP_MONITORENTER = 194,
    WEFT_OP_WIDE = 196,
    WEFT_OP_MULTIANEWARRAY = 197,
    WEFT_OP_GOTO_W = 200,
    WEFT_OP_JSR_W = 201,
};

struct weft_instruction {
    const uint8_t *code; // of the whole method
    uint32_t at;         // index
    uint32_t length;
    uint8_t op;
    bool wide; // the operand has two bytes
};

// Reads the instruction at an index; false if it is malformed or does not fit.
bool weft_bytecode_read(const uint8_t *code, uint32_t size, uint32_t at,
                        struct weft_instruction *in);

// The slots of the operand stack that the instruction takes and puts, 0 if that depends on the
// constant pool. A long or double has two slots.
uint8_t weft_bytecode_pops(const struct weft_instruction *in);
uint8_t weft_bytecode_pushes(const struct weft_instruction *in);

// The constant pool index of an instruction that has one of two bytes.
uint16_t weft_bytecode_constant(const struct weft_instruction *in);

// The local variable that the instruction stores to; -1 if it stores to none. Pair: to the next one
// too.
int weft_bytecode_stored(const struct weft_instruction *in, bool *pair);

// The local variable that the instruction loads a reference from; -1: none.
int weft_bytecode_loaded(const struct weft_instruction *in);

// Whether the next instruction is reached only by a jump.
bool weft_bytecode_leaves(const struct weft_instruction *in);

// The number of jump targets, and one of them.
uint32_t weft_bytecode_targets(const struct weft_instruction *in);
int64_t weft_bytecode_target(const struct weft_instruction *in, uint32_t number);
