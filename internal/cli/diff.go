package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ibwitness/agent"
	"ibwitness/internal/difference"
	"ibwitness/internal/view/report"
)

type diffCommand struct {
	A       string    `arg:"" complete:"file" help:"A capture of the run to compare with."`
	B       string    `arg:"" complete:"file" help:"A capture of the other run."`
	Near    []address `placeholder:"ADDRESS" help:"The taps are near this endpoint (IP address, GID or lid:NUMBER). Repeatable. Default: the tap position is unknown."`
	Format  string    `enum:"text,json" default:"text" placeholder:"FORMAT" help:"Format: text or json (one object a line). Default: ${default}."`
	All     bool      `help:"Show every difference."`
	Workers int       `placeholder:"N" help:"Cores to use. Default: all. The result does not depend on it."`
	Quiet   bool      `short:"q" help:"Show no progress."`

	Profile profileFlags `embed:""`
}

// Help is below the flags' summary in --help.
func (diffCommand) Help() string {
	return `Verifies two captures and compares them: which violations and incidents are new in B and which are gone, which operations between which hosts take longer or less long, what is retransmitted more or less, and which settings are others. Hosts are held together by address, queue pairs are not. Where the runs have no two hosts in common, all of a run is compared together.

A time is told as longer where it is by a fifth, and not by chance: with 20 messages or more in both runs. docs/timing.md says what is measured.

Examples:

    ibwitness diff before.pcap after.pcap
    ibwitness diff --format json good.pcap bad.pcap.gz

Exit status: 0 B has nothing new and is not slower; 1 it has, or is; 2 a capture could not be read or judged, bad usage, interrupted.`
}

// Run verifies both and compares.
func (c *diffCommand) Run(s *session) error {
	profile, err := c.Profile.profile()
	if err != nil {
		return err
	}
	if c.A == "-" && c.B == "-" {
		return errors.New("cli: standard input can be one of the two captures: give a file for the other")
	}
	ctx, stop := s.until()
	defer stop()
	var runs [2]*difference.Run
	for i, name := range []string{c.A, c.B} {
		run, err := c.verify(ctx, s, name, agent.Options{Workers: c.Workers, Near: endpoints(c.Near), Profile: profile, Timing: true})
		if err != nil {
			return err
		}
		runs[i] = run
	}
	d := &report.Difference{Difference: difference.Of(runs[0], runs[1]), A: c.A, B: c.B}
	if d.Regressed() {
		s.status = report.ExitViolated
	}
	if c.Format == "json" {
		return d.WriteJSON(s.stdout)
	}
	return d.WriteText(s.stdout, s.options(c.All))
}

// verify verifies one capture. What could not be read of its end is said, and the rest compared.
func (c *diffCommand) verify(ctx context.Context, s *session, name string, opt agent.Options) (*difference.Run, error) {
	src, err := open(ctx, []string{name})
	if src == nil {
		return nil, err
	}
	defer src.Close()
	run := &report.Run{}
	run.Problems, _ = problems(err)
	bar := newProgress(s, src, c.Quiet)
	opt.Progress = bar.update
	run.Result, err = agent.Run(ctx, src, opt)
	bar.clear()
	if ctx.Err() != nil {
		return nil, errors.New("cli: interrupted")
	}
	found, _ := problems(err)
	run.Problems = append(run.Problems, found...)
	s.warn(run)
	if !run.Result.Judged() {
		why := "it has no InfiniBand or RoCE packet"
		if n := len(run.Problems); n > 0 {
			why = strings.TrimPrefix(run.Problems[n-1].Message, name+": ")
		}
		return nil, fmt.Errorf("cli: %s could not be judged: %s", name, why)
	}
	return &difference.Run{Result: run.Result, Incidents: run.Incidents()}, nil
}
