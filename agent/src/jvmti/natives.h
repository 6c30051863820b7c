// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The native methods of weft-otel.jar. The JVM finds them by name in the library that the jar's
// class loader has loaded, and else in agents.

#pragma once

#include <jni.h>

JNIEXPORT jboolean JNICALL Java_io_github_weftotel_context_Agent_changed(JNIEnv *env, jclass class,
                                                                         jlong trace_high,
                                                                         jlong trace_low,
                                                                         jlong span);
JNIEXPORT void JNICALL Java_io_github_weftotel_context_Agent_ended(JNIEnv *env, jclass class,
                                                                   jstring name);
JNIEXPORT void JNICALL Java_io_github_weftotel_context_Agent_current(JNIEnv *env, jclass class,
                                                                     jlong trace_high,
                                                                     jlong trace_low, jlong span);
JNIEXPORT void JNICALL Java_io_github_weftotel_context_Identity_sdk(JNIEnv *env, jclass class,
                                                                    jstring service,
                                                                    jstring instance);
JNIEXPORT jstring JNICALL Java_io_github_weftotel_context_Identity_service(JNIEnv *env,
                                                                           jclass class);
JNIEXPORT jstring JNICALL Java_io_github_weftotel_context_Identity_instance(JNIEnv *env,
                                                                            jclass class);
JNIEXPORT jstring JNICALL Java_io_github_weftotel_context_Start_begin(JNIEnv *env, jclass class);
