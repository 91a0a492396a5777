package cma

import (
	"errors"
	"slices"

	"ibwitness/internal/named"
)

// ErrFault means that a Config names a fault that there is not.
var ErrFault = errors.New("cma: no such fault")

// fault is a departure from the specification.
type fault uint8

const (
	repChanges fault = iota
	dataRefused
	reqForever
	dreqUnanswered
	staleAccepted
	reqUnchecked
	rej13
	sidrUnanswered
	repOtherTID
	rtuIgnored
	reqTooSoon
	timeoutOtherReason
	timeWaitSilent
	firstDREQUnanswered
	sidrOtherQKey
	lapUnanswered
	lapAsUnknown
	lapUnknownTaken
	apr7
	lidsWanted
	numFaults
)

type faultSet [numFaults]bool

// Fault is one departure from the specification that a manager may have.
type Fault struct {
	Name string // for Config.Faults
	Text string // what the manager does
	fault
}

var faultTable = []Fault{
	{"rep-changes", "retransmits a REP with another start PSN", repChanges},
	{"data-before-rtu-refused", "rejects a connection whose first request comes before the RTU", dataRefused},
	{"req-forever", "retransmits a REQ without end", reqForever},
	{"dreq-unanswered", "answers only the first DREQ of a connection that it has", dreqUnanswered},
	{"stale-accepted", "accepts a REQ for a queue pair of the peer that is connected", staleAccepted},
	{"req-unchecked", "accepts each REQ as it is", reqUnchecked},
	{"rej-13", "rejects a REQ for another GID with the reason of another LID", rej13},
	{"sidr-unanswered", "does not answer a SIDR_REQ for a service that it does not have", sidrUnanswered},
	{"rep-other-tid", "answers a REQ with another transaction ID", repOtherTID},
	{"rtu-ignored", "retransmits a REP though the RTU has come", rtuIgnored},
	{"req-too-soon", "retransmits a REQ after a quarter of the time that the peer has for its answer", reqTooSoon},
	{"timeout-other-reason", "gives up a REQ or REP that nobody answers with another reason than 4", timeoutOtherReason},
	{"time-wait-silent", "does not answer the REQ of a connection in TimeWait", timeWaitSilent},
	{"first-dreq-unanswered", "does not answer the first DREQ of a connection that it has", firstDREQUnanswered},
	{"sidr-other-qkey", "tells another Q_Key than that of a service of datagrams", sidrOtherQKey},
	{"lap-unanswered", "does not answer a LAP", lapUnanswered},
	{"lap-as-unknown", "answers a LAP of a connection that it has as if it did not have it", lapAsUnknown},
	{"lap-unknown-taken", "answers a LAP of a connection that it does not have as if it had it", lapUnknownTaken},
	{"apr-7", "refuses a LAP with the status of a wrong LID", apr7},
	{"lids-wanted", "rejects a REQ whose LID fields are 0", lidsWanted},
}

// Faults lists the faults that a manager may have.
func Faults() []Fault { return slices.Clone(faultTable) }

func faultsOf(names []string) (f faultSet, err error) {
	err = named.Each(names, faultTable, func(t Fault) string { return t.Name }, ErrFault, func(t Fault) { f[t.fault] = true })
	return f, err
}

// changeREP changes the start PSN of a REP that is retransmitted, with the fault.
func (a *Agent) changeREP(b []byte) {
	if a.faults[repChanges] {
		b[46]++
	}
}
