// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests which frame names the lock. The JVM is simulated.

#include "record/lock_names.h"

#include "harness.h"
#include "hotspot/jvm.h"

// A class and its only method, whose code is the same for all: lock.lock().
struct class {
    const char *signature;
};

static struct class unsafe = {"Ljdk/internal/misc/Unsafe;"};
static struct class support = {"Ljava/util/concurrent/locks/LockSupport;"};
static struct class future = {"Ljava/util/concurrent/FutureTask;"};
static struct class executor = {"Ljava/util/concurrent/AbstractExecutorService;"};
static struct class client = {"Ljdk/internal/net/http/HttpClientFacade;"};
static struct class map = {"Ljava/util/concurrent/ConcurrentHashMap;"};
static struct class internal = {"Ljdk/internal/misc/InternalLock;"};
static struct class inventory = {"Lcom/acme/Inventory;"};

enum { LOCK_FIELD = 6, LOCK_METHOD = 9, CALL_AT = 4, CONSTANTS = 10 };

static const unsigned char code[] = {0x2a, 0xb4, 0, LOCK_FIELD, 0xb9, 0, LOCK_METHOD, 1, 0, 0xb1};

// Texts, the class, the field and the method.
static const unsigned char pool[] = "\1\0\x12"
                                    "com/acme/Inventory"
                                    "\7\0\1"
                                    "\1\0\4"
                                    "lock"
                                    "\1\0\6"
                                    "LLock;"
                                    "\14\0\3\0\4"
                                    "\11\0\2\0\5"
                                    "\1\0\3"
                                    "()V"
                                    "\14\0\3\0\7"
                                    "\13\0\2\0\10";

static unsigned read; // times the code was read

static jvmtiError copy(const void *bytes, size_t size, unsigned char **to) {
    *to = malloc(size);
    memcpy(*to, bytes, size);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL add_capabilities(jvmtiEnv *ti, const jvmtiCapabilities *wanted) {
    (void)ti;
    (void)wanted;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL declaring_class(jvmtiEnv *ti, jmethodID method, jclass *class) {
    (void)ti;
    *class = (jclass)method;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL signature(jvmtiEnv *ti, jclass class, char **text, char **generic) {
    const char *s = ((const struct class *)class)->signature;
    (void)ti;
    (void)generic;
    return copy(s, strlen(s) + 1, (unsigned char **)text);
}

static jvmtiError JNICALL obsolete(jvmtiEnv *ti, jmethodID method, jboolean *is) {
    (void)ti;
    (void)method;
    *is = JNI_FALSE;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL modifiers(jvmtiEnv *ti, jmethodID method, jint *flags) {
    (void)ti;
    (void)method;
    *flags = 0;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL arguments(jvmtiEnv *ti, jmethodID method, jint *slots) {
    (void)ti;
    (void)method;
    *slots = 1;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL bytecodes(jvmtiEnv *ti, jmethodID method, jint *size,
                                    unsigned char **to) {
    (void)ti;
    (void)method;
    read++;
    *size = sizeof code;
    return copy(code, sizeof code, to);
}

static jvmtiError JNICALL constants(jvmtiEnv *ti, jclass class, jint *count, jint *size,
                                    unsigned char **to) {
    (void)ti;
    (void)class;
    *count = CONSTANTS;
    *size = sizeof pool - 1;
    return copy(pool, sizeof pool - 1, to);
}

static jvmtiError JNICALL deallocate(jvmtiEnv *ti, unsigned char *memory) {
    (void)ti;
    free(memory);
    return JVMTI_ERROR_NONE;
}

static void JNICALL delete_local(JNIEnv *env, jobject object) {
    (void)env;
    (void)object;
}

void *weft_vmstructs_libjvm(void) {
    return NULL;
}

static const jvmtiInterface_1 tools = {.AddCapabilities = add_capabilities,
                                       .GetMethodDeclaringClass = declaring_class,
                                       .GetClassSignature = signature,
                                       .IsMethodObsolete = obsolete,
                                       .GetMethodModifiers = modifiers,
                                       .GetArgumentsSize = arguments,
                                       .GetBytecodes = bytecodes,
                                       .GetConstantPool = constants,
                                       .Deallocate = deallocate};
static const struct JNINativeInterface_ natives = {.DeleteLocalRef = delete_local};
static jvmtiEnv ti = &tools;
static JNIEnv env = &natives;

static const char *name_of(const jvmtiFrameInfo *frames, jint count, unsigned frame) {
    static char name[WEFT_RECEIVER_MAX];
    struct weft_named_lock lock = weft_lock_names_find(&env, frames, count, name);
    CHECK_INT(lock.frame, frame);
    return name;
}

// The owner of a lock may be about to take another one, for which others park.
TEST(a_place_of_a_running_thread_still_names_a_lock) {
    const jvmtiFrameInfo frames[] = {
        {(jmethodID)&unsafe, -1}, {(jmethodID)&support, 0}, {(jmethodID)&inventory, CALL_AT}};
    for (int i = 0; i < 2; i++) {
        CHECK_STRING(name_of(frames + 2, 1, 0), "");
        CHECK_STRING(name_of(frames, 3, 2), "Inventory.lock");
    }
    CHECK_INT(read, 2); // once for each use
}

// Of a future only who calls its method knows the name. The receiver of another call is not
// awaited.
TEST(the_receiver_of_an_indirect_wait_names_nothing) {
    const struct {
        struct class *called;
        const char *name;
    } cases[] = {
        {&future, "Inventory.lock"},
        {&internal, "Inventory.lock"},
        {&executor, ""},
        {&client, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const jvmtiFrameInfo frames[] = {{(jmethodID)&unsafe, -1},
                                         {(jmethodID)&support, 0},
                                         {(jmethodID)&future, 0},
                                         {(jmethodID)cases[i].called, 0},
                                         {(jmethodID)&inventory, CALL_AT}};
        CHECK_STRING(name_of(frames, 5, 4), cases[i].name);
    }
}

// A ConcurrentHashMap has many locks, of which the program knows none.
TEST(a_map_names_its_locks) {
    enum { BLOCKS_AT = 2 };
    const jvmtiFrameInfo frames[] = {{(jmethodID)&map, BLOCKS_AT},
                                     {(jmethodID)&map, BLOCKS_AT},
                                     {(jmethodID)&inventory, CALL_AT}};
    CHECK_STRING(name_of(frames, 3, 2), "Inventory.lock");
}

int main(void) {
    weft_jvm.ti = &ti;
    weft_lock_names_init(&ti);
    RUN(a_place_of_a_running_thread_still_names_a_lock);
    RUN(the_receiver_of_an_indirect_wait_names_nothing);
    RUN(a_map_names_its_locks);
    return harness_end("lock_names");
}
