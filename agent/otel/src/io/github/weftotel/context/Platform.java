// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package io.github.weftotel.context;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Names the build of the agent for a JVM, such as linux-musl-aarch64. */
final class Platform {
    private Platform() {}

    /** Returns the platform of this JVM. */
    static String current() {
        return name(System.getProperty("os.name"), System.getProperty("os.arch"), Path.of("/proc/self/maps"), Path.of("/lib"));
    }

    /**
     * The libc counts that this process has loaded, as its memory maps say: a system may have both. Without them, that of the
     * system's folder counts.
     */
    static String name(String system, String processor, Path maps, Path libraries) {
        String machine = machine(processor);
        if (!system.equals("Linux") || machine == null) {
            throw new UnsupportedOperationException("no build for " + system + " on " + processor + " (want Linux on x86-64 or aarch64)");
        }
        String loader = "ld-musl-" + machine;
        return "linux-" + (uses(loader, maps, libraries) ? "musl-" : "") + machine;
    }

    private static String machine(String processor) {
        switch (processor) {
            case "amd64":
            case "x86_64":
                return "x86_64";
            case "aarch64":
                return "aarch64";
            default:
                return null;
        }
    }

    private static boolean uses(String loader, Path maps, Path libraries) {
        try (Stream<String> lines = Files.lines(maps, StandardCharsets.ISO_8859_1)) {
            return lines.anyMatch(line -> line.contains("/" + loader));
        } catch (IOException | RuntimeException e) {
            return Files.exists(libraries.resolve(loader + ".so.1"));
        }
    }
}
