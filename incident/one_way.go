package incident

import (
	"fmt"
	"strings"

	"ibwitness/qp"
)

// Who retransmits READs lacks responses: that it retransmits to a host does not say that what it sends there is lost.

// lostOrLate is what retransmissions mean, where that is all that is known.
const lostOrLate = ": packets or their answers were lost, late or overtaken"

// lostBefore is how many rounds of retransmission there were for what was lost before the tap: requests, and answers; none, where some came after
// later ones.
func lostBefore(k *qp.Trouble) [2]uint64 {
	if k.Overtaking.All().Packets > 0 || k.Responses.All().Packets > 0 {
		return [2]uint64{}
	}
	p := placesOf(k)
	return [2]uint64{uint64(p.before) + uint64(p.unseen) + uint64(p.short), uint64(p.over) + uint64(p.missing)}
}

// oneWay says first in which direction packets were lost, where all were on the way to who retransmitted first, and before the tap.
func (i *Incident) oneWay() {
	a := &i.again
	rest, found := strings.CutPrefix(i.What, a.said+lostOrLate)
	if !found || a.late || a.lost[1] < tellingRounds || a.lost[1] != a.rounds {
		return
	}
	i.What = fmt.Sprintf("Packets from %v to %v were lost before the tap, at least %s, and none the other way, "+
		"as far as these retransmissions tell: %s%s", i.Peer.Addr, i.Local.Addr, times(a.lost[1]), a.said, rest)
}
