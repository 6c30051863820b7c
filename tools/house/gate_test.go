// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package house_test

import (
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Calls whose verdict depends on time or chance, by the last element of the import path, and the remedy.
var chance = []struct {
	pkg, remedy string
	name        *regexp.Regexp
}{
	{"time", "use testing/synctest, or wait for a condition with await.Until", regexp.MustCompile(`^(Sleep|After|AfterFunc|Tick|NewTicker|NewTimer|Since|Until)$`)},
	{"assert", "use await.Until", regexp.MustCompile(`^(Eventually|Never)`)},
	{"require", "use await.Until", regexp.MustCompile(`^(Eventually|Never)`)},
	{"assert", "compare exactly", regexp.MustCompile(`^(InDelta|InEpsilon|Within(Duration|Range))`)},
	{"require", "compare exactly", regexp.MustCompile(`^(InDelta|InEpsilon|Within(Duration|Range))`)},
	{"rand/v2", "use rand.New with a seed", regexp.MustCompile(`^(U?[Ii]nt|Float|Exp|Norm|Perm|Shuffle|N$)`)},
	{"runtime", "the collector decides it: tag the test as live", regexp.MustCompile(`^ReadMemStats$`)},
}

// permitted are functions, or all functions of a folder (*), that may call one of these nevertheless, and why.
var permitted = map[string]string{
	"agent/attach.TestJVMWithoutCounters":                                     "the start of this process lies before now",
	"cmd/weft/internal/historyfuzz.TestDamagedHistories":                      "-for limits a run at night",
	"cmd/weft/internal/historyfuzz.watched":                                   "the limit of an input that hangs",
	"corpus.buy":                                                              "a client of a server that is recorded, with -record or -anew",
	"corpus.afterListening":                                                   "starts a broker with -record or -anew",
	"internal/threadtest/cluster.*":                                           "runs in synctest bubbles",
	"connector/contentionconnector.ConsumeMetrics":                            "runs in a synctest bubble",
	"internal/budget.TestGreedyMembersGetAsMuchEach":                          "shares are rounded to a tenth of a percent; there is no clock and no chance",
	"internal/budget.TestNewcomerGetsIn":                                      "members take in steps; there is no clock and no chance",
	"internal/engine/profile.TestSharedHoldsAgainstAnOracle":                  "each division leaves less than a nanosecond; the seeds are fixed",
	"internal/engine/window.TestPhasesAreSpreadEvenly":                        "a distribution over fixed IDs",
	"internal/recording/formats.allocated":                                    "all that was allocated, whatever the collector does",
	"internal/recording/otlp.TestWaitsAreThoseOfTheEvents":                    "spans lack two of the causes at most; the seeds are fixed",
	"internal/threadtest.Volume":                                              "the limit is far above what any schedule of the collector needs",
	"receiver/jvmthreadreceiver/internal/outlet/outlettest.Next":              "the limit of a test that hangs",
	"internal/threadtest/await.Until":                                         "pauses between two looks at the condition",
	"internal/threadview/store.TestGreedySessionsGetEqualParts":               "parts differ by a window; there is no clock and no chance",
	"internal/threadview/store.TestStoreGivesWayToOthers":                     "the store evicts in steps; there is no clock and no chance",
	"processor/threadspanprocessor.runCase":                                   "runs in a synctest bubble",
	"receiver/jvmthreadreceiver/internal/file.finishesAfter":                  "runs in a synctest bubble",
	"receiver/jvmthreadreceiver/internal/stream.TestRefusalsDoNotFloodTheLog": "more time only raises the limit",
	"receiver/jvmthreadreceiver/internal/stream.work":                         "runs in a synctest bubble",
}

// TestGateIsCertain checks that no test of the gate sleeps, has a tolerance or is random. Tests with the build tag live, those of folders of their own
// (e2e, tools) and benchmarks are not part of it.
func TestGateIsCertain(t *testing.T) {
	unused := maps.Clone(permitted)
	for _, f := range files(t) {
		if !isOfTests(f.path) || strings.HasSuffix(f.path, "bench_test.go") || f.generated || within(path.Dir(f.path), []string{"e2e", "tools"}) {
			continue
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, f.path, f.text, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		if isLive(parsed) {
			continue
		}
		imports := map[string]string{} // name in the file: end of the path
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			name := path.Base(imported)
			if name == "v2" {
				name = path.Base(path.Dir(imported))
				imports[name] = name + "/v2"
				continue
			}
			imports[name] = name
		}
		for _, declaration := range parsed.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if !ok || strings.HasPrefix(function.Name.Name, "Benchmark") {
				continue
			}
			where := path.Dir(f.path) + "." + function.Name.Name
			found := chances(function, imports)
			if all := path.Dir(f.path) + ".*"; permitted[all] != "" {
				delete(unused, all)
				continue
			}
			delete(unused, where)
			if permitted[where] != "" {
				if len(found) == 0 {
					t.Errorf("%s is permitted to be uncertain and is not: remove it from the list", where)
				}
				continue
			}
			for _, call := range slices.Sorted(maps.Keys(found)) {
				t.Errorf("%s: %s calls %s: %s", f.path, where, call, found[call])
			}
		}
	}
	for where := range unused {
		assert.Fail(t, "no such function", "%s", where)
	}
}

// isOfTests reports whether a file is part of a test or of a package for tests.
func isOfTests(file string) bool {
	return strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, ".go") && (within(path.Dir(file), []string{"internal/threadtest"}) || strings.HasSuffix(path.Dir(file), "test"))
}

// isLive reports whether a file needs the build tag live.
func isLive(f *ast.File) bool {
	for _, group := range f.Comments {
		for _, comment := range group.List {
			if constraint.IsGoBuild(comment.Text) {
				return strings.Contains(comment.Text, "live")
			}
		}
	}
	return false
}

// chances returns the forbidden calls in a function, with their remedies.
func chances(function *ast.FuncDecl, imports map[string]string) map[string]string {
	found, bubble := map[string]string{}, false
	for n := range ast.Preorder(function) {
		call, ok := n.(*ast.SelectorExpr)
		if !ok {
			continue
		}
		pkg, ok := call.X.(*ast.Ident)
		if !ok {
			continue
		}
		bubble = bubble || pkg.Name == "synctest" && call.Sel.Name == "Test"
		for _, c := range chance {
			if imports[pkg.Name] == c.pkg && c.name.MatchString(call.Sel.Name) {
				found[pkg.Name+"."+call.Sel.Name] = c.remedy
			}
		}
	}
	if bubble {
		maps.DeleteFunc(found, func(call, _ string) bool { return strings.HasPrefix(call, "time.") })
	}
	return found
}
