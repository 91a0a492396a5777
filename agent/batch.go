package agent

import (
	"ibwitness/fabricagent"
	"ibwitness/link"
	"ibwitness/packet"
)

// sums counts the outcomes of decoding.
type sums struct {
	packets, rdma, short, unknown uint64
	other                         [notRDMA]uint64 // by outcome, from fabricagent.UltraEthernet on
	echoes                        echoes
	signs                         signs
	discards                      discards
	frames                        otherFrames
	neighbors                     neighbors
}

func (s *sums) add(o sums) {
	s.packets += o.packets
	s.rdma += o.rdma
	s.short += o.short
	s.unknown += o.unknown
	for i, n := range o.other {
		s.other[i] += n
	}
	s.echoes.addAll(&o.echoes)
	s.signs.addAll(&o.signs)
	s.discards.addAll(&o.discards)
	s.frames.addAll(&o.frames)
	s.neighbors.addAll(&o.neighbors)
}

// batch is frames and their packets on their way through the engine.
type batch struct {
	decoder
	source   *fabricagent.Batch
	all      []*packet.Packet    // room for the packets of a batch
	packets  []*packet.Packet    // the RDMA packets of the batch
	shards   []uint8             // the shard of each
	common   []int               // packets for all shards: of subnet management
	events   []dueEvent          // that come before one of the packets
	frames   []fabricagent.Frame // those that packets and the like are of
	taps     []fabricagent.Tap
	dropped  bool // the capture had lost packets when this batch was read
	stepped  bool // a clock was set before it, or in it
	missed   bool // and it goes on for long: of these not all are old
	schedule schedule
}

// decoder fills in packets, and counts them.
type decoder struct {
	checker packet.Checker
	sums    sums
	links   []link.Event // what taps of links saw
	pause   bool         // pause frames are among the frames
	traffic *Traffic     // of a run that goes on for long; nil: not counted
	whole   bool         // packets are decoded whole at once: see packet.Glance
	always  bool         // they are needed whole, all of them, before they are verified
	left    uint64       // packets that the fast paths had left when the newest batch was done
}

// expect has the next packets decoded whole at once where, with n frames just verified, the fast paths have left most of them: they would do so with these. left is how many
// they have left in all.
func (d *decoder) expect(left uint64, n int) {
	d.whole = d.always || 2*(left-d.left) > uint64(n)
	d.left = left
}

// add counts the packet of a frame.
func (t *Traffic) add(f *fabricagent.Frame, p *packet.Packet) {
	t.Packets[p.Opcode]++
	t.Bytes[p.Opcode] += uint64(f.Len)
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
			if common(p) {
				w.common = append(w.common, n-1)
			}
		}
	}
	w.packets = w.all[:n]
	w.sums.packets += uint64(len(frames))
	w.sums.rdma += uint64(n)
}

// packet fills in the packet of a frame, and reports whether it is one.
func (d *decoder) packet(f *fabricagent.Frame, p *packet.Packet) bool {
	p.Copy = false
	if !d.whole && fabricagent.Glance(f, p) {
		if t := d.traffic; t != nil {
			t.add(f, p)
		}
		d.checker.ICRC(p)
		return true
	}
	switch out := fabricagent.Decode(f, p); {
	case out.IsRDMA():
	case out == fabricagent.Refused:
		d.sums.rdma-- // it counts as none, though it goes the way of one
		return true
	case out == fabricagent.TooShort:
		d.sums.short++
		d.onLink(f, nil)
		return false
	case out == fabricagent.LinkLevel:
		d.onLink(f, nil)
		return false
	case out == fabricagent.Paused:
		d.pause = true
		return false
	case out == fabricagent.UnknownLink:
		d.sums.unknown++
		return false
	case out >= fabricagent.UltraEthernet:
		d.sums.other[out-fabricagent.UltraEthernet]++
		return false
	default:
		d.sums.echoes.frame(f)
		d.sums.signs.frame(f)
		d.sums.discards.frame(f)
		d.sums.frames.frame(f)
		d.sums.neighbors.frame(f)
		return false
	}
	if t := d.traffic; t != nil && p.Has&packet.HasBTH != 0 {
		t.add(f, p)
	}
	d.checker.ICRC(p)
	if p.Encap == packet.Native {
		p.CheckVCRC()
		d.onLink(f, p)
	}
	return true
}

// onLink sets aside what a tap of a link saw.
func (d *decoder) onLink(f *fabricagent.Frame, p *packet.Packet) {
	var e link.Event
	if f.Link != fabricagent.LinkTap || !fabricagent.DecodeLink(f, &e) {
		return
	}
	e.Data = p
	if e.Kind != link.Data {
		d.sums.rdma++
	}
	d.links = append(d.links, e)
}

func (e *engine) newBatch() *batch {
	w := &batch{}
	w.room(fabricagent.BatchSize)
	w.count(e)
	return w
}

// room makes room for the packets of a batch.
func (w *batch) room(n int) {
	if w.all == nil {
		w.all = room(n)
	}
}

// room returns n packets.
func room(n int) []*packet.Packet {
	space, all := make([]packet.Packet, n), make([]*packet.Packet, n)
	for i := range space {
		all[i] = &space[i]
	}
	return all
}

// count has a decoder count the traffic of a run that goes on for long, and decode what is needed.
func (d *decoder) count(e *engine) {
	d.always = e.completions != nil && len(e.shards) > 1 // other shards look at a packet while one verifies it
	d.whole = d.always
	if e.watch != nil {
		d.traffic = new(Traffic)
	}
}

// collect adds to the sums of the run, which begin again, what a decoder has counted.
func (e *engine) collect(d *decoder) {
	e.sums.add(d.sums)
	d.sums = sums{}
	if d.traffic != nil {
		e.watch.Traffic.take(d.traffic)
	}
}
