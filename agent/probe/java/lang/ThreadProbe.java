// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package java.lang;

/**
 * The frame from which the agent registers its native hooks. HotSpot prints a warning on standard
 * output when a platform class's native method is registered again by code outside java.base;
 * called from here, it does not. src/jvmti/probe_class.h holds the compiled form (see embed.sh).
 */
final class ThreadProbe {
    private ThreadProbe() {}

    /** The native method asks JNI for the length of its argument, and gets to the agent instead. */
    static void boot() {
        System.mapLibraryName("");
    }
}
