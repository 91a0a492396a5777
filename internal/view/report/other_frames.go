package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/rule"
)

// others is what a capture holds beside requests and their answers, by kind.
type others struct {
	What  string   `json:"what"`
	Count uint64   `json:"count"`
	From  []string `json:"from,omitempty"` // IP addresses or GIDs, or Ethernet addresses; of more than a few none
	Tap   *uint16  `json:"tap,omitempty"`
	Frame uint64   `json:"frame,omitempty"` // the first, where that is known

	usual  bool // everybody knows it
	told   bool // an incident or events tell of it
	ofRDMA bool
	plural string // "": as What

	singular string // likewise
	more     string // what else is to say of it
}

// fewestKeepAlives is from how many RDMA WRITEs without data on they are taken for keep-alives.
const fewestKeepAlives = 3

// mostOthersFrom is how many senders are named.
const mostOthersFrom = 4

// othersOf lists them: first those of RDMA, then those that go on Ethernet by themselves, then IP.
func othersOf(r *agent.Result) (list []others) {
	cnps := others{What: "CNP", told: true, plural: "CNPs", ofRDMA: true}
	cnps.Count = r.Cover[rule.EvCNP].Exercised
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Rule == rule.EvCNP {
			if cnps.Frame == 0 {
				cnps.Tap, cnps.Frame = &f.Tap, f.Frame
			}
			cnps.by(f.Accused.Addr)
		}
	}
	if cnps.Count > 0 {
		cnps.few()
		list = append(list, cnps)
	}
	for i := range r.Connections {
		c := &r.Connections[i]
		if c.Elsewhere() {
			list = append(list, others{
				What: "request", plural: "requests", Count: uint64(c.Ends[0].Open), From: []string{c.Ends[0].Addr.String()}, Tap: &c.FirstTap, Frame: c.FirstFrame, ofRDMA: true,
				more: fmt.Sprintf(" of %v to %v (%v), flooded or answered elsewhere", c.Ends[0].Addr, c.Ends[1].Addr, c.Encap),
			})
		}
	}
	list = append(list, noRoCE(r)...)
	pauses := others{What: "pause frame", told: true, plural: "pause frames"}
	for i := range r.Paused {
		p := &r.Paused[i]
		if pauses.Count += p.Frames; pauses.Frame == 0 {
			pauses.Tap, pauses.Frame = &p.Tap, p.Frame
		}
		pauses.add(ethernet(p.From))
	}
	if pauses.Count > 0 {
		pauses.few()
		list = append(list, pauses)
	}
	for i := range r.OtherFrames {
		if o := &r.OtherFrames[i]; o.Kind != fabricagent.Unnamed {
			x := others{What: o.Kind.String(), Count: o.Count, Tap: &o.Tap, Frame: o.Frame, usual: o.Kind.Usual()}
			for _, a := range o.From {
				x.add(ethernet([6]byte{byte(a >> 40), byte(a >> 32), byte(a >> 24), byte(a >> 16), byte(a >> 8), byte(a)}))
			}
			list = append(list, x)
		}
	}
	return list
}

// emptyWrites is the RDMA WRITEs without data, where times are measured; nil: there are none.
func emptyWrites(r *agent.Result) (list []others) {
	o := others{What: "RDMA WRITE of no data", plural: "RDMA WRITEs of no data", ofRDMA: true}
	for i := range r.Connections {
		c := &r.Connections[i]
		for e := range c.Ends {
			if c.Timing != nil && c.Timing.Ends[e].Empty > 0 {
				o.Count += c.Timing.Ends[e].Empty
				o.by(c.Ends[e].Addr)
			}
		}
	}
	if o.Count == 0 {
		return nil
	}
	if o.Count >= fewestKeepAlives {
		o.more = " (keep-alives)"
	}
	o.few()
	return []others{o}
}

func ethernet(a [6]byte) string {
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", a[0], a[1], a[2], a[3], a[4], a[5])
}

func (o *others) by(a packet.Addr) { o.add(a.String()) }

func (o *others) add(from string) {
	if !slices.Contains(o.From, from) {
		o.From = append(o.From, from)
	}
}

// few names the senders, where they are few.
func (o *others) few() {
	if slices.Sort(o.From); len(o.From) > mostOthersFrom {
		o.From = nil
	}
}

// mostOtherLines is how many lines they take at most.
const mostOtherLines = 3

// otherFrames tells what else the capture holds, and where first, and nothing was wrong, that it is no error.
func (t *text) otherFrames(list []others, first bool) {
	tail := ""
	if v := t.run.Verdict(); first && t.verdictHead(v) == Clean.String() {
		tail = "; no errors"
	}
	s := otherWords(list, true) + tail
	if len(wrap(s, min(t.Width, 110)-8)) > mostOtherLines {
		s = otherWords(list, false) + tail
	}
	t.prose("Also    ", s)
}

// otherWords says what there is, where named with who sent it on Ethernet: kinds of the same senders are told together.
func otherWords(list []others, named bool) string {
	var parts, kinds []string
	for i := range list {
		o := &list[i]
		if o.ofRDMA {
			parts = append(parts, o.String())
			continue
		}
		kinds = append(kinds, o.String())
		if of := o.from(named); i+1 == len(list) || list[i+1].from(named) != of {
			parts, kinds = append(parts, enumerate(kinds)+of), nil
		}
	}
	return strings.Join(parts, "; ")
}

// String is the kind and how many there are; of RDMA with who sent them, too.
func (o *others) String() string {
	s := number(o.Count) + " " + cmp.Or(o.singular, o.What)
	if o.Count != 1 {
		s = number(o.Count) + " " + cmp.Or(o.plural, o.What)
	}
	if o.ofRDMA && !strings.HasPrefix(o.more, " of ") && len(o.From) > 0 {
		s += " of " + enumerate(o.From)
	}
	return s + o.more
}

// from says who sent frames on Ethernet; "": that is not told.
func (o *others) from(named bool) string {
	if !named || o.usual || len(o.From) == 0 {
		return ""
	}
	return " of " + enumerate(o.From)
}

// othersFirst reports whether what else the capture holds comes first: nothing failed, and there are kinds that not everybody knows.
func (t *text) othersFirst(list []others) bool {
	v := t.run.Verdict()
	return (v == Clean || v == Open) && t.verdictHead(v) != failed && slices.ContainsFunc(list, func(o others) bool { return !o.usual && !o.told })
}
