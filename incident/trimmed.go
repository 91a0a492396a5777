package incident

import (
	"fmt"

	"ibwitness/packet"
)

// trimmed tells of packets that came cut short with another DSCP, by receiver.
func (t *teller) trimmed(ways []*onWay) {
	told := map[packet.Addr]bool{}
	for n, w := range ways {
		if w.trimmed.n == 0 || told[w.to] {
			continue
		}
		told[w.to] = true
		all, most := *w, w
		var also []packet.Addr
		for _, o := range ways[n+1:] {
			if o.to != w.to || o.trimmed.n == 0 {
				continue
			}
			if all.trimmed.merge(&o.trimmed); o.trimmed.n > most.trimmed.n {
				o, most = most, o
			}
			also = append(also, o.from)
		}
		all.from = most.from
		t.trimmedTo(&all, also)
	}
}

// trimmedTo tells of packets that came cut short to a host, most of them from that of the way, and from others.
func (t *teller) trimmedTo(w *onWay, also []packet.Addr) {
	i := w.about(Trimmed, &w.trimmed)
	from := w.from.String()
	if i.Also = also; len(also) > 0 {
		from = fmt.Sprintf("%d hosts", len(also)+1)
	}
	i.What = fmt.Sprintf("%s from %s to %v came cut short, with another DSCP than the others of their connection.", t.atLeast(w.trimmed.n, "packet"), from, w.to)
	f := &w.trimmed.first
	i.fact("first", fmt.Sprintf("frame %d, %v, PSN %v: %s", f.frame, f.op, f.psn, f.said))
	i.fact("receiver", "drops each of them: what its ICRC covers is not there")
	i.FitsWith = []string{"a switch whose queue was full and that trims packets in place of dropping them (packet trimming), so that the receiver learns of the loss", "a tap or mirror that cuts frames, on a path that sets the DSCP"}
	i.Next = []string{"the queues and the trimming profile of the switches between, and which DSCP they give to what they trim", "whether the adapter of " + w.to.String() + " knows trimmed packets: one that does not waits for the next packet, or the timer of the sender"}
	t.tellAs(i, group{kind: Trimmed, peer: w.to})
}
