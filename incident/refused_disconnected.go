package incident

import (
	"fmt"
	"slices"
	"strings"

	"ibwitness/rule"
)

// disconnectedBefore says of a host that refuses a client, as no program listens, that it had disconnected first before that, on connections of
// which the capture need not hold anything else: since the newest that it accepted.
func (t *teller) disconnectedBefore(i *Incident, refusal *rule.Finding) {
	if !t.timed() {
		return
	}
	since := int64(0)
	for _, f := range t.accepted(i.Peer.Addr) {
		if f.Accused.Addr == i.Local.Addr && f.Time < refusal.Time {
			since = max(since, f.Time)
		}
	}
	var first *rule.Finding
	n := uint64(0)
	for k := range t.run.Findings {
		f := &t.run.Findings[k]
		between := pairBy(f.Accused.Addr, f.Peer.Addr) == pairBy(i.Local.Addr, i.Peer.Addr)
		if f.Rule != rule.EvDisconnect || f.Class != rule.Event || !between || f.Time < since || f.Time > refusal.Time {
			continue
		}
		if first == nil || f.Time < first.Time {
			first = f
		}
		if f.Accused.Addr == i.Peer.Addr {
			n++
		}
	}
	if first == nil || first.Accused.Addr != i.Peer.Addr || i.Peer.Addr == i.Local.Addr {
		return
	}
	before := span(refusal.Time - first.Time)
	i.show(first.Frame)
	i.Begin = min(i.Begin, first.Time)
	i.What = fmt.Sprintf("%s; %s before, %v had disconnected (DREQ) itself.", strings.TrimSuffix(i.What, "."), before, i.Peer.Addr)
	i.fact("DREQ", fmt.Sprintf("of %v, in frame %d, before %v sent any; %s of it in all until the first refusal",
		i.Peer.Addr, first.Frame, i.Local.Addr, count(n, "DREQ")))
	i.FitsWith = slices.Insert(i.FitsWith, 0, fmt.Sprintf(
		"a service on %v, or what it exports there, that was stopped or removed: it ended its connections itself, and listens no more", i.Peer.Addr,
	))
	i.Next = slices.Insert(i.Next, 0, fmt.Sprintf(
		"the log and the configuration of the service on %v at that time: who stopped or removed it", i.Peer.Addr,
	))
}
