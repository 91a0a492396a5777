package cli

import (
	"errors"
	"fmt"
	"io"
	"syscall"

	"ibwitness/agent"
	"ibwitness/exercise"
	"ibwitness/fabricagent"
	"ibwitness/internal/view/report"
	"ibwitness/packet"
)

type exerciseCommand struct {
	Script    string   `arg:"" name:"script" complete:"file" help:"Script file; examples/exercise/ has one for each situation."`
	Write     string   `placeholder:"FILE" complete:"file" help:"Write what is in the receive memory at the end as a pcapng."`
	Seed      *uint64  `placeholder:"N" help:"Another seed than that of the script."`
	Interface string   `short:"i" placeholder:"NAME" help:"Send on this network interface, which needs the capability CAP_NET_RAW, in place of a simulated wire. The script has ethernet: and no streams of the partner."`
	To        []string `name:"to" sep:"," placeholder:"ADDRESS" help:"With --interface, an address that packets may go to; to no other one is anything sent. Give the flag for each."`
	Rate      int      `default:"1000" placeholder:"N" help:"With --interface, frames a second at most. Default: ${default}."`
	Format    string   `enum:"text,json" default:"text" placeholder:"FORMAT" help:"Format of the report: text, or json (one object a line). Default: ${default}."`
	All       bool     `help:"Show every finding, warning, connection and rule."`
}

// Help is below the flags' summary in --help.
func (exerciseCommand) Help() string {
	return `Sends the packets that a script describes, right or wrong: every opcode, any MAD, raw packets, link packets. On a simulated native link each packet keeps to the credits of its virtual lane or ignores them, and what comes goes into a sink for each lane. Streams start, wait and stop by what is received. All rules judge what passes; the script says which of them it breaks on purpose. docs/exercise.md describes the format.

Examples:

    ibwitness exercise examples/exercise/opcodes.yaml
    ibwitness exercise --write x.pcapng examples/exercise/damaged.yaml
    ibwitness exercise --format json examples/exercise/sink.yaml

With --interface the packets go over raw Ethernet, to no address but those that --to names, and not faster than --rate. It ends by itself.

Exit status: 0 just the rules are broken that the script says; 1 others are, or one of those is not; 2 the script has mistakes, or could not be run.`
}

// exerciseRun is a script that runs, simulated or on an interface.
type exerciseRun interface {
	Near() []packet.Addr
	Result() *exercise.Result
	WriteCapture(w io.Writer) error
	Close() error // ends it: nothing is sent any more
}

// Run runs the script and reports.
func (c *exerciseCommand) Run(s *session) error {
	sink, err := report.New(c.Format, s.options(c.All))
	if err != nil {
		return err
	}
	script, err := exercise.ReadFile(c.Script)
	if err != nil {
		return err
	}
	if err := distinct(reads("the script", c.Script), writes("--write", c.Write)); err != nil {
		return err
	}
	if c.Seed != nil {
		script.Seed = *c.Seed
	}
	if c.Interface != "" {
		return c.onInterface(s, script, sink)
	}
	if len(c.To) > 0 {
		return errors.New("cli: --to names whom packets on an interface may go to: give --interface too, or leave it out")
	}
	run, err := script.Start()
	if err != nil {
		return err
	}
	return c.judge(s, script, run, run.Source, sink)
}

// onInterface runs the script on an interface.
func (c *exerciseCommand) onInterface(s *session, script *exercise.Script, sink report.Sink) error {
	o := exercise.LiveOptions{Interface: c.Interface, Rate: c.Rate}
	if c.Rate < 1 || c.Rate > 1e6 {
		return fmt.Errorf("cli: --rate %d: give 1 to 1000000 frames a second", c.Rate)
	}
	for _, text := range c.To {
		a, err := packet.ParseAddr(text)
		if err != nil {
			return fmt.Errorf("cli: --to: %w", err)
		}
		o.To = append(o.To, a)
	}
	if len(o.To) == 0 {
		return errors.New("cli: --interface sends only to addresses that you name: give --to 10.0.0.2 or the like")
	}
	run, err := script.Live(o)
	if err != nil {
		return err
	}
	return c.judge(s, script, run, run, sink)
}

// judge has the rules judge what passes, which drives the run, and reports.
func (c *exerciseCommand) judge(s *session, script *exercise.Script, run exerciseRun, source fabricagent.Source, sink report.Sink) error {
	ctx, stop := s.until(syscall.SIGHUP)
	defer stop()
	result, err := agent.Run(ctx, source, agent.Options{Near: run.Near(), Workers: 1})
	ended := run.Close()
	done := &report.Run{Result: result}
	done.Problems, done.Interrupted = problems(err)
	verdict := script.Verdict(result.Findings)
	var kept error
	if c.Write != "" {
		kept = written("--write", c.Write, run.WriteCapture)
	}
	s.warn(done)
	switch {
	case len(done.Problems) > 0 || done.Interrupted || kept != nil:
		s.status = report.ExitUnjudged
	case !verdict.AsSaid():
		s.status = report.ExitViolated
	}
	if c.Format == "json" {
		err = report.ExerciseJSON(s.stdout, script, run.Result(), &verdict)
	} else {
		err = report.Exercise(s.stdout, script, run.Result(), &verdict, s.options(c.All))
	}
	return errors.Join(ended, kept, err, sink.Report(s.stdout, done))
}
