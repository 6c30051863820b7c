// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package house_test

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const agentSource = "agent/src"

var (
	exportedC = regexp.MustCompile(`(?m)^([a-z][^(\n=]*[ *])(weft_\w+)\(`)
	includedC = regexp.MustCompile(`(?m)^#include "([^"]+)\.h"`)
)

// agentFiles returns the text of the agent's sources and headers, by their path in agent/src.
func agentFiles(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(agentSource + "/*/*.[ch]")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	texts := map[string]string{}
	for _, p := range paths {
		text, err := os.ReadFile(p)
		require.NoError(t, err)
		texts[strings.TrimPrefix(filepath.ToSlash(p), agentSource+"/")] = string(text)
	}
	return texts
}

// In C the prefix is the only namespace: it names the file of a function.
func TestExportedFunctionsHaveTheirFilePrefix(t *testing.T) {
	found := 0
	for file, text := range agentFiles(t) {
		own := "weft_" + strings.TrimSuffix(path.Base(file), path.Ext(file))
		for _, match := range exportedC.FindAllStringSubmatch(text, -1) {
			if strings.HasPrefix(match[1], "static ") && path.Ext(file) == ".c" {
				continue
			}
			found++
			assert.True(t, match[2] == own || strings.HasPrefix(match[2], own+"_"),
				"%s/%s: %s does not start with %s_", agentSource, file, match[2], own)
		}
	}
	assert.Greater(t, found, 300, "functions found")
}

// A source file and its header are one unit. Neither units nor folders may include each other in cycles.
func TestAgentFoldersHaveNoCycles(t *testing.T) {
	units, folders := map[string][]string{}, map[string][]string{}
	for file, text := range agentFiles(t) {
		unit := strings.TrimSuffix(file, path.Ext(file))
		for _, match := range includedC.FindAllStringSubmatch(text, -1) {
			require.Contains(t, match[1], "/", "%s/%s: an include names its folder", agentSource, file)
			if match[1] != unit {
				units[unit] = append(units[unit], match[1])
			}
			if from, to := path.Dir(unit), path.Dir(match[1]); from != to {
				folders[from] = append(folders[from], to)
			}
		}
	}
	assert.Empty(t, cycleIn(units), "files that include each other")
	assert.Empty(t, cycleIn(folders), "folders that include each other")
}

// TestAgentFoldersAreLayers checks that what application threads do (record) knows nothing of the sender (send), and both nothing of the
// JVM's callbacks (jvmti): a folder depends only on those before it.
func TestAgentFoldersAreLayers(t *testing.T) {
	layers := []string{"wire", "options", "classfile", "hotspot", "record", "send", "jvmti"}
	for file, text := range agentFiles(t) {
		folder := slices.Index(layers, path.Dir(file))
		require.NotEqual(t, -1, folder, "%s/%s: a folder without a place among %v", agentSource, file, layers)
		for _, match := range includedC.FindAllStringSubmatch(text, -1) {
			assert.Contains(t, layers[:folder+1], path.Dir(match[1]), "%s/%s includes %s.h", agentSource, file, match[1])
		}
	}
}

// TestOnlyTheSenderConnects checks that one folder opens connections and uses them.
func TestOnlyTheSenderConnects(t *testing.T) {
	connection := regexp.MustCompile(`\bweft_(?:stream|tls|openssl|endpoint_connect)\w*\(|\b(?:socket|connect|sendmsg)\(`)
	found := 0
	for file, text := range agentFiles(t) {
		switch path.Dir(file) {
		case "wire": // the protocol and its transports
		case "send":
			found += len(connection.FindAllString(text, -1))
		default:
			assert.Empty(t, connection.FindAllString(text, -1), "%s/%s", agentSource, file)
		}
	}
	assert.Positive(t, found, "uses of a connection")
}

// TestThreadsAndDeadlinesHaveOnePlace checks that all of the agent's threads let HotSpot report faults, and that no wait ends by the wall clock.
func TestThreadsAndDeadlinesHaveOnePlace(t *testing.T) {
	places := map[string]*regexp.Regexp{
		"wire/thread.c": regexp.MustCompile(`\bpthread_create\(|\bsigfillset\(`),
		"wire/clock.c":  regexp.MustCompile(`\bpthread_(?:cond_timedwait|mutex_timedlock|rwlock_timed\w+|condattr_setclock)\(|\bsem_timedwait\(`),
		"wire/clock.h":  regexp.MustCompile(`\bCLOCK_REALTIME\b`),
	}
	for file, text := range agentFiles(t) {
		for place, what := range places {
			assert.Equal(t, file == place, what.MatchString(text), "%s/%s: %s is for %s", agentSource, file, what, place)
		}
	}
}

// cycleIn returns the nodes of a cycle, nil if there is none.
func cycleIn(arrows map[string][]string) []string {
	done := map[string]bool{}
	var visit func(node string, trail []string) []string
	visit = func(node string, trail []string) []string {
		if at := slices.Index(trail, node); at >= 0 {
			return append(trail[at:], node)
		}
		if done[node] {
			return nil
		}
		trail = append(trail, node)
		for _, next := range arrows[node] {
			if cycle := visit(next, trail); cycle != nil {
				return cycle
			}
		}
		done[node] = true
		return nil
	}
	for _, node := range slices.Sorted(maps.Keys(arrows)) {
		if cycle := visit(node, nil); cycle != nil {
			return cycle
		}
	}
	return nil
}

// The agent and the collector's configurations may read the same environment.
func TestVariablesOfAgentAndConfigurationsDiffer(t *testing.T) {
	keys := regexp.MustCompile(`(?m)^ {4}\{"([a-z-]+)", &WEFT_`).FindAllStringSubmatch(agentFiles(t)["options/options.c"], -1)
	require.Greater(t, len(keys), 40, "options of the agent")
	options := map[string]bool{}
	for _, key := range keys {
		options["WEFT_"+strings.ToUpper(strings.ReplaceAll(key[1], "-", "_"))] = true
	}
	shared := map[string]bool{}
	paths, err := filepath.Glob("config/*.yaml")
	require.NoError(t, err)
	for _, p := range paths {
		text, err := os.ReadFile(p)
		require.NoError(t, err)
		for _, match := range regexp.MustCompile(`env:(WEFT_[A-Z_]+)`).FindAllStringSubmatch(string(text), -1) {
			if options[match[1]] {
				shared[match[1]] = true
			}
		}
	}
	assert.Equal(t, map[string]bool{"WEFT_ENDPOINT": true}, shared, "where agents connect is the same for both")
}
