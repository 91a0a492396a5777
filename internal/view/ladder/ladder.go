// Package ladder draws the packets around a finding: who sent what to whom, in time order, with every header field readable, the offending
// packet marked, and what was expected beside what was sent. It is pure: frames and a finding in, a value to be shown out.
package ladder

import (
	"cmp"
	"slices"
	"time"

	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/rule"
)

// Frame is a captured frame of the connection of a finding. Its Data may have been cut after the headers.
type Frame struct {
	fabricagent.Frame
	Place uint64 // its number among the packets of the connection, from 1 on; 0: not known
	Apart bool   // an unknown number of packets of the connection precedes it
}

// Ladder is what is shown of a finding.
type Ladder struct {
	Ends [2]End `json:"ends"` // Ends[0] is on the left: the requester or sender, where one is accused or wronged
	Rows []Row  `json:"rows"`
	// Differs lists the fields of the offending packet that are not as expected.
	Differs []Difference `json:"differs"`
	// Missing says that the capture does not hold the offending frame any more.
	Missing bool `json:"missing,omitempty"`
}

// End is one of the two endpoints.
type End struct {
	Address string  `json:"address"`
	QPN     *uint32 `json:"qpn,omitempty"`
	Role    string  `json:"role,omitempty"`
	Accused bool    `json:"accused,omitempty"`
}

// Row is one packet.
type Row struct {
	Skipped uint64  `json:"skipped,omitempty"` // packets of the connection that were left out before it
	Apart   bool    `json:"apart,omitempty"`   // so were some, and how many is not known
	Frame   uint64  `json:"frame"`
	Tap     uint16  `json:"tap"`
	Time    string  `json:"time"`
	At      int64   `json:"at"`             // nanoseconds after the finding's packet
	From    int     `json:"from"`           // index into Ends of its sender
	Mark    string  `json:"mark,omitempty"` // "offending", or "proof": a frame that the finding rests on
	Opcode  string  `json:"opcode"`
	PSN     *uint32 `json:"psn,omitempty"`
	Note    string  `json:"note,omitempty"` // what else matters: the syndrome, lengths
	Kind    string  `json:"kind"`           // "request", "response", "ack", "nak", "other"
	Payload int     `json:"payload"`        // bytes
	Length  uint32  `json:"length"`         // of the frame on the wire
	Cut     bool    `json:"cut,omitempty"`  // so that headers are missing
	BadICRC bool    `json:"bad_icrc,omitempty"`
	Layers  []Layer `json:"layers"`
	Hex     string  `json:"hex"` // the packet's bytes from its first layer on, through its last header
}

// Difference is a field that is not as expected.
type Difference struct {
	Layer    string `json:"layer"`
	Field    string `json:"field"`
	Expected string `json:"expected"`
	Actual   string `json:"actual"`
}

// Most is how many packets a ladder shows where Options say nothing.
const Most = 40

// Options say how a ladder is drawn.
type Options struct {
	Most int // packets; 0: Most
}

// Build draws the ladder of a finding from frames of its connection in time order.
func Build(f *rule.Finding, flow Flow, frames []Frame, opt Options) *Ladder {
	l := &Ladder{Rows: []Row{}, Differs: []Difference{}, Missing: true}
	chosen, skipped := choose(f, frames, cmp.Or(opt.Most, Most))
	left := leftmost(f, flow)
	l.Ends = ends(f, flow, left)
	for i, at := range chosen {
		fr := &frames[at]
		var p packet.Packet
		if !fabricagent.Decode(&fr.Frame, &p).IsRDMA() {
			continue
		}
		check(&p, fr)
		r := row(&p, fr)
		r.Skipped, r.Apart, r.At = skipped[i], i > 0 && fr.Apart, fr.Time-f.Time
		r.From = flow.sender(&p) ^ left
		switch {
		case fr.Tap == f.Tap && fr.Number == f.Frame:
			r.Mark, l.Missing = "offending", false
			l.Differs = differences(f, r.Layers)
		case fr.Tap == f.Tap && slices.Contains(f.Evidence, fr.Number):
			r.Mark = "proof"
		}
		l.Rows = append(l.Rows, r)
	}
	return l
}

