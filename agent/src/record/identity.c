// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/identity.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hotspot/jvm.h"
#include "options/filter.h"
#include "record/class_objects.h"
#include "record/definitions.h"
#include "record/object_cache.h"
#include "wire/names.h"

// Open addressing; an entry is complete once its id is not 0, and then immutable.
enum { KINDS_ROOM = 32 };
enum { CLASS_SLOTS = 1 << 14, MAX_PROBES = 64 };
enum { CLASS_LIMIT = CLASS_SLOTS / 4 * 3 };

static struct {
    _Atomic uint32_t id;
    uint32_t hash;
    jweak class;
} classes[CLASS_SLOTS];

// Classes of which a snapshot knows only the name. They have their own ids: readers treat ids with
// equal names as one class.
enum { MAX_NAMED = 512 };
static struct {
    char *name;
    uint32_t id;
} named[MAX_NAMED];
static uint32_t named_count;

// By class id: the name, the traits of its objects, and the filter's verdict: twice the filter's
// generation, plus 1 if unwanted.
static struct {
    char *name;
    unsigned traits;
    atomic_uint verdict;
} about[CLASS_SLOTS];

// Guards additions to the tables. Its holder makes no JVM calls, which may suspend the thread as
// long as a debugger likes; it gathers what an addition needs beforehand.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t class_count;

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
    jclass ownable = weft_jvm_loaded(env, &weft_jvm.ownable);
    jclass read_write = weft_jvm_loaded(env, &weft_jvm.read_write);
    jclass task = weft_jvm_loaded(env, &weft_jvm.task);
    return (is_kind_of(env, class, weft_jvm.thread) ? WEFT_THREAD : 0U) |
           (is_kind_of(env, class, ownable) ? WEFT_OWNABLE : 0U) |
           (is_kind_of(env, class, read_write) ? WEFT_READ_WRITE : 0U) |
           (is_kind_of(env, class, task) ? WEFT_TASK : 0U) |
           (is_kind_of(env, class, weft_jvm.mirror) ? WEFT_MIRROR : 0U);
}

bool weft_identity_is_a(JNIEnv *env, jobject object, uint32_t class_id, enum weft_trait trait) {
    if (class_id != 0) {
        return (about[class_id].traits & trait) != 0;
    }
    struct weft_late_class *late = trait == WEFT_OWNABLE      ? &weft_jvm.ownable
                                   : trait == WEFT_READ_WRITE ? &weft_jvm.read_write
                                                              : &weft_jvm.task;
    jclass class = trait == WEFT_THREAD ? weft_jvm.thread : weft_jvm_loaded(env, late);
    return class != NULL && (*env)->IsInstanceOf(env, object, class);
}

// Looks up a class; returns its id, or 0, and the slot where the search ended.
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

// What the JVM knows about a class.
struct description {
    jweak class; // NULL: not fetched yet
    char *signature;
    const char *name; // part of the signature
    unsigned traits;
};

// False on failure.
static bool describe(JNIEnv *env, jclass class, struct description *d) {
    if (d->class != NULL) {
        return true;
    }
    if ((*weft_jvm.ti)->GetClassSignature(weft_jvm.ti, class, &d->signature, NULL) !=
        JVMTI_ERROR_NONE) {
        d->signature = NULL;
        return false;
    }
    d->name = weft_names_binary(d->signature); // in place
    d->traits = traits_of(env, class);
    d->class = (*env)->NewWeakGlobalRef(env, class);
    weft_jvm_clear_exception(env);
    return d->class != NULL;
}

// Returns the id of a new class, or 0. The caller holds the mutex, and counts the class once it can
// be found.
static uint32_t define(const char *name) {
    struct weft_bytes frame = {0};
    uint32_t id = atomic_load_explicit(&class_count, memory_order_relaxed) + 1;
    if (id > CLASS_LIMIT) {
        return 0;
    }
    weft_wire_put_class(&frame, id, name);
    if (!weft_definitions_append(&frame)) {
        id = 0;
    }
    weft_bytes_free(&frame);
    return id;
}

// Adds the class if there is an id for it. The caller holds the mutex.
static uint32_t add_class(struct description *d, uint32_t hash, uint32_t slot) {
    uint32_t id = define(d->name);
    if (id != 0) {
        about[id].name = strdup(d->name); // NULL: unnamed
        about[id].traits = d->traits;
        classes[slot].hash = hash;
        classes[slot].class = d->class;
        atomic_store_explicit(&classes[slot].id, id, memory_order_release);
        atomic_store_explicit(&class_count, id, memory_order_release);
        d->class = NULL;
    }
    return id;
}

uint32_t weft_identity_class(JNIEnv *env, jclass class) {
    uint32_t hash = hash_of(class);
    struct description new = {0};
    uint32_t slot;
    uint32_t id = 0;
    bool sure = false;
    while (!sure) {
        uint32_t known = atomic_load_explicit(&class_count, memory_order_acquire);
        id = find_class(env, class, hash, &slot);
        sure =
            id != 0 || slot == CLASS_SLOTS || known >= CLASS_LIMIT || !describe(env, class, &new);
        if (!sure) {
            pthread_mutex_lock(&mutex);
            sure = atomic_load_explicit(&class_count, memory_order_relaxed) == known;
            id = sure ? add_class(&new, hash, slot)
                      : 0; // otherwise another thread may have added it
            pthread_mutex_unlock(&mutex);
        }
    }
    if (new.class != NULL) {
        (*env)->DeleteWeakGlobalRef(env, new.class);
    }
    weft_jvm_deallocate(new.signature);
    return id;
}

