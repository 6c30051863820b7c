// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "hotspot/native_id.h"

#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "hotspot/jvm.h"
#include "hotspot/vmstructs.h"

static struct {
    ptrdiff_t native; // from the thread structure to the pointer to that of the operating system
    ptrdiff_t id;     // from there to the id
} vm;

bool weft_native_id_init(void) {
    return weft_jvm.eetop != NULL &&
           (weft_vmstructs_offset("JavaThread", "_osthread", &vm.native) ||
            weft_vmstructs_offset("Thread", "_osthread", &vm.native)) &&
           weft_vmstructs_offset("OSThread", "_thread_id", &vm.id);
}

static uintptr_t structure_of(JNIEnv *env, jobject thread) {
    return (uintptr_t)(*env)->GetLongField(env, thread, weft_jvm.eetop);
}

// The thread may end meanwhile, so nothing here follows a pointer: the kernel reads the memory, if
// there is any. The JVM clears the field before it frees the structure, and never sets it again.
pid_t weft_native_id(JNIEnv *env, jobject thread, int memory) {
    uintptr_t structure = structure_of(env, thread);
    uintptr_t native = 0;
    int32_t id = 0;
    if (structure == 0 ||
        pread(memory, &native, sizeof native, (off_t)structure + vm.native) != sizeof native ||
        pread(memory, &id, sizeof id, (off_t)native + vm.id) != sizeof id ||
        structure_of(env, thread) != structure) {
        return 0;
    }
    return id;
}
