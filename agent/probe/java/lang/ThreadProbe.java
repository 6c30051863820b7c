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

    /**
     * What the methods of VirtualThread call first, for virtual=exact only (src/jvmti/exact.c). The
     * current thread is about to unpark, start or interrupt the given one; in expired, because the
     * time of its park is over.
     */
    static native void unparked(Thread thread);

    static native void expired(Thread thread);

    static native void started(Thread thread);

    static native void interrupted(Thread thread);
}
