package timing

import (
	"ibwitness/packet"
	"ibwitness/qp"
)

// Tally is what the READs of an end asked for, and what came of it, each as often as it was sent: READs that were retransmitted ask again, and responses to them come again.
type Tally struct {
	Requests  uint64 // READ requests
	Asked     uint64 // bytes that they asked for
	Again     uint64 // of the requests, those that were retransmitted
	Responses uint64 // response packets that came, to these or any of the end
	Came      uint64 // bytes of them
	Copies    uint64 // response packets that Again asked for
	unsized   bool   // how many these are is not known
	first     packet.PSN
	begun     bool // a response to the first request, or a later one, has come: those before answer what was sent before the capture
}

// AllCame reports whether as many bytes came as were asked for.
func (t *Tally) AllCame() bool { return t.Requests > 0 && t.Asked == t.Came && !t.unsized }

// asks takes a READ request; again says that it was sent before.
func (t *Tally) asks(pair *qp.Pair, p *packet.Packet, again bool) {
	if t.Requests == 0 {
		t.first = p.PSN
	}
	t.Requests++
	t.Asked += uint64(p.DMALen)
	t.unsized = t.unsized || p.Has&packet.HasRETH == 0
	if again {
		n := pair.PSNs(p)
		t.Again, t.Copies, t.unsized = t.Again+1, t.Copies+uint64(n), t.unsized || n == 0
	}
}

// answers takes a response to a READ of the end.
func (t *Tally) answers(p *packet.Packet) {
	if t.Requests == 0 || !t.begun && p.PSN.Before(t.first) {
		return
	}
	t.begun = true
	t.Responses++
	t.Came += uint64(p.PayloadLen)
}

// Add adds another: all came only where all did of each.
func (t *Tally) Add(o *Tally) {
	t.Requests, t.Asked, t.Again, t.Copies = t.Requests+o.Requests, t.Asked+o.Asked, t.Again+o.Again, t.Copies+o.Copies
	t.Responses, t.Came = t.Responses+o.Responses, t.Came+o.Came
	t.unsized = t.unsized || o.unsized
}
