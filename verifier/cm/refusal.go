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
	Private string // what its private data says: "NVMe status 6 (no resources)"; "": nothing that is known
	ByAsker bool   // the side that asked refused the answer
}

const byAsker = "by the side that asked"

// String is the detail of the event: "consumer reject (reason 28), TCP port 18515".
func (r Refusal) String() string {
	s := fmt.Sprintf("%v (reason %d)", r.Reason, uint16(r.Reason))
	if r.Service != "" {
		s += ", " + r.Service
	}
	if r.Private != "" {
		s += ", " + r.Private
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
	rest = strings.TrimSuffix(rest, ", ")
	if r.Service, r.Private, ok = strings.Cut(rest, ", "+nvmeStatus); ok {
		r.Private = nvmeStatus + r.Private
	}
	return r, true
}

const nvmeStatus = "NVMe status "

// The statuses that are about the queue which a host asks for, first and last.
const (
	invalidQueueID = 3
	noResources    = 6
)

// nvmeReasons are why an NVMe controller refuses a connection (NVMe RDMA Transport Specification, figure of RDMA_CM_REJECT private data).
var nvmeReasons = [...]string{
	1: "invalid private data length", 2: "invalid format of the private data", 3: "invalid queue ID", 4: "invalid host send queue size", 5: "invalid host receive queue size",
	6: "no resources", 7: "invalid IRD", 8: "invalid ORD",
}

// NVMeStatus is what the private data of a REJ says, by which an NVMe controller refuses a connection, with what of the queue that was asked for the
// status is about; "": nothing that is known.
func NVMeStatus(private []byte, q mad.NVMeQueue) string {
	if len(private) < 4 || private[0]|private[1]|private[3] != 0 || private[2] == 0 || int(private[2]) >= len(nvmeReasons) {
		return ""
	}
	s := fmt.Sprintf("%s%d (%s)", nvmeStatus, private[2], nvmeReasons[private[2]])
	if status := int(private[2]); q.Known && status >= invalidQueueID && status <= noResources {
		s += fmt.Sprintf(": queue %d, hrqsize %d, hsqsize %d", q.ID, q.Receives, q.Sends)
	}
	return s
}

// NVMeStatus is the status of an NVMe controller that a refusal tells; 0: none.
func (r Refusal) NVMeStatus() (status int) {
	if _, err := fmt.Sscanf(r.Private, nvmeStatus+"%d", &status); err != nil {
		return 0
	}
	return status
}
