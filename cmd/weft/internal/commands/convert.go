// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-otel/weft/cmd/weft/internal/convert"
	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/recording"
)

const convertLong = `Converts a recording. The suffix of OUT selects the format, or --to does: a recording (native, ORCA
log, TPTP trace or triples), the spans that the collector would send as OTLP JSON, or a trace for
Perfetto. IN may have any format that weft reads, spans included, compressed or not; - reads
standard input. A further suffix .gz or .zst compresses OUT.

What the format of OUT cannot express is left out and reported.`

const convertExample = `  weft convert shop.jfr shop.weft
  weft convert shop.weft shop.spans.json
  weft convert shop.weft shop.perfetto-trace    open it at https://ui.perfetto.dev`

func (p *Program) convert() *cobra.Command {
	var req convert.Request
	cmd := &cobra.Command{
		Use: "convert [flags] IN OUT", Short: "Convert a recording to another format", Long: convertLong, Example: convertExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("want a recording and the name of a new file")
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&req.Format, "to", "", "format of OUT: "+strings.Join(convert.Formats(), ", ")+"\n(default: by the suffix of OUT)")
	flags.StringVar(&req.Session, "session", "", "convert one session only: its number, from 1, or the start of its ID")
	flags.BoolVarP(&req.Overwrite, "force", "f", false, "replace OUT if it exists")
	unpacked := flags.Int("max-unpacked", recording.DefaultMaxUnpacked>>30, "read at most this many gibibytes of a compressed file, decompressed")
	shown := formatFlag(flags, "the report as text for people, or as data for programs")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *unpacked < 1 || *unpacked > 1<<20 {
			return usagef("invalid --max-unpacked %d: want 1 to %d gibibytes", *unpacked, 1<<20)
		}
		ctx, stop := interruptible(cmd.Context())
		defer stop()
		line := p.line()
		req.In, req.Out, req.Stdin, req.MaxUnpacked = args[0], args[1], p.In, int64(*unpacked)<<30
		req.Progress = func(done, total int64) { line.Of("converting "+printable.Text(req.In), done, total) }
		report, err := convert.Convert(ctx, req)
		line.Clear()
		switch {
		case ctx.Err() != nil && err != nil:
			return errors.New("interrupted")
		case err != nil:
			return err
		case *shown == formatJSON:
			return p.writeJSON(report)
		}
		return report.WriteText(p.Out)
	}
	return cmd
}
