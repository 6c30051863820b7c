// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Is the current thread where it was before? See walk.h.

#include "walk.h"

#include <stddef.h>
#include <string.h>

#include "jvm.h"
#include "vmstructs.h"

#if defined(__x86_64__) || defined(__aarch64__)
#define KNOWN_LAYOUT true
#else
#define KNOWN_LAYOUT false
#endif

// Words from an interpreted frame's pointer to the bytecode that it is at, in 11 and later; and
// from the call stub's frame pointer to its wrapper, where the JVM does not export that.
#if defined(__aarch64__)
enum { BYTECODE = -9, CALL_WRAPPER = -8 };
#else
enum { BYTECODE = -8, CALL_WRAPPER = 0 };
#endif

enum {
    MAX_HEAPS = 8,
    MAX_HOPS = 4096,     // through the map of a code heap, to the beginning of a block
    MAX_FRAMES = 512,    // of all kinds, in one walk
    SEGMENT_FREE = 0xFF, // in that map: nothing is here
    METHOD = -3,         // words from an interpreted frame's pointer to its method
    RETURN_ADDRESS = -1, // words from where a compiled frame ends
    SAVED_POINTER = -2,  //
    MOST_FRAME_WORDS = 1 << 20,
    WRAPPER_WORDS = 16, // with its anchor, at most
};

// A part of the code cache. Both ranges are reserved once and do not move.
struct heap {
    uintptr_t low;
    uintptr_t high;
    uintptr_t map;
    uintptr_t map_end; // where the JVM keeps the end of what there is of the map so far
    unsigned shift;    // log2 of the size of a segment
};

static struct {
    struct heap heaps[MAX_HEAPS];
    int heap_count;
    uintptr_t interpreter; // its code ...
    uintptr_t interpreter_size;
    uintptr_t call_stub; // the return address into the code that calls Java from C
    uint64_t block_header;

    ptrdiff_t env; // from the JVM's thread structure to the thread's JNIEnv
    ptrdiff_t anchor;
    ptrdiff_t anchor_sp;
    ptrdiff_t anchor_pc;
    ptrdiff_t anchor_fp;
    ptrdiff_t stack_base;
    ptrdiff_t wrapper_anchor;
    int32_t wrapper; // words from the call stub's frame pointer

    ptrdiff_t frame_size; // of a blob, in words
    ptrdiff_t name;
    ptrdiff_t compile_id;  // of a compilation
    ptrdiff_t deopt[2];    // its handlers: a frame that returns there has lost its place
    bool deopt_is_offset;  // from the compilation, and not an address
    ptrdiff_t original_pc; // where such a frame keeps its place, from its beginning
    ptrdiff_t kind;        // of a blob, if there is that field
    int32_t compiled;
    int32_t upcall;
    const char *_Atomic compiled_names[2]; // else it is told by its name
} vm;

static uintptr_t word_at(uintptr_t at) {
    return *(const volatile uintptr_t *)at; // NOLINT(performance-no-int-to-ptr)
}

static int32_t int_at(uintptr_t at) {
    return *(const volatile int32_t *)at; // NOLINT(performance-no-int-to-ptr)
}

static uint8_t byte_at(uintptr_t at) {
    return *(const volatile uint8_t *)at; // NOLINT(performance-no-int-to-ptr)
}

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
    if (!weft_vmstruct_static("CodeCache", "_heaps", &list) || list == 0 ||
        (!weft_vmstruct_offset("GrowableArrayBase", "_len", &length) &&
         !weft_vmstruct_offset("GenericGrowableArray", "_len", &length)) ||
        !weft_vmstruct_offset("GrowableArray<int>", "_data", &data) ||
        !weft_vmstruct_offset("CodeHeap", "_memory", &memory) ||
        !weft_vmstruct_offset("CodeHeap", "_segmap", &map) ||
        !weft_vmstruct_offset("CodeHeap", "_log2_segment_size", &shift) ||
        !weft_vmstruct_offset("VirtualSpace", "_low", &low) ||
        !weft_vmstruct_offset("VirtualSpace", "_high_boundary", &high) ||
        !weft_vmstruct_offset("VirtualSpace", "_high", &committed) ||
        !weft_vmtype_size("HeapBlock", &vm.block_header)) {
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
    if (weft_vmstruct_offset("CodeBlob", "_kind", &vm.kind) &&
        (!weft_vmconstant("CodeBlobKind::Nmethod", &vm.compiled) ||
         !weft_vmconstant("CodeBlobKind::Upcall", &vm.upcall))) {
        vm.kind = -1;
    }
    vm.deopt_is_offset = weft_vmstruct_offset("nmethod", "_deopt_handler_offset", &vm.deopt[0]);
    if (!vm.deopt_is_offset &&
        !weft_vmstruct_offset("CompiledMethod", "_deopt_handler_begin", &vm.deopt[0])) {
        return false;
    }
    if (!(vm.deopt_is_offset
              ? weft_vmstruct_offset("nmethod", "_deopt_mh_handler_offset", &vm.deopt[1])
              : weft_vmstruct_offset("CompiledMethod", "_deopt_mh_handler_begin", &vm.deopt[1]))) {
        vm.deopt[1] = vm.deopt[0];
    }
    return weft_vmstruct_offset("CodeBlob", "_frame_size", &vm.frame_size) &&
           weft_vmstruct_offset("CodeBlob", "_name", &vm.name) &&
           weft_vmstruct_offset("nmethod", "_orig_pc_offset", &vm.original_pc) &&
           weft_vmstruct_offset("nmethod", "_compile_id", &vm.compile_id);
}

