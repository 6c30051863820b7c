// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/copies.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LIBRARIES = 1024 };

static bool used;

void weft_copies_use(void) {
    used = true;
}

bool weft_copies_in_use(void) {
    return used;
}

struct libraries {
    char *paths[MAX_LIBRARIES];
    size_t count;
};

// The dynamic linker is locked during this call, so libraries are not opened here.
static int collect(struct dl_phdr_info *info, size_t size, void *to) {
    struct libraries *all = to;
    (void)size;
    if (info->dlpi_name != NULL && info->dlpi_name[0] == '/' && all->count < MAX_LIBRARIES) {
        all->paths[all->count] = strdup(info->dlpi_name);
        all->count += all->paths[all->count] != NULL;
    }
    return 0;
}

static weft_copies_attach attach_of(const char *path) {
    void *handle = dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
    if (handle == NULL) {
        return NULL;
    }
    bool (*in_use)(void) = (bool (*)(void))dlsym(handle, "weft_copies_in_use");
    weft_copies_attach attach = NULL;
    if (in_use != NULL && in_use != weft_copies_in_use && in_use()) {
        attach = (weft_copies_attach)dlsym(handle, "Agent_OnAttach");
    }
    (void)dlclose(handle); // the agent stays loaded
    return attach;
}

weft_copies_attach weft_copies_find(void) {
    struct libraries *all = calloc(1, sizeof *all);
    weft_copies_attach found = NULL;
    if (all == NULL) {
        return NULL;
    }
    dl_iterate_phdr(collect, all);
    for (size_t i = 0; i < all->count; i++) {
        found = found != NULL ? found : attach_of(all->paths[i]);
        free(all->paths[i]);
    }
    free(all);
    return found;
}
