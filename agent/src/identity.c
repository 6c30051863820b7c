// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which object, class and method is this? See identity.h.

#include "identity.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "definitions.h"
#include "filter.h"
#include "jvm.h"
#include "names.h"
#include "recent.h"

// Open addressing; an entry is complete once its id is not 0, and never changes afterwards.
enum { KINDS_ROOM = 32 };
enum { CLASS_SLOTS = 1 << 14, METHOD_SLOTS = 1 << 17, MAX_PROBES = 64 };

static struct {
    _Atomic uint32_t id;
    uint32_t hash;
    jweak class;
} classes[CLASS_SLOTS];

static struct {
    _Atomic uint32_t id;
    jmethodID method;
} methods[METHOD_SLOTS];

// Classes of which a snapshot knows the name only. They have ids of their own: a reader takes ids
// of one name for one class.
enum { MAX_NAMED = 512 };
static struct {
    char *name;
    uint32_t id;
} named[MAX_NAMED];
static uint32_t named_count;

// Of each class by its id: the name, what its objects are, and whether the filter wants them, twice
// the generation of the filter and 1 if it does not.
static struct {
    char *name;
    unsigned traits;
    atomic_uint verdict;
} about[CLASS_SLOTS];

// Guards additions to the tables. Who holds it asks the JVM, which may suspend him meanwhile, for
// as long as a debugger likes: so nobody waits for long. What is new has no id then.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
enum { LOCK_PATIENCE_NS = 50000000 };
static uint32_t class_count;
static uint32_t method_count;

static bool lock(void) {
    struct timespec until;
    if (pthread_mutex_trylock(&mutex) == 0) {
        return true;
    }
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LOCK_PATIENCE_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return pthread_mutex_timedlock(&mutex, &until) == 0;
}

static uint32_t hash_of(jobject object) {
    jint hash = 0;
    if ((*weft_jvm.ti)->GetObjectHashCode(weft_jvm.ti, object, &hash) != JVMTI_ERROR_NONE) {
        return 0;
    }
    return (uint32_t)hash;
}

static bool is_kind_of(JNIEnv *env, jclass class, jclass super) {
    return super != NULL && (*env)->IsAssignableFrom(env, class, super);
}

static unsigned traits_of(JNIEnv *env, jclass class) {
    return (is_kind_of(env, class, weft_jvm.thread) ? WEFT_THREAD : 0U) |
           (is_kind_of(env, class, weft_jvm.ownable) ? WEFT_OWNABLE : 0U);
}

bool weft_is_a(JNIEnv *env, jobject object, uint32_t class_id, enum weft_trait trait) {
    if (class_id != 0) {
        return (about[class_id].traits & trait) != 0;
    }
    jclass class = trait == WEFT_THREAD ? weft_jvm.thread : weft_jvm.ownable;
    return class != NULL && (*env)->IsInstanceOf(env, object, class);
}

static uint32_t define_class(JNIEnv *env, jclass class, uint32_t hash, uint32_t slot) {
    char *signature = NULL;
    uint32_t id = 0;
    struct weft_bytes frame = {0};
    if (class_count >= CLASS_SLOTS / 4 * 3 ||
        (*weft_jvm.ti)->GetClassSignature(weft_jvm.ti, class, &signature, NULL) !=
            JVMTI_ERROR_NONE) {
        return 0;
    }
    const char *name = weft_binary_name(signature); // in its place
    weft_put_class(&frame, class_count + 1, name);
    jweak weak = (*env)->NewWeakGlobalRef(env, class);
    if (!weft_clear_exception(env) && weak != NULL && weft_definitions_append(&frame)) {
        id = ++class_count;
        about[id].name = strdup(name); // NULL: it has none
        about[id].traits = traits_of(env, class);
        classes[slot].hash = hash;
        classes[slot].class = weak;
        atomic_store_explicit(&classes[slot].id, id, memory_order_release);
    } else if (weak != NULL) {
        (*env)->DeleteWeakGlobalRef(env, weak);
    }
    weft_bytes_free(&frame);
    weft_deallocate(signature);
    return id;
}

