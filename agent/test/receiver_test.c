// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the names that bytecode gives to locks.

#include "classfile/receiver_name.h"

#include <stdbool.h>

#include "harness.h"

static uint8_t pool[8192];
static size_t pool_len;
static uint16_t pool_count = 1;

static void put(const void *bytes, size_t len) {
    memcpy(pool + pool_len, bytes, len);
    pool_len += len;
}

static void put_u16(unsigned v) {
    uint8_t bytes[] = {(uint8_t)(v >> 8), (uint8_t)v};
    put(bytes, sizeof bytes);
}

static void put_tag(uint8_t tag) {
    put(&tag, 1);
}

static uint16_t utf8(const char *text) {
    put_tag(1);
    put_u16((unsigned)strlen(text));
    put(text, strlen(text));
    return pool_count++;
}

static uint16_t member(uint8_t tag, const char *class_name, const char *name,
                       const char *descriptor) {
    uint16_t texts[] = {utf8(class_name), utf8(name), utf8(descriptor)};
    put_tag(7);
    put_u16(texts[0]);
    uint16_t class_index = pool_count++;
    put_tag(12);
    put_u16(texts[1]);
    put_u16(texts[2]);
    uint16_t pair = pool_count++;
    put_tag(tag);
    put_u16(tag == 18 ? 0 : class_index);
    put_u16(pair);
    return pool_count++;
}

// Indexes of the pool below; all fit a byte.
static uint8_t lock, array, global, rw, captured, count, other, guard;
static uint8_t read_lock, lock_it, try_lock, get_lock, get_class, wait_long, find, dynamic, take;
static uint8_t run_task, call_task, run_long, run_with;

enum { FIELD = 9, METHOD = 10, INTERFACE = 11, DYNAMIC = 18 };

static void build_pool(void) {
    put_tag(5); // a long takes two entries
    put("12345678", 8);
    pool_count += 2;
    lock = (uint8_t)member(FIELD, "com/acme/Inventory", "lock", "Ljava/lang/Object;");
    array = (uint8_t)member(FIELD, "com/acme/Inventory", "stripes", "[Ljava/lang/Object;");
    global = (uint8_t)member(FIELD, "Registry", "GLOBAL", "Ljava/lang/Object;");
    rw = (uint8_t)member(FIELD, "com/acme/Inventory", "rw", "LReadWriteLock;");
    captured = (uint8_t)member(FIELD, "com/acme/Inventory$1", "val$guard", "Ljava/lang/Object;");
    count = (uint8_t)member(FIELD, "com/acme/Inventory", "count", "J");
    other = (uint8_t)member(FIELD, "com/acme/Inventory", "other", "Lcom/acme/Other;");
    guard = (uint8_t)member(FIELD, "com/acme/Other", "guard", "Ljava/lang/Object;");
    read_lock = (uint8_t)member(INTERFACE, "ReadWriteLock", "readLock", "()LLock;");
    lock_it = (uint8_t)member(INTERFACE, "Lock", "lock", "()V");
    try_lock = (uint8_t)member(METHOD, "Lock", "tryLock", "(JLTimeUnit;)Z");
    get_lock = (uint8_t)member(METHOD, "com/acme/Inventory", "getLock", "()LLock;");
    get_class = (uint8_t)member(METHOD, "java/lang/Object", "getClass", "()Ljava/lang/Class;");
    wait_long = (uint8_t)member(METHOD, "java/lang/Object", "wait", "(J)V");
    find = (uint8_t)member(METHOD, "com/acme/Inventory", "find", "(I[[JD)LLock;");
    dynamic = (uint8_t)member(DYNAMIC, "", "get", "(LLock;)LSupplier;");
    take = (uint8_t)member(METHOD, "Queue", "take", "()Ljava/lang/Object;");
    run_task = (uint8_t)member(INTERFACE, "Runnable", "run", "()V");
    call_task = (uint8_t)member(METHOD, "Task", "call", "()Ljava/lang/Object;");
    run_long = (uint8_t)member(METHOD, "Guard", "run", "(J)V");
    run_with = (uint8_t)member(METHOD, "Guard", "running", "()V");
}

