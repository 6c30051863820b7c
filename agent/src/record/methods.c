// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/methods.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "hotspot/jvm.h"
#include "record/definitions.h"
#include "record/identity.h"
#include "record/line_table.h"
#include "wire/names.h"

// Open addressing; an entry is complete once its id is not 0, and then immutable.
enum { METHOD_SLOTS = 1 << 17, MAX_PROBES = 64 };
enum { METHOD_LIMIT = METHOD_SLOTS / 4 * 3 };

static struct {
    _Atomic uint32_t id;
    jmethodID method;
} methods[METHOD_SLOTS];

// Guards additions. Its holder makes no JVM calls, as in identity.c.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t method_count;

static uint32_t find_method(jmethodID method, uint32_t *slot) {
    uint32_t at = (uint32_t)(((uintptr_t)method >> 3) * 0x9E3779B97F4A7C15ULL >> 40) % METHOD_SLOTS;
    for (int probe = 0; probe < MAX_PROBES; probe++, at = (at + 1) % METHOD_SLOTS) {
        uint32_t id = atomic_load_explicit(&methods[at].id, memory_order_acquire);
        if (id == 0 || methods[at].method == method) {
            *slot = at;
            return id;
        }
    }
    *slot = METHOD_SLOTS;
    return 0;
}

// The caller must not hold the mutex.
static uint32_t define_method(jmethodID method, uint32_t class_id, jclass class) {
    jvmtiEnv *ti = weft_jvm.ti;
    char *name = NULL;
    char *signature = NULL;
    char *file = NULL;
    struct weft_line *lines = NULL;
    struct weft_bytes frame = {0};
    uint32_t slot;
    if ((*ti)->GetMethodName(ti, method, &name, &signature, NULL) != JVMTI_ERROR_NONE) {
        return 0;
    }
    if ((*ti)->GetSourceFileName(ti, class, &file) != JVMTI_ERROR_NONE) {
        file = NULL;
    } else {
        weft_names_utf8(file);
    }
    uint16_t count = weft_line_table(method, &lines);
    weft_names_utf8(name);
    weft_names_utf8(signature);

    pthread_mutex_lock(&mutex);
    uint32_t id = find_method(method, &slot); // another thread may have been faster
    uint32_t next = atomic_load_explicit(&method_count, memory_order_relaxed) + 1;
    if (id == 0 && slot != METHOD_SLOTS && next <= METHOD_LIMIT) {
        weft_wire_put_method(&frame, next, class_id, name, signature, file, lines, count);
        if (weft_definitions_append(&frame)) {
            id = next;
            atomic_store_explicit(&method_count, id, memory_order_relaxed);
            methods[slot].method = method;
            atomic_store_explicit(&methods[slot].id, id, memory_order_release);
        }
    }
    pthread_mutex_unlock(&mutex);
    weft_bytes_free(&frame);
    free(lines);
    weft_jvm_deallocate(name);
    weft_jvm_deallocate(signature);
    weft_jvm_deallocate(file);
    return id;
}

uint32_t weft_methods_id(JNIEnv *env, jmethodID method) {
    uint32_t slot;
    uint32_t id = find_method(method, &slot);
    if (id != 0 || slot == METHOD_SLOTS ||
        atomic_load_explicit(&method_count, memory_order_relaxed) >= METHOD_LIMIT) {
        return id;
    }
    jclass class = NULL;
    if ((*weft_jvm.ti)->GetMethodDeclaringClass(weft_jvm.ti, method, &class) != JVMTI_ERROR_NONE) {
        return 0;
    }
    uint32_t class_id = weft_identity_class(env, class);
    if (class_id != 0) {
        id = define_method(method, class_id, class);
    }
    (*env)->DeleteLocalRef(env, class);
    return id;
}
