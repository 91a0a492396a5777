package cli

import (
	"errors"
	"path/filepath"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/internal/evidence/recorder"
	"ibwitness/internal/evidence/ringfiles"
	"ibwitness/rule"
)

// sink takes what a run finds while it goes on.
type sink interface {
	Found([]rule.Finding)
	Tick(now int64) // at each tick, after what was found until then
}

// settle is how old a finding must be to be told, as later packets may explain it.
const settle = 2 * time.Second

// tell has a run tell its findings to sinks.
func tell(w *agent.Watch, sinks ...sink) {
	found, status := w.Found, w.Status
	w.Settle = settle
	w.Found = func(list []rule.Finding) {
		found(list)
		for _, s := range sinks {
			s.Found(list)
		}
	}
	w.Status = func(st *agent.Status) {
		status(st)
		for _, s := range sinks {
			s.Tick(st.Now)
		}
	}
}

// flightFlags say what is kept of the packets, and written of those around findings.
type flightFlags struct {
	Write         string `placeholder:"FILE.pcapng" complete:"file" help:"Write the packets around violations to a set of files: FILE_00001_TIME.pcapng and so on, each violation as the comment of its packet."`
	WriteSize     int    `default:"32" placeholder:"MIB" help:"Begin the next file after this size, MiB. Default: ${default}."`
	WriteFiles    int    `default:"10" placeholder:"N" help:"Files that are kept; the oldest ones are removed. Default: ${default}."`
	WritePackets  int    `default:"64" placeholder:"N" help:"Packets of a connection that are written around a finding, three of four before it. Default: ${default}."`
	WritePayload  int    `default:"0" placeholder:"BYTES" help:"Bytes of payload that are kept of a packet; -1: all. Default: ${default}."`
	WriteUnproven bool   `help:"Write the packets around findings that are not proven too."`
	WriteEvents   bool   `help:"Write the packets around legal events too."`
	Recorder      int    `default:"64" placeholder:"MIB" help:"Memory for the latest packets of all connections, from which those around a finding are taken, MiB. Default: ${default}."`
}

func (c *flightFlags) check() error {
	if c.WriteSize < 1 || c.WriteFiles < 1 || c.WritePackets < 1 || c.Recorder < 1 {
		return errors.New("cli: --write-size, --write-files, --write-packets and --recorder must be positive")
	}
	if c.Write != "" && filepath.Ext(c.Write) != ".pcapng" {
		return errors.New("cli: --write writes pcapng files: name it so, as in --write flight.pcapng")
	}
	return nil
}

// recorder returns what keeps the latest packets.
func (c *flightFlags) recorder() *recorder.Recorder {
	return recorder.New(recorder.Options{Memory: c.Recorder << 20, Payload: c.WritePayload})
}

// keep has what src delivers kept, and the packets around the findings of a run held until somebody asks for them: when they are made, before they are
// overwritten, and when they are told, with what has come since.
func (c *flightFlags) keep(src fabricagent.Source, kept *recorder.Recorder, w *agent.Watch) fabricagent.Source {
	hold := func(list []rule.Finding) {
		for i := range list {
			if f := &list[i]; f.Class != rule.Event || c.WriteEvents {
				kept.Hold(f, c.WritePackets)
			}
		}
	}
	found := w.Found
	w.Made = hold
	w.Found = func(list []rule.Finding) {
		hold(list)
		found(list)
	}
	return kept.Source(src)
}

// flight returns what writes the packets around findings, or nil.
func (c *flightFlags) flight(s *session, kept *recorder.Recorder, repeats int, taps func() []fabricagent.Tap) (*ringfiles.Writer, error) {
	if c.Write == "" {
		return nil, nil
	}
	return ringfiles.New(kept, ringfiles.Options{
		Path: c.Write, Size: int64(c.WriteSize) << 20, Files: c.WriteFiles, Packets: c.WritePackets,
		Unproven: c.WriteUnproven, Events: c.WriteEvents, Most: repeats, Settle: settle, Taps: taps,
		Failed: func(err error) {
			s.log.Error().Msg(plain(err) + ": packets around findings are not written until this is mended")
		},
	})
}
