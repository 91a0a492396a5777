package exercise

import (
	"testing"

	"ibwitness/link"
	"ibwitness/packet"
)

// sized is a packet of so many bytes from LRH to VCRC on a lane.
func sized(vl uint8, bytes int) *Heard {
	b := make([]byte, bytes)
	words := (bytes - vcrcSize) / 4
	b[0], b[4], b[5] = vl<<4, byte(words>>8), byte(words)
	crc := packet.VCRC(b[:bytes-vcrcSize])
	b[bytes-2], b[bytes-1] = byte(crc), byte(crc>>8)
	return hear(link.Data, link.Mark{}, b)
}

// told is a flow control packet.
func told(f link.FlowControl) *Heard { return hear(link.Packet, link.Mark{}, f.Append(nil)) }

func opened(lanes int, s Sink) *port {
	var e Exerciser
	for i := range e.Sinks {
		e.Sinks[i] = s
	}
	p := newPort(lanes, &e, 1000)
	p.become(0, initialize)
	p.become(0, active)
	return p
}

// says is what the port says of lane 0 now.
func says(t *testing.T, p *port, now int64) link.FlowControl {
	t.Helper()
	p.lanes[0].due = true
	o := p.next(now)
	f, ok := link.DecodeFlowControl(o.data)
	if !ok || !f.Good {
		t.Fatalf("%x", o.data)
	}
	return f
}

// TestABR: what counts for ABR, and what FCCL follows of it.
func TestABR(t *testing.T) {
	p := opened(1, Sink{Capacity: 10, Drain: 1000})
	if f := says(t, p, 0); f.FCCL != 10 {
		t.Errorf("at first %+v", f)
	}
	for bytes, blocks := range map[int]uint16{62: 1, 66: 1, 126: 2, 130: 2} { // the VCRC does not count
		q := opened(1, Sink{Capacity: 10})
		if q.hear(0, sized(0, bytes)); q.lanes[0].abr != blocks {
			t.Errorf("%d bytes: %d blocks", bytes, q.lanes[0].abr)
		}
	}
	p.hear(0, sized(0, 66+64)) // two blocks
	if f := says(t, p, 0); f.FCCL != 10 || p.lanes[0].abr != 2 {
		t.Errorf("two blocks in the sink: %+v", f)
	}
	if f := says(t, p, 2000); f.FCCL != 12 {
		t.Errorf("they have left: %+v", f)
	}
	p.hear(2000, told(link.FlowControl{FCTBS: 7, FCCL: 3})) // five more than have come: a packet was lost
	if f := says(t, p, 2000); f.FCCL != 17 || p.lanes[0].credit != 3 {
		t.Errorf("FCTBS + 5: %+v", f)
	}
	bad := sized(0, 66)
	bad.Data[20] ^= 1
	p.hear(2000, bad)
	ebp := sized(0, 66)
	ebp.Mark.Bad = true
	p.hear(2000, ebp)
	wrong := told(link.FlowControl{FCTBS: 99})
	wrong.Flow.Good = false
	p.hear(2000, wrong)
	if f := says(t, p, 2000); f.FCCL != 17 || p.damaged != 3 {
		t.Errorf("damaged ones: %+v, %d", f, p.damaged)
	}
}

// TestSinkFull: what has no room is discarded and does not count.
func TestSinkFull(t *testing.T) {
	p := opened(2, Sink{Capacity: 4, Drain: 1e9})
	says(t, p, 0)
	for range 6 {
		p.hear(0, sized(0, 66))
	}
	if l := &p.lanes[0]; l.abr != 4 || l.used != 4 || l.discarded != 2 {
		t.Errorf("%+v", l)
	}
	if f := says(t, p, 0); f.FCCL != 4 {
		t.Errorf("%+v", f)
	}
	if l := &p.lanes[1]; l.abr != 0 || l.used != 0 {
		t.Errorf("lane 1: %+v", l)
	}
}

// TestOffers: FCCL is ABR and the free blocks, 2048 at most, over many wraps; it never goes back where capacity is taken away.
func TestOffers(t *testing.T) {
	for _, capacity := range []int{0, 1, 7, 2047, 2048, 20000} {
		p := opened(1, Sink{Capacity: capacity})
		for n := range 100_000 {
			now := int64(n)
			f := says(t, p, now)
			if want := (p.lanes[0].abr + uint16(min(capacity, 2048))) & 4095; f.FCCL != want || int(p.lanes[0].abr) != n&4095 && capacity > 0 {
				t.Fatalf("capacity %d, %d blocks: %+v", capacity, n, f)
			}
			p.hear(now, sized(0, 66))
		}
	}
	p := opened(1, Sink{Capacity: 100, Drain: 1e9})
	says(t, p, 0)
	p.change(&SinkChange{Sink: Sink{Capacity: 10, Drain: 1e9}})
	if f := says(t, p, 0); f.FCCL != 100 {
		t.Errorf("taken back: %+v", f)
	}
	for range 100 {
		p.hear(0, sized(0, 66))
	}
	if l := &p.lanes[0]; l.taken != 100 || l.discarded != 0 {
		t.Errorf("offered and not taken: %+v", l)
	}
	if p.hear(0, sized(0, 66)); p.lanes[0].discarded != 1 {
		t.Errorf("taken beyond the offer: %+v", p.lanes[0])
	}
}

// TestRightToTransmit: a lane without credits holds back its packets and no others.
func TestRightToTransmit(t *testing.T) {
	p := opened(2, Sink{Capacity: 4})
	p.next(0)
	p.next(0)
	p.hear(0, told(link.FlowControl{VL: 0, FCCL: 1}))
	p.hear(0, told(link.FlowControl{VL: 1, FCCL: 9}))
	for i, o := range []*out{{vl: 0}, {vl: 0}, {vl: 1}, {vl: 0, ignore: true}, {vl: vl15}} {
		o.data = []byte{63 + 2: byte(i)}
		p.send(o)
	}
	var left []byte
	for o := p.next(0); o != nil; o = p.next(0) {
		left = append(left, o.data[len(o.data)-1])
	}
	if string(left) != string([]byte{0, 2, 3, 4}) || p.lanes[0].sent != 2 {
		t.Errorf("packets %v left", left)
	}
	p.hear(0, told(link.FlowControl{VL: 0, FCCL: 3}))
	if o := p.next(0); o == nil || o.data[len(o.data)-1] != 1 {
		t.Error("the one that waited does not leave")
	}
}
