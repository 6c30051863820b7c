// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "hotspot/jvm.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "hotspot/vmstructs.h"

struct weft_jvm weft_jvm = {
    .carrier.name = "jdk/internal/misc/CarrierThread",
    .interrupted.name = "java/lang/InterruptedException",
    .ownable.name = "java/util/concurrent/locks/AbstractOwnableSynchronizer",
    .read_write.name = "java/util/concurrent/locks/ReentrantReadWriteLock$Sync",
    .task.name = "java/util/concurrent/FutureTask",
};

// JNI's FindClass initializes the class, and on a thread without Java frames it calls the
// application's class loader. The functions behind the JDK's own loaders do neither. NULL: not
// exported.
static jclass (*find_in_boot_loader)(JNIEnv *, const char *name);
static jclass (*find_loaded)(JNIEnv *, jobject loader, jstring name);

bool weft_jvm_clear_exception(JNIEnv *env) {
    if ((*env)->ExceptionCheck(env)) {
        (*env)->ExceptionClear(env);
        return true;
    }
    return false;
}

jclass weft_jvm_find(JNIEnv *env, const char *name) {
    jclass found =
        find_in_boot_loader != NULL ? find_in_boot_loader(env, name) : (*env)->FindClass(env, name);
    return weft_jvm_clear_exception(env) ? NULL : found;
}

static jclass make_global(JNIEnv *env, jclass local) {
    jclass global = local == NULL ? NULL : (*env)->NewGlobalRef(env, local);
    if (local != NULL) {
        (*env)->DeleteLocalRef(env, local);
    }
    return global;
}

jclass weft_jvm_class(JNIEnv *env, const char *name) {
    return make_global(env, weft_jvm_find(env, name));
}

static jclass find_if_loaded(JNIEnv *env, const char *name) {
    if (find_loaded == NULL) {
        return weft_jvm_class(env, name);
    }
    jstring text = (*env)->NewStringUTF(env, name);
    if (weft_jvm_clear_exception(env) || text == NULL) {
        return NULL;
    }
    jclass found = find_loaded(env, NULL, text);
    found = make_global(env, weft_jvm_clear_exception(env) ? NULL : found);
    (*env)->DeleteLocalRef(env, text);
    return found;
}

void JNICALL weft_jvm_on_class_prepare(jvmtiEnv *ti, JNIEnv *env, jthread thread, jclass class) {
    (void)ti;
    (void)env;
    (void)thread;
    (void)class;
    atomic_fetch_add(&weft_jvm.classes, 1);
}

jclass weft_jvm_look(JNIEnv *env, struct weft_late_class *late) {
    uint64_t now = atomic_load(&weft_jvm.classes) + 1;
    if (atomic_load_explicit(&late->looked, memory_order_relaxed) == now ||
        (*env)->ExceptionCheck(env)) {
        return NULL;
    }
    jclass found = find_if_loaded(env, late->name);
    if (found == NULL) {
        atomic_store_explicit(&late->looked, now, memory_order_relaxed);
        return NULL;
    }
    jclass before = NULL;
    if (!atomic_compare_exchange_strong(&late->class, &before, found)) {
        (*env)->DeleteGlobalRef(env, found); // another thread was faster
        return before;
    }
    return found;
}

jfieldID weft_jvm_field(JNIEnv *env, jclass class, const char *name, const char *signature) {
    jfieldID id = (*env)->GetFieldID(env, class, name, signature);
    return weft_jvm_clear_exception(env) ? NULL : id;
}

jthread weft_jvm_current_thread(void) {
    jthread current = NULL;
    jvmtiError error = (*weft_jvm.ti)->GetCurrentThread(weft_jvm.ti, &current);
    return error == JVMTI_ERROR_NONE ? current : NULL;
}

jthread weft_jvm_platform_thread(JNIEnv *env) {
    return weft_jvm.current_carrier == NULL ? weft_jvm_current_thread()
                                            : weft_jvm.current_carrier(env, weft_jvm.thread);
}

jthrowable weft_jvm_take_exception(JNIEnv *env, bool *interrupted) {
    jthrowable thrown = (*env)->ExceptionOccurred(env);
    if (thrown != NULL) {
        (*env)->ExceptionClear(env);
    }
    *interrupted = thrown != NULL && weft_jvm_is_a(env, thrown, &weft_jvm.interrupted);
    return thrown;
}

void weft_jvm_throw_again(JNIEnv *env, jthrowable thrown) {
    if (thrown != NULL) {
        (*env)->Throw(env, thrown);
        (*env)->DeleteLocalRef(env, thrown);
    }
}

bool weft_jvm_env_offset(JNIEnv *env, jthread thread, ptrdiff_t *offset) {
    if (weft_jvm.eetop == NULL) {
        return false;
    }
    uintptr_t structure = (uintptr_t)(*env)->GetLongField(env, thread, weft_jvm.eetop);
    *offset = (ptrdiff_t)((uintptr_t)env - structure);
    return structure != 0 && *offset > 0 && *offset <= 16384;
}

// 1.8 is 8.
static int java_version(void) {
    char *text = NULL;
    if ((*weft_jvm.ti)->GetSystemProperty(weft_jvm.ti, "java.vm.specification.version", &text) !=
        JVMTI_ERROR_NONE) {
        return 0;
    }
    int version = atoi(strncmp(text, "1.", 2) == 0 ? text + 2 : text); // NOLINT: 0 if it is none
    weft_jvm_deallocate(text);
    return version;
}

bool weft_jvm_init(JNIEnv *env) {
    struct weft_jvm *jvm = &weft_jvm;
    void *library = weft_vmstructs_libjvm();
    if (library != NULL) {
        find_in_boot_loader =
            (jclass(*)(JNIEnv *, const char *))dlsym(library, "JVM_FindClassFromBootLoader");
        find_loaded = (jclass(*)(JNIEnv *, jobject, jstring))dlsym(library, "JVM_FindLoadedClass");
    }
    jvm->version = java_version();
    jvm->thread = weft_jvm_class(env, "java/lang/Thread");
    jvm->mirror = weft_jvm_class(env, "java/lang/Class");
    if (jvm->thread == NULL) {
        return false;
    }
    jvm->tid = weft_jvm_field(env, jvm->thread, "tid", "J");
    jvm->eetop = weft_jvm_field(env, jvm->thread, "eetop", "J");
    if (library != NULL && (*env)->GetVersion(env) >= 0x00150000) { // 21
        jvm->current_carrier = dlsym(library, "JVM_CurrentCarrierThread");
    }
    return jvm->tid != NULL;
}
