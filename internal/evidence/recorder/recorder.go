// Package recorder keeps the latest frames of all connections in a bounded memory, and finds those around a finding. What it keeps of a frame ends
// with the headers of InfiniBand, unless asked for more.
package recorder

import (
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// Options say how much is kept.
type Options struct {
	Memory  int // bytes; 0: 64 MiB
	Payload int // bytes of payload of each frame; less than 0: all
}

const (
	defaultMemory = 64 << 20
	mostSegment   = 1 << 20
	leastSegment  = 64 << 10
	segments      = 16 // at least
	chains        = 1 << 12
	spare         = 128 // bytes of a frame that are kept where it is not known where its headers end
	recordSize    = int(unsafe.Sizeof(record{}))
	roomShare     = 4 // of a segment, one part in so many is for the records
	mostFrame     = 1<<16 - 1
)

// Recorder keeps frames. One goroutine adds them while others may ask for them.
//
// The memory is a ring of segments, and a segment has an index of its own: so adding a frame touches little memory besides the frame, whatever the
// number of connections, and asking locks one segment at a time.
type Recorder struct {
	segments []segment
	payload  int
	room     int           // bytes of frames in a segment
	records  int           // in a segment, at most
	turn     atomic.Uint64 // of the segment that is being filled
	packet   packet.Packet
	held     held
}

// segment is a stretch of the frames.
type segment struct {
	mu       sync.Mutex
	turn     uint64 // which stretch it holds, counted from the start; 0: none
	records  []record
	data     []byte
	heads    [chains]uint16 // the last record of each chain, plus one
	min, max uint64         // frame numbers
}

// record is a frame in a segment.
type record struct {
	time   int64
	number uint64
	at     uint32 // in data
	len    uint32 // on the wire
	tag    uint32 // of the direction: see direction.hash
	kept   uint16
	before uint16 // of the same chain, plus one; 0: none
	tap    uint16
	link   fabricagent.LinkType
	way    packet.Way
}

// New returns a recorder that keeps nothing yet. Its memory is taken as it fills.
func New(o Options) *Recorder {
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	size := min(max(o.Memory/segments, leastSegment), mostSegment)
	r := &Recorder{segments: make([]segment, max(o.Memory/size, 2)), payload: o.Payload, records: size / roomShare / recordSize}
	r.room = size - r.records*recordSize
	r.held.room, r.held.of = o.Memory/holdShare, map[place]*[]placed{}
	r.turn.Store(1)
	r.segments[1].begin(r, 1)
	return r
}

// segment returns the place of a turn.
func (r *Recorder) segment(turn uint64) *segment { return &r.segments[turn%uint64(len(r.segments))] }

func (s *segment) begin(r *Recorder, turn uint64) {
	if s.records == nil {
		s.records, s.data = make([]record, 0, r.records), make([]byte, 0, r.room)
	}
	s.turn, s.records, s.data, s.heads = turn, s.records[:0], s.data[:0], [chains]uint16{}
	s.min, s.max = 1<<64-1, 0
}

// Add keeps frames: it copies what it keeps. It allocates nothing once the memory is full.
func (r *Recorder) Add(frames []fabricagent.Frame) {
	if len(frames) == 0 {
		return
	}
	turn := r.turn.Load()
	s := r.segment(turn)
	s.mu.Lock()
	for i := range frames {
		f := &frames[i]
		tag, kept, ok := r.usual(f)
		if !ok {
			if tag, kept, ok = r.unusual(f); !ok {
				continue
			}
		}
		if len(s.records) == cap(s.records) || len(s.data)+kept > cap(s.data) {
			s.mu.Unlock()
			turn++
			s = r.segment(turn)
			s.mu.Lock()
			s.begin(r, turn)
			r.turn.Store(turn)
			kept = min(kept, cap(s.data))
		}
		s.add(f, kept, tag)
	}
	s.mu.Unlock()
}

func (s *segment) add(f *fabricagent.Frame, kept int, tag uint32) {
	head := &s.heads[tag%chains]
	at := len(s.data)
	s.data = append(s.data, f.Data[:kept]...)
	s.records = append(s.records, record{
		time: f.Time, number: f.Number, at: uint32(at), len: f.Len, tag: tag, kept: uint16(kept), before: *head, tap: f.Tap, link: f.Link, way: f.Way,
	})
	*head = uint16(len(s.records))
	s.min, s.max = min(s.min, f.Number), max(s.max, f.Number)
}

// frame returns frame i, whose data is a part of the segment's.
func (s *segment) frame(i int) fabricagent.Frame {
	k := &s.records[i]
	return fabricagent.Frame{
		Time: k.time, Number: k.number, Tap: k.tap, Link: k.link, Way: k.way, Len: k.len,
		Data: s.data[k.at : k.at+uint32(k.kept) : k.at+uint32(k.kept)],
	}
}

// copied returns frame i with data of its own.
func (s *segment) copied(i int) fabricagent.Frame {
	f := s.frame(i)
	f.Data = slices.Clone(f.Data)
	return f
}
