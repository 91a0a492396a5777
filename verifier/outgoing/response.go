package outgoing

import (
	"ibwitness/cq"
	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/wqe"
)

// ExpectResponse says what the response to packet i of a send request holds. What the request does not determine is left as it is: whether it is refused, and
// what memory holds.
func ExpectResponse(e *expect.Expected, x *cq.Posted, i int) {
	e.Hold(expect.DestQP, uint64(x.QP.QPN))
	if !x.QP.Addr.IsZero() {
		e.To(x.QP.Addr)
	}
	p := e.Packet()
	if f := p.Opcode.Fn(); x.Request.Op == wqe.OpRead && f >= packet.ReadRespFirst && f <= packet.ReadRespOnly {
		n, _ := x.Slice(i)
		e.Length(n)
	}
}
