package agent

import (
	"slices"

	"ibwitness/packet"
)

// Midway is requests of a queue pair, of which the first after a silence goes on with a message that had begun before it.
type Midway struct {
	From, To packet.Addr
	QPN      uint32 // that they are sent to
}

// mostMidway is how many queue pairs are looked at after a silence.
const mostMidway = 64

// midway is the queue pairs that requests were sent to since the newest silence.
type midway struct {
	seen [mostMidway]Midway
	n    int
	list []Midway
}

// take takes a request, which comes after a silence, or before the first.
func (m *midway) take(p *packet.Packet, silent bool) {
	k := Midway{p.Src, p.Dst, p.DestQP}
	if !silent || m.n == mostMidway || slices.Contains(m.seen[:m.n], k) {
		return
	}
	m.seen[m.n] = k
	m.n++
	if in := p.Info(); !in.First && !in.Only {
		m.list = append(m.list, k)
	}
}

// midway notes with the silence that ended at a time which messages went on after it.
func (k *clocks) midway(ended int64) {
	m := &k.turns.midway
	for i := range k.silent {
		if k.silent[i].To == ended && len(m.list) > 0 {
			k.silent[i].Midway = slices.Clone(m.list)
		}
	}
	m.n, m.list = 0, m.list[:0]
}