// Defines a class object that is used as a lock, and returns its id; 0 on failure.
static uint32_t add_mirror(JNIEnv *env, jclass object, uint32_t hash) {
    struct description d = {0};
    uint32_t id = 0;
    char *name = NULL;
    if (describe(env, object, &d) && asprintf(&name, "%s<%s>", WEFT_NAMES_MIRROR, d.name) >= 0) {
        pthread_mutex_lock(&mutex);
        id = weft_class_objects_have_room() ? define(name) : 0;
        if (id != 0) {
            about[id].name = name;
            name = NULL;
            weft_class_objects_add(d.class, hash, id);
            d.class = NULL;
            atomic_store_explicit(&class_count, id, memory_order_release);
        }
        pthread_mutex_unlock(&mutex);
        free(name);
    }
    if (d.class != NULL) {
        (*env)->DeleteWeakGlobalRef(env, d.class);
    }
    weft_jvm_deallocate(d.signature);
    return id;
}

// The id of a class object; otherwise that of all class objects. Two threads may define it at the
// same time: readers treat ids with equal names as one class.
static uint32_t mirror(JNIEnv *env, jobject object, uint32_t hash, uint32_t otherwise) {
    uint32_t id = weft_class_objects_find(env, object, hash);
    if (id == 0 && weft_class_objects_have_room()) {
        id = add_mirror(env, object, hash);
    }
    return id != 0 ? id : otherwise;
}

// Looks through the loaded classes for a class object; 0 if it cannot be defined.
static uint32_t find_mirror(JNIEnv *env, uint32_t hash) {
    // The last hash that no loaded class has, as that of int.class: it takes long to find that out.
    static _Atomic uint32_t missed;
    jint count = 0;
    jclass *loaded = NULL;
    uint32_t id = 0;
    bool found = false;
    if (hash == atomic_load_explicit(&missed, memory_order_relaxed) || weft_definitions_full() ||
        !weft_class_objects_have_room() ||
        (*weft_jvm.ti)->GetLoadedClasses(weft_jvm.ti, &count, &loaded) != JVMTI_ERROR_NONE) {
        return 0;
    }
    for (jint i = 0; i < count; i++) {
        if (id == 0 && hash_of(loaded[i]) == hash) {
            found = true;
            id = add_mirror(env, loaded[i], hash);
        }
        (*env)->DeleteLocalRef(env, loaded[i]);
    }
    weft_jvm_deallocate(loaded);
    if (!found) {
        atomic_store_explicit(&missed, hash, memory_order_relaxed);
    }
    return id;
}

uint32_t weft_identity_mirror_by_hash(JNIEnv *env, uint32_t hash) {
    uint32_t id = weft_class_objects_find_hash(hash);
    if (id == 0) {
        id = find_mirror(env, hash);
    }
    return id != 0 ? id : weft_identity_class_by_name(WEFT_NAMES_MIRROR);
}

uint32_t weft_identity_class_by_name(const char *name) {
    uint32_t id = 0;
    pthread_mutex_lock(&mutex);
    for (uint32_t i = 0; i < named_count && id == 0; i++) {
        id = strcmp(named[i].name, name) == 0 ? named[i].id : 0;
    }
    char *copy = id == 0 && named_count < MAX_NAMED ? strdup(name) : NULL;
    if (copy != NULL) {
        weft_names_utf8(copy);
        id = define(copy);
        if (id != 0) {
            named[named_count].name = copy;
            named[named_count++].id = id;
            about[id].name = copy;
            atomic_store_explicit(&class_count, id, memory_order_release);
            copy = NULL;
        }
    }
    pthread_mutex_unlock(&mutex);
    free(copy);
    return id;
}

uint32_t weft_identity_define(const char *name) {
    pthread_mutex_lock(&mutex);
    uint32_t id = define(name);
    if (id != 0) {
        atomic_store_explicit(&class_count, id, memory_order_release);
    }
    pthread_mutex_unlock(&mutex);
    return id;
}

bool weft_identity_class_wanted(uint32_t class_id) {
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

void weft_identity_fill(JNIEnv *env, jobject object, struct weft_record *record, bool hashed) {
    if (weft_object_cache_find(env, object, record)) {
        record->hash = hashed ? record->hash : 0;
        return;
    }
    bool due = weft_object_cache_due(record->kind);
    uint32_t object_hash = hashed || due ? hash_of(object) : 0;
    record->hash = hashed ? object_hash : 0;
    // Threads often wait at objects of the same class.
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
            id = weft_identity_class(env, class);
        }
    }
    if ((about[id].traits & WEFT_MIRROR) != 0) {
        id = mirror(env, object, object_hash != 0 ? object_hash : hash_of(object), id);
    }
    record->class_id = id;
    (*env)->DeleteLocalRef(env, class);
    if (due) {
        weft_object_cache_note(env, object, record->kind, object_hash, id);
    }
}
