// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/corpus/spantest"
	"github.com/weft-otel/weft/e2e/runtimes"
)

// realPrograms are third-party programs: e2e/real/src puts each under load, and each must behave as without the agent.
var realPrograms = []struct {
	name, operations string
	threads          []string // name prefixes of the program's own threads
	waits            []string // classes on which its threads wait under any load
}{
	{"h2", "500", []string{"client-"}, []string{"org.h2."}},
	{"derby", "100", []string{"client-", "derby."}, []string{"org.apache.derby.impl.services.locks."}},
	{"jetty", "300", []string{"client-", "qtp", "HttpClient-"}, []string{"java.util.concurrent."}},
	{"activemq", "300", []string{"client-", "ActiveMQ "}, []string{"java.util.concurrent."}},
	{"zookeeper", "100", []string{"client-", "SyncThread:0", "NIOServerCxnFactory."}, []string{"java.util.concurrent.", "org.apache.zookeeper."}},
}

// realClasses compiles the load generators once; their jars are downloaded once, into build/real.
var realClasses = sync.OnceValues(func() (string, error) {
	jars := built("real")
	if !exists(filepath.Join(jars, "fetched")) {
		if err := runtimes.FetchJars(root, "e2e/real/pom.xml", jars); err != nil {
			return "", err
		}
	}
	sources, err := filepath.Glob(filepath.Join(root, "e2e/real/src/*.java"))
	if err != nil {
		return "", err
	}
	dir := filepath.Join(classes, "real")
	classpath := filepath.Join(jars, "*")
	args := append([]string{"--release", "17", "-nowarn", "-proc:none", "-cp", classpath, "-d", dir}, sources...)
	if out, err := exec.Command(filepath.Join(jdks[0].Home, "bin", "javac"), args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("javac: %w: %s", err, out)
	}
	return dir + string(filepath.ListSeparator) + classpath, nil
})

// outcome is the visible result of a program.
type outcome struct {
	code           int
	stdout, stderr []string
}

func (p *process) outcome(t *testing.T) outcome {
	t.Helper()
	code := p.wait(t)
	return outcome{code, p.outLines(), p.errLines()}
}

// TestRealProgramsBehaveTheSame runs third-party programs and checks the spans of their threads.
func TestRealProgramsBehaveTheSame(t *testing.T) {
	classpath, err := realClasses()
	require.NoError(t, err)
	flags := []string{"-Xmx256m", "-Dderby.stream.error.file=" + os.DevNull, "-Dderby.locks.waitTimeout=3600", "-cp", classpath}
	onEachJDK(t, func(t *testing.T, j jdk) {
		for _, program := range realPrograms {
			t.Run(program.name, func(t *testing.T) {
				command := append(slices.Clone(flags), "Load", program.name, program.operations)
				plain := start(t, nil, filepath.Join(j.Home, "bin", "java"), command...).outcome(t)
				require.Len(t, plain.stdout, 1, "%v", plain)

				c := startCollector(t, setup{})
				agent := "-agentpath:" + built("libweft.so") + "=endpoint=" + c.endpoint + ",service=" + program.name + everything
				watched := start(t, nil, filepath.Join(j.Home, "bin", "java"), append([]string{agent}, command...)...).outcome(t)
				assert.Equal(t, plain, watched, "output and exit code of the program")

				o := c.finish(t, program.name)
				spantest.CheckStructure(t, o)
				spantest.CheckNothingLost(t, o)
				for _, name := range program.threads {
					assert.NotEmpty(t, o.Of(program.name, func(s *span) bool {
						return strings.HasPrefix(s.Text("thread.name"), name)
					}), "threads %s* were seen", name)
				}
				for _, class := range program.waits {
					waits := o.Of(program.name, func(s *span) bool {
						return s.IsState() && strings.HasPrefix(s.Text("weft.lock.class"), class)
					})
					assert.NotEmpty(t, waits, "waits for %s*", class)
				}
				var linked int
				for _, s := range o.Spans {
					linked += s.Links().Len()
				}
				assert.Positive(t, linked, "some waits link to the thread that ended them")
			})
		}
	})
}
