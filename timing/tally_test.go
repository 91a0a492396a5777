package timing

import (
	"testing"

	"ibwitness/packet"
	"ibwitness/qp"
)

// TestTally: all came where as many bytes did as READs asked for, those too that were retransmitted; not where one is missing, nor by what answers READs from before the capture.
func TestTally(t *testing.T) {
	pair := &qp.Pair{PMTU: 1024}
	ask := func(psn packet.PSN, n uint32) *packet.Packet {
		return &packet.Packet{Opcode: packet.Opcode(packet.ReadRequest), PSN: psn, DMALen: n, Has: packet.HasRETH}
	}
	came := func(psn packet.PSN, n int) *packet.Packet {
		return &packet.Packet{Opcode: packet.Opcode(packet.ReadRespMiddle), PSN: psn, PayloadLen: n}
	}
	var y Tally
	if y.answers(pair, came(4, 1024)); y.AllCame() || y.Responses != 0 {
		t.Errorf("nothing was asked for: %+v", y)
	}
	y.asks(pair, ask(10, 3000))
	y.answers(pair, came(9, 1024)) // to one before the capture
	for n, size := range []int{1024, 952} {
		y.answers(pair, came(10+2*packet.PSN(n), size))
	}
	if y.EachCame() {
		t.Errorf("one is missing: %+v", y)
	}
	if y.answers(pair, came(11, 1024)); !y.AllCame() || y.Filled != 1 {
		t.Errorf("nothing shows that it left before the next: %+v", y)
	}
	y.asks(pair, ask(11, 1976))
	if y.AllCame() || !y.EachCame() || y.Again != 1 || y.Copies != 0 {
		t.Errorf("retransmitted: %+v", y)
	}
	y.answers(pair, came(11, 1024))
	if y.answers(pair, came(12, 952)); !y.AllCame() || y.Requests != 2 || y.Responses != 5 || y.Copies != 2 {
		t.Errorf("all came: %+v", y)
	}
	var sum Tally
	sum.Add(&y)
	if sum.Add(&y); !sum.AllCame() || sum.Copies != 4 || sum.Asked != 9952 {
		t.Errorf("two: %+v", sum)
	}
	numbered := func(psn packet.PSN, id uint16) *packet.Packet {
		p := came(psn, 1024)
		p.IPID, p.Encap = id, packet.RoCEv2IPv4
		return p
	}
	y = Tally{}
	y.asks(&qp.Pair{}, ask(20, 4096))
	for _, p := range []*packet.Packet{numbered(20, 7), numbered(22, 9), numbered(23, 10), numbered(21, 8)} {
		y.answers(pair, p) // the path MTU is known now
	}
	if !y.AllCame() || y.Filled != 0 || !y.Numbered {
		t.Errorf("one came late: %+v", y)
	}
	y = Tally{}
	y.asks(&qp.Pair{}, ask(20, 4096))
	only := numbered(20, 7)
	only.Opcode = packet.Opcode(packet.ReadRespOnly)
	if y.answers(&qp.Pair{}, only); y.EachCame() {
		t.Errorf("how many packets it takes is not known: %+v", y)
	}
}