// check judges the ICRC, where all of the packet is there.
func check(p *packet.Packet, f *Frame) {
	if p.Cut || len(f.Data) < int(f.Len) {
		return
	}
	var c packet.Checker
	c.ICRC(p)
}

// choose picks, of the frames, those nearest to what matters, and says how many packets were left out before each.
func choose(f *rule.Finding, frames []Frame, most int) (chosen []int, skipped []uint64) {
	var anchors []int
	offending := -1
	for i := range frames {
		switch fr := &frames[i]; {
		case fr.Tap != f.Tap:
		case fr.Number == f.Frame:
			offending = i
			anchors = append(anchors, i)
		case slices.Contains(f.Evidence, fr.Number):
			anchors = append(anchors, i)
		}
	}
	order := make([]int, len(frames))
	far := make([]int, len(frames))
	for i := range frames {
		order[i], far[i] = i, len(frames)*proofWeight
		for _, a := range anchors {
			d := max(i-a, a-i)
			if a != offending && d > 0 {
				d = d*proofWeight - 1 // what is around a proof matters less than what is around the packet itself
			}
			far[i] = min(far[i], d)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(far[a], far[b]) })
	chosen = slices.Clone(order[:min(most, len(order))])
	slices.Sort(chosen)
	skipped = make([]uint64, len(chosen))
	for i := range chosen {
		if i == 0 {
			continue
		}
		before, at := chosen[i-1], chosen[i]
		n := uint64(at - before - 1)
		if a, b := frames[before].Place, frames[at].Place; a != 0 && b > a {
			n = b - a - 1
		}
		skipped[i] = n
	}
	return chosen, skipped
}

// proofWeight is how much less what is around a proof matters.
const proofWeight = 5

// leftmost returns which end of the flow is on the left: the one that asks.
func leftmost(f *rule.Finding, flow Flow) int {
	asker := f.Accused
	if f.Accused.Role == rule.Responder || f.Accused.Role == rule.Receiver {
		asker = f.Peer
	}
	if flow.is(1, asker) && !flow.is(0, asker) {
		return 1
	}
	return 0
}

func ends(f *rule.Finding, flow Flow, left int) (out [2]End) {
	for i := range out {
		e := flow[i^left]
		o := End{Address: e.Addr.String()}
		if e.QPNKnown {
			o.QPN = &e.QPN
		}
		if flow.is(i^left, f.Accused) && (!flow.is(i^left^1, f.Accused) || i^left == 0) {
			o.Role, o.Accused = f.Accused.Role.String(), f.Accused.Role < rule.Network && f.Class != rule.Event
		}
		out[i] = o
	}
	for i := range out {
		if out[i].Role != "" || out[i^1].Role == "" {
			continue
		}
		out[i].Role = other[out[i^1].Role]
	}
	return out
}

// other is the role that the peer of a role has.
var other = map[string]string{"requester": "responder", "responder": "requester", "sender": "receiver", "receiver": "sender"}

// row tells what is shown of a packet.
func row(p *packet.Packet, f *Frame) Row {
	r := Row{
		Frame: f.Number, Tap: f.Tap, Time: time.Unix(0, f.Time).UTC().Format(timeFormat), Length: f.Len,
		Payload: p.PayloadLen, Cut: p.Cut && p.Has&p.Info().Headers != p.Info().Headers, BadICRC: p.ICRCState == packet.CRCBad, Opcode: "no BTH", Kind: "other",
	}
	if p.Has&packet.HasBTH != 0 {
		psn := uint32(p.PSN)
		r.Opcode, r.PSN = p.Opcode.String(), &psn
		r.Kind, r.Note = kind(p), note(p)
	}
	r.Layers, r.Hex = layers(p)
	return r
}

// timeFormat has nine digits always, so that times align.
const timeFormat = "2006-01-02T15:04:05.000000000Z07:00"
