// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "hotspot/walk.h"

#include <stddef.h>

#include "hotspot/code_cache.h"
#include "hotspot/jvm.h"
#include "hotspot/vmstructs.h"
#include "hotspot/walk_cache.h"
#include "hotspot/words.h"

#if defined(__x86_64__) || defined(__aarch64__)
#define KNOWN_LAYOUT true
#else
#define KNOWN_LAYOUT false
#endif

// Words from an interpreted frame's pointer to its current bytecode, in 11 and later; and from the
// call stub's frame pointer to its wrapper, where the JVM does not export that.
#if defined(__aarch64__)
enum { BYTECODE = -9, CALL_WRAPPER = -8 };
#else
enum { BYTECODE = -8, CALL_WRAPPER = 0 };
#endif

enum {
    MAX_FRAMES = 512,    // of all kinds, per walk
    METHOD = -3,         // words from an interpreted frame's pointer to its method
    RETURN_ADDRESS = -1, // words from the end of a compiled frame
    SAVED_POINTER = -2,  //
    MOST_FRAME_WORDS = 1 << 20,
    WRAPPER_WORDS = 16, // including its anchor, at most
};

static struct {
    uintptr_t interpreter; // the interpreter's code
    uintptr_t interpreter_size;
    uintptr_t call_stub; // the return address into the code that calls Java from C

    ptrdiff_t env; // from the JVM's thread structure to the thread's JNIEnv
    ptrdiff_t anchor;
    ptrdiff_t anchor_sp;
    ptrdiff_t anchor_pc;
    ptrdiff_t anchor_fp;
    ptrdiff_t stack_base;
    ptrdiff_t wrapper_anchor;
    int32_t wrapper; // words from the call stub's frame pointer
} vm;

static bool init_frames(void) {
    uintptr_t queue;
    ptrdiff_t buffer;
    ptrdiff_t limit;
    if (!weft_vmstructs_static("AbstractInterpreter", "_code", &queue) || queue == 0 ||
        !weft_vmstructs_offset("StubQueue", "_stub_buffer", &buffer) ||
        !weft_vmstructs_offset("StubQueue", "_buffer_limit", &limit) ||
        !weft_vmstructs_static("StubRoutines", "_call_stub_return_address", &vm.call_stub)) {
        return false;
    }
    vm.interpreter = word_at(queue + (uintptr_t)buffer);
    vm.interpreter_size = (uintptr_t)int_at(queue + (uintptr_t)limit);
    if (!weft_vmstructs_constant("frame::entry_frame_call_wrapper_offset", &vm.wrapper)) {
        vm.wrapper = CALL_WRAPPER;
    }
    return vm.wrapper != 0 &&
           weft_vmstructs_offset("JavaCallWrapper", "_anchor", &vm.wrapper_anchor) &&
           weft_vmstructs_offset("JavaThread", "_anchor", &vm.anchor) &&
           (weft_vmstructs_offset("JavaThread", "_stack_base", &vm.stack_base) ||
            weft_vmstructs_offset("Thread", "_stack_base", &vm.stack_base)) &&
           weft_vmstructs_offset("JavaFrameAnchor", "_last_Java_sp", &vm.anchor_sp) &&
           weft_vmstructs_offset("JavaFrameAnchor", "_last_Java_pc", &vm.anchor_pc) &&
           weft_vmstructs_offset("JavaFrameAnchor", "_last_Java_fp", &vm.anchor_fp);
}

