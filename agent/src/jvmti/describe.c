// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/describe.h"

#include <stdio.h>
#include <string.h>

#include "hotspot/jvm.h"

// Adds a property set by the JVM's own library, which JVMTI does not know. Calls Java, which is
// allowed here: nothing is recorded yet.
static void add_property(JNIEnv *env, struct weft_resource *resource, const char *property,
                         const char *key) {
    jstring name = (*env)->NewStringUTF(env, property);
    if (weft_jvm_clear_exception(env) || name == NULL) {
        return;
    }
    jstring value = weft_jvm_call_static(env, "java/lang/System", "getProperty",
                                         "(Ljava/lang/String;)Ljava/lang/String;", name);
    if (value == NULL) {
        return;
    }
    const char *text = (*env)->GetStringUTFChars(env, value, NULL);
    if (text != NULL) {
        weft_resource_add(resource, key, text);
        (*env)->ReleaseStringUTFChars(env, value, text);
    }
    weft_jvm_clear_exception(env);
}

static void describe_runtime(struct weft_resource *resource) {
    jvmtiEnv *ti = weft_jvm.ti;
    static const char *const properties[] = {"java.vm.vendor", "java.vm.name", "java.vm.version"};
    char text[512] = "";
    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++) {
        char *value = NULL;
        if ((*ti)->GetSystemProperty(ti, properties[i], &value) == JVMTI_ERROR_NONE) {
            size_t len = strlen(text);
            snprintf(text + len, sizeof text - len, "%s%s", len == 0 ? "" : " ", value);
            (*ti)->Deallocate(ti, (unsigned char *)value);
        }
    }
    weft_resource_add(resource, "process.runtime.description", text);
}

void weft_describe(JNIEnv *env, struct weft_resource *resource, const char *service) {
    jvmtiEnv *ti = weft_jvm.ti;
    char *command = NULL;
    weft_resource_add_process(resource, service);
    add_property(env, resource, "java.runtime.name", "process.runtime.name");
    add_property(env, resource, "java.runtime.version", "process.runtime.version");
    describe_runtime(resource);
    if ((*ti)->GetSystemProperty(ti, "sun.java.command", &command) != JVMTI_ERROR_NONE) {
        command = NULL;
    }
    weft_resource_add_command(resource, command);
    weft_jvm_deallocate(command);
}