static bool init_frames(void) {
    uintptr_t queue;
    ptrdiff_t buffer;
    ptrdiff_t limit;
    if (!weft_vmstruct_static("AbstractInterpreter", "_code", &queue) || queue == 0 ||
        !weft_vmstruct_offset("StubQueue", "_stub_buffer", &buffer) ||
        !weft_vmstruct_offset("StubQueue", "_buffer_limit", &limit) ||
        !weft_vmstruct_static("StubRoutines", "_call_stub_return_address", &vm.call_stub)) {
        return false;
    }
    vm.interpreter = word_at(queue + (uintptr_t)buffer);
    vm.interpreter_size = (uintptr_t)int_at(queue + (uintptr_t)limit);
    if (!weft_vmconstant("frame::entry_frame_call_wrapper_offset", &vm.wrapper)) {
        vm.wrapper = CALL_WRAPPER;
    }
    return vm.wrapper != 0 &&
           weft_vmstruct_offset("JavaCallWrapper", "_anchor", &vm.wrapper_anchor) &&
           weft_vmstruct_offset("JavaThread", "_anchor", &vm.anchor) &&
           (weft_vmstruct_offset("JavaThread", "_stack_base", &vm.stack_base) ||
            weft_vmstruct_offset("Thread", "_stack_base", &vm.stack_base)) &&
           weft_vmstruct_offset("JavaFrameAnchor", "_last_Java_sp", &vm.anchor_sp) &&
           weft_vmstruct_offset("JavaFrameAnchor", "_last_Java_pc", &vm.anchor_pc) &&
           weft_vmstruct_offset("JavaFrameAnchor", "_last_Java_fp", &vm.anchor_fp);
}

bool weft_walk_init(JNIEnv *env, jthread thread) {
    char here;
    if (!KNOWN_LAYOUT || !weft_env_offset(env, thread, &vm.env) || !init_frames() ||
        !init_blobs() || !init_heaps()) {
        return false;
    }
    const ptrdiff_t most =
        WRAPPER_WORDS * (ptrdiff_t)sizeof(uintptr_t) - (ptrdiff_t)sizeof(uintptr_t);
    if (vm.wrapper_anchor + vm.anchor_sp > most || vm.wrapper_anchor + vm.anchor_pc > most ||
        vm.wrapper_anchor + vm.anchor_fp > most) {
        return false;
    }
    // The end of this thread's stack is above, and not far.
    uintptr_t base = word_at((uintptr_t)env - (uintptr_t)vm.env + (uintptr_t)vm.stack_base);
    return base > (uintptr_t)&here && base - (uintptr_t)&here < (uintptr_t)1 << 32;
}

