// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "hotspot/code_cache.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "hotspot/vmstructs.h"
#include "hotspot/words.h"

enum {
    MAX_HEAPS = 8,
    MAX_HOPS = 4096,     // in the map of a code heap, back to the beginning of a block
    SEGMENT_FREE = 0xFF, // unused in that map
};

// A part of the code cache. Both ranges are reserved once and do not move.
struct heap {
    uintptr_t low;
    uintptr_t high;
    uintptr_t map;
    uintptr_t map_end; // where the JVM keeps the current end of the map
    unsigned shift;    // log2 of the segment size
};

static struct {
    struct heap heaps[MAX_HEAPS];
    int heap_count;
    uint64_t block_header;

    ptrdiff_t frame_size; // of a blob, in words
    ptrdiff_t name;
    ptrdiff_t compile_id;  // of a compilation
    ptrdiff_t deopt[2];    // handlers to which deoptimized frames return
    bool deopt_is_offset;  // from the compilation, rather than an address
    ptrdiff_t original_pc; // where such a frame keeps its pc, from its beginning
    ptrdiff_t kind;        // of a blob, if the field exists
    int32_t compiled;
    int32_t upcall;
    const char *_Atomic compiled_names[2]; // otherwise the name decides
} vm;

static bool init_heaps(void) {
    ptrdiff_t length;
    ptrdiff_t data;
    ptrdiff_t memory;
    ptrdiff_t map;
    ptrdiff_t shift;
    ptrdiff_t low;
    ptrdiff_t high;
    ptrdiff_t committed;
    uintptr_t list;
    if (!weft_vmstructs_static("CodeCache", "_heaps", &list) || list == 0 ||
        (!weft_vmstructs_offset("GrowableArrayBase", "_len", &length) &&
         !weft_vmstructs_offset("GenericGrowableArray", "_len", &length)) ||
        !weft_vmstructs_offset("GrowableArray<int>", "_data", &data) ||
        !weft_vmstructs_offset("CodeHeap", "_memory", &memory) ||
        !weft_vmstructs_offset("CodeHeap", "_segmap", &map) ||
        !weft_vmstructs_offset("CodeHeap", "_log2_segment_size", &shift) ||
        !weft_vmstructs_offset("VirtualSpace", "_low", &low) ||
        !weft_vmstructs_offset("VirtualSpace", "_high_boundary", &high) ||
        !weft_vmstructs_offset("VirtualSpace", "_high", &committed) ||
        !weft_vmstructs_size("HeapBlock", &vm.block_header)) {
        return false;
    }
    vm.heap_count = int_at(list + (uintptr_t)length);
    if (vm.heap_count < 1 || vm.heap_count > MAX_HEAPS) {
        return false;
    }
    uintptr_t heaps = word_at(list + (uintptr_t)data);
    for (int i = 0; i < vm.heap_count; i++) {
        uintptr_t heap = word_at(heaps + (uintptr_t)i * sizeof heap);
        vm.heaps[i] = (struct heap){
            .low = word_at(heap + (uintptr_t)(memory + low)),
            .high = word_at(heap + (uintptr_t)(memory + high)),
            .map = word_at(heap + (uintptr_t)(map + low)),
            .map_end = heap + (uintptr_t)(map + committed),
            .shift = (unsigned)int_at(heap + (uintptr_t)shift),
        };
        if (vm.heaps[i].shift > 16) {
            return false;
        }
    }
    return true;
}

static bool init_blobs(void) {
    vm.kind = -1;
    if (weft_vmstructs_offset("CodeBlob", "_kind", &vm.kind) &&
        (!weft_vmstructs_constant("CodeBlobKind::Nmethod", &vm.compiled) ||
         !weft_vmstructs_constant("CodeBlobKind::Upcall", &vm.upcall))) {
        vm.kind = -1;
    }
    vm.deopt_is_offset = weft_vmstructs_offset("nmethod", "_deopt_handler_offset", &vm.deopt[0]);
    if (!vm.deopt_is_offset &&
        !weft_vmstructs_offset("CompiledMethod", "_deopt_handler_begin", &vm.deopt[0])) {
        return false;
    }
    if (!(vm.deopt_is_offset
              ? weft_vmstructs_offset("nmethod", "_deopt_mh_handler_offset", &vm.deopt[1])
              : weft_vmstructs_offset("CompiledMethod", "_deopt_mh_handler_begin", &vm.deopt[1]))) {
        vm.deopt[1] = vm.deopt[0];
    }
    return weft_vmstructs_offset("CodeBlob", "_frame_size", &vm.frame_size) &&
           weft_vmstructs_offset("CodeBlob", "_name", &vm.name) &&
           weft_vmstructs_offset("nmethod", "_orig_pc_offset", &vm.original_pc) &&
           weft_vmstructs_offset("nmethod", "_compile_id", &vm.compile_id);
}

