package exercise

import (
	"encoding/hex"
	"fmt"
	"net"
	"strings"

	"go.yaml.in/yaml/v3"

	"ibwitness/fabricagent/sim"
	"ibwitness/internal/small"
	"ibwitness/internal/yamlfile"
	"ibwitness/packet"
	"ibwitness/rule"
)

// The values that a script may leave out.
const (
	defaultUntil    = 10e6
	defaultPackets  = 1_000_000
	defaultMemory   = 2 << 20
	defaultCapacity = 256
)

// mostText is how long the text of a script may be, bytes.
const mostText = 4 << 20

// setter takes the value of a key.
type setter = yamlfile.Setter

// parser goes through the nodes of a script and collects what is wrong with them.
type parser struct {
	yamlfile.Reader
	script *Script
	to     packet.Addr // of the stream at hand
}

// ReadFile reads a script. The error joins a *yamlfile.LineError for each mistake.
func ReadFile(path string) (*Script, error) {
	text, err := small.ReadFile(path, mostText)
	if err != nil {
		return nil, fmt.Errorf("exercise: %w", err)
	}
	return Read(path, text)
}

// Read reads the text of a script; file is the name that errors shall show.
func Read(file string, text []byte) (*Script, error) {
	p := &parser{Reader: yamlfile.Reader{Package: "exercise", File: file}}
	n, err := p.Document(text, "docs/exercise.md says what a script holds")
	if err != nil {
		return nil, err
	}
	p.script = &Script{File: file, Packets: defaultPackets, Memory: defaultMemory}
	p.top(n)
	if !p.Failed() {
		p.refer(n.Line)
	}
	return p.script, p.Err()
}

// top takes the whole file. The wire is taken first: it says what packets there may be.
func (p *parser) top(n *yaml.Node) {
	s := p.script
	var streams *yaml.Node
	p.Fields(n, "the script", map[string]setter{
		"about": p.Text(&s.About), "seed": yamlfile.Number(&p.Reader, &s.Seed, 0, 1<<63), "until": p.Duration(&s.Until),
		"packets": yamlfile.Number(&p.Reader, &s.Packets, 1, 1e9), "memory": yamlfile.Number(&p.Reader, &s.Memory, 4096, 1<<30), "breaks": p.breaks,
		"link": p.link, "ethernet": p.ethernet, "streams": func(n *yaml.Node) { streams = n },
	})
	switch {
	case s.Link != nil && s.Ethernet != nil:
		p.Fail(n.Line, "link and ethernet: packets go over one of both: remove one")
	case s.Link == nil && s.Ethernet == nil:
		p.Fail(n.Line, "no wire: give link: {} for a simulated native link, or ethernet: with the addresses of both ends")
	case streams == nil:
		p.Fail(n.Line, "nothing to send: give streams: with a list")
	default:
		p.List(streams, "streams", func(n *yaml.Node) { s.Streams = append(s.Streams, p.stream(n)) })
	}
}

// breaks takes the rules that the script breaks on purpose.
func (p *parser) breaks(n *yaml.Node) {
	p.Words(&p.script.Breaks)(n)
	for _, id := range p.script.Breaks {
		if _, ok := rule.Lookup(id); !ok {
			p.Fail(n.Line, "%q is no rule: `ibwitness rules` lists them", id)
		}
	}
}

