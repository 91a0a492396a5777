package scenario

import (
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"ibwitness/fabricagent"
	"ibwitness/fabricagent/sim"
	"ibwitness/hcaagent/soft"
	"ibwitness/packet"
)

// native reports whether the adapters have LIDs: then there are two, on a native link.
func (s *Scenario) native() bool { return len(s.HCAs) > 0 && s.HCAs[0].Addr.IsLID() }

// Exact reports whether a tap at an adapter sees its packets when it sends and takes them. On a native link they wait in its port.
func (s *Scenario) Exact() bool { return !s.native() }

// link takes what is said of the link.
func (p *parser) link(s *Scenario) setter {
	return func(n *yaml.Node) {
		s.linkLine = n.Line
		p.Fields(n, "link", map[string]setter{
			"delay": p.Duration(&s.Link.Delay), "rate": number(p, &s.Link.Rate, 1, 1e15),
			"lanes": choice(p, &s.Native.Lanes, map[string]int{"1": 1, "2": 2, "4": 4, "8": 8, "15": 15}), "symbol": number(p, &s.Native.Symbol, 10, 60000),
			"width": choice(p, &s.Native.Width, map[string]int{"1": 1, "2": 2, "4": 4, "8": 8, "12": 12}), "mtu": choice(p, &s.Native.MTU, pmtus),
			"noise": p.Probability(&s.Native.Noise), "bounces": p.bounces(s),
		})
	}
}

// bounces takes when the link goes down, and for how long.
func (p *parser) bounces(s *Scenario) setter {
	return func(n *yaml.Node) {
		p.List(n, "bounces", func(n *yaml.Node) {
			var b Bounce
			p.Fields(n, "a bounce", map[string]setter{"at": p.Duration(&b.At), "for": p.Duration(&b.For)})
			if b.For <= 0 {
				p.Fail(n.Line, "a bounce lasts: give for, such as 50us")
			}
			if k := len(s.Bounces); k > 0 && b.At <= s.Bounces[k-1].At+s.Bounces[k-1].For {
				p.Fail(n.Line, "the link is down at %v already: list bounces in their order", time.Duration(b.At))
			}
			s.Bounces = append(s.Bounces, b)
		})
	}
}

// bounce plans that the link goes down and comes up again.
func (r *Run) bounce(b Bounce) {
	r.Clock.After(b.At, r.link.Down)
	r.Clock.After(b.At+b.For, r.link.Up)
}

// referLink checks what belongs only to native links, and what they do not have.
func (p *parser) referLink(s *Scenario) {
	if s.native() {
		p.referNative(s)
		return
	}
	l := &s.Native
	if l.Lanes != 0 || l.Symbol != 0 || l.Width != 0 || l.MTU != 0 || l.Noise != 0 || s.Bounces != nil {
		p.Fail(s.linkLine, "lanes, symbol, width, mtu, noise and bounces are those of a native link: give the HCAs LIDs, such as lid:1")
	}
	for i := range s.HCAs {
		h := &s.HCAs[i]
		if h.Addr.IsLID() {
			p.Fail(h.Line, "HCA %q has a LID: give all HCAs one, or none", h.Name)
		}
		if h.Port.Buffer != 0 || h.Port.Drain != 0 || h.Port.SLtoVL != nil || sim.LinkFaults[h.Fault] != nil {
			p.Fail(h.Line, "HCA %q: buffer, drain, sl_to_vl and faults of a link are those of a port of a native link: give the HCAs LIDs, such as lid:1", h.Name)
		}
	}
}

// referNative checks what there is on a native link.
func (p *parser) referNative(s *Scenario) {
	if len(s.HCAs) != 2 || !s.HCAs[1].Addr.IsLID() {
		p.Fail(s.HCAs[0].Line, "a native link joins two HCAs: give both a LID, and no other")
	}
	if s.Link.Rate != 0 {
		p.Fail(s.linkLine, "rate: a native link has symbol and width")
	}
	for i := range s.HCAs {
		p.referPort(&s.HCAs[i])
	}
	for i := range s.Errors {
		if e := &s.Errors[i]; e.Kind != sim.Drop && e.Kind != sim.Corrupt {
			p.Fail(e.Line, "%v: on a native link packets are lost and damaged, and nothing else happens to them", e.Kind)
		}
	}
	for i := range s.QPs {
		if q := &s.QPs[i]; q.Groups != nil {
			p.Fail(q.Line, "QP %q joins groups: there are none on a native link", q.Name)
		}
	}
}

