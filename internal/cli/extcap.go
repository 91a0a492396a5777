package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"ibwitness/agent"
	"ibwitness/fabricagent/live"
	"ibwitness/internal/view/extcap"
	"ibwitness/internal/view/report"
	"ibwitness/packet"
)

type extcapCommand struct {
	Interfaces  bool   `name:"extcap-interfaces" help:"List the interfaces."`
	Version     string `name:"extcap-version" placeholder:"VERSION" help:"Version of Wireshark; it does not matter."`
	Links       bool   `name:"extcap-dlts" help:"List the kinds of frames of --extcap-interface."`
	Settings    bool   `name:"extcap-config" help:"List what may be set for --extcap-interface."`
	Interface   string `name:"extcap-interface" placeholder:"NAME" help:"Interface, as --extcap-interfaces names it."`
	Capture     bool   `help:"Capture from --extcap-interface to --fifo."`
	Fifo        string `placeholder:"FILE" complete:"file" help:"Pipe that the frames are written to, as pcapng."`
	Filter      string `name:"extcap-capture-filter" placeholder:"FILTER" help:"A capture filter; there is none here but that for RoCE."`
	Near        string `placeholder:"ADDRESSES" help:"The interface is near these endpoints, as in check; several with spaces between."`
	Promiscuous bool   `negatable:"" help:"Capture frames for other machines too, as behind a mirror port."`
	Events      bool   `help:"Comment legal events too: retransmissions, NAKs and the like."`
	CleanUp     bool   `name:"extcap-cleanup-postkill" hidden:""`
	Reload      string `name:"extcap-reload-option" hidden:""`
}

// Help is below the flags' summary in --help.
func (extcapCommand) Help() string {
	return `Wireshark calls this, where a link to the program is in its folder of external capture programs (Help, About Wireshark, Folders, Extcap path):

    mkdir -p ~/.config/wireshark/extcap
    ln -s "$(command -v ibwitness)" ~/.config/wireshark/extcap/

It then lists each network interface once more as "ibwitness: eth0". It shows only the RoCE frames of that, some seconds late, and what is found in them are comments: the display filter frame.comment selects them.`
}

// asExtcap makes the command line of an external capture program, as Wireshark calls it, one of ours.
func asExtcap(args []string) []string {
	for _, a := range args {
		if !strings.HasPrefix(a, "-") {
			break // a command
		}
		if strings.HasPrefix(a, "--extcap-") || a == "--capture" {
			return append([]string{"extcap"}, args...)
		}
	}
	return args
}

// Run does what Wireshark asks for.
func (c *extcapCommand) Run(s *session) error {
	err := c.run(s)
	if err != nil && !errors.Is(err, syscall.EPIPE) {
		fmt.Fprintln(s.stderr, "ibwitness:", plain(err)) // Wireshark shows it to its user
		s.status = report.ExitUnjudged
	}
	return nil
}

func (c *extcapCommand) run(s *session) error {
	switch {
	case c.CleanUp, c.Reload != "":
		return nil
	case c.Interfaces:
		return extcap.Interfaces(s.stdout, strings.Fields(versionLine())[1])
	case c.Links:
		extcap.Links(s.stdout)
		return nil
	case c.Settings:
		extcap.Config(s.stdout)
		return nil
	case strings.TrimSpace(c.Filter) != "":
		return errors.New("cli: there is no capture filter here but that for RoCE: take it out, and use a display filter")
	case c.Capture && c.Fifo != "":
		return c.capture(s)
	}
	program, _ := os.Executable()
	return fmt.Errorf("cli: this is for Wireshark: link %s into its folder of external capture programs, as in ln -s %s ~/.config/wireshark/extcap/", filepath.Base(program), program)
}

// capture captures until Wireshark ends it.
func (c *extcapCommand) capture(s *session) error {
	name, err := extcap.Interface(c.Interface)
	if err != nil {
		return err
	}
	ctx, stop := s.until(syscall.SIGHUP)
	defer stop()
	src, err := live.Open(live.Options{Interfaces: []string{name}, Promiscuous: c.Promiscuous})
	if err != nil {
		return err
	}
	defer src.Close()
	context.AfterFunc(ctx, src.Stop)
	pipe, err := os.OpenFile(c.Fifo, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("cli: --fifo: %w", err)
	}
	defer pipe.Close()
	if err := drop(""); err != nil {
		return err
	}
	w, err := extcap.NewWriter(pipe, src.Taps(), extcap.Options{Settle: settle, Events: c.Events})
	if err != nil {
		return err
	}
	opt := agent.Options{Watch: &agent.Watch{Found: w.Found, Settle: settle, Status: func(st *agent.Status) {
		if w.Tick(st.Now); w.Err() != nil {
			src.Stop()
		}
	}}}
	for _, text := range strings.FieldsFunc(c.Near, func(r rune) bool { return r == ' ' || r == ',' }) {
		var a address
		if err := a.UnmarshalText([]byte(text)); err != nil {
			return err
		}
		opt.Near = append(opt.Near, packet.Addr(a))
	}
	_, err = agent.Run(ctx, &extcap.Source{Live: src, Writer: w}, opt)
	early, left, broken := w.Close()
	if early > 0 {
		s.log.Warn().Uint64("frames", early).Msg("too many frames waited, and were written without what is found in them")
	}
	for _, text := range left {
		s.log.Info().Msg(text)
	}
	if ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, broken)
}
