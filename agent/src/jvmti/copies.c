// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The JVM loads libraries such that their symbols are invisible to one another, and the file may
// be gone. But each has a note in memory, as build IDs are, which says where its calls are. The
// dynamic linker lists libraries in the order of loading, so all copies agree on the first one.

#include "jvmti/copies.h"

#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Name and type say what the content is: the distance from itself to weft_copies_calls.
#define NAME "Weft"
enum { TYPE = 1, ALIGNMENT = 4 };

__asm__(".pushsection .note.weft, \"a\", %note\n"
        ".balign 4\n"
        ".long 5, 8, 1\n"
        ".asciz \"Weft\"\n"
        ".balign 4\n"
        ".quad weft_copies_calls - .\n"
        ".balign 4\n"
        ".popsection");

static size_t aligned(size_t n) {
    return (n + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

// The calls that a segment of notes leads to; NULL if none of its notes is ours.
static const struct weft_copies_calls *find(const uint8_t *notes, size_t size) {
    while (size >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        memcpy(&note, notes, sizeof note);
        size_t name = aligned(note.n_namesz);
        size_t content = aligned(note.n_descsz);
        size_t left = size - sizeof note;
        if (name > left || content > left - name) {
            break;
        }
        const uint8_t *at = notes + sizeof note;
        int64_t distance;
        if (note.n_type == TYPE && note.n_namesz == sizeof NAME &&
            note.n_descsz == sizeof distance && memcmp(at, NAME, sizeof NAME) == 0) {
            memcpy(&distance, at + name, sizeof distance);
            return (const void *)(at + name + distance);
        }
        notes += sizeof note + name + content;
        size -= sizeof note + name + content;
    }
    return NULL;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *to) {
    const struct weft_copies_calls **first = to;
    (void)size;
    for (size_t i = 0; i < info->dlpi_phnum && *first == NULL; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_NOTE && segment->p_align == ALIGNMENT) {
            // NOLINTNEXTLINE(performance-no-int-to-ptr): that is how the linker states it
            *first = find((const uint8_t *)(info->dlpi_addr + segment->p_vaddr), segment->p_memsz);
        }
    }
    return *first != NULL;
}

const struct weft_copies_calls *weft_copies_first(void) {
    const struct weft_copies_calls *first = NULL;
    dl_iterate_phdr(look_at, &first);
    return first == NULL ? &weft_copies_calls : first;
}
