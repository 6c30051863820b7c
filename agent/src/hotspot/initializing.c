// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "hotspot/initializing.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "hotspot/jvm.h"
#include "hotspot/living.h"
#include "hotspot/notices.h"
#include "hotspot/vmstructs.h"
#include "hotspot/words.h"

enum { SEARCHED = 1024, SEARCHED_MAX_SIZE = 16384 };

static struct {
    bool readable;
    bool has_id;       // 24 and later: the structure holds the id of the thread it runs now
    ptrdiff_t id;      // from the thread structure to the id
    ptrdiff_t env;     // from the thread structure to the thread's JNIEnv
    uint64_t size;     // of the thread structure
    ptrdiff_t waiting; // from there to the monitor at which the thread waits
    ptrdiff_t state;   // from the structure of a class to its state
    ptrdiff_t holder;  // and to the structure of the thread that initializes it
    ptrdiff_t name;    // and to its name
    ptrdiff_t length;  // of the name, from there
    ptrdiff_t text;
    int32_t being_initialized;
    _Atomic ptrdiff_t class; // from the thread structure to the class; 0: not known yet
} vm;

// Monitors at which threads waited, and no class was found, by thread: a structure is searched once
// for each wait.
static struct {
    uintptr_t structure;
    uintptr_t monitor;
} searched[SEARCHED];

void weft_initializing_init(JNIEnv *env, jthread thread) {
    vm.has_id = weft_vmstructs_offset("JavaThread", "_monitor_owner_id", &vm.id);
    if (!weft_jvm_env_offset(env, thread, &vm.env)) {
        return; // which has its own notice
    }
    vm.readable =
        weft_vmstructs_size("JavaThread", &vm.size) && vm.size <= SEARCHED_MAX_SIZE &&
        weft_vmstructs_offset("JavaThread", "_current_waiting_monitor", &vm.waiting) &&
        weft_vmstructs_offset("InstanceKlass", "_init_state", &vm.state) &&
        weft_vmstructs_offset("InstanceKlass", "_init_thread", &vm.holder) &&
        weft_vmstructs_offset("Klass", "_name", &vm.name) &&
        weft_vmstructs_offset("Symbol", "_length", &vm.length) &&
        weft_vmstructs_offset("Symbol", "_body", &vm.text) &&
        weft_vmstructs_constant("InstanceKlass::being_initialized", &vm.being_initialized);
    if (!vm.readable && weft_jvm.version > 11) { // which never shows it
        weft_notices_raise(WEFT_NOTICE_NO_CLASS_WAITS);
    }
}

// Copies memory that may be gone: the class may be unloaded once no thread waits for it.
static bool copy(uintptr_t from, void *to, size_t size) {
    const struct iovec remote = {(void *)from, size}; // NOLINT(performance-no-int-to-ptr)
    const struct iovec local = {to, size};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)size;
}

// The structure of the thread that initializes a class; 0 if the address is not that of a class, or
// no thread does.
static uintptr_t holder_of(uintptr_t class) {
    uint8_t state;
    uintptr_t holder;
    if (class % sizeof class != 0 || !copy(class + (uintptr_t)vm.state, &state, sizeof state) ||
        state != vm.being_initialized ||
        !copy(class + (uintptr_t)vm.holder, &holder, sizeof holder)) {
        return 0;
    }
    return holder;
}

// False if the class is gone.
static bool read_name(uintptr_t class, char name[WEFT_CLASS_NAME_MAX]) {
    uintptr_t symbol;
    uint16_t length;
    if (!copy(class + (uintptr_t)vm.name, &symbol, sizeof symbol) || symbol == 0 ||
        !copy(symbol + (uintptr_t)vm.length, &length, sizeof length)) {
        return false;
    }
    size_t size = length < WEFT_CLASS_NAME_MAX ? length : WEFT_CLASS_NAME_MAX - 1;
    if (size == 0 || !copy(symbol + (uintptr_t)vm.text, name, size)) {
        return false;
    }
    name[size] = '\0';
    for (char *c = name; (c = strchr(c, '/')) != NULL; c++) {
        *c = '.';
    }
    return true;
}

static uint64_t id_of(uintptr_t structure, uint64_t thread) {
    return vm.has_id ? word_at(structure + (uintptr_t)vm.id) : thread;
}

