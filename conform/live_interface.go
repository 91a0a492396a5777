package conform

import (
	"errors"
	"slices"
	"time"

	"ibwitness/fabricagent"
	"ibwitness/fabricagent/live"
	"ibwitness/packet"
)

// Interface is a Wire: an interface of Ethernet of this machine.
type Interface struct {
	source *live.Source
	sender *live.Sender
	passed []fabricagent.Frame // that Next has not returned
}

// How frames of an interface are taken: soon, as answers depend on them.
const (
	interfaceHold   = time.Millisecond
	interfaceMemory = 8 << 20
)

// OpenInterface opens an interface. Frames go only to the addresses that are named, rate of them a second at most. The errors are those of package live.
func OpenInterface(name string, to []packet.Addr, rate int) (*Interface, error) {
	sender, err := live.OpenSender(live.SendOptions{Interface: name, To: to, Rate: rate})
	if err != nil {
		return nil, err
	}
	source, err := live.Open(live.Options{Interfaces: []string{name}, Promiscuous: true, Hold: interfaceHold, Idle: interfaceHold, Memory: interfaceMemory})
	if err != nil {
		return nil, errors.Join(err, sender.Close())
	}
	return &Interface{source: source, sender: sender}, nil
}

// Send implements Wire.
func (i *Interface) Send(frame []byte) error { return i.sender.Send(frame) }

// Next implements Wire.
func (i *Interface) Next(until int64) (*fabricagent.Frame, error) {
	for len(i.passed) == 0 {
		b, err := i.source.Next()
		if err != nil {
			return nil, err
		}
		i.passed = append(i.passed[:0], b.Frames...)
		for k := range i.passed {
			i.passed[k].Data = slices.Clone(i.passed[k].Data)
		}
		b.Release()
		if len(i.passed) == 0 && i.source.Now() >= until {
			return nil, nil
		}
	}
	f := i.passed[0]
	i.passed = i.passed[1:]
	return &f, nil
}

// Close closes the interface.
func (i *Interface) Close() error { return errors.Join(i.sender.Close(), i.source.Close()) }
