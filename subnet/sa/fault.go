package sa

import "slices"

// fault is a departure from the specification.
type fault uint8

const (
	informChanged fault = iota
	reportLost
	badSubscriptionTaken
	unsubscribeUnnamed
	unsubscribeRefused
	reportsGoOn
	windowIgnored
	lastRecordLost
	resendsOther
	resendsForever
	oldACKRestarts
	abortIgnored
	noneAnswered
	manyAnswered
	oneRefused
	numFaults
)

type faultSet [numFaults]bool

// Fault is one departure from the specification that subnet administration may have.
type Fault struct {
	Name string // for Config.Faults
	Text string // what it does
	fault
}

var faultTable = []Fault{
	{"inform-changed", "confirms a subscription with another trap number", informChanged},
	{"report-lost", "sends no reports", reportLost},
	{"bad-subscription-taken", "confirms a subscription to a range of LIDs that is empty", badSubscriptionTaken},
	{"unsubscribe-unnamed", "ends a subscription whose queue pair is not named", unsubscribeUnnamed},
	{"unsubscribe-refused", "refuses to end a subscription", unsubscribeRefused},
	{"reports-go-on", "sends reports when the subscription has ended", reportsGoOn},
	{"window-ignored", "sends two segments more than the window has", windowIgnored},
	{"last-record-lost", "leaves the records of the last segment out", lastRecordLost},
	{"resends-other", "retransmits segments with other records", resendsOther},
	{"resends-forever", "retransmits segments without end", resendsForever},
	{"old-ack-restarts", "goes back to the segment that an old ACK names", oldACKRestarts},
	{"abort-ignored", "goes on with a transfer that is aborted", abortIgnored},
	{"none-answered", "answers a Get that names no record with status 0", noneAnswered},
	{"many-answered", "answers a Get that names several records with the first of them", manyAnswered},
	{"one-refused", "refuses a Get that names one record", oneRefused},
}

// Faults lists the faults that subnet administration may have.
func Faults() []Fault { return slices.Clone(faultTable) }