// referPort checks an HCA on a native link.
func (p *parser) referPort(h *HCA) {
	if f := soft.Faults[h.Fault]; f != nil && ofEthernet(f.Rule) {
		p.Fail(h.Line, "HCA %q: the fault %s is one of RoCE, and the link is native", h.Name, h.Fault)
	}
	if h.Congestion.CNPs != 0 {
		p.Fail(h.Line, "HCA %q: cnp: there are no CNPs on a native link", h.Name)
	}
	if t := h.Port.SLtoVL; t != nil && len(t) != 16 {
		p.Fail(h.Line, "HCA %q: sl_to_vl has %d lanes: give 16, one for each SL", h.Name, len(t))
	}
}

// ofEthernet reports whether a rule is about the headers below the BTH in RoCE.
func ofEthernet(rule string) bool {
	for _, family := range []string{"ROC-", "NET-", "UD-MC-", "CNG-"} {
		if strings.HasPrefix(rule, family) {
			return true
		}
	}
	return false
}

// buildLink makes the fabric: one of Ethernet, or a native link.
func (r *Run) buildLink() error {
	if !r.native() {
		r.Fabric = sim.NewFabric(r.Clock, r.Link)
		return nil
	}
	o := r.Native
	o.Seed, o.Delay, o.Number = r.Seed, r.Link.Delay, 1
	for i := range o.Ports {
		h := &r.HCAs[i]
		o.Ports[i] = h.Port
		o.Ports[i].LID = uint16(h.Addr.Lo)
		if sim.LinkFaults[h.Fault] != nil {
			o.Ports[i].Fault, o.Ports[i].FaultAt, o.Ports[i].FaultAll = h.Fault, h.FaultAt, h.FaultAll
			o.Ports[i].Strayed = func([]byte) { r.strayed[h.Name]++ }
		}
	}
	var err error
	if r.link, err = sim.NewLink(r.Clock, o); err == nil {
		r.Fabric = r.link.Fabric
	}
	return err
}

// port is where an HCA is on the fabric.
func (r *Run) port(h *HCA) packet.Addr {
	if r.link != nil {
		return r.link.Addr(r.index(h))
	}
	return h.Addr
}

func (r *Run) index(h *HCA) int {
	if h.Name == r.HCAs[0].Name {
		return 0
	}
	return 1
}

// attach joins an HCA to the fabric.
func (r *Run) attach(h *HCA, receive func([]byte)) (send func([]byte)) {
	if r.link != nil {
		return r.link.Attach(r.index(h), receive)
	}
	return r.Fabric.Attach(h.Addr, receive)
}

// frame gives an adapter room for its frames. On a native link they wait in its port, which makes room of its own.
func (r *Run) frame(h *HCA) func(size int) []byte {
	if r.link != nil {
		return nil
	}
	return r.Fabric.Room(h.Addr)
}

// intact says of what arrives whether its ICRC is right for certain: where no adapter has a fault, and frames are on Ethernet.
func (r *Run) intact() func() bool {
	for i := range r.HCAs {
		if r.player != nil || r.link != nil || r.HCAs[i].Fault != "" {
			return nil
		}
	}
	return r.Fabric.Intact
}

// byteRate is how fast an adapter sends, in bytes a microsecond: as fast as a native link carries it. 0: as it does else.
func (r *Run) byteRate() int64 {
	if r.link == nil {
		return 0
	}
	return r.link.ByteRate()
}

// room has an adapter wait for its port on a native link.
func (r *Run) room(d *device) func() bool {
	if r.link == nil {
		return nil
	}
	return r.link.Room(r.index(d.HCA), func() { d.adapter.Resume() })
}

// rests reports whether nothing is left but that the ports of a native link tell of their credits, which has no end.
func (r *Run) rests() bool {
	return r.link != nil && r.Clock.Len() <= r.link.Timers() && !r.link.Waits()
}

// linkType is what the frames of the adapters begin with.
func (r *Run) linkType() fabricagent.LinkType {
	if r.link != nil {
		return fabricagent.LinkInfiniBand
	}
	return fabricagent.LinkEthernet
}
