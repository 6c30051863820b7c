// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package runtimes

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
)

// Virtual returns what has virtual threads: the newest of the JDKs and, because virtual threads are pinned more often there, one of 21 to 23. If none
// is installed, that is a Java runtime of 21, which has no compiler. Root is the folder of the repository.
func Virtual(root string, jdks []JDK) ([]JDK, error) {
	const again = 24 // from which on a blocked virtual thread leaves its carrier
	if len(jdks) == 0 || jdks[len(jdks)-1].Major < again {
		return nil, fmt.Errorf("install a JDK %d or newer", again)
	}
	newest := jdks[len(jdks)-1]
	if at := slices.IndexFunc(jdks, func(j JDK) bool { return j.Major >= 21 && j.Major < again }); at >= 0 {
		return []JDK{jdks[at], newest}, nil
	}
	folder := filepath.Join(root, "build/jre")
	if out, err := exec.Command(filepath.Join(root, "scripts/jres.sh"), folder, "21").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return []JDK{{filepath.Join(folder, "21"), 21}, newest}, nil
}
