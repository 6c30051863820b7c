// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package historyfuzz

import (
	"flag"
	"fmt"
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
	mutations = flag.Int("mutations", 1, "how many mutations of each kind each history gets")
	period    = flag.Duration("for", 0, "how long to go on with further seeds, or when to stop before the mutations are all tried")
	file      = flag.String("file", "", "damage this history only")
	single    = flag.String("mutation", "", "try this mutation of -file only, such as flip/3")

	// Flags of the process that tries.
	scratch = flag.String("scratch", "", "folder of the damaged file")
	first   = flag.Int("first", 0, "number of the first trial")
)

// trial is a mutation of a history.
type trial struct {
	*history
	mutation
}

func (tr *trial) String() string {
	return fmt.Sprintf("-seed=%d -file=%s -mutation=%v", *seed, tr.name, tr.mutation)
}

// trials returns all trials of a run in random order, so that the first ones are a sample.
func trials(t *testing.T) (list []trial) {
	t.Helper()
	rng := rand.New(rand.NewPCG(*seed, 0))
	all := histories(t)
	for i := range all {
		h := &all[i]
		if *file != "" && h.name != *file {
			continue
		}
		if *single != "" {
			m, err := parse(*single)
			require.NoError(t, err)
			return []trial{{h, m}}
		}
		borders := rng.Perm(len(pieces(h)))
		for _, n := range borders[:min(*mutations, len(borders))] {
			list = append(list, trial{h, mutation{border, n}})
		}
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			for n := range *mutations {
				list = append(list, trial{h, mutation{kind, n}})
			}
		}
	}
	require.NotEmpty(t, list, "no history has the name %q", *file)
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// state is the file that says which trial goes on: its number and the flags that repeat it.
const state = "state"

// TestTrials passes damaged histories to all readers, until one fails. TestDamagedHistories runs it in a process of its own.
func TestTrials(t *testing.T) {
	if *scratch == "" {
		t.Skip("TestDamagedHistories runs this")
	}
	limitMemory()
	list := trials(t)
	end := time.Now().Add(*period)
	for i := *first; i < len(list) && (*period == 0 || time.Now().Before(end)); i++ {
		tr := &list[i]
		require.NoError(t, os.WriteFile(filepath.Join(*scratch, state), fmt.Appendf(nil, "%d %v", i, tr), 0o600))
		if !t.Run(tr.name+"/"+tr.mutation.String(), tr.run) {
			return
		}
	}
	require.NoError(t, os.Remove(filepath.Join(*scratch, state)))
}

func (tr *trial) run(t *testing.T) {
	path := filepath.Join(*scratch, tr.name)
	require.NoError(t, os.WriteFile(path, tr.apply(tr.history, *seed), 0o600))
	for name, data := range tr.beside {
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