enum { STATIC = 1, CALLED = 2 };

static const char *name_of(const uint8_t *bytes, size_t size, uint32_t at, int flags) {
    static char name[WEFT_RECEIVER_MAX];
    struct weft_constants constants;
    struct weft_code code = {.bytes = bytes,
                             .size = (uint32_t)size,
                             .is_static = (flags & STATIC) != 0,
                             .parameters = (flags & STATIC) != 0 ? 0 : 1,
                             .constants = &constants};
    name[0] = '\0';
    CHECK(weft_constants_open(&constants, pool, pool_len, pool_count));
    if (!weft_receiver_name(&code, at, (flags & CALLED) != 0 ? WEFT_USE_CALL : WEFT_USE_MONITOR,
                            name)) {
        name[0] = '\0';
    }
    weft_constants_close(&constants);
    return name;
}

#define NAME(at, flags, ...)                                                                       \
    name_of((const uint8_t[]){__VA_ARGS__}, sizeof(const uint8_t[]){__VA_ARGS__}, at, flags)

// Instructions.
#define THIS                          0x2a
#define GET(field)                    0xb4, 0, field
#define GET_STATIC(field)             0xb2, 0, field
#define CALL(method)                  0xb6, 0, method
#define CALL_STATIC(method)           0xb8, 0, method
#define CALL_INTERFACE(method, slots) 0xb9, 0, method, slots, 0
#define DUP                           0x59
#define ENTER                         0xc2
#define RETURN                        0xb1

// An interpreted frame is after the monitorenter, a compiled one may be at it.
TEST(monitors_at_both_locations) {
    for (uint32_t at = 6; at <= 7; at++) {
        CHECK_STRING(NAME(at, 0, THIS, GET(lock), DUP, 0x4c, ENTER, RETURN), "Inventory.lock");
    }
    CHECK_STRING(NAME(6, STATIC, GET_STATIC(global), DUP, 0x4b, ENTER, RETURN), "Registry.GLOBAL");
    CHECK_STRING(NAME(5, 0, THIS, GET(lock), DUP, 0x4c, ENTER, RETURN), "");
    CHECK_STRING(NAME(8, 0, THIS, GET(lock), DUP, 0x4c, ENTER, RETURN), "");
}

TEST(what_has_no_name) {
    CHECK_STRING(NAME(2, 0, THIS, DUP, ENTER, RETURN), "");                            // this
    CHECK_STRING(NAME(2, 0, 0x12, 3, ENTER, RETURN), "");                              // a class
    CHECK_STRING(NAME(1, STATIC, THIS, ENTER, RETURN), "");                            // local 0
    CHECK_STRING(NAME(6, 0, THIS, GET(array), 0x03, 0x32, ENTER, RETURN), "");         // an element
    CHECK_STRING(NAME(4, 0, THIS, GET(array), ENTER, RETURN), "Inventory.stripes");    // the array
    CHECK_STRING(NAME(4, 0, THIS, CALL(get_class), ENTER, RETURN), "");                // a class
    CHECK_STRING(NAME(7, 0, 0xbb, 0, lock, DUP, 0xb7, 0, lock_it, ENTER, RETURN), ""); // new
    CHECK_STRING(NAME(1, 0, 0x01, ENTER, RETURN), "");                                 // null
}

TEST(fields_of_other_objects) {
    CHECK_STRING(NAME(7, 0, THIS, GET(other), GET(guard), ENTER, RETURN), "Other.guard");
    CHECK_STRING(NAME(4, 0, 0x2b, GET(guard), ENTER, RETURN), "Other.guard");
    CHECK_STRING(NAME(4, 0, THIS, GET(captured), ENTER, RETURN), "local guard");
    CHECK_STRING(NAME(7, 0, 0x2b, 0xc0, 0, lock, GET(guard), ENTER, RETURN), "Other.guard");
}

