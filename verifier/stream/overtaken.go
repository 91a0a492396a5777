package stream

import (
	"time"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
)

// At a tap in a host of several queues, the capture may hold two of its packets in another order than that in which they left. Their IPv4
// identifications show it.

// EarlyWindow is how long a response may be recorded before its request in a capture that records the directions separately.
const EarlyWindow = int64(300 * time.Microsecond)

// ordered are the rules that a packet seems to break where it only was recorded before one that left earlier.
var ordered = map[rule.ID]bool{
	rule.RCPSN004: true, rule.RCRTY005: true, rule.RCRTY006: true, rule.RCRES001: true, rule.RCRSP006: true, rule.RCRSP007: true, rule.RCACK003: true,
	rule.RCRSP018: true, rule.UCPSN001: true,
}

// Overtaken takes back what was proven of the packet before p, in frame last at time at, if that left after p by its IPv4 identification id. It reports
// whether it did.
func (v *Verifier) Overtaken(c *qp.Pair, from int, p *packet.Packet, id uint16, last uint64, at int64) bool {
	if !verifier.Numbered(p) || !verifier.LeftBefore(p, id) || p.Time-at > Uptake {
		return false
	}
	n := len(v.Rec.Findings)
	for k := n - 1; k >= max(n-SoonFound, 0) && p.Time-v.Rec.Findings[k].Time <= Uptake; k-- {
		if f := &v.Rec.Findings[k]; f.Frame == last && f.Tap == p.Tap && ordered[f.Rule] && verifier.IsEnd(&c.Ends[from], &f.Accused) {
			v.Rec.Doubt(k, "the capture is out of order: by its IPv4 identification the packet left after the next one in the capture")
		}
	}
	return true
}

// Uptake is how long an answer that has passed the tap near its requester may wait for a driver, an interrupt or a virtual machine before it is
// taken: soft-RoCE on a busy host needs some 0.4 ms.
const Uptake = int64(time.Millisecond)

// SoonFound is how many findings are made, at most, within the times in which the order of packets is uncertain.
const SoonFound = 1024
