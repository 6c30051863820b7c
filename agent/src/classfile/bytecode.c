// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "classfile/bytecode.h"

enum { OPS = 202 };

// clang-format off
// By instruction; a length of 0 depends on the operands.
static const struct {
    uint8_t length;
    uint8_t pops;
    uint8_t pushes;
} ops[OPS] = {
    [0] = {1, 0, 0}, // nop
    // Constants.
    [1 ... 8] = {1, 0, 1}, [9 ... 10] = {1, 0, 2}, [11 ... 13] = {1, 0, 1}, [14 ... 15] = {1, 0, 2},
    [16] = {2, 0, 1}, [17] = {3, 0, 1}, [18] = {2, 0, 1}, [19] = {3, 0, 1}, [20] = {3, 0, 2},
    // Loads: int, long, float, double, reference; with an index, then of the first four; of arrays.
    [21] = {2, 0, 1}, [22] = {2, 0, 2}, [23] = {2, 0, 1}, [24] = {2, 0, 2}, [25] = {2, 0, 1},
    [26 ... 29] = {1, 0, 1}, [30 ... 33] = {1, 0, 2}, [34 ... 37] = {1, 0, 1},
    [38 ... 41] = {1, 0, 2}, [42 ... 45] = {1, 0, 1},
    [46] = {1, 2, 1}, [47] = {1, 2, 2}, [48] = {1, 2, 1}, [49] = {1, 2, 2}, [50 ... 53] = {1, 2, 1},
    // Stores, in the same order.
    [54] = {2, 1, 0}, [55] = {2, 2, 0}, [56] = {2, 1, 0}, [57] = {2, 2, 0}, [58] = {2, 1, 0},
    [59 ... 62] = {1, 1, 0}, [63 ... 66] = {1, 2, 0}, [67 ... 70] = {1, 1, 0},
    [71 ... 74] = {1, 2, 0}, [75 ... 78] = {1, 1, 0},
    [79] = {1, 3, 0}, [80] = {1, 4, 0}, [81] = {1, 3, 0}, [82] = {1, 4, 0}, [83 ... 86] = {1, 3, 0},
    // pop, dup, swap.
    [87] = {1, 1, 0}, [88] = {1, 2, 0}, [89] = {1, 1, 2}, [90] = {1, 2, 3}, [91] = {1, 3, 4},
    [92] = {1, 2, 4}, [93] = {1, 3, 5}, [94] = {1, 4, 6}, [95] = {1, 2, 2},
    // add, sub, mul, div, rem: int, long, float, double; neg.
    [96] = {1, 2, 1}, [97] = {1, 4, 2}, [98] = {1, 2, 1}, [99] = {1, 4, 2},
    [100] = {1, 2, 1}, [101] = {1, 4, 2}, [102] = {1, 2, 1}, [103] = {1, 4, 2},
    [104] = {1, 2, 1}, [105] = {1, 4, 2}, [106] = {1, 2, 1}, [107] = {1, 4, 2},
    [108] = {1, 2, 1}, [109] = {1, 4, 2}, [110] = {1, 2, 1}, [111] = {1, 4, 2},
    [112] = {1, 2, 1}, [113] = {1, 4, 2}, [114] = {1, 2, 1}, [115] = {1, 4, 2},
    [116] = {1, 1, 1}, [117] = {1, 2, 2}, [118] = {1, 1, 1}, [119] = {1, 2, 2},
    // Shifts; and, or, xor; iinc.
    [120] = {1, 2, 1}, [121] = {1, 3, 2}, [122] = {1, 2, 1}, [123] = {1, 3, 2}, [124] = {1, 2, 1},
    [125] = {1, 3, 2}, [126] = {1, 2, 1}, [127] = {1, 4, 2}, [128] = {1, 2, 1}, [129] = {1, 4, 2},
    [130] = {1, 2, 1}, [131] = {1, 4, 2}, [132] = {3, 0, 0},
    // Conversions, comparisons.
    [133] = {1, 1, 2}, [134] = {1, 1, 1}, [135] = {1, 1, 2}, [136 ... 137] = {1, 2, 1},
    [138] = {1, 2, 2}, [139] = {1, 1, 1}, [140 ... 141] = {1, 1, 2}, [142] = {1, 2, 1},
    [143] = {1, 2, 2}, [144] = {1, 2, 1}, [145 ... 147] = {1, 1, 1},
    [148] = {1, 4, 1}, [149 ... 150] = {1, 2, 1}, [151 ... 152] = {1, 4, 1},
    // Jumps, of which jsr pushes the address to return to; switches, returns.
    [153 ... 158] = {3, 1, 0}, [159 ... 166] = {3, 2, 0}, [167] = {3, 0, 0}, [168] = {3, 0, 1},
    [169] = {2, 0, 0}, [170 ... 171] = {0, 1, 0},
    [172] = {1, 1, 0}, [173] = {1, 2, 0}, [174] = {1, 1, 0}, [175] = {1, 2, 0}, [176] = {1, 1, 0},
    [177] = {1, 0, 0},
    // Fields, calls.
    [178 ... 184] = {3, 0, 0}, [185 ... 186] = {5, 0, 0},
    // new, newarray, anewarray, arraylength, athrow; checkcast, which keeps the object; instanceof.
    [187] = {3, 0, 1}, [188] = {2, 1, 1}, [189] = {3, 1, 1}, [190] = {1, 1, 1}, [191] = {1, 1, 0},
    [192] = {3, 0, 0}, [193] = {3, 1, 1},
    // Monitors, wide, multianewarray, ifnull, goto_w, jsr_w.
    [194 ... 195] = {1, 1, 0}, [196] = {0, 0, 0}, [197] = {4, 0, 1}, [198 ... 199] = {3, 1, 0},
    [200] = {5, 0, 0}, [201] = {5, 0, 1},
};
// clang-format on

