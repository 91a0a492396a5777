package agent

import (
	"maps"
	"slices"

	"ibwitness/agent/internal/connection"
	"ibwitness/packet"
	"ibwitness/timing"
)

// mostTimed is how many connections of a bucket are timed: one takes 3 KiB, 4 KiB where both ends send messages, 1 KiB where they were silent at times, up to 32 KiB for each end that sends much, 2.5 KiB for each operation that they request, up to 6 KiB for each end that sends READs or atomics, and 8 KiB for what waits for a program.
const mostTimed = 128

// timings are what the messages of connections took.
type timings struct {
	of      map[*connection.Connection]*timing.Connection
	buckets [packet.Buckets]uint16 // how many connections each bucket has
	room    *timing.Room           // of messages; nil: none are kept
}

// newTimings measures connections, and keeps so many messages.
func newTimings(keep int) *timings {
	t := &timings{of: map[*connection.Connection]*timing.Connection{}}
	if keep > 0 {
		t.room = timing.NewRoom(keep)
	}
	return t
}

// timed is what the messages of a connection took; nil: it is not timed.
func (t *timings) timed(c *connection.Connection) *timing.Connection {
	k := t.of[c]
	if k == nil {
		n := &t.buckets[c.Bucket()]
		if *n >= mostTimed {
			return nil
		}
		*n++
		k = timing.New(t.room)
		t.of[c] = k
	}
	return k
}

// packet takes a packet of a connection, which was judged.
func (t *timings) packet(c *connection.Connection, from int, p *packet.Packet) {
	if k := t.timed(c); k != nil {
		k.Packet(&c.Pair, from, p)
		if t.room != nil && t.room.Full() {
			t.room.Trim(slices.Collect(maps.Values(t.of)))
		}
	}
}

// merge takes over what is known of a connection that was merged into another, of which end from has sent what the first end of gone has.
func (t *timings) merge(to, gone *connection.Connection, from int) {
	k := t.of[gone]
	if k == nil {
		return
	}
	delete(t.of, gone)
	t.buckets[to.Bucket()]--
	if into := t.timed(to); into != nil {
		into.Merge(k, from == 1)
	}
}

// forget forgets the connections that leave.
func (t *timings) forget() {
	if t == nil {
		return
	}
	for c, k := range t.of {
		if !c.Watched() {
			k.Finish()
			t.buckets[c.Bucket()]--
			delete(t.of, c)
		}
	}
}

// finish counts what still waits when the capture ends.
func (t *timings) finish() {
	if t == nil {
		return
	}
	for _, k := range t.of {
		k.Finish()
	}
}

// timing is what the messages of a connection took; nil: that was not measured.
func (t *Transport) timing(c *connection.Connection) *timing.Connection {
	if t.timings == nil {
		return nil
	}
	return t.timings.of[c]
}

// trimMessages drops the messages of connections that began last, beyond those that are to be kept.
func (r *Result) trimMessages(agents []*Transport, keep int) {
	room := timing.NewRoom(keep)
	var all []*timing.Connection
	for i := range r.Connections {
		if k := r.Connections[i].Timing; k != nil {
			all = append(all, k)
		}
	}
	room.Trim(all)
	for _, t := range agents {
		if t.timings != nil && t.timings.room != nil {
			room.Dropped += t.timings.room.Dropped
		}
	}
	r.MessagesDropped = room.Dropped
}