// Looks a class up; returns its id, or 0; and the slot at which the search ended.
static uint32_t find_class(JNIEnv *env, jclass class, uint32_t hash, uint32_t *slot) {
    uint32_t at = hash % CLASS_SLOTS;
    for (int probe = 0; probe < MAX_PROBES; probe++, at = (at + 1) % CLASS_SLOTS) {
        uint32_t id = atomic_load_explicit(&classes[at].id, memory_order_acquire);
        if (id == 0) {
            *slot = at;
            return 0;
        }
        if (classes[at].hash == hash && (*env)->IsSameObject(env, classes[at].class, class)) {
            *slot = at;
            return id;
        }
    }
    *slot = CLASS_SLOTS;
    return 0;
}

uint32_t weft_class_id(JNIEnv *env, jclass class) {
    uint32_t hash = hash_of(class);
    uint32_t slot;
    uint32_t id = find_class(env, class, hash, &slot);
    if (id == 0 && slot != CLASS_SLOTS && lock()) {
        id = find_class(env, class, hash, &slot);
        if (id == 0 && slot != CLASS_SLOTS) {
            id = define_class(env, class, hash, slot);
        }
        pthread_mutex_unlock(&mutex);
    }
    return id;
}

uint32_t weft_class_id_by_name(const char *name) {
    uint32_t id = 0;
    if (!lock()) {
        return 0;
    }
    for (uint32_t i = 0; i < named_count && id == 0; i++) {
        id = strcmp(named[i].name, name) == 0 ? named[i].id : 0;
    }
    char *copy = id == 0 && named_count < MAX_NAMED ? strdup(name) : NULL;
    if (copy != NULL && class_count < CLASS_SLOTS / 4 * 3) {
        struct weft_bytes frame = {0};
        weft_utf8(copy);
        weft_put_class(&frame, class_count + 1, copy);
        if (weft_definitions_append(&frame)) {
            id = ++class_count;
            named[named_count].name = copy;
            named[named_count++].id = id;
            about[id].name = copy;
            copy = NULL;
        }
        weft_bytes_free(&frame);
    }
    pthread_mutex_unlock(&mutex);
    free(copy);
    return id;
}

bool weft_class_wanted(uint32_t class_id) {
    if (!atomic_load_explicit(&weft_filter.locks, memory_order_relaxed)) {
        return true;
    }
    unsigned generation = atomic_load(&weft_filter.generation) << 1;
    unsigned verdict = atomic_load_explicit(&about[class_id].verdict, memory_order_relaxed);
    if ((verdict & ~1U) != generation) {
        const char *name = about[class_id].name;
        verdict = generation | (weft_filter_lock(name == NULL ? "" : name) ? 0 : 1);
        atomic_store_explicit(&about[class_id].verdict, verdict, memory_order_relaxed);
    }
    return (verdict & 1) == 0;
}

void weft_identify(JNIEnv *env, jobject object, struct weft_record *record, bool hashed) {
    if (weft_recent_find(env, object, record)) {
        record->hash = hashed ? record->hash : 0;
        return;
    }
    bool due = weft_recent_due(record->kind);
    uint32_t object_hash = hashed || due ? hash_of(object) : 0;
    record->hash = hashed ? object_hash : 0;
    // A thread often waits for the same again: then its class need not be looked for.
    static __thread uint32_t lately[KINDS_ROOM];
    jclass class = (*env)->GetObjectClass(env, object);
    uint32_t slot = lately[record->kind % KINDS_ROOM];
    uint32_t id = atomic_load_explicit(&classes[slot].id, memory_order_acquire);
    if (id == 0 || !(*env)->IsSameObject(env, classes[slot].class, class)) {
        uint32_t hash = hash_of(class);
        id = find_class(env, class, hash, &slot);
        if (id != 0) {
            lately[record->kind % KINDS_ROOM] = slot;
        } else {
            id = weft_class_id(env, class);
        }
    }
    record->class_id = id;
    (*env)->DeleteLocalRef(env, class);
    if (due) {
        weft_recent_look(env, object, record->kind, object_hash, id);
    }
}

