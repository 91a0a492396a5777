package header

import (
	"fmt"
	"time"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// tooBigKey is a sender and the QP that it sends to.
type tooBigKey struct {
	src, dst packet.Addr
	qpn      uint32
}

// tooBig is what a router has said of a packet of a sender: that it was too big for the path.
type tooBig struct {
	time   int64
	frame  uint64
	tap    uint16
	judged bool
}

const (
	// mostTooBig is how many senders are kept.
	mostTooBig = 1 << 12
	// heeded is how long after such a message packets that were sent before it may be refused.
	heeded = int64(time.Second)
)

// Refused judges a packet that a router has refused as too big for the path; c, which may be nil, is its connection (rule ROC-V2-031). The path may have
// become narrower since the connection chose its PMTU; where others are refused later, the PMTU is too large for this network.
func (v *Verifier) Refused(c *qp.Pair, from int, p *packet.Packet) {
	v.Covered(rule.ROCV2031)
	size := int(p.PayLen)
	if p.Encap == packet.RoCEv2IPv6 {
		size += 40
	}
	k := tooBigKey{p.Src, p.Dst, p.DestQP}
	n, again := v.tooBig[k]
	if size <= int(p.MTU) || n.judged || again && p.Time-n.time <= heeded {
		return // the message contradicts itself, or shows nothing new
	}
	d := rule.Verdict{
		Rule: rule.ROCV2031, Class: rule.Unproven, Role: rule.Sender,
		Expected: fmt.Sprintf("IP packets of at most %d bytes, the MTU of the path", p.MTU), Actual: fmt.Sprintf("%d bytes, rejected by a router", size),
		Detail: "the MTU of the path may have decreased since the PMTU was chosen",
	}
	if p.MTU == 0 {
		d.Expected = "IP packets that fit on the path"
	}
	if again {
		n.judged = true
		v.tooBig[k] = n
		if v.proveRefused(p, n) {
			return
		}
		d.Class, d.Detail = rule.Violation, "and so were packets before"
	} else {
		if v.tooBig == nil || len(v.tooBig) >= mostTooBig {
			v.tooBig = map[tooBigKey]tooBig{}
		}
		v.tooBig[k] = tooBig{time: p.Time, frame: p.Frame, tap: p.Tap}
	}
	v.ReportBytes(c, from, p, d)
}

// proveRefused proves what was found of the first packet of a sender that was refused, by p. It reports false where the finding was reported already.
func (v *Verifier) proveRefused(p *packet.Packet, n tooBig) bool {
	return v.confirm(p, v.Rec.OnFrame(rule.ROCV2031, n.tap, n.frame), func(f *rule.Finding) bool {
		is := f.Accused.Addr == p.Src
		if is && p.Tap == n.tap {
			f.Evidence = []uint64{p.Frame}
		}
		return is
	}, "and so are its packets a second later")
}
