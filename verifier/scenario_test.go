package verifier_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"ibwitness/agent"
	"ibwitness/link"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/verifier/header"
	"ibwitness/verifier/rc"
)

// TestScenarios runs the scenario files of testdata; README.md there explains their notation. With -rewrite it writes what was found
// into them: review the difference by eye.
func TestScenarios(t *testing.T) {
	all := t
	fired := map[rule.ID]bool{}
	files, run := scenarioFiles(t), 0
	for _, path := range files {
		t.Run(strings.TrimSuffix(path[strings.LastIndexByte(path, '/')+1:], ".txt"), func(t *testing.T) {
			run++
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return directive(t, all, d, fired) })
		})
	}
	var fast []packet.Opcode // of RC and UC
	for o := range packet.Op(packet.UC, 31) + 1 {
		fast = append(fast, o)
	}
	if run < len(files) || t.Failed() { // a file stops at its first failure
		return
	}
	for _, id := range append(header.FastRules(fast), rc.ExpectedRules(fast)...) {
		if !fired[id] {
			fired[id] = true // it is told once
			t.Errorf("%v: a fast path claims to cover it, and no scenario shows that it fires in a warmed-up flow: write one that is not cold, "+
				"with legal packets before the one that breaks it", id)
		}
	}
}

// directive runs one scenario in each of its encapsulations. All must find the same. Broken promises fail the test of all files, so that
// those of one file are all told.
func directive(t, all *testing.T, d *datadriven.TestData, fired map[rule.ID]bool) string {
	opt, err := parseOptions(d)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	var outs []string
	encaps := opt.encaps
	if testing.Short() && !strings.Contains(d.Expected, "on ") { // all find the same
		encaps = encaps[:1]
	}
	for i, encap := range encaps {
		s, err := everyWay(all, opt, encap, d.Input, d.Pos, fired)
		if err != nil {
			d.Fatalf(t, "%s: %v", encap.name, err)
		}
		out := s.print()
		if i > 0 && !slices.Contains(outs, out) {
			out = "on " + encap.name + ":\n" + out
		}
		if !slices.Contains(outs, out) {
			outs = append(outs, out)
		}
	}
	if opt.cold && !opt.differs {
		all.Errorf("%s: cold is not needed: warmed-up flows show the same", d.Pos)
	}
	return strings.Join(outs, "")
}

// options are the arguments of a directive.
type options struct {
	cmd     string // fires, unproven, clean or trace
	rules   []rule.ID
	with    []rule.ID // that report the cause, or what cannot be told apart from it
	encaps  []encap
	near    []string
	pmtu    uint32
	speed   uint64 // of the Ethernet that the tap is on, in bit/s; 0: not known
	times   int    // findings that the rule shall have
	events  bool
	lossy   bool
	log     bool // the events are lines of a log: the order of those of one time proves nothing
	several bool // the packets are of several taps
	cold    bool // it is about the first packets of a flow
	differs bool // what it shows in warmed-up flows, on some encapsulation

	profile verifier.Profile
}

func parseOptions(d *datadriven.TestData) (*options, error) {
	o := &options{cmd: d.Cmd, encaps: []encap{encapByName["v4"]}, pmtu: 1024, times: 1}
	for _, a := range d.CmdArgs {
		if len(a.Vals) == 0 {
			if id, ok := rule.Lookup(a.Key); ok {
				o.rules = append(o.rules, id)
				continue
			}
		}
		switch a.Key {
		case "encap":
			o.encaps = nil
			for _, name := range a.Vals {
				e, ok := encapByName[name]
				if !ok {
					return nil, fmt.Errorf("no encapsulation %q: give v4, v6, v1, ib, ibg, link or linkg", name)
				}
				o.encaps = append(o.encaps, e)
			}
		case "near":
			o.near = a.Vals
		case "with":
			for _, name := range a.Vals {
				id, ok := rule.Lookup(name)
				if !ok {
					return nil, fmt.Errorf("no rule %q", name)
				}
				o.with = append(o.with, id)
			}
		case "pmtu", "times":
			n, err := strconv.Atoi(strings.Join(a.Vals, ""))
			if err != nil {
				return nil, fmt.Errorf("%s wants a number", a.Key)
			}
			if a.Key == "pmtu" {
				o.pmtu = uint32(n)
			} else {
				o.times = n
			}
		case "speed":
			n, err := strconv.ParseUint(strings.TrimSuffix(strings.Join(a.Vals, ""), "G"), 10, 16)
			if err != nil {
				return nil, fmt.Errorf("speed wants Gbit/s, as 100G")
			}
			o.speed = n * 1e9
		case "events":
			o.events = true
		case "cold":
			o.cold = true
		case "lossy":
			o.lossy = true
		case "log":
			o.log = true
		case "taps":
			o.several = true
		case "profile":
			var err error
			if o.profile, err = verifier.ParseProfile(a.Vals...); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("no rule and no option: %q", a.Key)
		}
	}
	switch d.Cmd {
	case "fires", "unproven":
		if len(o.rules) != 1 {
			return nil, fmt.Errorf("%s wants one rule", d.Cmd)
		}
	case "clean":
		if len(o.rules) == 0 {
			return nil, fmt.Errorf("clean wants the rules that the scenario exercises")
		}
	case "trace":
	default:
		return nil, fmt.Errorf("no directive %q: give fires, unproven, clean or trace", d.Cmd)
	}
	return o, nil
}

