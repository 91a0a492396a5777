package timing

import (
	"testing"

	"ibwitness/packet"
	"ibwitness/qp"
)

// TestTally: all came where as many bytes did as READs asked for, those too that were sent again; not where one is missing, nor by what answers READs from before the capture.
func TestTally(t *testing.T) {
	pair := &qp.Pair{PMTU: 1024}
	ask := func(psn packet.PSN, n uint32) *packet.Packet {
		return &packet.Packet{Opcode: packet.Opcode(packet.ReadRequest), PSN: psn, DMALen: n, Has: packet.HasRETH}
	}
	came := func(psn packet.PSN, n int) *packet.Packet {
		return &packet.Packet{Opcode: packet.Opcode(packet.ReadRespMiddle), PSN: psn, PayloadLen: n}
	}
	var y Tally
	if y.answers(came(4, 1024)); y.AllCame() || y.Responses != 0 {
		t.Errorf("nothing was asked for: %+v", y)
	}
	y.asks(pair, ask(10, 3000), false)
	y.answers(came(9, 1024)) // to one before the capture
	for n, size := range []int{1024, 952} {
		y.answers(came(10+2*packet.PSN(n), size))
	}
	if y.AllCame() {
		t.Errorf("one is missing: %+v", y)
	}
	y.answers(came(11, 1024))
	y.asks(pair, ask(11, 1976), true)
	if y.AllCame() || y.Again != 1 || y.Copies != 2 {
		t.Errorf("sent again: %+v", y)
	}
	y.answers(came(11, 1024))
	if y.answers(came(12, 952)); !y.AllCame() || y.Requests != 2 || y.Responses != 5 {
		t.Errorf("all came: %+v", y)
	}
	var sum Tally
	sum.Add(&y)
	if sum.Add(&y); !sum.AllCame() || sum.Copies != 4 || sum.Asked != 9952 {
		t.Errorf("two: %+v", sum)
	}
	if y.asks(&qp.Pair{}, ask(20, 3000), true); y.unsized != true {
		t.Errorf("how many packets it takes is not known: %+v", y)
	}
}
