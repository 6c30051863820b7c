// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"flag"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var stressFor = flag.Duration("stress", 3*time.Second, "how long TestStress runs on each JDK and garbage collector")

// TestStress lets threads wait in every way at random, with a small heap, on each garbage collector: the program holds what it promises
// to itself, it lives as long as it should, and what was seen of it fits together.
func TestStress(t *testing.T) {
	onEachJDK(t, func(t *testing.T, j jdk) {
		for _, gc := range []string{"Serial", "Parallel", "G1", "Z", "Shenandoah"} {
			t.Run(gc, func(t *testing.T) {
				flags := []string{"-XX:+Use" + gc + "GC", "-Xmx64m", "-Xcheck:jni"}
				bin := filepath.Join(j.home, "bin", "java")
				if start(t, nil, bin, append(flags, "-version")...).wait(t) != 0 {
					t.Skipf("%v was built without %sGC", j, gc)
				}
				c := startCollector(t, setup{})
				agent := "-agentpath:" + built("libweft.so") + "=endpoint=" + c.endpoint + ",service=stress"
				seconds := strconv.Itoa(int(stressFor.Seconds()))
				jvm := start(t, nil, bin, append(flags, agent, "-cp", classes, "Stress", seconds)...)
				select {
				case <-jvm.exited:
				case <-time.After(*stressFor + patience):
					t.Fatal("the program hangs")
				}
				assert.Equal(t, outcome{0, []string{`{"stress":"held"}`}, nil}, jvm.outcome(t))
				o := c.finish(t, "stress")
				require.NotEmpty(t, o.roots("stress"))
				checkStructure(t, o)
			})
		}
	})
}