TEST(receivers_of_calls) {
    CHECK_STRING(NAME(4, CALLED, THIS, GET(lock), CALL_INTERFACE(lock_it, 1), RETURN),
                 "Inventory.lock");
    CHECK_STRING(
        NAME(9, CALLED, THIS, GET(rw), CALL_INTERFACE(read_lock, 1), CALL_INTERFACE(lock_it, 1)),
        "Inventory.rw.readLock()");
    CHECK_STRING(NAME(4, CALLED, THIS, CALL(get_lock), CALL_INTERFACE(lock_it, 1)),
                 "Inventory.getLock()");
    CHECK_STRING(NAME(3, STATIC | CALLED, CALL_STATIC(get_lock), CALL_INTERFACE(lock_it, 1)),
                 "Inventory.getLock()");
    CHECK_STRING(NAME(1, CALLED, THIS, CALL(take), RETURN), "");
    CHECK_STRING(NAME(3, STATIC | CALLED, GET_STATIC(global), CALL_STATIC(take), RETURN), "");
    // lock.tryLock(count, UNIT), wait(10L)
    CHECK_STRING(
        NAME(11, CALLED, THIS, GET(lock), THIS, GET(count), GET_STATIC(global), CALL(try_lock)),
        "Inventory.lock");
    CHECK_STRING(NAME(7, CALLED, THIS, GET(lock), 0x14, 0, 1, CALL(wait_long), RETURN),
                 "Inventory.lock");
    // find(1, null, 0.0): a method with arguments; then a dynamic call
    CHECK_STRING(NAME(7, CALLED, THIS, 0x04, 0x01, 0x0e, CALL(find), CALL_INTERFACE(lock_it, 1)),
                 "");
    CHECK_STRING(NAME(10, CALLED, THIS, GET(lock), 0x01, 0xba, 0, dynamic, 0, 0, 0x57,
                      CALL_INTERFACE(lock_it, 1)),
                 "");
    CHECK_STRING(NAME(11, CALLED, THIS, GET(lock), 0x01, 0xba, 0, dynamic, 0, 0, 0x57,
                      CALL_INTERFACE(lock_it, 1)),
                 "Inventory.lock");
}

// An idle worker of a pool waits for none of the objects below the pool's code.
TEST(calls_that_start_tasks) {
    CHECK_STRING(NAME(4, CALLED, THIS, GET(other), CALL_INTERFACE(run_task, 1), RETURN), "");
    CHECK_STRING(NAME(4, CALLED, THIS, GET(other), CALL(call_task), RETURN), "");
    CHECK_STRING(NAME(5, CALLED, THIS, GET(other), 0x09, CALL(run_long), RETURN),
                 "Inventory.other");
    CHECK_STRING(NAME(4, CALLED, THIS, GET(other), CALL(run_with), RETURN), "Inventory.other");
}

// A stack may ask both about one place, and an operand may look like a monitorenter.
TEST(monitors_and_calls_are_told_apart) {
    CHECK_STRING(NAME(4, 0, THIS, GET(lock), CALL_INTERFACE(lock_it, 1), RETURN), "");
    CHECK_STRING(NAME(4, CALLED, THIS, GET(lock), ENTER, RETURN), "");
    // ldc2_w 0xc2
    CHECK_STRING(NAME(7, 0, THIS, GET(lock), 0x14, 0, 0xc2, CALL(wait_long), RETURN), "");
    CHECK_STRING(NAME(5, 0, THIS, GET(other), ENTER, CALL(take), RETURN), "Inventory.other");
    CHECK_STRING(NAME(8, CALLED, THIS, GET(lock), THIS, GET(other), ENTER, CALL(take)), "");
    CHECK_STRING(NAME(9, CALLED, THIS, GET(lock), THIS, GET(other), ENTER, CALL(take)),
                 "Inventory.lock");
}

