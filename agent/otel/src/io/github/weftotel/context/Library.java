// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package io.github.weftotel.context;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.List;

/**
 * Loads libweft.so: from the folder of weft-otel.jar, or else from the jar. Only what the owner of the folder, root or this
 * user has put there is loaded; others can plant nothing.
 */
final class Library {
    private static final int ROOT = 0;
    private static final int OTHERS_WRITE = 0002;
    private static final int GROUP_OR_OTHERS_WRITE = 0022;
    private static final int STICKY = 01000;

    private Library() {}

    /** Loads the first library that this JVM can load. Throws if there is none, with the reasons. */
    static void load() throws IOException {
        String name = "libweft-" + Platform.current() + ".so";
        List<String> problems = new ArrayList<>();
        for (Path folder : folders()) {
            for (String candidate : List.of(name, "libweft.so")) {
                if (loadFrom(folder, candidate, problems)) {
                    return;
                }
            }
        }
        try {
            loadFromJar(name);
        } catch (IOException | UnsatisfiedLinkError e) {
            problems.add(e.getMessage());
            throw new IOException(String.join("; ", problems) + "; put " + name + " next to weft-otel.jar", e);
        }
    }

    private static boolean loadFrom(Path folder, String name, List<String> problems) {
        Path path = folder.resolve(name);
        try {
            if (!isTrusted(path, folder)) {
                problems.add(path + " belongs to another user than its folder, or anybody may write to it");
                return false;
            }
            System.load(path.toAbsolutePath().toString());
            return true;
        } catch (NoSuchFileException e) {
            return false;
        } catch (IOException | UnsatisfiedLinkError e) { // such as that of another libc
            problems.add(e.getMessage());
            return false;
        }
    }

    /** Tests a file, and if it is a symbolic link, that too. */
    private static boolean isTrusted(Path path, Path folder) throws IOException {
        List<Integer> owners = List.of(ROOT, uid(Path.of("/proc/self")), uid(folder));
        return owners.contains(uid(path, LinkOption.NOFOLLOW_LINKS)) && owners.contains(uid(path)) && (mode(path) & OTHERS_WRITE) == 0;
    }

    /** Returns the folders in which the jar may be. OpenTelemetry's Java agent hides the paths of its extensions. */
    private static List<Path> folders() {
        List<Path> folders = new ArrayList<>();
        CodeSource source = Library.class.getProtectionDomain().getCodeSource();
        URL location = source == null ? null : source.getLocation();
        if (location != null && location.getProtocol().equals("file")) {
            try {
                addFolder(Path.of(location.toURI()), folders);
            } catch (URISyntaxException | IllegalArgumentException e) {
                // The library in the jar remains.
            }
        } else if (location != null && location.getProtocol().equals("otel")) {
            String extensions = System.getProperty("otel.javaagent.extensions", System.getenv("OTEL_JAVAAGENT_EXTENSIONS"));
            for (String extension : extensions == null ? new String[0] : extensions.split(",")) {
                addFolder(new File(extension.trim()).toPath(), folders);
            }
        }
        return folders;
    }

    private static void addFolder(Path path, List<Path> folders) {
        Path absolute = path.toAbsolutePath();
        folders.add(Files.isDirectory(absolute) ? absolute : absolute.getParent());
    }

    /** The file is needed only until it is loaded. */
    private static void loadFromJar(String name) throws IOException {
        try (InputStream library = Library.class.getResourceAsStream("/META-INF/native/" + name)) {
            if (library == null) {
                throw new IOException("weft-otel.jar does not contain " + name);
            }
            Path temporary = Path.of(System.getProperty("java.io.tmpdir")).toAbsolutePath();
            if (!isPrivate(temporary)) {
                throw new IOException("other users may replace files in " + temporary + ", which has no sticky bit or belongs to one of them");
            }
            Path folder = Files.createTempDirectory(temporary, "weft-", PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            Path file = folder.resolve(name);
            try {
                Files.copy(library, file);
                System.load(file.toString());
            } finally {
                Files.deleteIfExists(file);
                Files.delete(folder);
            }
        }
    }

    /** Returns whether no other user can rename a folder of this user in that one. */
    private static boolean isPrivate(Path folder) throws IOException {
        int mode = mode(folder);
        return List.of(ROOT, uid(Path.of("/proc/self"))).contains(uid(folder)) && ((mode & GROUP_OR_OTHERS_WRITE) == 0 || (mode & STICKY) != 0);
    }

    private static int uid(Path path, LinkOption... options) throws IOException {
        return (Integer) Files.getAttribute(path, "unix:uid", options);
    }

    private static int mode(Path path) throws IOException {
        return (Integer) Files.getAttribute(path, "unix:mode");
    }
}
