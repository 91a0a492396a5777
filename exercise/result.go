package exercise

import (
	"slices"

	"ibwitness/packet"
	"ibwitness/rule"
)

// Result is what a run has done, apart from what the rules say of its packets.
type Result struct {
	Streams  []StreamResult
	Lanes    []LaneResult // of the exerciser's port on a native link
	LID      uint16       // that port has; 0: none, or on Ethernet
	Packets  uint64       // received, right ones
	Flows    uint64       // flow control packets received
	Damaged  uint64       // received, and damaged
	Kept     int          // frames in the receive memory
	Lost     uint64       // frames that it had no room for
	Exceeded bool         // the run was ended by its limit of packets
}

// StreamResult is what became of a stream.
type StreamResult struct {
	Name     string
	Sent     uint64 // packets given to the port
	Bytes    uint64 // of them
	Waiting  int    // of them, packets that never left: there were no credits
	Fired    int    // triggers that it has waited for and that came
	TimedOut int    // triggers that did not come in time
	Outcome  string // ended, stopped, waits or goes on
}

// LaneResult is the state of a data lane.
type LaneResult struct {
	VL        uint8
	FCTBS     uint16 // blocks sent, modulo 4096
	Credit    uint16 // FCCL of the other port
	ABR, FCCL uint16
	Used      int // blocks in the sink
	Capacity  int
	Taken     uint64 // packets
	Blocks    uint64 // of them
	Discarded uint64 // packets for which there was no room
}

// Result is what the run has done up to now.
func (r *Run) Result() *Result {
	x := r.machine.ended(&r.heard, r.ring, r.Packets)
	if r.link == nil {
		return x
	}
	if a := r.machine.sources[0].addr; a != permissive {
		x.LID = packet.LIDOf(a)
	}
	for i, p := range r.machine.players {
		x.Streams[i].Waiting = r.link.port.waiting(p)
	}
	for i := range r.link.port.lanes {
		l := &r.link.port.lanes[i]
		x.Lanes = append(x.Lanes, LaneResult{
			VL: l.vl, FCTBS: l.sent & 0xFFF, Credit: l.credit, ABR: l.abr, FCCL: l.fccl, Used: l.used, Capacity: l.sink.Capacity, Taken: l.taken, Blocks: l.blocks,
			Discarded: l.discarded,
		})
	}
	return x
}

// ended is what the streams have done, and what was received.
func (m *Machine) ended(c *heardCounts, r *ring, limit uint64) *Result {
	x := &Result{Packets: c.packets, Flows: c.flows, Damaged: c.damaged, Kept: r.kept(), Lost: r.lost, Exceeded: m.sent >= limit}
	for _, p := range m.players {
		s := StreamResult{Name: p.Name, Sent: p.sent, Bytes: p.bytes, Fired: p.fired, TimedOut: p.timedOuts, Outcome: "goes on"}
		switch {
		case p.stopped:
			s.Outcome = "stopped"
		case p.ended:
			s.Outcome = "ended"
		case p.on != nil:
			s.Outcome = "waits"
		}
		x.Streams = append(x.Streams, s)
	}
	return x
}

// Verdict compares what the rules found with what the script breaks on purpose.
type Verdict struct {
	Broken  []string // violations that the script announces, and that were found
	Missing []string // announced, and not found
	Others  []string // found, and not announced
}

// Verdict judges the findings of a run: violations count, warnings among them, and whatever the script names.
func (s *Script) Verdict(findings []rule.Finding) (v Verdict) {
	found := map[string]bool{}
	for i := range findings {
		f := &findings[i]
		id := f.Rule.String()
		if slices.Contains(s.Breaks, id) || f.Class == rule.Violation && f.Rule.Row().Severity != rule.Info {
			found[id] = true
		}
	}
	for _, id := range s.Breaks {
		if found[id] {
			v.Broken = append(v.Broken, id)
		} else {
			v.Missing = append(v.Missing, id)
		}
		delete(found, id)
	}
	for id := range found {
		v.Others = append(v.Others, id)
	}
	slices.Sort(v.Others)
	return v
}

// AsSaid reports whether just what the script announces was found.
func (v *Verdict) AsSaid() bool { return len(v.Missing) == 0 && len(v.Others) == 0 }
