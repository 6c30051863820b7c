// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The SDK is configured once, before or after the session begins, and before or after the agent is
// loaded. What is there first keeps its identity; the other one adopts it. weft-otel.jar calls the
// native methods below; the JVM finds them by name.

#include "jvmti/sdk.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hotspot/jvm.h"
#include "jvmti/natives.h"
#include "record/context.h"
#include "record/published.h"
#include "wire/clock.h"
#include "wire/names.h"

struct identity {
    char *service;  // service.name; NULL: unknown
    char *instance; // service.instance.id; NULL: unknown
};

// Guards both. Its holder makes no JVM calls.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct identity sdk;     // of the first SDK that was configured
static struct identity session; // of the current or the last session

// Takes over the strings.
static void set(struct identity *who, char *service, char *instance) {
    pthread_mutex_lock(&mutex);
    struct identity before = *who;
    *who = (struct identity){service, instance};
    pthread_mutex_unlock(&mutex);
    free(before.service);
    free(before.instance);
}

static char *copy_of(const char *text) {
    return text == NULL || text[0] == '\0' ? NULL : strdup(text);
}

static char *get(const struct identity *who, size_t field) {
    pthread_mutex_lock(&mutex);
    char *text = copy_of(*(char *const *)((const char *)who + field));
    pthread_mutex_unlock(&mutex);
    return text;
}

#define SERVICE  offsetof(struct identity, service)
#define INSTANCE offsetof(struct identity, instance)

// An allocated copy in UTF-8; NULL if there is none.
static char *text_of(JNIEnv *env, jstring string) {
    const char *text = string == NULL ? NULL : (*env)->GetStringUTFChars(env, string, NULL);
    char *copy = copy_of(text);
    if (text != NULL) {
        (*env)->ReleaseStringUTFChars(env, string, text);
    }
    if (copy != NULL) {
        weft_names_utf8(copy);
    }
    weft_jvm_clear_exception(env);
    return copy;
}

// Only ASCII is the same text in JNI's encoding. Frees the text.
static jstring string_of(JNIEnv *env, char *text) {
    jstring string = NULL;
    bool ascii = text != NULL;
    for (const char *c = text; ascii && *c != '\0'; c++) {
        ascii = (unsigned char)*c < 0x80;
    }
    if (ascii) {
        string = (*env)->NewStringUTF(env, text);
    }
    free(text);
    return string;
}

JNIEXPORT void JNICALL Java_io_github_weftotel_context_Identity_sdk(JNIEnv *env, jclass class,
                                                                    jstring service,
                                                                    jstring instance) {
    (void)class;
    set(&sdk, text_of(env, service), text_of(env, instance));
}

JNIEXPORT jstring JNICALL Java_io_github_weftotel_context_Identity_service(JNIEnv *env,
                                                                           jclass class) {
    (void)class;
    return string_of(env, get(&session, SERVICE));
}

JNIEXPORT jstring JNICALL Java_io_github_weftotel_context_Identity_instance(JNIEnv *env,
                                                                            jclass class) {
    (void)class;
    return string_of(env, get(&session, INSTANCE));
}

// A system property as the program sees it: JVMTI knows only those that the JVM started with.
// Allocated; NULL if there is none.
static char *java_property(JNIEnv *env, const char *name) {
    jclass system = weft_jvm_find(env, "java/lang/System");
    jmethodID get_property =
        system == NULL ? NULL
                       : (*env)->GetStaticMethodID(env, system, "getProperty",
                                                   "(Ljava/lang/String;)Ljava/lang/String;");
    jstring key = get_property == NULL ? NULL : (*env)->NewStringUTF(env, name);
    jstring value =
        key == NULL ? NULL : (*env)->CallStaticObjectMethod(env, system, get_property, key);
    return weft_jvm_clear_exception(env) ? NULL : text_of(env, value);
}