// link takes a native link.
func (p *parser) link(n *yaml.Node) {
	l := &Link{Partner: 2}
	for vl := range l.Exerciser.Sinks {
		l.Exerciser.Sinks[vl].Capacity = defaultCapacity
	}
	p.Fields(n, "link", map[string]setter{
		"delay": p.Duration(&l.Delay), "symbol": yamlfile.Number(&p.Reader, &l.Symbol, 10, 60000),
		"width": yamlfile.Choice(&p.Reader, &l.Width, map[string]int{"1": 1, "2": 2, "4": 4, "8": 8, "12": 12}),
		"lanes": yamlfile.Choice(&p.Reader, &l.Lanes, map[string]int{"1": 1, "2": 2, "4": 4, "8": 8, "15": 15}),
		"mtu":   yamlfile.Choice(&p.Reader, &l.MTU, map[string]uint32{"256": 256, "512": 512, "1024": 1024, "2048": 2048, "4096": 4096}),
		"lid":   yamlfile.Number(&p.Reader, &l.Exerciser.LID, 1, 0xBFFF), "silent": p.Boolean(&l.Exerciser.Silent), "sinks": p.sinks(l), "partner": p.partner(l),
	})
	p.script.Link = l
}

// partner takes the port at the other end of the link.
func (p *parser) partner(l *Link) setter {
	return func(n *yaml.Node) {
		o, agent := &l.Ports[1], false
		p.Fields(n, "partner", map[string]setter{
			"lid": yamlfile.Number(&p.Reader, &l.Partner, 1, 0xBFFF), "agent": p.Boolean(&agent), "buffer": yamlfile.Number(&p.Reader, &o.Buffer, 1, 1e6), "drain": p.Duration(&o.Drain), "fault": p.Text(&o.Fault),
			"fault_at": yamlfile.Number(&p.Reader, &o.FaultAt, 0, 1e9), "fault_always": p.Boolean(&o.FaultAll),
		})
		if agent {
			o.LID = l.Partner
		}
		if o.Fault != "" && sim.LinkFaults[o.Fault] == nil {
			p.Fail(n.Line, "no fault of a port is called %q: `ibwitness simulate --faults` lists them at its end", o.Fault)
		}
	}
}

// sinks takes what the exerciser does with what comes, by lane.
func (p *parser) sinks(l *Link) setter {
	return func(n *yaml.Node) {
		p.Pairs(n, "sinks", func(k, v *yaml.Node) {
			vl, ok := yamlfile.ParseNumber(k.Value, 0, 14)
			if !ok {
				p.Fail(k.Line, "%q is no data lane: give 0 to 14", k.Value)
				return
			}
			p.Fields(v, "a sink", p.sink(&l.Exerciser.Sinks[vl]))
		})
	}
}

func (p *parser) sink(s *Sink) map[string]setter {
	return map[string]setter{"capacity": yamlfile.Number(&p.Reader, &s.Capacity, 0, 1<<24), "drain": p.Duration(&s.Drain)}
}

// ethernet takes a wire of Ethernet.
func (p *parser) ethernet(n *yaml.Node) {
	e := &Ethernet{}
	p.Fields(n, "ethernet", map[string]setter{
		"exerciser": p.station(&e.Exerciser), "partner": p.station(&e.Partner),
		"roce": yamlfile.Choice(&p.Reader, &e.RoCEv1, map[string]bool{"1": true, "2": false}),
	})
	if !p.Failed() && (e.Exerciser.Addr.IsZero() || e.Partner.Addr.IsZero()) {
		p.Fail(n.Line, "ethernet: give exerciser: and partner:, each with address: and mac:")
	}
	p.script.Ethernet = e
}

// station takes one end of it.
func (p *parser) station(s *Station) setter {
	return func(n *yaml.Node) {
		p.Fields(n, "a station", map[string]setter{"address": p.address(&s.Addr), "mac": p.mac(&s.MAC)})
		switch {
		case p.Failed():
		case s.Addr.IsZero() || s.Addr.IsLID():
			p.Fail(n.Line, "a station has an IPv4 or IPv6 address: give address: 10.0.0.1 or the like")
		case s.MAC == [6]byte{}:
			p.Fail(n.Line, "a station has an Ethernet address: give mac: 02:00:00:00:00:01 or the like")
		}
	}
}

