// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-otel/weft/agent/attach"
	"github.com/weft-otel/weft/agent/bundled"
	"github.com/weft-otel/weft/internal/printable"
)

// names lists JVMs in a sentence.
func names(list []attach.JVM) string {
	const most = 8
	var words []string
	for i := range list {
		if i == most {
			words = append(words, fmt.Sprintf("%d more", len(list)-most))
			break
		}
		word := strconv.Itoa(list[i].PID)
		if t := title(&list[i]); t != "" {
			word += " (" + t + ")"
		}
		words = append(words, printable.Text(word))
	}
	return strings.Join(words, ", ")
}

// title is the main class or jar of a JVM; empty if not known.
func title(jvm *attach.JVM) string {
	if jvm.MainClass == "" {
		return "" // path.Base would make it a dot
	}
	return path.Base(jvm.MainClass)
}

// completeJVMs completes process IDs, described by main classes.
func completeJVMs(cmd *cobra.Command, args []string, _ string) (words []cobra.Completion, _ cobra.ShellCompDirective) {
	if len(args) > 0 && cmd.Name() != "attach" && cmd.Name() != "detach" {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	all, _ := attach.List(cmd.Context()) // no completions, then
	for i := range all {
		words = append(words, cobra.CompletionWithDesc(strconv.Itoa(all[i].PID), printable.Text(all[i].MainClass)))
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// library is the agent for a JVM: the one with a path, if that is given.
func library(pid int, given string) (string, error) {
	if given != "" {
		return given, nil
	}
	platform, err := attach.PlatformOf(pid)
	if err != nil {
		return "", err
	}
	return bundled.Library(platform)
}

// load loads the agent, or changes the options of the one that is loaded.
func load(ctx context.Context, pid int, agent string, options []string) (attach.Result, error) {
	result, err := attach.Ask(ctx, pid)
	if err == nil || !errors.Is(err, attach.ErrNotLoaded) {
		if err != nil {
			return result, err
		}
		return attach.Attach(ctx, attach.Request{PID: pid, Options: options})
	}
	path, err := library(pid, agent)
	if err != nil {
		return attach.Result{}, err
	}
	return attach.Attach(ctx, attach.Request{PID: pid, Library: path, Options: options})
}

// detailed are options for somebody who looks: the names of peers, files and processes, which that user may read anyway, and readings of clocks.
var detailed = []string{"io-names=on", "cpu=on"}

// begin starts a session of this program in a JVM: only one can see the events of an agent.
func begin(ctx context.Context, pid int, agent string, options []string) (attach.Result, error) {
	now, err := attach.Ask(ctx, pid)
	switch {
	case err == nil && now.Connection != "":
		return now, fmt.Errorf("the agent of this JVM is in use: %s; look there, or stop it with weft detach %d", printable.Text(now.Connection), pid)
	case err != nil && !errors.Is(err, attach.ErrNotLoaded):
		return now, err
	}
	result, err := load(ctx, pid, agent, slices.Concat(detailed, options))
	if err != nil && ctx.Err() != nil { // the agent may start after that
		err = errors.Join(err, detach(pid))
	}
	return result, err
}
