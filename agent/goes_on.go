package agent

import (
	"slices"

	"ibwitness/packet"
)

// GoesOn names requests to a queue pair, the first of which after a silence goes on with a message that had begun before it.
type GoesOn struct {
	From, To packet.Addr
	QPN      uint32 // that they are sent to
}

// mostGoesOn is how many queue pairs are looked at after a silence.
const mostGoesOn = 64

// goesOn is the queue pairs that requests were sent to since the newest silence.
type goesOn struct {
	seen [mostGoesOn]GoesOn
	n    int
	list []GoesOn
}

// take takes a request, which comes after a silence, or before the first.
func (m *goesOn) take(p *packet.Packet, silent bool) {
	k := GoesOn{p.Src, p.Dst, p.DestQP}
	if !silent || m.n == mostGoesOn || slices.Contains(m.seen[:m.n], k) {
		return
	}
	m.seen[m.n] = k
	m.n++
	if in := p.Info(); !in.First && !in.Only {
		m.list = append(m.list, k)
	}
}

// goesOn notes with the silence that ended at a time which messages went on after it.
func (k *clocks) goesOn(ended int64) {
	m := &k.turns.goesOn
	for i := range k.silent {
		if k.silent[i].To == ended && len(m.list) > 0 {
			k.silent[i].GoesOn = slices.Clone(m.list)
		}
	}
	m.n, m.list = 0, m.list[:0]
}
