// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests which waits for the initialization of a class are found, and that no wait of a program is
// taken for one. The JVM is simulated.

#include "hotspot/initializing.h"

#include <stddef.h>

#include "harness.h"
#include "hotspot/jvm.h"
#include "hotspot/living.h"
#include "hotspot/vmstructs.h"

enum { LINKED = 2, BEING_INITIALIZED = 3, INITIALIZED = 4 };

struct symbol {
    uint32_t header;
    uint16_t length;
    char text[300];
};

struct class {
    uintptr_t table;
    struct symbol *name;
    uint8_t state;
    struct structure *holder;
};

// Of a thread.
static struct structure {
    uintptr_t anything[3];
    uintptr_t waiting;
    struct class *class;
    uint64_t id;
    JNIEnv env;
} names, types, other;

static struct symbol text = {.length = 19, .text = "com/acme/TypeName$Adrop"};
static struct class class = {.name = &text, .state = LINKED};

static const char *absent = ""; // a field that the JVM does not export

void *weft_vmstructs_libjvm(void) {
    return NULL;
}

bool weft_vmstructs_offset(const char *type, const char *field, ptrdiff_t *offset) {
    const struct {
        const char *field;
        size_t offset;
    } fields[] = {
        {"_current_waiting_monitor", offsetof(struct structure, waiting)},
        {"_monitor_owner_id", offsetof(struct structure, id)},
        {"_init_state", offsetof(struct class, state)},
        {"_init_thread", offsetof(struct class, holder)},
        {"_name", offsetof(struct class, name)},
        {"_length", offsetof(struct symbol, length)},
        {"_body", offsetof(struct symbol, text)},
    };
    (void)type;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (strcmp(fields[i].field, field) == 0 && strcmp(absent, field) != 0) {
            *offset = (ptrdiff_t)fields[i].offset;
            return true;
        }
    }
    return false;
}

bool weft_vmstructs_size(const char *type, uint64_t *size) {
    (void)type;
    *size = sizeof(struct structure);
    return true;
}

bool weft_vmstructs_constant(const char *name, int32_t *value) {
    (void)name;
    *value = BEING_INITIALIZED;
    return true;
}

static jlong JNICALL get_long(JNIEnv *env, jobject object, jfieldID field) {
    (void)env;
    (void)object;
    (void)field;
    return (jlong)(uintptr_t)&other;
}

static void init(const char *missing) {
    static struct JNINativeInterface_ functions;
    static int field;
    functions.GetLongField = get_long;
    other.env = &functions;
    weft_jvm.eetop = (jfieldID)(void *)&field;
    absent = missing;
    weft_initializing_init(&other.env, NULL);
}

// Types initializes the class, for which names waits at a monitor.
static void begin(uintptr_t monitor) {
    class.state = BEING_INITIALIZED;
    class.holder = &types;
    names.waiting = monitor;
    names.class = &class;
}

static void end(void) {
    class.state = INITIALIZED;
    class.holder = NULL;
    names.waiting = 0;
    names.class = NULL;
}

static struct weft_initializing found[4];

static size_t find(void) {
    return weft_initializing_find(found, 4);
}

// Must be the first tests: later, it is known where the class is.
TEST(nothing_is_found_in_another_jvm) {
    static const char *const needed[] = {
        "_current_waiting_monitor", "_init_state", "_init_thread", "_name", "_length", "_body"};
    begin(0x7000);
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        init(needed[i]);
        CHECK_INT(find(), 0);
    }
    end();
    init("");
}