bool weft_walk_init(JNIEnv *env, jthread thread) {
    char here;
    if (!KNOWN_LAYOUT || !weft_jvm_env_offset(env, thread, &vm.env) || !init_frames() ||
        !weft_code_cache_init()) {
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

// A value and its address. Only values that are used must stay the same for the walk to be cached.
struct read {
    uintptr_t value;
    uintptr_t at;
};

struct frame {
    struct read sp; // where a compiled frame begins
    struct read fp;
    struct read pc;
    uintptr_t low;  // the frame is at or above this address
    uintptr_t high; // the stack ends here
    uint64_t hash;
    struct weft_cached_walk *trail;
};

static struct read read_at(uintptr_t at) {
    return (struct read){word_at(at), at};
}

static uintptr_t use(const struct frame *f, struct read r) {
    if (r.at != 0) {
        weft_walk_cache_add_word(f->trail, r.at, r.value);
    }
    return r.value;
}

static void mix(struct frame *f, uint64_t a, uint64_t b) {
    f->hash = (f->hash ^ a) * 0x9E3779B97F4A7C15U;
    f->hash = (f->hash ^ b ^ f->hash >> 29) * 0xBF58476D1CE4E5B9U;
    f->hash ^= f->hash >> 32;
}

// Whether this many words at an address are on the part of the stack not yet walked.
static bool on_stack(const struct frame *f, uintptr_t at, uintptr_t words) {
    return at % sizeof at == 0 && at >= f->low && at < f->high &&
           (f->high - at) / sizeof at >= words;
}

static uintptr_t words_from(uintptr_t at, int words) {
    return at + (uintptr_t)(words * (ptrdiff_t)sizeof at);
}

static bool pass_interpreted(struct frame *f) {
    uintptr_t fp = use(f, f->fp);
    if (!on_stack(f, words_from(fp, BYTECODE), -BYTECODE + 2)) {
        return false;
    }
    uintptr_t method = use(f, read_at(words_from(fp, METHOD)));
    mix(f, method, use(f, read_at(words_from(fp, BYTECODE))));
    f->low = words_from(fp, 2);
    f->pc = read_at(words_from(fp, 1));
    f->sp = read_at(words_from(fp, -1));
    f->fp = read_at(fp);
    return true;
}

// Walks over a frame of a compiled method or of a JVM stub.
static bool pass_compiled(struct frame *f, bool *java) {
    struct weft_code_blob b;
    uintptr_t pc = f->pc.value;
    uintptr_t sp = use(f, f->sp);
    if (!weft_code_cache_find(pc, &b) || b.frame_size < 2 || b.frame_size > MOST_FRAME_WORDS ||
        !on_stack(f, sp, (uintptr_t)b.frame_size)) {
        return false;
    }
    weft_walk_cache_add_blob(f->trail, &b);
    uintptr_t end = words_from(sp, b.frame_size);
    uintptr_t kept;
    if (b.java && weft_code_cache_is_deoptimized(&b, pc, &kept)) { // the frame kept its original pc
        kept += sp;
        if (!on_stack(f, kept, 1) || kept >= end) {
            return false;
        }
        pc = use(f, read_at(kept));
    }
    mix(f, pc, (uint32_t)b.number);
    f->pc = read_at(words_from(end, RETURN_ADDRESS));
    f->fp = read_at(words_from(end, SAVED_POINTER));
    f->sp = (struct read){end, 0}; // derived from the beginning of this frame
    f->low = end;
    *java = b.java;
    return true;
}

// Starts at the last Java frame of an anchor. False if there is none.
static bool begin_at(struct frame *f, uintptr_t anchor) {
    f->sp = read_at(anchor + (uintptr_t)vm.anchor_sp);
    uintptr_t sp = f->sp.value;
    if (sp < f->low || !on_stack(f, sp - sizeof sp, 2)) {
        return false;
    }
    f->low = sp;
    f->fp = read_at(anchor + (uintptr_t)vm.anchor_fp);
    f->pc = read_at(anchor + (uintptr_t)vm.anchor_pc);
    if (f->pc.value == 0) {
        use(f, f->pc);
        f->pc = read_at(use(f, f->sp) - sizeof sp);
    }
    return true;
}

// Walks from Java called by C to the caller of the C code. Sets end if there is none.
static bool pass_entry(struct frame *f, bool *end) {
    uintptr_t fp = use(f, f->fp);
    uintptr_t at = words_from(fp, vm.wrapper);
    if (!on_stack(f, at, 1)) {
        return false;
    }
    uintptr_t wrapper = use(f, read_at(at));
    f->low = fp;
    if (!on_stack(f, wrapper, WRAPPER_WORDS)) {
        return false;
    }
    uintptr_t anchor = wrapper + (uintptr_t)vm.wrapper_anchor;
    *end = use(f, read_at(anchor + (uintptr_t)vm.anchor_sp)) == 0;
    return *end || begin_at(f, anchor);
}

// Walks over one frame. Java: it is a frame of the program.
static bool pass(struct frame *f, bool *java, bool *end) {
    uintptr_t pc = use(f, f->pc);
    *java = true;
    if (pc - vm.interpreter < vm.interpreter_size) {
        return pass_interpreted(f);
    }
    if (pc == vm.call_stub) {
        *java = false;
        return pass_entry(f, end);
    }
    return pass_compiled(f, java);
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
    uint64_t print = weft_walk_cache_find(f.sp.value, f.pc.value, count, &f.trail);
    if (print != 0) {
        return print;
    }
    bool java;
    bool end = false;
    for (int passed = 0; count > 0 && !end; passed++) {
        if (passed == MAX_FRAMES || !pass(&f, &java, &end)) {
            return 0;
        }
        count -= java;
    }
    print = f.hash == 0 ? 1 : f.hash;
    weft_walk_cache_end(f.trail, print);
    return print;
}