void weft_sdk_look(JNIEnv *env) {
    char *known = get(&sdk, SERVICE);
    if (known == NULL) {
        set(&sdk, java_property(env, "weft.otel.service.name"),
            java_property(env, "weft.otel.service.instance.id"));
    }
    free(known);
}

static void add(struct weft_resource *resource, const char *key, char *value) {
    weft_resource_add(resource, key, value);
    free(value);
}

void weft_sdk_describe(struct weft_resource *resource) {
    char *value = NULL;
    add(resource, "service.name", get(&sdk, SERVICE));
    add(resource, "service.instance.id", get(&sdk, INSTANCE));
    if ((*weft_jvm.ti)->GetSystemProperty(weft_jvm.ti, "otel.service.name", &value) ==
        JVMTI_ERROR_NONE) {
        weft_resource_add(resource, "service.name", value);
        weft_jvm_deallocate(value);
    }
}

void weft_sdk_begin(const struct weft_resource *resource, const uint8_t id[16]) {
    char hex[WEFT_SESSION_TEXT];
    const char *service = NULL;
    const char *instance = weft_resource_session(id, hex);
    for (uint16_t i = 0; i < resource->count; i++) {
        const struct weft_attribute *attribute = &resource->list[i];
        if (strcmp(attribute->key, "service.name") == 0) {
            service = attribute->value;
        } else if (strcmp(attribute->key, "service.instance.id") == 0) {
            instance = attribute->value;
        }
    }
    set(&session, copy_of(service), copy_of(instance));
}

bool weft_sdk_renew(struct weft_resource *resource, const uint8_t before[16],
                    const uint8_t now[16]) {
    char old[WEFT_SESSION_TEXT];
    char new[WEFT_SESSION_TEXT];
    weft_resource_session(before, old);
    weft_resource_session(now, new);
    pthread_mutex_lock(&mutex);
    bool adopted = sdk.instance != NULL && strcmp(sdk.instance, old) == 0;
    bool changes = !adopted && session.instance != NULL && strcmp(session.instance, old) == 0;
    if (changes) {
        memcpy(session.instance, new, sizeof new); // of the same length
    }
    pthread_mutex_unlock(&mutex);
    return changes && weft_resource_replace(resource, "service.instance.id", new);
}

enum { LINE_MAX_SIZE = 512 };

static void show_difference(const char *key, char *here, char *there,
                            void (*line)(void *to, const char *text), void *to) {
    char text[LINE_MAX_SIZE];
    if (here != NULL && there != NULL && strcmp(here, there) != 0) {
        snprintf(text, sizeof text,
                 "%s is %.128s here and %.128s in OpenTelemetry's SDK; set it for both, or put "
                 "-javaagent before -agentpath",
                 key, here, there);
        line(to, text);
    }
    free(here);
    free(there);
}

void weft_sdk_show(JNIEnv *env, void (*line)(void *to, const char *text), void *to) {
    weft_sdk_look(env);
    weft_published_look(weft_clock(), true);
    char *service = get(&sdk, SERVICE); // of an SDK built by hand, only its spans are known
    if (service != NULL || atomic_load(&weft_context_reported)) {
        line(to, "weft-otel.jar reports the current spans of OpenTelemetry's SDK");
    } else if (weft_published_library() != NULL) {
        char text[LINE_MAX_SIZE];
        snprintf(text, sizeof text, "current spans are those that %.128s publishes (OTEP 4947)",
                 weft_published_library());
        line(to, text);
    } else if (weft_jvm_find(env, "io/opentelemetry/javaagent/bootstrap/AgentInitializer") !=
               NULL) {
        line(to, "OpenTelemetry's Java agent runs without weft-otel.jar, so waits do not link to "
                 "requests; start the JVM with -Dotel.javaagent.extensions=/path/weft-otel.jar "
                 "(on the class path it has no effect)");
    }
    free(service);
    show_difference("service.name", get(&session, SERVICE), get(&sdk, SERVICE), line, to);
    show_difference("service.instance.id", get(&session, INSTANCE), get(&sdk, INSTANCE), line, to);
}
