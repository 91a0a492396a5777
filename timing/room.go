package timing

import (
	"math"
	"slices"
)

// Room is where the messages of connections are kept: those that began first.
type Room struct {
	Most    int    // messages
	Dropped uint64 // messages that were not kept
	until   int64  // when the last one began that may be kept
	kept    int
}

// NewRoom has room for so many messages.
func NewRoom(most int) *Room { return &Room{Most: most, until: math.MaxInt64} }

// admits reports whether a message may be kept.
func (r *Room) admits(m *Message) bool {
	switch {
	case r == nil:
		return false
	case m.Begin > r.until:
		r.Dropped++
		return false
	}
	r.kept++
	return true
}

// Full reports whether more are kept than there is room for, so many that it is time to Trim.
func (r *Room) Full() bool { return r.kept > 2*r.Most }

// Trim drops the messages of connections that began last, so that no more than Most are left, and those that began with the last of these. Which they are does not depend on how often it is
// called: those of several rooms, trimmed together, are those of one.
func (r *Room) Trim(connections []*Connection) {
	var begun []int64
	for _, c := range connections {
		for i := range c.Messages {
			begun = append(begun, c.Messages[i].Begin)
		}
	}
	if r.kept = len(begun); r.kept <= r.Most {
		return
	}
	slices.Sort(begun)
	r.until = begun[max(r.Most, 1)-1]
	for _, c := range connections {
		n := len(c.Messages)
		c.Messages = slices.DeleteFunc(c.Messages, func(m Message) bool { return m.Begin > r.until })
		r.Dropped += uint64(n - len(c.Messages))
		r.kept -= n - len(c.Messages)
		if len(c.Messages) == 0 {
			c.Messages = nil
		}
	}
}