static bool is_structure(uintptr_t structure, uint64_t thread, void *to) {
    struct weft_initializing *w = to;
    if (structure == w->structure) {
        w->holder = id_of(structure, thread);
        return true;
    }
    return false;
}

// The id of the thread with a structure; 0: it is not known.
static uint64_t thread_at(uintptr_t structure) {
    struct weft_initializing w = {.structure = structure};
    return structure != 0 && weft_living_find(is_structure, &w) ? w.holder : 0;
}

// Whether a wait is not yet searched.
static bool is_new(uintptr_t structure, uintptr_t monitor) {
    size_t at = (structure >> 6) % SEARCHED;
    bool new = searched[at].structure != structure || searched[at].monitor != monitor;
    searched[at].structure = structure;
    searched[at].monitor = monitor;
    return new;
}

// The class for which a thread waits; 0: none, or it is not known where that is.
static uintptr_t class_at(uintptr_t structure) {
    ptrdiff_t at = atomic_load_explicit(&vm.class, memory_order_relaxed);
    return at == 0 ? 0 : word_at(structure + (uintptr_t)at);
}

struct search {
    struct weft_initializing *list;
    size_t count;
    size_t room;
};

// Adds a thread, which may be shown twice. Returns whether there is no more room.
static bool add(struct search *s, uintptr_t structure, uint64_t thread, uintptr_t class) {
    for (size_t i = 0; i < s->count; i++) {
        if (s->list[i].structure == structure) {
            return false;
        }
    }
    struct weft_initializing *w = &s->list[s->count++];
    w->structure = structure;
    w->thread = id_of(structure, thread);
    w->class = class;
    return s->count == s->room;
}

// Takes a thread that waits for a class.
static bool look(uintptr_t structure, uint64_t thread, void *to) {
    uintptr_t class = class_at(structure);
    return class != 0 && add(to, structure, thread, class);
}

// Takes a thread that waits at a monitor.
static bool look_for_waits(uintptr_t structure, uint64_t thread, void *to) {
    uintptr_t monitor = word_at(structure + (uintptr_t)vm.waiting);
    return monitor != 0 && is_new(structure, monitor) && add(to, structure, thread, 0);
}

// Searches the structure of a thread for the class for which it waits.
static bool search(uintptr_t structure, uint64_t thread, void *to) {
    const struct weft_initializing *w = to;
    (void)thread;
    if (structure != w->structure) {
        return false;
    }
    for (ptrdiff_t at = 0; at < (ptrdiff_t)vm.size; at += (ptrdiff_t)sizeof(uintptr_t)) {
        uintptr_t holder = holder_of(word_at(structure + (uintptr_t)at));
        if (holder != structure && thread_at(holder) != 0) {
            atomic_store(&vm.class, at);
            return true;
        }
    }
    return true;
}

static bool waits(uintptr_t structure, uint64_t thread, void *to) {
    const struct weft_initializing *w = to;
    (void)thread;
    return structure == w->structure && class_at(structure) == w->class;
}

bool weft_initializing_waits(uintptr_t structure, uintptr_t class) {
    struct weft_initializing w = {.structure = structure, .class = class};
    return weft_living_find(waits, &w);
}

bool weft_initializing_self(JNIEnv *env, uintptr_t *structure, uintptr_t *class) {
    *structure = (uintptr_t)env - (uintptr_t)vm.env;
    *class = class_at(*structure);
    return *class != 0;
}

size_t weft_initializing_find(struct weft_initializing *list, size_t room) {
    struct search s = {.list = list, .room = room};
    if (!vm.readable) {
        return 0;
    }
    if (atomic_load_explicit(&vm.class, memory_order_relaxed) == 0) {
        weft_living_find(look_for_waits, &s);
        for (size_t i = 0; i < s.count && class_at(list[i].structure) == 0; i++) {
            weft_living_find(search, &list[i]);
        }
        s.count = 0;
        if (atomic_load_explicit(&vm.class, memory_order_relaxed) == 0) {
            return 0;
        }
    }
    weft_living_find(look, &s);
    size_t found = 0;
    for (size_t i = 0; i < s.count; i++) {
        struct weft_initializing *w = &list[i];
        w->holder = thread_at(holder_of(w->class));
        if (w->holder == 0 || (w->holder != w->thread && read_name(w->class, w->name))) {
            list[found++] = *w;
        }
    }
    return found;
}
