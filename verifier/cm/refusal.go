package cm

import (
	"fmt"
	"strings"

	"ibwitness/mad"
)

// Refusal is what a REJ says, and the service that was asked for: the detail of EV-REJECT.
type Refusal struct {
	Reason  mad.RejReason
	Service string // "TCP port 18515"; "": the REQ was not seen
	ByAsker bool   // the side that asked refused the answer
}

const byAsker = "by the side that asked"

// String is the detail of the event: "consumer reject (reason 28), TCP port 18515".
func (r Refusal) String() string {
	s := fmt.Sprintf("%v (reason %d)", r.Reason, uint16(r.Reason))
	if r.Service != "" {
		s += ", " + r.Service
	}
	if r.ByAsker {
		s += ", " + byAsker
	}
	return s
}

// ParseRefusal is the Refusal that a detail tells; false: it tells none.
func ParseRefusal(detail string) (r Refusal, ok bool) {
	reason, rest, _ := strings.Cut(detail, ", ")
	if _, number, found := strings.Cut(reason, " (reason "); !found {
		return r, false
	} else if _, err := fmt.Sscanf(number, "%d)", &r.Reason); err != nil {
		return r, false
	}
	rest, r.ByAsker = strings.CutSuffix(rest, byAsker)
	r.Service = strings.TrimSuffix(rest, ", ")
	return r, true
}