static int by_start(const void *left, const void *right) {
    const struct weft_line *a = left;
    const struct weft_line *b = right;
    return a->start < b->start ? -1 : a->start > b->start;
}

static uint16_t line_table(jmethodID method, struct weft_line **lines) {
    jint count = 0;
    jvmtiLineNumberEntry *entries = NULL;
    *lines = NULL;
    if ((*weft_jvm.ti)->GetLineNumberTable(weft_jvm.ti, method, &count, &entries) !=
        JVMTI_ERROR_NONE) {
        return 0;
    }
    uint16_t taken = count > UINT16_MAX ? UINT16_MAX : (uint16_t)count;
    struct weft_line *table = malloc(((size_t)taken + 1) * sizeof *table);
    if (table == NULL) {
        taken = 0;
    }
    bool ascending = true; // compilers write it so nearly always
    for (uint16_t i = 0; i < taken; i++) {
        table[i] = (struct weft_line){(uint32_t)entries[i].start_location,
                                      (uint32_t)entries[i].line_number};
        ascending = ascending && (i == 0 || table[i - 1].start <= table[i].start);
    }
    if (!ascending) {
        qsort(table, taken, sizeof *table, by_start);
    }
    weft_deallocate(entries);
    *lines = table;
    return taken;
}

static uint32_t define_method(JNIEnv *env, jmethodID method, uint32_t class_id, jclass class,
                              uint32_t slot) {
    jvmtiEnv *ti = weft_jvm.ti;
    char *name = NULL;
    char *signature = NULL;
    char *file = NULL;
    struct weft_line *lines = NULL;
    struct weft_bytes frame = {0};
    uint32_t id = 0;
    (void)env;
    if (method_count < METHOD_SLOTS / 4 * 3 &&
        (*ti)->GetMethodName(ti, method, &name, &signature, NULL) == JVMTI_ERROR_NONE) {
        if ((*ti)->GetSourceFileName(ti, class, &file) != JVMTI_ERROR_NONE) {
            file = NULL;
        } else {
            weft_utf8(file);
        }
        uint16_t count = line_table(method, &lines);
        weft_utf8(name);
        weft_utf8(signature);
        weft_put_method(&frame, method_count + 1, class_id, name, signature, file, lines, count);
        if (weft_definitions_append(&frame)) {
            id = ++method_count;
            methods[slot].method = method;
            atomic_store_explicit(&methods[slot].id, id, memory_order_release);
        }
    }
    weft_bytes_free(&frame);
    free(lines);
    weft_deallocate(name);
    weft_deallocate(signature);
    weft_deallocate(file);
    return id;
}

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

uint32_t weft_method_id(JNIEnv *env, jmethodID method) {
    uint32_t slot;
    uint32_t id = find_method(method, &slot);
    if (id != 0 || slot == METHOD_SLOTS) {
        return id;
    }
    jclass class = NULL;
    if ((*weft_jvm.ti)->GetMethodDeclaringClass(weft_jvm.ti, method, &class) != JVMTI_ERROR_NONE) {
        return 0;
    }
    uint32_t class_id = weft_class_id(env, class);
    if (class_id != 0 && lock()) {
        id = find_method(method, &slot);
        if (id == 0 && slot != METHOD_SLOTS) {
            id = define_method(env, method, class_id, class, slot);
        }
        pthread_mutex_unlock(&mutex);
    }
    (*env)->DeleteLocalRef(env, class);
    return id;
}
