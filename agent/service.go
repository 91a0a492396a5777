package agent

import (
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
)

// The service agents, by service.
type (
	rcAgent  struct{ *verifier.Verifier }
	xrcAgent struct{ rcAgent }
	ucAgent  struct{ *verifier.Verifier }
	udAgent  struct{ *verifier.Verifier }
	rdAgent  struct{ *verifier.Verifier }
)

func (a rcAgent) Packet(c *qp.Pair, from int, p *packet.Packet)  { a.RC(c, from, p) }
func (a xrcAgent) Packet(c *qp.Pair, from int, p *packet.Packet) { a.XRC(c, from, p) }
func (a ucAgent) Packet(c *qp.Pair, from int, p *packet.Packet)  { a.UC(c, from, p) }
func (a udAgent) Packet(c *qp.Pair, from int, p *packet.Packet)  { a.UD(c, from, p) }
func (a rdAgent) Packet(c *qp.Pair, from int, p *packet.Packet)  { a.RD(c, from, p) }

func (a udAgent) Gap(*qp.Pair, int, *packet.Packet)          {}
func (a rdAgent) Gap(c *qp.Pair, from int, p *packet.Packet) { a.GapRD(c, from, p) }

func (a rcAgent) Stranger(c *qp.Pair, p *packet.Packet, class rule.Class, evidence ...uint64) {
	a.StrangerRC(c, p, class, evidence...)
}

func (a xrcAgent) Stranger(c *qp.Pair, p *packet.Packet, class rule.Class, evidence ...uint64) {
	a.StrangerXRC(c, p, class, evidence...)
}

func (a rdAgent) Stranger(c *qp.Pair, p *packet.Packet, class rule.Class, evidence ...uint64) {
	a.StrangerRD(c, p, class, evidence...)
}

func (a rcAgent) Finish(c *qp.Pair, end int64) { a.FinishRC(c, end) }
func (a ucAgent) Finish(c *qp.Pair, _ int64)   { a.FinishUC(c, 0) }
func (a udAgent) Finish(*qp.Pair, int64)       {}
func (a rdAgent) Finish(c *qp.Pair, end int64) { a.FinishRD(c, end) }

// cover counts, at the end, what the packets so far exercised.
func (t *Transport) cover() {
	t.ver.CoverExpected()
	t.ver.Cover()
}
