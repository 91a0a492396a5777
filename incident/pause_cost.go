package incident

import (
	"fmt"
	"slices"

	"ibwitness/packet"
	"ibwitness/rule"
)

// retransmittedMeanwhile says what was retransmitted, on several connections, in the time of a pause, to or from hosts whose packets it held: their answers, or they themselves, waited.
func (t *teller) retransmittedMeanwhile(p *pauseTold) {
	type stream struct {
		from, to packet.Addr
		qpn      uint32
	}
	spans := p.spans()
	packets, came, naks, streams := uint64(0), uint64(0), uint64(0), map[stream]bool{}
	for k := range t.run.Findings {
		f := &t.run.Findings[k]
		if !within(spans, f.Time) || !p.spread && !slices.Contains(p.waits, f.Accused.Addr) && !slices.Contains(p.waits, f.Peer.Addr) {
			continue
		}
		switch f.Rule {
		case rule.EvRetransmission:
			packets++
			streams[stream{f.Accused.Addr, f.Peer.Addr, f.Peer.QPN}] = true
		case rule.EvDuplicate:
			came++
		case rule.EvSeqNAK:
			naks++
		}
	}
	if len(streams) < 2 {
		return
	}
	p.costsMore = true
	lost := ""
	if came == packets && naks == 0 {
		lost = "; the first copy of each had passed the tap, and no NAK asked for one: nothing shows a loss"
	}
	p.fact("cost", fmt.Sprintf("%s retransmitted on %d connections while it lasted, or right after%s", count(packets, "packet"), len(streams), lost))
}
