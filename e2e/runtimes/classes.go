// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package runtimes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// BlockedJava waits until a thread is blocked, for the sample programs and for those of the agent's own tests.
const BlockedJava = "agent/test/java/Blocked.java"

// Compile compiles the sample programs, which need no jars, into a folder. Root is the folder of the repository.
func Compile(root, home, classes string) error {
	sources, err := filepath.Glob(filepath.Join(root, "e2e/jvm/*.java"))
	if err != nil {
		return err
	}
	exchange, err := filepath.Glob(filepath.Join(root, "e2e/jvm/com/acme/orders/*.java"))
	if err != nil {
		return err
	}
	sources = slices.Concat(sources, exchange, []string{filepath.Join(root, BlockedJava)})
	return javac(home, slices.Concat([]string{"--release", "11", "-Xlint:all", "-Werror", "-d", classes}, sources)...)
}

// ClassPath compiles the programs of a folder of e2e, which need the jars that the folder's POM lists, into another folder. It fetches the
// jars once. Classes has the programs without jars. It returns the class path of all of them.
func ClassPath(root, home, folder, classes, into string) (string, error) {
	jars := filepath.Join(root, "build", folder)
	if _, err := os.Stat(filepath.Join(jars, "fetched")); errors.Is(err, fs.ErrNotExist) {
		if err := FetchJars(root, "e2e/"+folder+"/pom.xml", jars); err != nil {
			return "", err
		}
	}
	sources, err := filepath.Glob(filepath.Join(root, "e2e", folder, "*.java"))
	if err != nil {
		return "", err
	}
	const separator = string(filepath.ListSeparator)
	path := filepath.Join(jars, "*") + separator + classes
	args := []string{"--release", "17", "-nowarn", "-proc:none", "-cp", path, "-d", into}
	return into + separator + path, javac(home, slices.Concat(args, sources)...)
}

// FetchJars has Maven copy the dependencies of a POM into a folder.
func FetchJars(root, pom, jars string) error {
	jars, err := filepath.Abs(jars) // Maven takes a relative folder as one next to the POM
	if err != nil {
		return err
	}
	if out, err := exec.Command(filepath.Join(root, "scripts/need.sh"), "mvn").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	args := []string{"mvn", "-q", "-B", "-f", filepath.Join(root, pom), "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory=" + jars}
	if out, err := exec.Command(filepath.Join(root, "scripts/retry.sh"), args...).CombinedOutput(); err != nil {
		return fmt.Errorf("mvn: %w: %s", err, out)
	}
	return os.WriteFile(filepath.Join(jars, "fetched"), nil, 0o600)
}

func javac(home string, args ...string) error {
	out, err := exec.Command(filepath.Join(home, "bin", "javac"), args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("javac: %w\n%s", err, out)
	}
	return nil
}
