// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/lock_names.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hotspot/jvm.h"

enum { ACC_STATIC = 8 };

// Places that were looked at, by open addressing. Once it is full, others have no names.
enum { SLOTS = 1 << 13, LIMIT = SLOTS / 4 * 3 };

// What a place says as the topmost frame differs from what it says as the caller of another one.
struct place {
    jmethodID method; // NULL: free
    jlocation location;
    enum weft_use use;
    char *name; // NULL: none
};

static struct place places[SLOTS];
static unsigned place_count;
// Its holder makes no JVM calls, which may suspend the thread as long as a debugger likes.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static bool usable;

void weft_lock_names_init(jvmtiEnv *ti) {
    jvmtiCapabilities capabilities = {.can_get_bytecodes = 1, .can_get_constant_pool = 1};
    usable = (*ti)->AddCapabilities(ti, &capabilities) == JVMTI_ERROR_NONE;
}

// Returns the slot of a place, or the empty one to put it in; NULL if the table is full. The
// caller holds the mutex.
static struct place *find(const jvmtiFrameInfo *frame, enum weft_use use) {
    uint64_t key = (uintptr_t)frame->method ^ (uint64_t)frame->location << 32 ^ (uint64_t)use << 56;
    uint64_t h = key * 0x9E3779B97F4A7C15U;
    for (uint64_t at = h >> 51;; at = (at + 1) % SLOTS) {
        struct place *p = &places[at];
        if (p->method == frame->method && p->location == frame->location && p->use == use) {
            return p;
        }
        if (p->method == NULL) {
            return place_count < LIMIT ? p : NULL;
        }
    }
}

// Whether nothing is left to look at. If so, the name is that of the place, or empty.
static bool recall(const jvmtiFrameInfo *frame, enum weft_use use, char name[WEFT_RECEIVER_MAX]) {
    name[0] = '\0';
    pthread_mutex_lock(&mutex);
    const struct place *p = find(frame, use);
    bool known = p == NULL || p->method != NULL;
    if (p != NULL && p->name != NULL) {
        strcpy(name, p->name); // NOLINT(clang-analyzer-security.insecureAPI.strcpy): has that size
    }
    pthread_mutex_unlock(&mutex);
    return known;
}

static void keep(const jvmtiFrameInfo *frame, enum weft_use use, const char *name) {
    char *copy = name[0] == '\0' ? NULL : strdup(name);
    pthread_mutex_lock(&mutex);
    struct place *p = find(frame, use);
    if (p != NULL && p->method == NULL) {
        *p = (struct place){frame->method, frame->location, use, copy};
        place_count++;
        copy = NULL;
    }
    pthread_mutex_unlock(&mutex);
    free(copy);
}

// Reads the code of a method up to its constants; free its bytes.
static bool read_code(jmethodID method, struct weft_code *code) {
    jvmtiEnv *ti = weft_jvm.ti;
    jboolean obsolete = JNI_TRUE;
    jint modifiers = 0;
    jint parameters = 0;
    jint size = 0;
    unsigned char *bytes = NULL;
    if ((*ti)->IsMethodObsolete(ti, method, &obsolete) != JVMTI_ERROR_NONE || obsolete ||
        (*ti)->GetMethodModifiers(ti, method, &modifiers) != JVMTI_ERROR_NONE ||
        (*ti)->GetArgumentsSize(ti, method, &parameters) != JVMTI_ERROR_NONE ||
        (*ti)->GetBytecodes(ti, method, &size, &bytes) != JVMTI_ERROR_NONE) {
        return false;
    }
    *code = (struct weft_code){
        .bytes = bytes,
        .size = (uint32_t)size,
        .is_static = (modifiers & ACC_STATIC) != 0,
        .parameters = (uint16_t)parameters,
    };
    return true;
}

static void read_name(struct weft_code code, jclass class, uint32_t at, enum weft_use use,
                      char name[WEFT_RECEIVER_MAX]) {
    jvmtiEnv *ti = weft_jvm.ti;
    jint count = 0;
    jint size = 0;
    unsigned char *bytes = NULL;
    struct weft_constants constants = {0};
    if ((*ti)->GetConstantPool(ti, class, &count, &size, &bytes) != JVMTI_ERROR_NONE) {
        return;
    }
    if (weft_constants_open(&constants, bytes, (size_t)size, (uint32_t)count)) {
        code.constants = &constants;
        if (!weft_receiver_name(&code, at, use, name)) {
            name[0] = '\0';
        }
    }
    weft_constants_close(&constants);
    weft_jvm_deallocate(bytes);
}

