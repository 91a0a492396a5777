package timing

import (
	"cmp"
	"slices"
)

// Sent is when a message, but a READ or an atomic, was sent, as the tap saw its first and its last packet.
type Sent struct {
	Begin, End int64
	Bytes      uint32
	Packets    uint32
}

// MostSent is of how many messages of an end it is kept when they were sent: the first ones, which take 24 KiB.
const MostSent = 1 << 10

// sent notes when a message was sent.
func (e *End) sent(m *Message) {
	if len(e.Sent) < MostSent {
		e.Sent = append(e.Sent, Sent{m.Begin, m.Sent, m.Length, uint32(m.last.Diff(m.PSN)) + 1})
	}
}

// mergeSent adds when the messages of another end were sent.
func (e *End) mergeSent(g *End) {
	e.Sent = append(e.Sent, g.Sent...)
	slices.SortFunc(e.Sent, func(a, b Sent) int { return cmp.Compare(a.Begin, b.Begin) })
	e.Sent = e.Sent[:min(len(e.Sent), MostSent)]
}
