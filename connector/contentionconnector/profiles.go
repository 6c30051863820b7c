// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contentionconnector

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/engine/profile"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/stackprofile"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// ProfileConfig configures the profiles of a profiles pipeline.
type ProfileConfig struct {
	// Types are the families of profiles: block, mutex and off_cpu.
	Types []string `mapstructure:"types"`
	// Interval is how often profiles are sent.
	Interval time.Duration `mapstructure:"interval"`
	// Idle includes sleeps and the waits of threads without work in off_cpu.
	Idle bool `mapstructure:"idle"`
	// MaxLinks limits the requests of a stack that have their own samples, with links to their spans.
	MaxLinks int `mapstructure:"max_links"`
	// MaxSamples limits the samples of one session in an interval, without those for links.
	MaxSamples int `mapstructure:"max_samples"`
	// ServiceOnSamples repeats service.name on each sample, for backends that do not find it in the resource.
	ServiceOnSamples bool `mapstructure:"service_on_samples"`

	_ struct{}
}

func defaultProfiles() ProfileConfig {
	return ProfileConfig{
		Types: []string{profile.Block.String(), profile.Mutex.String()}, Interval: 15 * time.Second, MaxLinks: 3, MaxSamples: 5000,
	}
}

// Validate reports all invalid options.
func (c *ProfileConfig) Validate() error {
	var errs []error
	for _, name := range c.Types {
		if _, ok := familyNamed(name); !ok {
			errs = append(errs, fmt.Errorf("types: unknown type %q (want block, mutex or off_cpu)", name))
		}
	}
	if len(c.Types) == 0 {
		errs = append(errs, errors.New("types: none (want block, mutex or off_cpu; or remove the connector from the profiles pipeline)"))
	}
	return errors.Join(append(errs,
		sessions.Within("interval", c.Interval, 100*time.Millisecond, time.Hour),
		sessions.AtLeast("max_links", c.MaxLinks, 0, ""),
		sessions.AtLeast("max_samples", c.MaxSamples, 1, ""),
	)...)
}

func familyNamed(name string) (profile.Family, bool) {
	for i := range profile.NumFamilies {
		if f := profile.Family(i); f.String() == name {
			return f, true
		}
	}
	return 0, false
}

func (c *ProfileConfig) has(f profile.Family) bool { return slices.Contains(c.Types, f.String()) }

// config returns what the engine sums up. It takes from the budget of the metrics.
func (c *ProfileConfig) config(budget *contention.Budget) profile.Config {
	return profile.Config{
		Waiters: c.has(profile.Block) || c.has(profile.OffCPU), Uncontended: c.has(profile.OffCPU), Holders: c.has(profile.Mutex), Idle: c.Idle,
		Links: c.MaxLinks, MaxSamples: c.MaxSamples, Budget: budget, Memory: sessions.ProfileMemory(),
	}
}

// stacks is the profile of a session since the last flush.
type stacks struct {
	account *profile.Account
	since   time.Time
}

func (a *accountant) newStacks(s *sessions.Session) *stacks {
	if a.profiles == nil {
		return nil
	}
	return &stacks{account: profile.New(&a.stacks, s.Symbols, s.Engine.Waits()), since: time.Now()}
}

// flushProfiles writes the profiles since the last flush, if threads waited.
func (s *session) flushProfiles(now time.Time) {
	resolver := stackprofile.Resolver{Account: s.stacks.account, Symbols: s.Symbols}
	var list []*stackprofile.Profile
	s.stacks.account.Flush(func(f profile.Family, samples []profile.Sample) {
		if s.cfg.Profiles.has(f) {
			list = append(list, resolver.Resolve(f, samples, s.stacks.since, now.Sub(s.stacks.since)))
		}
	})
	s.stacks.since = now
	if len(list) == 0 {
		return
	}
	pd := pprofile.NewProfiles()
	rp := pd.ResourceProfiles().AppendEmpty()
	s.Resource.CopyTo(rp.Resource())
	sp := rp.ScopeProfiles().AppendEmpty()
	sp.Scope().SetName(threadpdata.ScopeSpans)
	var w stackprofile.OTLPWriter
	if s.cfg.Profiles.ServiceOnSamples {
		w.Labels = []stackprofile.Label{threadpdata.ServiceLabel(s.Resource)}
	}
	w.Write(pd, sp, list)
	s.out = append(s.out, s.sendProfiles(pd))
}