// scenario is one run: the packets written so far and the agent that they were fed to.
type scenario struct {
	*options
	encap  encap
	agent  *agent.Transport
	frames uint64
	lines  int // of events
	now    int64
	qps    map[qpKey]*sender
	asked  map[askedKey][]byte // management requests
	mark   link.Mark           // of the frame at hand, on a link
	talks  map[[2]string]*talk
	smps   smps
	heat   *heat // nil: as written
	varied *variation
	lost   func() bool // whether the next frame is lost before the tap; nil: none is
	taken  uint64      // packets that the fast path of RC took
	shown  [][]byte    // the packets, where they are kept
	keeps  bool
}

// epoch is when every scenario begins, nanoseconds since the Unix epoch.
const epoch = int64(1_000_000_000_000_000_000)

func newScenario(o *options, e encap) *scenario {
	s := &scenario{options: o, encap: e, qps: map[qpKey]*sender{}, asked: map[askedKey][]byte{}}
	var near []packet.Addr
	for _, name := range o.near {
		if h, ok := hosts[name]; ok {
			near = append(near, e.addr(h))
		}
	}
	s.agent = agent.NewTransport(near)
	s.agent.SetProfile(o.profile)
	s.agent.SetSeveral(o.several)
	if o.lossy {
		s.agent.Dropped()
	}
	return s
}

// run reads the lines of a scenario and feeds them to the agent.
func (s *scenario) run(input string) error {
	for n, text := range strings.Split(input, "\n") {
		text, _, _ = strings.Cut(text, "#")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		var err error
		switch {
		case words[0] == "attr":
			err = s.attributes(words[1:])
		case s.heat != nil && words[len(words)-1] == "ahead":
			err = s.ahead(words[:len(words)-1])
		case len(words) > 2 && !strings.Contains(words[1], ">"):
			err = s.event(words)
		default:
			err = s.packet(words)
		}
		if err != nil {
			return fmt.Errorf("line %d, %q: %w", n+1, strings.TrimSpace(text), err)
		}
	}
	s.taken = s.rc().FastPathPackets()
	s.agent.Finish(s.now)
	agent.Reconcile(s.agent)
	var counted uint64
	for _, c := range s.agent.Connections() {
		counted += c.Ends[0].Packets + c.Ends[1].Packets
	}
	if counted > s.frames {
		return fmt.Errorf("%d packets in the table of connections, of %d", counted, s.frames)
	}
	return nil
}

// feed hands a frame to the agent, unless it is changed before.
func (s *scenario) feed(how packet.Encap, frame []byte, wireLen int, p *packet.Packet) error {
	if s.lost != nil && s.lost() {
		return nil
	}
	if s.varied != nil {
		return s.varied.feed(how, frame, wireLen, p)
	}
	return s.deliver(how, frame, wireLen, p)
}

// decode decodes a frame as a fabric agent does.
func decode(how packet.Encap, p *packet.Packet, frame []byte, wireLen int) bool {
	switch how {
	case packet.RoCEv2IPv4, packet.RoCEv2IPv6:
		return packet.DecodeIP(p, frame, wireLen) || packet.DecodeOffPort(p, frame, wireLen)
	case packet.RoCEv1:
		return packet.DecodeGRH(p, frame, wireLen)
	}
	return packet.DecodeInfiniBand(p, frame, wireLen)
}

