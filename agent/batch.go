package agent

import (
	"sync"

	"ibwitness/fabricagent"
	"ibwitness/link"
	"ibwitness/packet"
	"ibwitness/verifier/smp"
)

// sums counts the outcomes of decoding.
type sums struct {
	packets, rdma, short, unknown uint64
}

func (s *sums) add(o sums) {
	s.packets += o.packets
	s.rdma += o.rdma
	s.short += o.short
	s.unknown += o.unknown
}

// batch is frames and their packets on their way through the engine.
type batch struct {
	source  *fabricagent.Batch
	all     []*packet.Packet // room for the packets of a batch
	packets []*packet.Packet // the RDMA packets of the batch
	shards  []uint8          // the shard of each
	links   []link.Event     // what taps of links saw
	common  []int            // packets for all shards: of subnet management
	events  []dueEvent       // that come before one of the packets
	checker packet.Checker
	sums    sums
	frames  []fabricagent.Frame // those that packets and the like are of
	taps    []fabricagent.Tap
	pause   bool     // pause frames are among them
	dropped bool     // the capture had lost packets when this batch was read
	stepped bool     // a clock was set before it, or in it
	missed  bool     // and it goes on for long: of these not all are old
	traffic *Traffic // of a run that goes on for long; nil: not counted
	decoded sync.WaitGroup
	steps   sync.WaitGroup
}

// decode fills in the packets of frames of the batch: headers, ICRC, and the shard that each belongs to.
func (w *batch) decode(frames []fabricagent.Frame, shards int) {
	w.shards, w.links, w.common = w.shards[:0], w.links[:0], w.common[:0]
	w.frames, w.pause = frames, false
	n := 0
	for i := range frames {
		p := w.all[n]
		if !w.packet(&frames[i], p) {
			continue
		}
		n++
		if shards > 1 {
			w.shards = append(w.shards, uint8(shardOf(p, shards)))
			if smp.Is(p) && p.ICRCState != packet.CRCBad {
				w.common = append(w.common, n-1)
			}
		}
	}
	w.packets = w.all[:n]
	w.sums.packets += uint64(len(frames))
	w.sums.rdma += uint64(n)
}

// packet fills in the packet of a frame, and reports whether it is one.
func (w *batch) packet(f *fabricagent.Frame, p *packet.Packet) bool {
	p.Copy = false
	switch out := fabricagent.Decode(f, p); {
	case out.IsRDMA():
	case out == fabricagent.Refused:
		w.sums.rdma-- // it counts as none, though it goes the way of one
		return true
	case out == fabricagent.TooShort:
		w.sums.short++
		w.onLink(f, nil)
		return false
	case out == fabricagent.LinkLevel:
		w.onLink(f, nil)
		return false
	case out == fabricagent.Paused:
		w.pause = true
		return false
	case out == fabricagent.UnknownLink:
		w.sums.unknown++
		return false
	default:
		return false
	}
	if t := w.traffic; t != nil && p.Has&packet.HasBTH != 0 {
		t.Packets[p.Opcode]++
		t.Bytes[p.Opcode] += uint64(f.Len)
	}
	w.checker.ICRC(p)
	if p.Encap == packet.Native {
		p.CheckVCRC()
		w.onLink(f, p)
	}
	return true
}

// onLink sets aside what a tap of a link saw.
func (w *batch) onLink(f *fabricagent.Frame, p *packet.Packet) {
	var e link.Event
	if f.Link != fabricagent.LinkTap || !fabricagent.DecodeLink(f, &e) {
		return
	}
	e.Data = p
	if e.Kind != link.Data {
		w.sums.rdma++
	}
	w.links = append(w.links, e)
}

func (e *engine) newBatch() *batch {
	space := make([]packet.Packet, fabricagent.BatchSize)
	w := &batch{all: make([]*packet.Packet, fabricagent.BatchSize), shards: make([]uint8, 0, fabricagent.BatchSize)}
	for i := range space {
		w.all[i] = &space[i]
	}
	if e.watch != nil {
		w.traffic = new(Traffic)
	}
	return w
}
