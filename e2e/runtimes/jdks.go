// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package runtimes answers: which JDKs are installed, and how do the sample programs become classes that they run?
package runtimes

import (
	"bufio"
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// JDK is a Java installation.
type JDK struct {
	Home  string
	Major int
}

func (j JDK) String() string { return "jdk" + strconv.Itoa(j.Major) }

// JDKs looks at JAVA_HOME and PATH, and next to the JDKs found there. It returns one for each version from 11, the oldest first.
func JDKs() []JDK {
	homes := []string{os.Getenv("JAVA_HOME")}
	if javac, err := exec.LookPath("javac"); err == nil {
		if target, err := filepath.EvalSymlinks(javac); err == nil {
			homes = append(homes, filepath.Dir(filepath.Dir(target)))
		}
	}
	for _, home := range slices.Clone(homes) {
		if home != "" {
			siblings, _ := filepath.Glob(filepath.Join(filepath.Dir(home), "*"))
			homes = append(homes, siblings...)
		}
	}
	var found []JDK
	for _, home := range homes {
		major := majorVersion(home)
		known := slices.ContainsFunc(found, func(j JDK) bool { return j.Major == major })
		if _, err := os.Stat(filepath.Join(home, "bin", "javac")); err == nil && major >= 11 && !known {
			found = append(found, JDK{home, major})
		}
	}
	slices.SortFunc(found, func(a, b JDK) int { return cmp.Compare(a.Major, b.Major) })
	return found
}

// majorVersion reads the release file of a JDK; 0 if there is none.
func majorVersion(home string) int {
	f, err := os.Open(filepath.Join(home, "release"))
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "JAVA_VERSION="); ok {
			major, _, _ := strings.Cut(strings.Trim(text, `"`), ".")
			n, _ := strconv.Atoi(major)
			return n
		}
	}
	return 0
}