// address takes a LID, a GID or an IP address.
func (p *parser) address(to *packet.Addr) setter {
	return func(n *yaml.Node) {
		s, ok := p.Scalar(n, "an address such as lid:2 or 10.0.0.2")
		if !ok {
			return
		}
		a, err := packet.ParseAddr(s)
		if err != nil {
			p.Fail(n.Line, "%q is no address: give a LID such as lid:2, or an IPv4 or IPv6 address or GID", s)
			return
		}
		*to = a
	}
}

// mac takes an Ethernet address.
func (p *parser) mac(to *[6]byte) setter {
	return func(n *yaml.Node) {
		s, ok := p.Scalar(n, "an Ethernet address")
		if !ok {
			return
		}
		b, err := net.ParseMAC(s)
		if err != nil || len(b) != 6 {
			p.Fail(n.Line, "%q is no Ethernet address: give one such as 02:00:00:00:00:01", s)
			return
		}
		*to = [6]byte(b)
	}
}

// hex takes bytes as hexadecimal digits, with spaces between them.
func (p *parser) hex(to *[]byte) setter {
	return func(n *yaml.Node) {
		s, ok := p.Scalar(n, "bytes as hexadecimal digits")
		if !ok {
			return
		}
		b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
		if err != nil || len(b) == 0 || len(b) > mostPayload {
			p.Fail(n.Line, "%q: give bytes as pairs of hexadecimal digits, %d at most", shortened(s), mostPayload)
			return
		}
		*to = b
	}
}

// mostPayload is how many bytes a packet may have between its headers and its CRCs.
const mostPayload = 8192

func shortened(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

// value takes a number that may be another one in each packet.
func (p *parser) value(to *Value, most uint64) setter {
	return func(n *yaml.Node) {
		switch n.Kind {
		case yaml.SequenceNode:
			yamlfile.Numbers(&p.Reader, &to.List, most)(n)
		case yaml.MappingNode:
			var bounds []uint64
			p.Fields(n, "a value", map[string]setter{
				"from": yamlfile.Number(&p.Reader, &to.From, 0, most), "step": yamlfile.Number(&p.Reader, &to.Step, 0, most),
				"random": yamlfile.Numbers(&p.Reader, &bounds, most),
			})
			p.bounds(n, to, bounds)
		default:
			if s, ok := p.Scalar(n, "a number"); ok && (s == "true" || s == "false") && most == 1 {
				to.From = uint64(packet.Bit(s == "true"))
				return
			}
			yamlfile.Number(&p.Reader, &to.From, 0, most)(n)
		}
	}
}

// bounds takes those of a value by chance.
func (p *parser) bounds(n *yaml.Node, to *Value, bounds []uint64) {
	if bounds == nil {
		return
	}
	if len(bounds) != 2 || bounds[0] > bounds[1] || to.From != 0 || to.Step != 0 {
		p.Fail(n.Line, "random: give the least and the greatest value as [0, 255], without from or step")
		return
	}
	to.From, to.Most, to.Random = bounds[0], bounds[1], true
}

// refer checks what the parts of a script say of each other.
func (p *parser) refer(line int) {
	names := map[string]int{}
	if len(p.script.Streams) == 0 {
		p.Fail(line, "nothing to send: give streams: with a list")
	}
	for i := range p.script.Streams {
		s := &p.script.Streams[i]
		if at, again := names[s.Name]; again {
			p.Fail(s.Line, "stream %q has the name of the one in line %d: give it another one", s.Name, at)
		}
		names[s.Name] = s.Line
	}
	known := func(t *Trigger) {
		if t != nil && t.Stream != "" && names[t.Stream] == 0 {
			p.Fail(t.Line, "stream %q is none of streams: give the name of one", t.Stream)
		}
	}
	for i := range p.script.Streams {
		s := &p.script.Streams[i]
		known(s.Start)
		known(s.Stop)
		for k := range s.Steps {
			known(s.Steps[k].Wait)
		}
	}
}

// foreign reports whether an address is another kind of one than the wire has.
func (p *parser) foreign(a packet.Addr) bool { return a.IsLID() != (p.script.Link != nil) }
