// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package historyfuzz

import (
	"flag"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	seed      = flag.Uint64("seed", 1, "selects the mutations")
	mutations = flag.Int("mutations", 1, "how many mutations of each kind each history gets; with as many as it has events, it is cut after each of them")
	period    = flag.Duration("for", 0, "how long to go on with further seeds, or when to stop before the mutations are all tried")
	file      = flag.String("file", "", "damage this history only")
	single    = flag.String("mutation", "", "try this mutation of -file only, such as flip/3")

	// Flags of the process that tries.
	scratch = flag.String("scratch", "", "folder of the damaged file")
	skip    = flag.Int("skip", 0, "number of trials to skip")
)

// trial is a mutation of a history.
type trial struct {
	*history
	mutation
}

func (tr *trial) String() string {
	return fmt.Sprintf("-seed=%d -file=%s -mutation=%v", *seed, tr.name, tr.mutation)
}

// trials returns the trials of a run in rounds: one mutation of each kind for each history, in random order.
func trials(t *testing.T) iter.Seq[trial] {
	t.Helper()
	all := histories(t)
	if *file != "" {
		all = slices.DeleteFunc(all, func(h history) bool { return h.name != *file })
	}
	require.NotEmpty(t, all, "no history has the name %q", *file)
	if *single != "" {
		m, err := parse(*single)
		require.NoError(t, err)
		return slices.Values([]trial{{&all[0], m}})
	}
	rng := rand.New(rand.NewPCG(*seed, 0))
	borders := make([][]int, len(all))
	for i := range all {
		borders[i] = rng.Perm(len(pieces(&all[i])))
	}
	return func(yield func(trial) bool) {
		for number := range *mutations {
			var list []trial
			for i := range all {
				for _, kind := range slices.Sorted(maps.Keys(kinds)) {
					list = append(list, trial{&all[i], mutation{kind, number}})
				}
				if number < len(borders[i]) {
					list = append(list, trial{&all[i], mutation{border, borders[i][number]}})
				}
			}
			rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			for _, tr := range list {
				if !yield(tr) {
					return
				}
			}
		}
	}
}

// state is the file that says which trial goes on: its number and the flags that repeat it.
const state = "state"

// TestTrials passes damaged histories to all readers, until one fails. TestDamagedHistories runs it in a process of its own.
func TestTrials(t *testing.T) {
	if *scratch == "" {
		t.Skip("TestDamagedHistories runs this")
	}
	limitMemory()
	end := time.Now().Add(*period)
	i, tried := 0, 0
	for tr := range trials(t) {
		if i++; i <= *skip {
			continue
		}
		if *period > 0 && time.Now().After(end) {
			break
		}
		require.NoError(t, os.WriteFile(filepath.Join(*scratch, state), fmt.Appendf(nil, "%d %v", i, &tr), 0o600))
		if !t.Run(tr.name+"/"+tr.mutation.String(), tr.run) {
			return
		}
		tried++
	}
	fmt.Printf("tried %d damaged histories with %d readers\n", tried, len(readers()))
	require.NoError(t, os.Remove(filepath.Join(*scratch, state)))
}

func (tr *trial) run(t *testing.T) {
	path := filepath.Join(*scratch, tr.name)
	require.NoError(t, os.WriteFile(path, tr.apply(tr.history, *seed), 0o600))
	for name, data := range tr.sidecars {
		require.NoError(t, os.WriteFile(filepath.Join(*scratch, name), data, 0o600))
	}
	all := readers()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) { watched(t, name, func() { all[name](t, path) }) })
		if t.Failed() {
			return // with the file
		}
	}
	require.NoError(t, os.Remove(path))
}
