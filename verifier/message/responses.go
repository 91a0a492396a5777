package message

import (
	"ibwitness/cq"
	"ibwitness/expect"
	"ibwitness/packet"
)

// responses are the newest responses, without their payload.
type responses struct {
	list []packet.Packet // nil: none has come
	pos  []int           // the number of each in the capture
	next int
}

// mostResponses is how many are kept. What is wrong with one shows soon, or in what the consumer finds a little later.
const mostResponses = 1024

// keep keeps a response.
func (r *responses) keep(p *packet.Packet, pos int) {
	if r.list == nil {
		r.list, r.pos = make([]packet.Packet, mostResponses), make([]int, mostResponses)
	}
	k := &r.list[r.next]
	*k = *p
	k.Payload, k.Pad, k.Data = nil, nil, nil
	r.pos[r.next] = pos
	r.next = (r.next + 1) % mostResponses
}

// Response begins the packet that is expected in place of a response, whose payload is given where it is known; nil: that is not kept any more.
func (v *Verifier) Response(at cq.PacketRef, payload []byte) *expect.Expected {
	r := &v.responses
	for i := range r.pos {
		if r.pos[i] == at.Pos && r.list[i].Frame == at.Frame && at.Frame != 0 {
			p := r.list[i]
			p.Payload = payload
			e := expect.Like(&p)
			e.Format()
			return e
		}
	}
	return nil
}
