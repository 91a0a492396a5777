package verifier_test

import (
	"fmt"
	"strings"

	"ibwitness/link"
	"ibwitness/packet"
)

// operands are the names of the operands of flow control packets.
var operands = map[string]uint64{"normal": 0, "init": 1}

// linkLine reads what a line says of a link, and reports whether that is all it says: it is no data packet.
func (s *scenario) linkLine(op string, src end, f *fields, seen *packet.Packet) (done bool, err error) {
	s.mark = link.Mark{Link: 1, Symbol: 4000}
	if src.n != hosts["A"].n {
		s.mark.Port = 1
	}
	for name, set := range map[string]func(uint64){
		"port":   func(n uint64) { s.mark.Port = uint8(n) },
		"link":   func(n uint64) { s.mark.Link = uint16(n) },
		"symbol": func(n uint64) { s.mark.Symbol = uint16(n) },
		"ebp":    func(n uint64) { s.mark.Bad = n != 0 },
	} {
		if n, ok := f.number(name); ok {
			set(n)
		}
	}
	e := &link.Event{}
	switch op {
	case "FLOW_CONTROL":
		e.Kind = link.Packet
		if w, ok := f.word("op"); ok {
			n, ok := operands[w]
			if !ok {
				if _, err := fmt.Sscan(w, &n); err != nil {
					return true, fmt.Errorf("no operand %q: give init, normal or a number", w)
				}
			}
			e.FC.Op = link.Op(n)
		}
		for name, set := range map[string]func(uint64){
			"vl":    func(n uint64) { e.FC.VL = uint8(n) },
			"fctbs": func(n uint64) { e.FC.FCTBS = uint16(n) },
			"fccl":  func(n uint64) { e.FC.FCCL = uint16(n) },
		} {
			if n, ok := f.number(name); ok {
				set(n)
			}
		}
		b := e.FC.Append(nil)
		if _, ok := f.word("badlpcrc"); ok {
			b[5] ^= 1
		}
		e.Size = len(b)
		if n, ok := f.number("size"); ok {
			e.Size = int(n)
		}
		e.FC, _ = link.DecodeFlowControl(b)
	case "PHYSICAL":
		e.Kind = link.Physical
		n, _ := f.number("state")
		e.State = uint8(n)
	case "RUNT":
		n, _ := f.number("size")
		e.Size = int(n)
	default:
		return false, nil
	}
	f.tap(seen)
	if len(f.names) > 0 {
		return true, fmt.Errorf("no field %v of %s", f.names, op)
	}
	s.frames++
	seen.Frame = s.frames
	s.onLink(e, seen)
	return true, nil
}

// onLink hands what a tap on the link saw to the agent.
func (s *scenario) onLink(e *link.Event, p *packet.Packet) {
	if !strings.HasPrefix(s.encap.name, "link") {
		return
	}
	e.Time, e.Frame, e.Tap, e.Way, e.Mark = p.Time, p.Frame, p.Tap, p.Way, s.mark
	if e.Mark.Bad && e.Data != nil {
		p.Flaws |= packet.FlawDelimiter
	}
	s.agent.Link(e)
}