bool weft_code_cache_init(void) {
    return init_blobs() && init_heaps();
}

// Returns the blob that contains an address and the map entry of its beginning; 0 if none.
static uintptr_t find(uintptr_t pc, uintptr_t *map) {
    for (int i = 0; i < vm.heap_count; i++) {
        const struct heap *h = &vm.heaps[i];
        if (pc < h->low || pc >= h->high) {
            continue;
        }
        uintptr_t segment = (pc - h->low) >> h->shift;
        if (h->map + segment >= word_at(h->map_end)) {
            return 0; // no code there, and the map is not readable
        }
        uint8_t back = byte_at(h->map + segment);
        if (back == SEGMENT_FREE) {
            return 0;
        }
        for (int hop = 0; back > 0; hop++) {
            if (hop == MAX_HOPS || back > segment) {
                return 0;
            }
            segment -= back;
            back = byte_at(h->map + segment);
        }
        *map = h->map + segment;
        return h->low + (segment << h->shift) + vm.block_header;
    }
    return 0;
}

static bool is_compiled_name(uintptr_t blob) {
    const char *name = (const char *)word_at(blob + (uintptr_t)vm.name); // NOLINT
    for (int i = 0; i < 2; i++) {
        const char *known = atomic_load_explicit(&vm.compiled_names[i], memory_order_relaxed);
        if (known == name) {
            return true;
        }
        if (known == NULL && name != NULL &&
            (strcmp(name, "nmethod") == 0 || strcmp(name, "native nmethod") == 0)) {
            atomic_store_explicit(&vm.compiled_names[i], name, memory_order_relaxed);
            return true;
        }
    }
    return false;
}

bool weft_code_cache_find(uintptr_t pc, struct weft_code_blob *b) {
    b->at = find(pc, &b->map);
    if (b->at == 0) {
        return false;
    }
    b->frame_size = int_at(b->at + (uintptr_t)vm.frame_size);
    if (vm.kind >= 0) {
        uint8_t kind = byte_at(b->at + (uintptr_t)vm.kind);
        b->java = kind == vm.compiled;
        if (kind == vm.upcall) {
            return false;
        }
    } else {
        b->java = is_compiled_name(b->at);
    }
    b->name = word_at(b->at + (uintptr_t)vm.name);
    b->number = b->java ? int_at(b->at + (uintptr_t)vm.compile_id) : 0;
    return true;
}

bool weft_code_cache_is_deoptimized(const struct weft_code_blob *b, uintptr_t pc, uintptr_t *kept) {
    for (int i = 0; i < 2; i++) {
        uintptr_t at = b->at + (uintptr_t)vm.deopt[i];
        uintptr_t handler = vm.deopt_is_offset ? b->at + (uintptr_t)int_at(at) : word_at(at);
        if (pc == handler) {
            *kept = (uintptr_t)int_at(b->at + (uintptr_t)vm.original_pc);
            return true;
        }
    }
    return false;
}

// In the map, the beginning of a used block is 0, and compilation numbers are never reused. Other
// blobs are permanent; their names are compared as a precaution.
bool weft_code_cache_has(const struct weft_code_blob *list, size_t count) {
    for (const struct weft_code_blob *b = list; b < list + count; b++) {
        ptrdiff_t offset = b->java ? vm.compile_id : vm.frame_size;
        int32_t expected = b->java ? b->number : b->frame_size;
        if (byte_at(b->map) != 0 || int_at(b->at + (uintptr_t)offset) != expected ||
            (!b->java && word_at(b->at + (uintptr_t)vm.name) != b->name)) {
            return false;
        }
    }
    return true;
}
