// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package corpus answers: does Weft still say the truth about recorded runs? Programs that know what they do were recorded once, with the
// agent or by the flight recorder. For each there are in testdata/runs
//
//	NAME-jdkNN.weft.gz, or .jfr.gz  what was recorded
//	NAME-jdkNN.truth.json           what the program printed about itself
//	NAME-jdkNN.answers.txt          all that Weft answers about it
//
// The tests play each recording through the components of the collector, compare the spans with the truth by rule, and all answers with the
// text on file. They start no program and have no tolerance.
//
//	go test ./corpus -update            accept the new answers
//	make corpus RUN=convoy              record a run, again until its bounds hold
//	make corpustest RUN=convoy          record runs, judge them by rule, and keep those that fail in build/failed
package corpus