TEST(operands_are_moved) {
    CHECK_STRING(NAME(7, 0, THIS, GET(lock), 0x01, 0x5f, 0x57, ENTER, RETURN), ""); // swap, pop
    CHECK_STRING(NAME(6, 0, 0x01, THIS, GET(lock), 0x5f, ENTER, RETURN), "");       // swap
    CHECK_STRING(NAME(7, 0, 0x01, THIS, GET(lock), 0x5a, 0x57, 0x57, ENTER, RETURN), ""); // inside
    CHECK_STRING(NAME(8, 0, 0x01, THIS, GET(lock), 0x5a, 0x57, 0x57, ENTER), "Inventory.lock");
    CHECK_STRING(NAME(8, 0, 0x09, THIS, GET(lock), 0x5b, 0x57, 0x58, ENTER), "Inventory.lock");
    CHECK_STRING(NAME(7, 0, THIS, GET(lock), 0x01, 0x5c, 0x58, 0x57, ENTER), "");
    CHECK_STRING(NAME(8, 0, THIS, GET(lock), 0x01, 0x5c, 0x58, 0x57, ENTER), "Inventory.lock");
    CHECK_STRING(NAME(9, 0, 0x01, THIS, GET(lock), 0x01, 0x5d, 0x58, 0x57, ENTER), "");
    CHECK_STRING(NAME(10, 0, 0x01, THIS, GET(lock), 0x01, 0x5d, 0x58, 0x57, 0x57, ENTER),
                 "Inventory.lock");
    CHECK_STRING(NAME(10, 0, 0x09, THIS, GET(lock), 0x01, 0x5e, 0x58, 0x58, 0x57, ENTER),
                 "Inventory.lock");
}

TEST(variables_assigned_once) {
    CHECK_STRING(NAME(6, 0, THIS, GET(lock), 0x4c, 0x2b, ENTER, RETURN), "Inventory.lock");
    CHECK_STRING(NAME(12, 0, THIS, GET(lock), 0xc4, 58, 0, 9, 0xc4, 25, 0, 9, ENTER),
                 "Inventory.lock");
    CHECK_STRING(NAME(8, 0, THIS, GET(lock), 0x4c, 0x01, 0x4c, 0x2b, ENTER, RETURN), "");
    CHECK_STRING(NAME(8, 0, THIS, GET(lock), 0x4c, 0x09, 0x3f, 0x2b, ENTER, RETURN),
                 ""); // lstore_0 also overwrites 1
    CHECK_STRING(NAME(6, 0, THIS, GET(lock), 0x4b, THIS, ENTER, RETURN), ""); // a parameter
    // A loop: the variable stays the same, the operand stack is unknown.
    CHECK_STRING(NAME(6, 0, THIS, GET(lock), 0x4c, 0x2b, ENTER, 0xa7, 0xff, 0xfe),
                 "Inventory.lock");
}

// cond ? a : b on the operand stack.
TEST(branches_meet) {
    // iload_1; ifeq +8; this.lock; goto +5; this.lock; monitorenter
    CHECK_STRING(
        NAME(15, 0, 0x1b, 0x99, 0, 10, THIS, GET(lock), 0xa7, 0, 7, THIS, GET(lock), ENTER),
        "Inventory.lock");
    CHECK_STRING(
        NAME(15, 0, 0x1b, 0x99, 0, 10, THIS, GET(lock), 0xa7, 0, 7, THIS, GET(array), ENTER), "");
    // The receiver is below: lock.tryLock(cond ? 1 : 2, null)
    CHECK_STRING(NAME(14, CALLED, THIS, GET(lock), 0x1b, 0x99, 0, 7, 0x0a, 0xa7, 0, 4, 0x09, 0x01,
                      CALL(try_lock)),
                 "Inventory.lock");
    // After a return comes an exception handler, whose stack is unknown.
    CHECK_STRING(NAME(5, 0, THIS, GET(lock), 0xb0, ENTER, RETURN), "");
}

// jsr, jsr_w: the subroutine stores the address to return to.
TEST(subroutines_begin_with_an_address) {
    CHECK_STRING(NAME(8, 0, THIS, GET(lock), 0xa8, 0, 3, 0x4c, ENTER, RETURN), "Inventory.lock");
    CHECK_STRING(NAME(10, 0, THIS, GET(lock), 0xc9, 0, 0, 0, 5, 0x4c, ENTER, RETURN),
                 "Inventory.lock");
    CHECK_STRING(NAME(7, 0, THIS, GET(lock), 0xa8, 0, 3, ENTER, RETURN), "");
}

