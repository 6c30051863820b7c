// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/read_back.h"

#include <stddef.h>
#include <string.h>

#include "classfile/called.h"
#include "hotspot/jvm.h"

// The bit of the call that the method is to contain, if it does.
static uint32_t bit_of(jvmtiEnv *ti, jmethodID method, const struct weft_constants *pool,
                       const struct weft_calls *calls) {
    char *name = NULL;
    char *descriptor = NULL;
    unsigned char *code = NULL;
    jint len = 0;
    uint32_t bit = 0;
    if ((*ti)->GetMethodName(ti, method, &name, &descriptor, NULL) != JVMTI_ERROR_NONE) {
        return 0;
    }
    for (size_t i = 0; i < calls->count; i++) {
        if (strcmp(name, calls->list[i].method) == 0 &&
            strcmp(descriptor, calls->list[i].descriptor) == 0) {
            if ((*ti)->GetBytecodes(ti, method, &len, &code) == JVMTI_ERROR_NONE &&
                weft_called(pool, code, (uint32_t)len, calls, &calls->list[i])) {
                bit = UINT32_C(1) << i;
            }
            weft_jvm_deallocate(code);
            break;
        }
    }
    weft_jvm_deallocate(name);
    weft_jvm_deallocate(descriptor);
    return bit;
}

uint32_t weft_read_back(jvmtiEnv *ti, jclass class, const struct weft_calls *calls) {
    jint constants = 0;
    jint len = 0;
    unsigned char *bytes = NULL;
    jmethodID *methods = NULL;
    jint count = 0;
    uint32_t found = 0;
    struct weft_constants pool;
    if ((*ti)->GetConstantPool(ti, class, &constants, &len, &bytes) != JVMTI_ERROR_NONE) {
        return 0;
    }
    if (weft_constants_open(&pool, bytes, (size_t)len, (uint32_t)constants) &&
        (*ti)->GetClassMethods(ti, class, &count, &methods) == JVMTI_ERROR_NONE) {
        for (jint i = 0; i < count; i++) {
            found |= bit_of(ti, methods[i], &pool, calls);
        }
    }
    weft_jvm_deallocate(methods);
    weft_constants_close(&pool);
    weft_jvm_deallocate(bytes);
    return found;
}
