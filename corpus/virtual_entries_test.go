// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

const (
	virtualOn    = ",virtual=on"
	virtualExact = ",virtual=exact" // changes the class VirtualThread
)

// carriers are options of the JVM that give it so many carriers.
func carriers(n string) []string { return []string{"-Djdk.virtualThreadScheduler.parallelism=" + n} }

// foreign are options of the JVM for calls of C, which JDK 21 has as a preview, and for a silent flight recorder.
var foreign = []string{"--enable-preview", "--enable-native-access=ALL-UNNAMED", "-Xlog:jfr*=off"}

// virtualEntries are programs with virtual threads.
var virtualEntries = []entry{
	{
		name: "virtualholds", program: []string{"VirtualHolds", "10"}, java: carriers("4"), from: agent, agent: virtualOn, least: virtualThreads,
		engine: wholeRun(nil), check: checkHolds,
	},
	{
		name: "virtualtimeouts", program: []string{"VirtualTimeouts", "10"}, java: carriers("4"), from: agent, agent: virtualOn, least: virtualThreads,
		engine: wholeRun(nil), check: checkEnds(false),
	},
	{
		name: "virtualtimeouts-exact", program: []string{"VirtualTimeouts", "10"}, java: carriers("4"), from: agent, agent: virtualExact,
		least: virtualThreads, engine: wholeRun(nil), check: checkEnds(true),
	},
	{ // before JDK 24 a blocked virtual thread keeps its carrier
		name: "virtualdeadlocks", program: []string{"VirtualDeadlocks"}, java: carriers("64"), from: agent, agent: virtualOn, least: virtualThreads,
		engine: wholeRun(nil), check: checkVirtualDeadlocks,
	},
	{
		name: "virtualdeadlocks-exact", program: []string{"VirtualDeadlocks"}, java: carriers("64"), from: agent, agent: virtualExact,
		least: virtualThreads, engine: wholeRun(nil), check: checkVirtualDeadlocks,
	},
	{
		name: "wakers", program: []string{"Wakers", "20"}, java: append(carriers("4"), "--enable-preview"), from: agent, agent: virtualOn,
		least: virtualThreads, engine: wholeRun(nil), check: checkWakers(false),
	},
	{
		name: "wakers-exact", program: []string{"Wakers", "20"}, java: append(carriers("4"), "--enable-preview"), from: agent, agent: virtualExact,
		least: virtualThreads, engine: wholeRun(nil), check: checkWakers(true),
	},
	{
		name: "starved", program: []string{"Starved", "300", "200"}, java: append(carriers("2"), "-Djdk.virtualThreadScheduler.maxPoolSize=2"), from: agent,
		agent: virtualExact, least: 24, engine: wholeRun(nil), check: checkStarved,
	},
	{
		name: "pinned", program: []string{"Pinned", "10", "20"}, from: agent, agent: virtualExact, least: virtualThreads, engine: wholeRun(nil),
		check: checkPinned,
	},
	{
		name: "pinned-mounts", program: []string{"Pinned", "10", "20"}, from: agent, agent: ",mounts=on", least: virtualThreads, engine: wholeRun(nil),
		check: checkPinned,
	},
	{name: "pins", program: []string{"Pins", "5", "50"}, java: foreign, from: agent, agent: virtualOn, least: virtualThreads, engine: wholeRun(nil), check: checkPins},
	{
		name: "pins-exact", program: []string{"Pins", "5", "50"}, java: foreign, from: agent, agent: virtualExact, least: virtualThreads,
		engine: wholeRun(nil), check: checkPins,
	},
	{
		name: "parkedbefore", program: []string{"VirtualParked", "100", "WEFT"}, from: agent, agent: ",pause=on", least: virtualThreads,
		engine: wholeRun(nil), check: checkParkedBefore,
	},

	// From JDK 24 on, many virtual threads can be blocked: they leave their carriers.
	{
		name: "owners-platform", program: []string{"VirtualOwners", "held", "platform", "100", "3"}, from: agent, agent: virtualOn, least: 24,
		engine: wholeRun(nil), check: checkOwners,
	},
	{
		name: "owners-mounted", program: []string{"VirtualOwners", "held", "mounted", "100", "3"}, from: agent, agent: virtualOn, least: 24,
		engine: wholeRun(nil), check: checkOwners,
	},
	{
		name: "owners-unmounted", program: []string{"VirtualOwners", "held", "unmounted", "100", "3"}, from: agent, agent: virtualOn, least: 24,
		engine: wholeRun(nil), check: checkOwners,
	},
}
