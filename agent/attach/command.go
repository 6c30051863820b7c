// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"bufio"
	"bytes"
	"path"
	"slices"
	"strings"
)

// maxName is the length limit of a main class or the path of a jar, in bytes.
const maxName = 4096

// withValue are the options of the launcher whose value is the next word.
var withValue = []string{
	"-cp", "-classpath", "--class-path", "-p", "--module-path", "--upgrade-module-path", "--add-modules", "--limit-modules", "--add-exports",
	"--add-opens", "--add-reads", "--patch-module", "--enable-native-access", "--source",
}

// parseCommand splits /proc/PID/cmdline into its words.
func parseCommand(line []byte) []string {
	line = bytes.TrimSuffix(line, []byte{0})
	if len(line) == 0 {
		return nil
	}
	return strings.Split(string(line), "\x00")
}

func isLauncher(words []string) bool { return len(words) > 0 && path.Base(words[0]) == "java" }

// mainOf returns the main class, the jar or the module that a command line starts; the program if it is another launcher than java.
// Nothing, if the command line does not say it.
func mainOf(words []string) string {
	if !isLauncher(words) {
		if len(words) == 0 {
			return ""
		}
		return cut(path.Base(words[0]))
	}
	for i := 1; i < len(words); i++ {
		word := words[i]
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch {
		case word == "-jar", word == "-m", word == "--module":
			return cut(next)
		case strings.HasPrefix(word, "--module="):
			return cut(strings.TrimPrefix(word, "--module="))
		case slices.Contains(withValue, word):
			i++
		case strings.HasPrefix(word, "@"): // a file with more words
			return ""
		case !strings.HasPrefix(word, "-"):
			return cut(word)
		}
	}
	return ""
}

// mainIn returns the main class, the jar or the module in HotSpot's sun.rt.javaCommand, in which spaces separate words. The command line
// says where the first one ends.
func mainIn(javaCommand, fromCommand string) string {
	if rest, found := strings.CutPrefix(javaCommand, fromCommand); found && fromCommand != "" && (rest == "" || rest[0] == ' ') {
		return fromCommand
	}
	first, _, _ := strings.Cut(javaCommand, " ")
	if first == "" {
		return fromCommand
	}
	return cut(first)
}

func cut(name string) string { return name[:min(len(name), maxName)] }

// versionIn returns JAVA_VERSION in the release file of a Java installation, or nothing.
func versionIn(release []byte) string {
	for lines := bufio.NewScanner(bytes.NewReader(release)); lines.Scan(); {
		if value, found := strings.CutPrefix(lines.Text(), "JAVA_VERSION="); found {
			return strings.Trim(value, "\"")
		}
	}
	return ""
}