// Names the lock that a place uses.
static void name_at(const jvmtiFrameInfo *frame, jclass class, enum weft_use use,
                    char name[WEFT_RECEIVER_MAX]) {
    struct weft_code code;
    uint32_t at = (uint32_t)frame->location;
    if (frame->location < 0 || recall(frame, use, name) || !read_code(frame->method, &code)) {
        return;
    }
    if (weft_receiver_may_use(&code, at, use)) {
        read_name(code, class, at, use, name);
    }
    weft_jvm_deallocate((void *)(uintptr_t)code.bytes);
    keep(frame, use, name);
}

enum level { PARKING, OBJECT, PROGRAM };

static bool begins(const char *signature, const char *with) {
    return strncmp(signature, with, strlen(with)) == 0;
}

// Whose code a frame is: what parks below java.util.concurrent, Object, or the program.
static enum level level_of(const char *signature) {
    static const char *const parking[] = {
        "Ljdk/internal/",           "Lsun/misc/Unsafe;",  "Ljava/util/concurrent/",
        "Ljava/lang/VirtualThread", "Ljava/lang/System$",
    };
    for (size_t i = 0; i < sizeof parking / sizeof parking[0]; i++) {
        if (begins(signature, parking[i])) {
            return PARKING;
        }
    }
    return strcmp(signature, "Ljava/lang/Object;") == 0 ? OBJECT : PROGRAM;
}

// Whether a caller of this class waits for the object whose method it calls, rather than for what
// that object waits for: the answer of an HTTP client, the tasks of an executor.
static bool is_awaited(const char *signature) {
    static const char *const others[] = {
        "Ljava/util/concurrent/AbstractExecutorService;",
        "Ljava/util/concurrent/ForkJoinPool;",
        "Ljava/util/concurrent/ThreadPerTaskExecutor;",
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strcmp(signature, others[i]) == 0) {
            return false;
        }
    }
    return !begins(signature, "Ljdk/internal/") || begins(signature, "Ljdk/internal/misc/");
}

// Whether a thread that parks or waits may have this topmost frame: a native method, or where a
// virtual thread yields. A ConcurrentHashMap blocks at one of its parts, whose name is the map's.
static bool may_park(const jvmtiFrameInfo *frame, const char *signature) {
    return frame->location < 0 || begins(signature, "Ljava/util/concurrent/ConcurrentHashMap;") ||
           begins(signature, "Ljdk/internal/vm/Continuation;") ||
           begins(signature, "Ljava/lang/VirtualThread;");
}

// The class of a frame's method, a local reference, and its signature; NULL on failure.
static jclass class_of(JNIEnv *env, const jvmtiFrameInfo *frame, char **signature) {
    jvmtiEnv *ti = weft_jvm.ti;
    jclass class = NULL;
    if ((*ti)->GetMethodDeclaringClass(ti, frame->method, &class) != JVMTI_ERROR_NONE) {
        return NULL;
    }
    if ((*ti)->GetClassSignature(ti, class, signature, NULL) != JVMTI_ERROR_NONE) {
        (*env)->DeleteLocalRef(env, class);
        return NULL;
    }
    return class;
}

// The topmost frame blocks at a monitor, or it is in a method of Object or below
// java.util.concurrent; then its caller outside of that names the lock.
struct weft_named_lock weft_lock_names_find(JNIEnv *env, const jvmtiFrameInfo *frames, jint count,
                                            char text[WEFT_RECEIVER_MAX]) {
    enum level top = PROGRAM;
    bool more = usable;
    bool awaited = true; // the object whose method the frame calls
    jint i = 0;
    text[0] = '\0';
    for (; more && i < count; i++) {
        char *signature = NULL;
        jclass class = class_of(env, &frames[i], &signature);
        if (class == NULL) {
            break;
        }
        enum level level = level_of(signature);
        if (i == 0) {
            name_at(&frames[0], class, WEFT_USE_MONITOR, text);
            top = level;
            more = text[0] == '\0' && top != PROGRAM && may_park(&frames[0], signature);
        } else if (level != top) {
            if (awaited) {
                name_at(&frames[i], class, WEFT_USE_CALL, text);
            }
            more = false;
        }
        awaited = is_awaited(signature);
        weft_jvm_deallocate(signature);
        (*env)->DeleteLocalRef(env, class);
    }
    return (struct weft_named_lock){text, (uint16_t)(i == 0 ? 0 : i - 1)};
}
