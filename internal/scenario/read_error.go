package scenario

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"ibwitness/fabricagent/sim"
	"ibwitness/packet"
)

var errorKinds = map[string]sim.Kind{
	"drop": sim.Drop, "duplicate": sim.Duplicate, "reorder": sim.Reorder, "delay": sim.Delay, "corrupt": sim.Corrupt, "mark": sim.Mark,
}

// error takes an error of the network. Without a probability it happens once, unless count says otherwise.
func (p *parser) error(n *yaml.Node) Error {
	e := Error{Line: n.Line}
	var kind, count string
	var changes []change
	p.Fields(n, "an error", map[string]setter{
		"do": p.Text(&kind), "from": p.Text(&e.From), "to": p.Text(&e.To), "qp": p.Text(&e.QP), "op": p.Words(&e.Ops),
		"where": choice(p, &e.AfterTap, map[string]bool{"before": false, "after": true}), "psn": p.psns(&e),
		"nth": number(p, &e.Filter.From, 1, 1<<40), "count": p.Text(&count), "probability": p.Probability(&e.Probability),
		"copies": number(p, &e.Copies, 1, 1000), "delay": p.Duration(&e.Delay), "jitter": p.Duration(&e.Jitter), "hold": p.Boolean(&e.Hold),
		"overtaken_by": number(p, &e.Error.OvertakenBy, 1, 1e6), "at_most": p.Duration(&e.AtMost),
		"flip": number(p, &e.Flip, 1, 1000), "bits": numbers(p, &e.Bits, 1<<20), "set": p.changes(&changes),
		"queue": p.Duration(&e.Queue),
	})
	e.Kind = errorKinds[kind]
	if e.Kind == sim.Watch {
		p.Fail(n.Line, "do %q: give one of %s", kind, strings.Join(slices.Sorted(maps.Keys(errorKinds)), ", "))
	}
	switch c, err := strconv.ParseUint(count, 0, 40); {
	case count == "all", count == "" && e.Probability > 0:
	case count == "":
		e.Count = 1
	case err != nil || c == 0:
		p.Fail(n.Line, "count %q: give how often, or all", count)
	default:
		e.Count = c
	}
	if e.Kind == sim.Corrupt {
		if ways := btoi(len(changes) > 0) + btoi(e.Flip > 0 || len(e.Bits) > 0); ways != 1 {
			p.Fail(n.Line, "corrupt: give either set, to build the packet wrong, or flip or bits, to damage it on its way")
		}
		if len(changes) > 0 {
			e.Change = apply(changes)
		}
	}
	for _, op := range e.Ops {
		if packetSets[op] == nil {
			p.Fail(n.Line, "op %q: give any of %s", op, strings.Join(slices.Sorted(maps.Keys(packetSets)), ", "))
		}
	}
	if sets := e.Ops; sets != nil {
		e.Match = func(x *packet.Packet) bool {
			return slices.ContainsFunc(sets, func(op string) bool { return packetSets[op](x) })
		}
	}
	return e
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// psns takes a PSN or a range of them: 0x100, 0x100..0x104, or with + before them counted from the first of the sending QP.
func (p *parser) psns(e *Error) setter {
	return func(n *yaml.Node) {
		s, ok := p.Scalar(n, "a PSN")
		if !ok {
			return
		}
		first, last, ranged := strings.Cut(s, "..")
		if !ranged {
			last = first
		}
		a, relative := strings.CutPrefix(first, "+")
		b, too := strings.CutPrefix(last, "+")
		x, bad := strconv.ParseUint(a, 0, 24)
		y, worse := strconv.ParseUint(b, 0, 24)
		if bad != nil || worse != nil || relative != too {
			p.Fail(n.Line, "psn %q: give 0x100, 0x100..0x104, or +3 or +3..+7 to count from the first PSN of the QP that sends it", s)
			return
		}
		e.PSN, e.Relative = &sim.PSNs{First: packet.PSN(x), Last: packet.PSN(y)}, relative
	}
}

func (p *parser) referError(s *Scenario, e *Error) {
	if e.QP != "" {
		q := s.QP(e.QP)
		if q == nil {
			p.Fail(e.Line, "qp %q is none of qps: give the one that the packets go to", e.QP)
			return
		}
		if e.To == "" {
			e.To = q.HCA
		}
		if peer := s.QP(q.Peer); peer != nil && e.From == "" {
			e.From = peer.HCA
		}
	}
	if len(s.HCAs) == 2 { // one end tells the other
		other := map[string]string{s.HCAs[0].Name: s.HCAs[1].Name, s.HCAs[1].Name: s.HCAs[0].Name}
		if e.From == "" {
			e.From = other[e.To]
		}
		if e.To == "" {
			e.To = other[e.From]
		}
	}
	if s.HCA(e.From) == nil || s.HCA(e.To) == nil || e.From == e.To {
		p.Fail(e.Line, "from %q to %q is no path: give from: and to:, the HCAs that it joins", e.From, e.To)
		return
	}
	if e.Relative && e.QP == "" && !p.only(s, e) {
		p.Fail(e.Line, "psn counts from the first PSN of the QP that sends it: give qp:, the one that the packets go to")
	}
}

// only names the QP that packets of a path go to, where there is only one.
func (p *parser) only(s *Scenario, e *Error) bool {
	n := 0
	for _, q := range s.QPs {
		if q.HCA == e.To {
			e.QP = q.Name
			n++
		}
	}
	return n == 1
}
