// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package bundled

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/weft-otel/weft/agent/attach"
)

// places are the files that an installation, make build and make dist write.
func places(program string, p attach.Platform) []string {
	const name = "libweft.so"
	dir, dist := filepath.Dir(program), filepath.Join("dist", fmt.Sprintf("libweft-%v.so", p))
	return []string{
		filepath.Join(dir, name), filepath.Join(dir, dist), filepath.Join(dir, "..", "lib", name),
		filepath.Join("build", name), filepath.Join("build", dist),
	}
}

// find returns the first file that is for the platform.
func find(places []string, want attach.Platform) (string, error) {
	var others []string
	for _, place := range places {
		is, err := attach.PlatformOfProgram(place)
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			others = append(others, err.Error())
		case is != want:
			others = append(others, fmt.Sprintf("%s is for %v", place, is))
		default:
			return filepath.Abs(place)
		}
	}
	found := ""
	if len(others) > 0 {
		found = ": " + strings.Join(others, "; ")
	}
	return "", fmt.Errorf("no agent for %v at %s%s; run make dist, or specify the path of the library",
		want, strings.Join(places, ", "), found)
}
