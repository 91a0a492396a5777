package incident

import (
	"fmt"

	"ibwitness/verifier/cm"
)

// otherRouter says of a REP without effect that it goes to another Ethernet address than the one from which its REQ came, and by which other hosts
// are reached: the route back may lead elsewhere.
func (i *Incident) otherRouter(q *cm.Unanswered) {
	if q.Beside.IsZero() || q.RTU != 0 || virtualRouter(q.Went) != "" {
		return
	}
	i.fact("route", fmt.Sprintf("the REP goes to the Ethernet address %s, and the REQ came from %s, to which packets of %v to %v go; nothing else of it goes to the former",
		station(q.Went), station(q.Came), q.From, q.Beside))
	i.FitsWith = append([]string{fmt.Sprintf("a route of %v to %v over a router that does not lead there", q.From, q.To)}, i.FitsWith...)
	i.Next = append([]string{fmt.Sprintf("the route of %v to %v (ip route get %v on %v), against that to %v", q.From, q.To, q.To, q.From, q.Beside)}, i.Next...)
}
