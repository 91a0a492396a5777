package cli

import (
	"errors"
	"path/filepath"
	"syscall"

	"ibwitness/agent"
	"ibwitness/cq"
	"ibwitness/internal/scenario"
	"ibwitness/internal/view/report"
)

// play plays a scenario against the real adapter, has the rules judge what passes, and reports as simulate does.
func (c *conformRun) play(s *session) error {
	switch {
	case c.DUT == "":
		return errors.New("cli: --scenario plays a scenario against a real adapter: give --dut HOST:PORT, or use ibwitness simulate")
	case len(c.Patterns) > 0:
		return errors.New("cli: a scenario is played, or tests are run: give --scenario or tests, not both")
	case c.Junit != "":
		return errors.New("cli: --junit is a report of tests: leave it out with --scenario")
	}
	sink, err := report.New(c.Format, s.options(c.All))
	if err != nil {
		return err
	}
	sc, err := scenario.ReadFile(c.Scenario)
	if err != nil {
		return err
	}
	if c.Seed != nil {
		sc.Seed, sc.Link.Seed = *c.Seed, *c.Seed
	}
	ctx, stop := s.until(syscall.SIGHUP)
	defer stop()
	l, err := c.connect(ctx)
	if err != nil {
		return err
	}
	if c.As == "" && len(sc.HCAs) > 0 {
		c.As = sc.HCAs[len(sc.HCAs)-1].Name
	}
	out := &outputs{scenario: sc}
	capture := ""
	if c.Pcapng != "" {
		base := filepath.Base(c.Scenario)
		capture = filepath.Join(c.Pcapng, base[:len(base)-len(filepath.Ext(base))]+".pcapng")
	}
	opt, err := out.open(capture, "")
	if err != nil {
		return errors.Join(err, out.close(), l.close())
	}
	var device func() error
	opt.Live = true
	opt.Real = &scenario.Live{
		HCA: c.As, Wire: l.port, Tester: l.Tester.IPv4, Device: l.Device.IPv4, TesterMAC: l.Tester.MAC, DeviceMAC: l.Device.MAC,
		Stop: func() bool { return ctx.Err() != nil },
		Open: func(told func(*cq.Event)) (scenario.Consumer, error) {
			d, err := l.dial(ctx, told)
			if err == nil {
				device = d.Close
			}
			return d, err
		},
	}
	run, err := sc.Start(opt)
	if err != nil {
		if device != nil {
			err = errors.Join(err, device())
		}
		return errors.Join(err, out.close(), l.close())
	}
	result, err := agent.Run(ctx, run.Source, agent.Options{Near: run.NearAddrs(), Workers: 1, Events: run.Logs()})
	done := &report.Run{Result: result}
	done.Problems, done.Interrupted = problems(err)
	for _, err := range []error{run.Problems(), run.Exceeded(), out.close(), device(), l.close()} {
		if err != nil {
			done.Problems = append(done.Problems, report.Problem{Message: plain(err)})
		}
	}
	s.warn(done)
	s.log.Info().Msg(c.As + " is " + l.name)
	s.status = done.ExitStatus()
	return sink.Report(s.stdout, done)
}