TEST(switches_are_aligned) {
    // lookupswitch of one pair at 1, tableswitch of two targets at 20, then this.lock at 44.
    const uint8_t code[] = {
        0x1b, 0xab, 0, 0,  0,    0,    0, 19, 0, 0, 0, 1,  0,    0,         0,     7,
        0,    0,    0, 19, 0x1b, 0xaa, 0, 0,  0, 0, 0, 23, 0,    0,         0,     5,
        0,    0,    0, 6,  0,    0,    0, 23, 0, 0, 0, 23, THIS, GET(lock), ENTER, RETURN,
    };
    CHECK_STRING(name_of(code, sizeof code, 48, 0), "Inventory.lock");
}

TEST(long_names_and_methods_are_left_out) {
    static uint8_t code[9000];
    code[8001] = THIS;
    CHECK_STRING(name_of(code, sizeof code, 8005, 0), "");
    char text[301];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    uint16_t huge = member(FIELD, "A", text, "LB;");
    text[254] = '\0';
    uint16_t fits = member(FIELD, "A", text, "LB;");
    CHECK_STRING(NAME(4, 0, THIS, 0xb4, (uint8_t)(huge >> 8), (uint8_t)huge, ENTER), "");
    CHECK_INT(strlen(NAME(4, 0, THIS, 0xb4, (uint8_t)(fits >> 8), (uint8_t)fits, ENTER)), 256);
}

static uint32_t next(uint64_t *seed) {
    *seed = *seed * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(*seed >> 33);
}

// The sanitizers find any access outside of the bytes.
TEST(any_bytes_are_safe) {
    uint64_t seed = 1;
    for (int i = 0; i < 200000; i++) {
        size_t size = 1 + next(&seed) % 40;
        uint8_t *code = malloc(size); // so that its end is guarded
        char name[WEFT_RECEIVER_MAX];
        for (size_t k = 0; k < size; k++) {
            code[k] = (uint8_t)(next(&seed) % 3 == 0 ? next(&seed) % 8 : 170 + next(&seed) % 32);
        }
        code[size - 1] = ENTER;
        struct weft_constants constants;
        struct weft_code c = {.bytes = code, .size = (uint32_t)size, .constants = &constants};
        weft_constants_open(&constants, pool, pool_len, pool_count);
        weft_receiver_name(&c, (uint32_t)size - 1 + (i & 1), WEFT_USE_MONITOR, name);
        weft_receiver_name(&c, next(&seed) % 50, WEFT_USE_CALL, name);
        weft_constants_close(&constants);
        free(code);
    }
}

TEST(torn_pools_are_refused) {
    for (size_t len = 0; len < pool_len; len++) {
        uint8_t *torn = malloc(len + 1);
        struct weft_constants constants;
        struct weft_member m;
        memcpy(torn, pool, len);
        bool whole = weft_constants_open(&constants, torn, len, pool_count);
        CHECK(!whole);
        for (unsigned i = 0; !whole && constants.offsets != NULL && i <= pool_count; i++) {
            weft_constants_member(&constants, (uint16_t)i, &m);
        }
        weft_constants_close(&constants);
        free(torn);
    }
}

int main(void) {
    build_pool();
    RUN(monitors_at_both_locations);
    RUN(what_has_no_name);
    RUN(fields_of_other_objects);
    RUN(receivers_of_calls);
    RUN(calls_that_start_tasks);
    RUN(monitors_and_calls_are_told_apart);
    RUN(operands_are_moved);
    RUN(variables_assigned_once);
    RUN(branches_meet);
    RUN(subroutines_begin_with_an_address);
    RUN(switches_are_aligned);
    RUN(long_names_and_methods_are_left_out);
    RUN(any_bytes_are_safe);
    RUN(torn_pools_are_refused);
    return harness_end("receiver");
}
