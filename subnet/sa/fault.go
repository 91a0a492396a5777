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
	zeroKeyDropped
	wrongKeyTaken
	rightKeyDropped
	keyEchoed
	keyShown
	keysShown
	keysRefused
	subscriberShown
	subscriberHidden
	standbyAnswers
	serviceChanged
	serviceLost
	serviceKept
	serviceNotDeleted
	pathRefused
	pathLIDsSwapped
	pathMTUReserved
	pathSourceOther
	pathsLost
	pathChanges
	numbPathIgnored
	pathPKeyIgnored
	offsetWrong
	mlidUnicast
	joinRefused
	joinDifferingTaken
	mgidUnchecked
	createIncompleteTaken
	mtuUnchecked
	joinStateUnchecked
	leaveRefused
	leaveStateUnchecked
	leavePortUnchecked
	requesterUnchecked
	groupKept
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
	{"zero-key-dropped", "drops requests with SM_Key 0", zeroKeyDropped},
	{"wrong-key-taken", "answers requests with a wrong SM_Key", wrongKeyTaken},
	{"right-key-dropped", "drops requests with its SM_Key", rightKeyDropped},
	{"key-echoed", "repeats the SM_Key of a request in the answer", keyEchoed},
	{"m-key-shown", "shows the M_Key of a port to any requester", keyShown},
	{"pkeys-shown", "shows P_KeyTableRecords to any requester", keysShown},
	{"pkeys-refused", "refuses P_KeyTableRecords to a trusted requester", keysRefused},
	{"subscriber-shown", "shows the queue pair of a subscription to any requester", subscriberShown},
	{"subscriber-hidden", "hides the queue pair of a subscription from a trusted requester", subscriberHidden},
	{"standby-answers", "answers where its subnet manager is not the master", standbyAnswers},
	{"service-changed", "stores a ServiceRecord with another name", serviceChanged},
	{"service-lost", "confirms a ServiceRecord and does not store it", serviceLost},
	{"service-kept", "confirms the deletion of a ServiceRecord and keeps it", serviceKept},
	{"service-not-deleted", "refuses to delete a ServiceRecord", serviceNotDeleted},
	{"path-refused", "refuses a Get of a PathRecord", pathRefused},
	{"path-lids-swapped", "gives a path the LID of each end for the other", pathLIDsSwapped},
	{"path-mtu-reserved", "gives a path the reserved MTU code 0", pathMTUReserved},
	{"path-source-other", "adds paths from other ports to a table", pathSourceOther},
	{"paths-lost", "leaves the paths to other ports out of a table", pathsLost},
	{"path-changes", "gives a path another service level each time", pathChanges},
	{"numb-path-ignored", "ignores NumbPath", numbPathIgnored},
	{"path-pkey-ignored", "ignores the P_Key of a request for paths", pathPKeyIgnored},
	{"offset-wrong", "has an AttributeOffset that is one unit too long", offsetWrong},
	{"mlid-unicast", "gives a multicast group a unicast LID", mlidUnicast},
	{"join-refused", "refuses to join a multicast group that there is", joinRefused},
	{"join-differing-taken", "takes a join with other components than those of the group", joinDifferingTaken},
	{"mgid-unchecked", "creates a multicast group with any MGID", mgidUnchecked},
	{"create-incomplete-taken", "creates a multicast group without the components that this takes", createIncompleteTaken},
	{"mtu-unchecked", "creates a multicast group with an MTU that no port has", mtuUnchecked},
	{"join-state-unchecked", "takes a join with JoinState 0", joinStateUnchecked},
	{"leave-refused", "refuses to leave a multicast group", leaveRefused},
	{"leave-state-unchecked", "takes a leave whose JoinState is not one of the member's", leaveStateUnchecked},
	{"leave-port-unchecked", "takes a leave of a port that is no member", leavePortUnchecked},
	{"requester-unchecked", "takes a leave for a port from another one", requesterUnchecked},
	{"group-kept", "confirms that a member leaves, and keeps it", groupKept},
}

// Faults lists the faults that subnet administration may have.
func Faults() []Fault { return slices.Clone(faultTable) }