// The blob that has the code at an address; 0 if there is none.
static uintptr_t find_blob(uintptr_t pc) {
    for (int i = 0; i < vm.heap_count; i++) {
        const struct heap *h = &vm.heaps[i];
        if (pc < h->low || pc >= h->high) {
            continue;
        }
        uintptr_t segment = (pc - h->low) >> h->shift;
        if (h->map + segment >= word_at(h->map_end)) {
            return 0; // no code can be there, and the map cannot be read
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

static bool is_deoptimized(uintptr_t blob, uintptr_t pc) {
    for (int i = 0; i < 2; i++) {
        uintptr_t at = blob + (uintptr_t)vm.deopt[i];
        uintptr_t handler = vm.deopt_is_offset ? blob + (uintptr_t)int_at(at) : word_at(at);
        if (pc == handler) {
            return true;
        }
    }
    return false;
}

struct frame {
    uintptr_t sp; // where a compiled frame begins
    uintptr_t fp;
    uintptr_t pc;
    uintptr_t low;  // nothing of the frame lies below ...
    uintptr_t high; // ... nor of the whole stack here or above
    uint64_t hash;
};

static void mix(struct frame *f, uint64_t a, uint64_t b) {
    f->hash = (f->hash ^ a) * 0x9E3779B97F4A7C15U;
    f->hash = (f->hash ^ b ^ f->hash >> 29) * 0xBF58476D1CE4E5B9U;
    f->hash ^= f->hash >> 32;
}

// Whether there are so many words at a place of the stack that was not passed yet.
static bool on_stack(const struct frame *f, uintptr_t at, uintptr_t words) {
    return at % sizeof at == 0 && at >= f->low && at < f->high &&
           (f->high - at) / sizeof at >= words;
}

static bool pass_interpreted(struct frame *f) {
    uintptr_t first = f->fp + (uintptr_t)(BYTECODE * (ptrdiff_t)sizeof f->fp);
    if (!on_stack(f, first, -BYTECODE + 2)) {
        return false;
    }
    const uintptr_t *fp = (const uintptr_t *)f->fp; // NOLINT(performance-no-int-to-ptr)
    mix(f, fp[METHOD], fp[BYTECODE]);
    f->low = f->fp + 2 * sizeof *fp;
    f->pc = fp[1];
    f->sp = fp[-1];
    f->fp = fp[0];
    return true;
}

// Of a compiled method, or of a piece of code of the JVM's own.
static bool pass_compiled(struct frame *f, bool *java) {
    uintptr_t blob = find_blob(f->pc);
    if (blob == 0) {
        return false;
    }
    int32_t size = int_at(blob + (uintptr_t)vm.frame_size);
    uint64_t number = 0;
    if (vm.kind >= 0) {
        uint8_t kind = byte_at(blob + (uintptr_t)vm.kind);
        *java = kind == vm.compiled;
        if (kind == vm.upcall) {
            return false;
        }
    } else {
        *java = is_compiled_name(blob);
    }
    if (*java) {
        number = (uint32_t)int_at(blob + (uintptr_t)vm.compile_id);
    }
    if (size < 2 || size > MOST_FRAME_WORDS || !on_stack(f, f->sp, (uintptr_t)size)) {
        return false;
    }
    uintptr_t pc = f->pc;
    if (*java && is_deoptimized(blob, pc)) { // the frame has kept where it was
        uintptr_t kept = f->sp + (uintptr_t)int_at(blob + (uintptr_t)vm.original_pc);
        if (!on_stack(f, kept, 1) || kept >= f->sp + (uintptr_t)size * sizeof kept) {
            return false;
        }
        pc = word_at(kept);
    }
    mix(f, pc, number);
    const uintptr_t *end = (const uintptr_t *)f->sp + size; // NOLINT(performance-no-int-to-ptr)
    f->pc = end[RETURN_ADDRESS];
    f->fp = end[SAVED_POINTER];
    f->sp = f->low = (uintptr_t)end;
    return true;
}

// Takes the last Java frame that an anchor names. False if there is none.
static bool begin_at(struct frame *f, uintptr_t anchor) {
    uintptr_t sp = word_at(anchor + (uintptr_t)vm.anchor_sp);
    if (sp < f->low || !on_stack(f, sp - sizeof sp, 2)) {
        return false;
    }
    f->sp = f->low = sp;
    f->fp = word_at(anchor + (uintptr_t)vm.anchor_fp);
    f->pc = word_at(anchor + (uintptr_t)vm.anchor_pc);
    if (f->pc == 0) {
        f->pc = word_at(sp - sizeof sp);
    }
    return true;
}

// Goes over from Java that was called from C to what called the C. Sets end if nothing did.
static bool pass_entry(struct frame *f, bool *end) {
    uintptr_t at = f->fp + (uintptr_t)((ptrdiff_t)vm.wrapper * (ptrdiff_t)sizeof f->fp);
    if (!on_stack(f, at, 1)) {
        return false;
    }
    uintptr_t wrapper = word_at(at);
    f->low = f->fp;
    if (!on_stack(f, wrapper, WRAPPER_WORDS)) {
        return false;
    }
    uintptr_t anchor = wrapper + (uintptr_t)vm.wrapper_anchor;
    *end = word_at(anchor + (uintptr_t)vm.anchor_sp) == 0;
    return *end || begin_at(f, anchor);
}

uint64_t weft_walk(JNIEnv *env, int count) {
    char here;
    uintptr_t thread = (uintptr_t)env - (uintptr_t)vm.env;
    struct frame f = {
        .low = (uintptr_t)&here,
        .high = word_at(thread + (uintptr_t)vm.stack_base),
        .hash = (uint64_t)count,
    };
    if (!begin_at(&f, thread + (uintptr_t)vm.anchor)) {
        return 0;
    }
    bool end = false;
    for (int passed = 0; count > 0 && !end; passed++) {
        bool java = true;
        if (passed == MAX_FRAMES) {
            return 0;
        }
        if (f.pc - vm.interpreter < vm.interpreter_size) {
            if (!pass_interpreted(&f)) {
                return 0;
            }
        } else if (f.pc == vm.call_stub) {
            java = false;
            if (!pass_entry(&f, &end)) {
                return 0;
            }
        } else if (!pass_compiled(&f, &java)) {
            return 0;
        }
        count -= java;
    }
    return f.hash == 0 ? 1 : f.hash;
}
