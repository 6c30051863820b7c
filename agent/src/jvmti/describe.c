// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/describe.h"

#include <stdio.h>
#include <string.h>

#include "hotspot/jvm.h"
#include "jvmti/sdk.h"

// Adds a constant that the JDK makes a property of; JVMTI does not know these properties. HotSpot
// reads it in the same way for its error reports. The class is initialized before VMInit.
static void add_constant(JNIEnv *env, struct weft_resource *resource, const char *name,
                         const char *key) {
    const char *properties = weft_jvm.version == 8 ? "sun/misc/Version" : "java/lang/VersionProps";
    jclass class = weft_jvm_find(env, properties);
    jfieldID field =
        class == NULL ? NULL : (*env)->GetStaticFieldID(env, class, name, "Ljava/lang/String;");
    if (weft_jvm_clear_exception(env) || field == NULL) {
        return;
    }
    jstring value = (*env)->GetStaticObjectField(env, class, field);
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
    char *attributes = NULL;
    weft_resource_add(resource, "service.name", service);
    weft_sdk_describe(resource);
    if ((*ti)->GetSystemProperty(ti, "otel.resource.attributes", &attributes) != JVMTI_ERROR_NONE) {
        attributes = NULL;
    }
    weft_resource_add_process(resource, attributes);
    weft_jvm_deallocate(attributes);
    add_constant(env, resource, "java_runtime_name", "process.runtime.name");
    add_constant(env, resource, "java_runtime_version", "process.runtime.version");
    describe_runtime(resource);
    if ((*ti)->GetSystemProperty(ti, "sun.java.command", &command) != JVMTI_ERROR_NONE) {
        command = NULL;
    }
    weft_resource_add_command(resource, command);
    weft_jvm_deallocate(command);
}