enum { IINC = 132, IFEQ = 153, IFNULL = 198, IFNONNULL = 199 };

static uint16_t u16(const uint8_t *p) {
    return (uint16_t)(p[0] << 8 | p[1]);
}

static int32_t i32(const uint8_t *p) {
    return (int32_t)((uint32_t)u16(p) << 16 | u16(p + 2));
}

// The position of a switch's numbers, after the padding and the default target.
static uint32_t numbers_at(uint32_t at) {
    return (at & ~3U) + 4 + 4;
}

// The length of a switch; 0 if it does not fit.
static uint32_t switch_length(const uint8_t *code, uint32_t size, uint32_t at, bool table) {
    uint32_t numbers = numbers_at(at);
    uint32_t fixed = table ? 8 : 4;
    if (size < fixed || numbers > size - fixed) {
        return 0;
    }
    int64_t low = i32(code + numbers);
    int64_t count = table ? i32(code + numbers + 4) - low + 1 : low;
    int64_t end = numbers + fixed + count * (table ? 4 : 8);
    return count < 0 || end > size ? 0 : (uint32_t)end - at;
}

static bool may_be_wide(uint8_t op) {
    return (op >= WEFT_OP_ILOAD && op <= WEFT_OP_ALOAD) ||
           (op >= WEFT_OP_ISTORE && op <= WEFT_OP_ASTORE) || op == WEFT_OP_RET || op == IINC;
}

bool weft_bytecode_read(const uint8_t *code, uint32_t size, uint32_t at,
                        struct weft_instruction *in) {
    if (at >= size || code[at] >= OPS) {
        return false;
    }
    *in = (struct weft_instruction){.code = code, .at = at, .op = code[at]};
    in->length = ops[in->op].length;
    if (in->op == WEFT_OP_WIDE) {
        if (size - at < 4 || !may_be_wide(code[at + 1])) {
            return false;
        }
        in->op = code[at + 1];
        in->wide = true;
        in->length = in->op == IINC ? 6 : 4;
    } else if (in->op == WEFT_OP_TABLESWITCH || in->op == WEFT_OP_LOOKUPSWITCH) {
        in->length = switch_length(code, size, at, in->op == WEFT_OP_TABLESWITCH);
    }
    return in->length > 0 && in->length <= size - at;
}

uint8_t weft_bytecode_pops(const struct weft_instruction *in) {
    return in->op == WEFT_OP_MULTIANEWARRAY ? in->code[in->at + 3] : ops[in->op].pops;
}

uint8_t weft_bytecode_pushes(const struct weft_instruction *in) {
    return ops[in->op].pushes;
}

uint16_t weft_bytecode_constant(const struct weft_instruction *in) {
    return u16(in->code + in->at + 1);
}

static int operand(const struct weft_instruction *in) {
    const uint8_t *p = in->code + in->at;
    return in->wide ? u16(p + 2) : p[1];
}

int weft_bytecode_stored(const struct weft_instruction *in, bool *pair) {
    *pair = weft_bytecode_pops(in) == 2;
    if (in->op >= WEFT_OP_ISTORE && in->op <= WEFT_OP_ASTORE) {
        return operand(in);
    }
    if (in->op >= WEFT_OP_ISTORE_0 && in->op <= WEFT_OP_ASTORE_3) {
        return (in->op - WEFT_OP_ISTORE_0) % 4;
    }
    return -1;
}

int weft_bytecode_loaded(const struct weft_instruction *in) {
    if (in->op == WEFT_OP_ALOAD) {
        return operand(in);
    }
    return in->op >= WEFT_OP_ALOAD_0 && in->op <= WEFT_OP_ALOAD_3 ? in->op - WEFT_OP_ALOAD_0 : -1;
}

bool weft_bytecode_leaves(const struct weft_instruction *in) {
    return (in->op >= WEFT_OP_GOTO && in->op <= WEFT_OP_RETURN) || in->op == WEFT_OP_ATHROW ||
           in->op == WEFT_OP_GOTO_W || in->op == WEFT_OP_JSR_W;
}

uint32_t weft_bytecode_targets(const struct weft_instruction *in) {
    const uint8_t *numbers = in->code + numbers_at(in->at);
    switch (in->op) {
    case WEFT_OP_TABLESWITCH:
        return 1 + (uint32_t)(i32(numbers + 4) - i32(numbers) + 1);
    case WEFT_OP_LOOKUPSWITCH:
        return 1 + (uint32_t)i32(numbers);
    case IFNULL:
    case IFNONNULL:
    case WEFT_OP_GOTO_W:
    case WEFT_OP_JSR_W:
        return 1;
    default:
        return in->op >= IFEQ && in->op <= WEFT_OP_JSR;
    }
}

int64_t weft_bytecode_target(const struct weft_instruction *in, uint32_t number) {
    const uint8_t *p = in->code + in->at;
    const uint8_t *numbers = in->code + numbers_at(in->at);
    switch (in->op) {
    case WEFT_OP_TABLESWITCH:
        return (int64_t)in->at +
               i32(number == 0 ? numbers - 4 : numbers + 4 + (uint64_t)number * 4);
    case WEFT_OP_LOOKUPSWITCH:
        return (int64_t)in->at + i32(number == 0 ? numbers - 4 : numbers + (uint64_t)number * 8);
    case WEFT_OP_GOTO_W:
    case WEFT_OP_JSR_W:
        return (int64_t)in->at + i32(p + 1);
    default:
        return (int64_t)in->at + (int16_t)u16(p + 1);
    }
}
