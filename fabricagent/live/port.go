package live

import (
	"errors"
	"slices"
	"time"

	"ibwitness/fabricagent"
)

// Port is an end of a network: an interface on which frames are sent, and seen in the order in which they pass, sent or received. It is not safe for concurrent use.
type Port struct {
	source *Source
	sender *Sender
	passed []fabricagent.Frame // that Next has not returned
}

// How frames of a port are taken: soon, as answers depend on them.
const (
	portHold   = time.Millisecond
	portMemory = 8 << 20
)

// OpenPort opens an interface. The errors are those of OpenSender and Open.
func OpenPort(o SendOptions) (*Port, error) {
	sender, err := OpenSender(o)
	if err != nil {
		return nil, err
	}
	source, err := Open(Options{Interfaces: []string{o.Interface}, Promiscuous: true, Hold: portHold, Idle: portHold, Memory: portMemory})
	if err != nil {
		return nil, errors.Join(err, sender.Close())
	}
	return &Port{source: source, sender: sender}, nil
}

// Send has a frame leave: it passes then, too.
func (p *Port) Send(frame []byte) error { return p.sender.Send(frame) }

// Next returns the next frame of RoCE that has passed, which is the caller's to keep, and waits for it until a time, nanoseconds since the Unix epoch; nil: all that passed
// before that time has been returned.
func (p *Port) Next(until int64) (*fabricagent.Frame, error) {
	for len(p.passed) == 0 {
		b, err := p.source.Next()
		if err != nil {
			return nil, err
		}
		p.passed = append(p.passed[:0], b.Frames...)
		for i := range p.passed {
			p.passed[i].Data = slices.Clone(p.passed[i].Data)
		}
		b.Release()
		if len(p.passed) == 0 && p.source.Now() >= until {
			return nil, nil
		}
	}
	f := p.passed[0]
	p.passed = p.passed[1:]
	return &f, nil
}

// Close closes the interface.
func (p *Port) Close() error { return errors.Join(p.sender.Close(), p.source.Close()) }
