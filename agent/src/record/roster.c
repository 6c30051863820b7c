// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/roster.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { TRIM_LOOKS = 2048 };

struct entry {
    struct entry *chain;      // in the hash bucket or the list of announcements
    struct entry *newer;      // in the list of dead threads
    struct entry *next_fresh; // in the list of threads not yet sent on this connection
    uint64_t id;
    uint64_t last; // newest batch that mentions it
    size_t size;   // including its text
    uint16_t flags;
    bool gone;
    bool listed; // in the list of dead threads, though it may be alive again
    bool fresh;
    bool withdrawn;
    char *name;
    char *group; // after the name, in the same allocation
};

static _Atomic(struct entry *) announced;
static atomic_size_t waiting;    // bytes announced but not collected
static atomic_bool virtual_ends; // the ends of virtual threads are seen

static struct {
    struct entry **buckets;
    uint32_t bucket_count;
    _Atomic uint32_t count; // only the sender changes it
    struct entry *fresh;
    struct entry *oldest;
    struct entry *newest;
    uint32_t gone;
    uint32_t added; // since the last trim
    bool connected;
} roster;

static void free_entry(struct entry *e) {
    free(e->name);
    free(e);
}

static struct entry *new_entry(uint64_t id, uint16_t flags, const char *name, const char *group) {
    // One byte more than is sent shows where the last character ends.
    size_t name_len = strnlen(name, WEFT_MAX_STRING + 1);
    size_t group_len = strnlen(group, WEFT_MAX_STRING + 1);
    struct entry *e = calloc(1, sizeof *e);
    char *text = calloc(1, name_len + 1 + group_len + 1);
    if (e == NULL || text == NULL) {
        free(e);
        free(text);
        return NULL;
    }
    e->id = id;
    e->flags = flags;
    e->name = memcpy(text, name, name_len);
    e->group = memcpy(text + name_len + 1, group, group_len);
    e->size = sizeof *e + name_len + 1 + group_len + 1;
    return e;
}

static void announce(struct entry *e) {
    atomic_fetch_add_explicit(&waiting, e->size, memory_order_relaxed);
    struct entry *top = atomic_load_explicit(&announced, memory_order_relaxed);
    do {
        e->chain = top;
    } while (!atomic_compare_exchange_weak_explicit(&announced, &top, e, memory_order_release,
                                                    memory_order_relaxed));
}

void weft_roster_announce(uint64_t id, uint16_t flags, const char *name, const char *group) {
    if (weft_roster_waiting() >= WEFT_ROSTER_WAITING) {
        return;
    }
    struct entry *e = new_entry(id, flags, name == NULL ? "" : name, group == NULL ? "" : group);
    if (e != NULL) {
        announce(e);
    }
}

size_t weft_roster_waiting(void) {
    return atomic_load_explicit(&waiting, memory_order_relaxed);
}

void weft_roster_virtual_ends(bool seen) {
    atomic_store(&virtual_ends, seen);
}

void weft_roster_withdraw(uint64_t id) {
    struct entry *e = new_entry(id, 0, "", "");
    if (e != NULL) {
        e->withdrawn = true;
        announce(e);
    }
}

static struct entry **link_of(uint64_t id) {
    struct entry **link = &roster.buckets[id % roster.bucket_count];
    while (*link != NULL && (*link)->id != id) {
        link = &(*link)->chain;
    }
    return link;
}

static struct entry *find(uint64_t id) {
    return roster.bucket_count == 0 ? NULL : *link_of(id);
}

// Doubles the full table. On failure the table stays as it is: slower, but correct.
static bool grow(void) {
    if (roster.count < roster.bucket_count) {
        return true;
    }
    uint32_t count = roster.bucket_count == 0 ? 1024 : roster.bucket_count * 2;
    struct entry **buckets = calloc(count, sizeof(struct entry *));
    if (buckets == NULL) {
        return roster.bucket_count != 0;
    }
    for (uint32_t i = 0; i < roster.bucket_count; i++) {
        while (roster.buckets[i] != NULL) {
            struct entry *e = roster.buckets[i];
            roster.buckets[i] = e->chain;
            e->chain = buckets[e->id % count];
            buckets[e->id % count] = e;
        }
    }
    free(roster.buckets);
    roster.buckets = buckets;
    roster.bucket_count = count;
    return true;
}

static void make_fresh(struct entry *e) {
    if (roster.connected && !e->fresh) {
        e->fresh = true;
        e->next_fresh = roster.fresh;
        roster.fresh = e;
    }
}

static void make_gone(struct entry *e) {
    e->gone = true;
    if (!e->listed) {
        e->listed = true;
        e->newer = NULL;
        if (roster.newest == NULL) {
            roster.oldest = e;
        } else {
            roster.newest->newer = e;
        }
        roster.newest = e;
        roster.gone++;
    }
}

static struct entry *insert(struct entry *e) {
    if (!grow()) {
        free_entry(e);
        return NULL;
    }
    struct entry **link = link_of(e->id);
    e->chain = *link;
    *link = e;
    roster.count++;
    roster.added++;
    make_fresh(e);
    if ((e->flags & WEFT_THREAD_VIRTUAL) != 0 &&
        (!atomic_load_explicit(&virtual_ends, memory_order_relaxed) ||
         roster.count > WEFT_ROSTER_VIRTUAL)) {
        make_gone(e); // its end will not be reported
    }
    return e;
}