// deliver decodes a frame and hands it to the transport agent. The frame's bytes are gone afterwards.
func (s *scenario) deliver(how packet.Encap, frame []byte, wireLen int, p *packet.Packet) error {
	frame = bytes.Clone(frame)
	if !decode(how, p, frame, wireLen) {
		return fmt.Errorf("the frame does not decode")
	}
	if strings.HasPrefix(s.encap.name, "link") {
		p.Link = 1 + uint32(s.mark.Link)<<1 + uint32(s.mark.Port)
	}
	s.frames++
	p.Frame = s.frames
	p.CheckICRC()
	if p.Has&packet.HasVCRC != 0 {
		p.CheckVCRC()
	}
	if s.keeps {
		s.shown = append(s.shown, bytes.Clone(p.Data))
	}
	s.onLink(&link.Event{Kind: link.Data, Size: wireLen, Data: p}, p)
	s.agent.Packet(p)
	for i := range frame {
		frame[i] = 0xEE
	}
	return nil
}

// check compares what was found with what the directive promises.
func (s *scenario) check() (wrong []string) {
	n := 0
	want := rule.Violation
	if s.cmd == "unproven" {
		want = rule.Unproven
	}
	for _, f := range s.agent.Rec.Findings {
		switch {
		case f.Class == rule.Event || s.cmd == "trace" || slices.Contains(s.with, f.Rule):
		case s.cmd == "clean" || f.Rule != s.rules[0]:
			wrong = append(wrong, fmt.Sprintf("%v is reported too: %s", f.Rule, s.line(&f)))
		case f.Class != want:
			wrong = append(wrong, fmt.Sprintf("%v is %v, not %v", f.Rule, f.Class, want))
		default:
			n++
		}
	}
	if s.cmd != "clean" && s.cmd != "trace" && n != s.times {
		wrong = append(wrong, fmt.Sprintf("%v is reported %d times, not %d", s.rules[0], n, s.times))
	}
	for _, id := range s.with {
		if c := s.agent.Rec.Cover[id]; c.Violated+c.Unproven == 0 {
			wrong = append(wrong, fmt.Sprintf("%v is not reported", id))
		}
	}
	for _, id := range s.rules {
		if c := s.agent.Rec.Cover[id]; c.Exercised == 0 {
			wrong = append(wrong, fmt.Sprintf("%v was not exercised", id))
		}
	}
	return wrong
}

// print shows the findings.
func (s *scenario) print() string {
	var b strings.Builder
	for i := range s.agent.Rec.Findings {
		if f := &s.agent.Rec.Findings[i]; s.events || f.Class != rule.Event {
			b.WriteString(s.line(f) + "\n")
		}
	}
	if b.Len() == 0 {
		return "nothing\n"
	}
	return b.String()
}

// line shows one finding.
func (s *scenario) line(f *rule.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v %v frame=%d", f.Rule, f.Class, s.written(f.Frame))
	if f.Accused.Role != rule.NoRole {
		fmt.Fprintf(&b, " %v", f.Accused.Role)
	}
	fmt.Fprintf(&b, " %s", s.name(f.Accused))
	if f.Class == rule.Event {
		return b.String()
	}
	fmt.Fprintf(&b, " expected %q actual %q", f.Expected, f.Actual)
	for i, e := range f.Evidence {
		fmt.Fprintf(&b, "%s%d", [...]string{" evidence=", ","}[min(i, 1)], s.written(e))
	}
	return s.cool(s.plain(b.String()))
}

var crc = regexp.MustCompile(`\b([IV]CRC) 0x[0-9a-f]+`)

// plain writes the addresses of the hosts as their names, and leaves out CRCs: what is left is the same in all encapsulations.
func (s *scenario) plain(text string) string {
	for name, h := range hosts {
		a := regexp.QuoteMeta(s.encap.addr(h).String())
		text = regexp.MustCompile(`(^|[ "])`+a+`($|[ ",])`).ReplaceAllString(text, "${1}"+name+"${2}")
	}
	return crc.ReplaceAllString(text, "$1 …")
}

// name is an endpoint as the scenarios write it.
func (s *scenario) name(e rule.Endpoint) string {
	name := e.Addr.String()
	qpn := uint32(0)
	for k, h := range hosts {
		if s.encap.addr(h) == e.Addr {
			name, qpn = k, h.qpn
		}
	}
	if e.QPNKnown && e.QPN != qpn {
		name += fmt.Sprintf(".%#x", e.QPN)
	}
	return name
}
