// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "hotspot/lock_stacks.h"

#include <stdatomic.h>
#include <stddef.h>

#include "hotspot/jvm.h"
#include "hotspot/living.h"
#include "hotspot/vmstructs.h"
#include "hotspot/words.h"

enum { TRIES = 3 };

static struct {
    bool readable;
    bool has_id;       // 24 and later: the structure holds the id of the thread it runs now
    ptrdiff_t env;     // from the thread structure to the thread's JNIEnv
    ptrdiff_t stack;   // from the thread structure to its lock stack
    ptrdiff_t top;     // from there to the end of the entries, in bytes from the structure
    ptrdiff_t entries; // from the lock stack to the first entry
    uint32_t room;     // bytes
    ptrdiff_t id;      // from the thread structure to the id
    uintptr_t heap;    // the collected heap
    ptrdiff_t active;  // from there to the mark of a collection that stops the threads
    ptrdiff_t begun;   // from there to the number of collections
} vm;

static uintptr_t structure_of(JNIEnv *env) {
    return (uintptr_t)env - (uintptr_t)vm.env;
}

// The bytes in use; more than there is room for if the structure is not what it seems.
static uint32_t used(uintptr_t structure) {
    uintptr_t stack = structure + (uintptr_t)vm.stack;
    return (uint32_t)int_at(stack + (uintptr_t)vm.top) - (uint32_t)(vm.stack + vm.entries);
}

bool weft_lock_stacks_init(JNIEnv *env, ptrdiff_t env_offset) {
    uint64_t size;
    vm.env = env_offset;
    if (!weft_vmstructs_offset("JavaThread", "_lock_stack", &vm.stack) ||
        !weft_vmstructs_offset("LockStack", "_top", &vm.top) ||
        !weft_vmstructs_offset("LockStack", "_base[0]", &vm.entries) ||
        !weft_vmstructs_size("LockStack", &size) ||
        !weft_vmstructs_static("Universe", "_collectedHeap", &vm.heap) || vm.heap == 0 ||
        !weft_vmstructs_offset("CollectedHeap", "_is_stw_gc_active", &vm.active) ||
        !weft_vmstructs_offset("CollectedHeap", "_total_collections", &vm.begun)) {
        return false;
    }
    vm.has_id = weft_vmstructs_offset("JavaThread", "_monitor_owner_id", &vm.id);
    if (size <= (uint64_t)vm.entries ||
        size - (uint64_t)vm.entries > WEFT_LOCK_STACK_MAX * sizeof(uintptr_t)) {
        return false;
    }
    vm.room = (uint32_t)(size - (uint64_t)vm.entries);
    vm.readable = used(structure_of(env)) <= vm.room;
    return vm.readable;
}

struct search {
    uintptr_t object;
    uint64_t id;
};

static uint64_t id_of(uintptr_t structure, uint64_t thread) {
    return vm.has_id ? word_at(structure + (uintptr_t)vm.id) : thread;
}

// Whether a thread has locked the object. A virtual thread may come or go meanwhile.
static bool holds(uintptr_t structure, uint64_t thread, void *to) {
    struct search *s = to;
    uint64_t id = id_of(structure, thread);
    uint32_t bytes = used(structure);
    uintptr_t entry = structure + (uintptr_t)(vm.stack + vm.entries);
    for (uintptr_t end = entry + (bytes <= vm.room ? bytes : 0); entry < end;
         entry += sizeof entry) {
        if (word_at(entry) == s->object) {
            s->id = id;
            return id_of(structure, thread) == id;
        }
    }
    return false;
}

// Whether a collection stops the threads now, or how many have begun.
static bool is_collecting(int32_t *begun) {
    *begun = int_at(vm.heap + (uintptr_t)vm.begun);
    return byte_at(vm.heap + (uintptr_t)vm.active) != 0;
}

bool weft_lock_stacks_find(jobject object, uint64_t *id) {
    int32_t before;
    int32_t after;
    uintptr_t reference = (uintptr_t)object; // a local one: the address of the object's address
    for (int i = 0; i < TRIES && vm.readable && !is_collecting(&before); i++) {
        atomic_thread_fence(memory_order_acquire);
        struct search s = {.object = word_at(reference)};
        bool found = weft_living_find(holds, &s);
        atomic_thread_fence(memory_order_acquire);
        if (!is_collecting(&after) && after == before && word_at(reference) == s.object) {
            *id = s.id;
            return found;
        }
    }
    return false;
}

unsigned weft_lock_stacks_held(JNIEnv *env, jobject held[WEFT_LOCK_STACK_MAX]) {
    if (!vm.readable || !vm.has_id) {
        return 0;
    }
    uint32_t bytes = used(structure_of(env));
    uintptr_t entry = structure_of(env) + (uintptr_t)(vm.stack + vm.entries);
    unsigned count = bytes <= vm.room ? bytes / (uint32_t)sizeof entry : 0;
    for (unsigned i = 0; i < count; i++) {
        held[i] = (jobject)(entry + i * sizeof entry); // NOLINT(performance-no-int-to-ptr)
    }
    return count;
}