// A thread that ends may have left its group already, as main does up to Java 18: it keeps the
// group.
static struct entry *with_group(const struct entry *e, struct entry *newer) {
    if (newer->group[0] != '\0' || e->group[0] == '\0') {
        return newer;
    }
    struct entry *with = new_entry(newer->id, newer->flags, newer->name, e->group);
    if (with == NULL) {
        return newer;
    }
    free_entry(newer);
    return with;
}

// Takes over the newer definition and frees its entry.
static void update(struct entry *e, struct entry *newer) {
    newer = with_group(e, newer);
    if (e->flags != newer->flags || strcmp(e->name, newer->name) != 0 ||
        strcmp(e->group, newer->group) != 0) {
        char *name = e->name;
        e->flags = newer->flags;
        e->name = newer->name;
        e->group = newer->group;
        newer->name = name;
        make_fresh(e);
    }
    if ((e->flags & WEFT_THREAD_VIRTUAL) == 0) {
        e->gone = false; // it was mentioned before it was announced
    }
    free_entry(newer);
}

void weft_roster_collect(void) {
    struct entry *e = atomic_exchange_explicit(&announced, NULL, memory_order_acquire);
    struct entry *in_order = NULL;
    while (e != NULL) {
        struct entry *next = e->chain;
        e->chain = in_order;
        in_order = e;
        e = next;
    }
    while (in_order != NULL) {
        struct entry *next = in_order->chain;
        struct entry *known = find(in_order->id);
        atomic_fetch_sub_explicit(&waiting, in_order->size, memory_order_relaxed);
        if (in_order->withdrawn) {
            if (known != NULL) {
                make_gone(known);
            }
            free_entry(in_order);
        } else if (known != NULL) {
            update(known, in_order);
        } else {
            insert(in_order);
        }
        in_order = next;
    }
}

void weft_roster_mention(uint64_t id, uint64_t sequence) {
    struct entry *e = find(id);
    if (e == NULL) {
        // It may have been announced since the last pass, before the event that mentions it.
        weft_roster_collect();
        e = find(id);
    }
    if (e == NULL) {
        e = new_entry(id, 0, "", "");
        if (e == NULL || (e = insert(e)) == NULL) {
            return;
        }
        make_gone(e); // its end will not be reported
    }
    if (e->last < sequence) {
        e->last = sequence;
    }
}

void weft_roster_gone(uint64_t id, uint64_t sequence) {
    // Collects all its announcements, so that none revives it later.
    weft_roster_collect();
    struct entry *e = find(id);
    if (e != NULL) {
        if (e->last < sequence) {
            e->last = sequence;
        }
        make_gone(e);
    }
}

void weft_roster_connected(void) {
    roster.connected = true;
    for (uint32_t i = 0; i < roster.bucket_count; i++) {
        for (struct entry *e = roster.buckets[i]; e != NULL; e = e->chain) {
            make_fresh(e);
        }
    }
}

void weft_roster_disconnected(void) {
    roster.connected = false;
    while (roster.fresh != NULL) {
        roster.fresh->fresh = false;
        roster.fresh = roster.fresh->next_fresh;
    }
}

void weft_roster_encode(struct weft_bytes *out) {
    while (roster.fresh != NULL) {
        struct entry *e = roster.fresh;
        roster.fresh = e->next_fresh;
        e->fresh = false;
        weft_wire_put_thread(out, e->id, e->flags, e->name, e->group);
    }
}

// Removes the first entry from the list of dead threads.
static struct entry *take_oldest(void) {
    struct entry *e = roster.oldest;
    roster.oldest = e->newer;
    if (roster.oldest == NULL) {
        roster.newest = NULL;
    }
    roster.gone--;
    e->listed = false;
    return e;
}

void weft_roster_trim(uint64_t acked) {
    // A few at a time, to keep passes short, but more than have come meanwhile: some virtual
    // threads count as dead at once.
    uint64_t most = TRIM_LOOKS + 2 * (uint64_t)roster.added;
    uint32_t looks = roster.gone < most ? roster.gone : (uint32_t)most;
    roster.added = 0;
    for (; looks > 0 && roster.gone > WEFT_ROSTER_GONE; looks--) {
        struct entry *e = take_oldest();
        if (e->gone && e->last <= acked && !e->fresh) {
            *link_of(e->id) = e->chain;
            roster.count--;
            free_entry(e);
        } else if (e->gone) {
            make_gone(e); // to the end of the list: a batch that mentions it may be sent again
        }
    }
}

uint32_t weft_roster_size(void) {
    return roster.count;
}

void weft_roster_restart(void) {
    for (uint32_t i = 0; i < roster.bucket_count; i++) {
        for (struct entry *e = roster.buckets[i]; e != NULL; e = e->chain) {
            e->last = 0;
            if ((e->flags & WEFT_THREAD_VIRTUAL) == 0) { // virtual threads are announced only once
                make_gone(e);
            }
        }
    }
}

void weft_roster_keep(uint64_t id) {
    struct entry *e = find(id);
    if (e != NULL) {
        e->gone = false;
    }
}
