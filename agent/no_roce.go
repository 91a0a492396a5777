package agent

import (
	"cmp"
	"slices"

	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/rule"
)

// NoRoCE is datagrams to UDP port 4791 that another program sends: none has room for a BTH and an ICRC or a right ICRC, and their receiver answers from port 4791 to the port that they come from, as no
// RoCE device does.
type NoRoCE struct {
	From, To packet.Addr
	Port     uint16 // of From
	Count    uint64
	Short    uint64 // of them, those without room for headers and ICRC
	Answers  uint64
	Tap      uint16 // of the first, and its frame
	Frame    uint64
}

// probe is where such datagrams come from and go to.
type probe struct {
	from, to packet.Addr
	port     uint16
}

// strange are datagrams to port 4791 that may be no RoCE. Of more than mostSigns in all none is known, so that they do not depend on who counts them.
type strange struct {
	of   map[probe][]strangeFrame
	n    int
	many bool
}

type strangeFrame struct {
	frame uint64
	tap   uint16
	short bool
}

// packet takes one of a RoCEv2 packet that has no room for its headers, or has a wrong ICRC.
func (s *strange) packet(p *packet.Packet, short bool) {
	if p.Has&packet.HasUDP == 0 || p.Cut || s.many {
		return
	}
	if s.n++; s.n > mostSigns {
		*s = strange{many: true}
		return
	}
	if s.of == nil {
		s.of = map[probe][]strangeFrame{}
	}
	k := probe{p.Src, p.Dst, p.SrcPort}
	s.of[k] = append(s.of[k], strangeFrame{p.Frame, p.Tap, short})
}

// answers counts datagrams from port 4791 to another port, by the probe that they may answer. Of too many none is known.
type answers struct {
	of   map[probe]*answered
	many bool
}

// answered is how many there are, and the first of them.
type answered struct {
	n, frame uint64
	tap      uint16
}

func (a *answers) add(k probe, n, frame uint64, tap uint16) {
	if a.many {
		return
	}
	x := a.of[k]
	if x == nil {
		if len(a.of) == mostSigns {
			*a = answers{many: true}
			return
		}
		if a.of == nil {
			a.of = map[probe]*answered{}
		}
		x = &answered{frame: frame, tap: tap}
		a.of[k] = x
	}
	if x.n += n; tap < x.tap || tap == x.tap && frame < x.frame {
		x.frame, x.tap = frame, tap
	}
}

// presence takes a frame without RDMA.
func (a *answers) presence(s *Sign) {
	if s.By == fabricagent.ByUDP && s.Ports[0] == packet.UDPPort {
		a.add(probe{s.To, s.Host, s.Ports[1]}, 1, s.Frame, s.Tap)
	}
}

func (a *answers) addAll(o *answers) {
	for k, x := range o.of {
		a.add(k, x.n, x.frame, x.tap)
	}
	if o.many {
		*a = answers{many: true}
	}
}

// leaveToPrograms takes back what was suspected of datagrams to port 4791 that are answered from there, and returns these, by where they come from. Connections have other ports.
func leaveToPrograms(agents []*Transport, a *answers) (list []NoRoCE) {
	n := 0
	for _, t := range agents {
		if n += t.strange.n; t.strange.many || n > mostSigns {
			return nil
		}
	}
	if n == 0 || len(a.of) == 0 {
		return nil
	}
	ofRoCE := map[probe]bool{}
	for _, t := range agents {
		for c := range t.table.All() {
			for e := range c.Ends {
				if q := &c.Ends[e]; q.Flow.Known() {
					ofRoCE[probe{q.Addr, c.Ends[1-e].Addr, q.Flow.SrcPort}] = true
				}
			}
		}
	}
	for _, t := range agents {
		frames := map[indexFrame]bool{}
		for k, of := range t.strange.of {
			if x := a.of[k]; x != nil && 2*x.n >= uint64(len(of)) && !ofRoCE[k] {
				list = append(list, noRoCE(k, of, x.n))
				for _, f := range of {
					frames[indexFrame{f.tap, f.frame}] = true
				}
			}
		}
		t.withdrawFrames(frames)
	}
	slices.SortFunc(list, func(x, y NoRoCE) int {
		return cmp.Or(x.From.Compare(y.From), x.To.Compare(y.To), cmp.Compare(x.Port, y.Port))
	})
	return list
}

func noRoCE(k probe, of []strangeFrame, answers uint64) NoRoCE {
	x := NoRoCE{From: k.from, To: k.to, Port: k.port, Count: uint64(len(of)), Answers: answers, Tap: of[0].tap, Frame: of[0].frame}
	for _, f := range of {
		if f.short {
			x.Short++
		}
		if f.tap < x.Tap || f.tap == x.Tap && f.frame < x.Frame {
			x.Tap, x.Frame = f.tap, f.frame
		}
	}
	return x
}

// withdrawFrames takes back all that was found on frames.
func (t *Transport) withdrawFrames(frames map[indexFrame]bool) {
	if len(frames) == 0 {
		return
	}
	gone := map[int]bool{}
	for i := range t.Rec.Findings {
		f := &t.Rec.Findings[i]
		if !frames[indexFrame{f.Tap, f.Frame}] {
			continue
		}
		gone[i] = true
		if c := &t.Rec.Cover[f.Rule]; f.Class != rule.Event && c.Exercised > 0 {
			c.Exercised--
		}
	}
	t.Rec.RemoveAll(gone)
}

// leave counts datagrams of other programs as other frames, and not as RDMA; their answers are named with them.
func (r *Result) leave(list []NoRoCE, a *answers) {
	r.NoRoCE = list
	for i := range list {
		x := &list[i]
		r.RDMA -= min(r.RDMA, x.Count)
		r.Undecoded -= min(r.Undecoded, x.Short)
		r.Unjudged -= min(r.Unjudged, x.Short)
		first := a.of[probe{x.From, x.To, x.Port}]
		for k := range r.OtherFrames {
			o := &r.OtherFrames[k]
			if o.Kind != fabricagent.UDP {
				continue
			}
			if o.Count -= min(o.Count, x.Answers); o.Tap == first.tap && o.Frame == first.frame {
				o.Frame = 0 // that of the next one is not kept
			}
		}
	}
	r.OtherFrames = slices.DeleteFunc(r.OtherFrames, func(o OtherFrames) bool { return o.Count == 0 })
}