// A thread in Object.wait has other things in its structure: addresses of nothing, and of what
// looks like a class.
TEST(a_wait_of_the_program_is_none) {
    static struct class like[3] = {{.state = LINKED, .holder = &types},
                                   {.state = BEING_INITIALIZED, .holder = NULL},
                                   {.state = BEING_INITIALIZED, .holder = &names}};
    names.waiting = 0x1000;
    for (int i = 0; i < 3; i++) {
        names.anything[i] = (uintptr_t)&like[i];
    }
    CHECK_INT(find(), 0);
    names.waiting = 0x2000;
    names.anything[0] = 0x8;
    names.anything[1] = UINTPTR_MAX - 7;
    names.anything[2] = (uintptr_t)&like[0] + 1;
    CHECK_INT(find(), 0);
    uintptr_t structure;
    uintptr_t of;
    CHECK(!weft_initializing_self(&names.env, &structure, &of));
    names.waiting = 0;
}

// A holder that has ended, or is not listed, would be an address of anything.
TEST(a_holder_must_live) {
    begin(0x3000);
    weft_living_end((uintptr_t)&types);
    CHECK_INT(find(), 0);
    CHECK(weft_living_add((uintptr_t)&types, 8));
    CHECK_INT(find(), 0); // it is searched once
    end();
}

TEST(a_wait_for_a_class_is_found) {
    begin(0x4000);
    CHECK_INT(find(), 1);
    CHECK_INT(found[0].thread, 7);
    CHECK_INT(found[0].holder, 8);
    CHECK_STRING(found[0].name, "com.acme.TypeName$A");
    CHECK(weft_initializing_waits((uintptr_t)&names, (uintptr_t) & class));
    CHECK(!weft_initializing_waits((uintptr_t)&types, (uintptr_t) & class));
    uintptr_t structure;
    uintptr_t of;
    CHECK(weft_initializing_self(&names.env, &structure, &of));
    CHECK_INT(structure, (uintptr_t)&names);
    CHECK_INT(of, (uintptr_t) & class);
    end();
    CHECK_INT(find(), 0);
    CHECK(!weft_initializing_waits((uintptr_t)&names, (uintptr_t) & class));
}

// Follows the previous test, as do the next ones.
TEST(threads_may_wait_for_each_other) {
    static struct symbol name = {.length = 300};
    static struct class mine = {.name = &name, .state = BEING_INITIALIZED, .holder = &names};
    memset(name.text, 'a', sizeof name.text);
    begin(0x5000);
    types.class = &mine;
    CHECK_INT(find(), 2);
    CHECK_INT(found[1].thread, 8);
    CHECK_INT(found[1].holder, 7);
    CHECK_INT(strlen(found[1].name), WEFT_CLASS_NAME_MAX - 1);
    CHECK_INT(weft_initializing_find(found, 1), 1);
    types.class = NULL;
    end();
}

// The end of a wait is recorded if the wait is still known when the thread runs again.
TEST(a_thread_waits_until_it_runs_again) {
    begin(0x6000);
    class.state = INITIALIZED;
    class.holder = NULL;
    CHECK_INT(find(), 1);
    CHECK_INT(found[0].thread, 7);
    CHECK_INT(found[0].class, (uintptr_t) & class);
    CHECK_INT(found[0].holder, 0);
    end();
    CHECK_INT(find(), 0);
}

TEST(a_class_that_is_gone_has_no_holder) {
    begin(0x6000);
    names.class = (struct class *)(void *)0x10;
    CHECK_INT(find(), 1);
    CHECK_INT(found[0].holder, 0);
    names.class = &class;
    class.name = (struct symbol *)(void *)0x10;
    CHECK_INT(find(), 0);
    class.name = &text;
    CHECK_INT(find(), 1);
    end();
}

int main(void) {
    names.id = 7;
    types.id = 8;
    weft_living_add((uintptr_t)&names, 7);
    weft_living_add((uintptr_t)&types, 8);
    RUN(nothing_is_found_in_another_jvm);
    RUN(a_wait_of_the_program_is_none);
    RUN(a_holder_must_live);
    RUN(a_wait_for_a_class_is_found);
    RUN(threads_may_wait_for_each_other);
    RUN(a_thread_waits_until_it_runs_again);
    RUN(a_class_that_is_gone_has_no_holder);
    return harness_end("initializing");
}
