package sma

import (
	"errors"
	"slices"

	"ibwitness/internal/named"
)

// ErrFault means that a Config names a fault that there is not.
var ErrFault = errors.New("sma: no such fault")

// fault is a departure from the specification.
type fault uint8

// The faults; what each is, is in the table below.
const (
	sltovlSilent fault = iota
	sltovlAnswers
	sltovlStores
	sltovlStatusZero
	sltovlWrongCode
	sltovlInvalidValue
	sltovlRedirect
	sltovlBusy
	sltovlKeepsRefused
	portInfoChanged
	vlcapMany
	operationalVLsMany
	vlFromSL
	sltovlPairMixed
	sltovlNotStored
	mkeyIgnored
	mkeyShown
	mkeyZeroChecked
	protectIgnored
	leaseNever
	leaseEarly
	leaseNotStopped
	leaseZeroExpires
	illegalStored
	readOnlyWritten
	setNotStored
	combinationTaken
	modifierIgnored
	answersAnswer
	reregisterKept
	guidZeroWritten
	pkeyBadStatus
	pkeyBlockIgnored
	vlarbNotStored
	lftNotStored
	nodeInfoDiffers
	stateChangeLost
	trapGoesOn
	trapTooFast
	drReturnWrong
	hopsUnchecked
	classPortInfoMissing
	counterWraps
	counterSelectIgnored
	portSelectIgnored
	tidMixed
	nodeDescriptionSet
	isSMSet
	mkeyHidden
	mkeyNotCounted
	mkeySplit
	repressAnswered
	guidNotStored
	pkeyNotStored
	rftNotStored
	mftNotStored
	ledNotStored
	vendorDiagLoop
	lftPortUnchecked
	drReturnRewritten
	drInitialCleared
	reregisterLost
	stateChangeAnySet
	violationsWrap
	sltovlAllIgnored
	drOutWrong
	drEndDelivered
	drBackWrong
	trapKeyed
	trapNewTID
	isSMLost
	smGUIDWrong
	getRefused
	setRefused
	readOnlyChanges
	otherComponentSet
	localPortFixed
	portGUIDShared
	versionsWrong
	ownNumberOther
	bothTables
	isSMDisabled
	violationsKept
	mkeyNeverShown
	mkeyOvercounted
	trapLost
	trapIssuerWrong
	trapSameTID
	drLIDsChanged
	drCountChanged
	drPointerKept
	drDirectionLost
	slowAnswer
	slowFirstAnswer
	versionIgnored
	methodIgnored
	methodSilent
	refusalChanged
	tidShared
	modifierMixed
	attributeMixed
	smpLength
	smpUnchecked
	classPortInfoVersions
	counterOff
	packetsUncounted
	counterWrong
	sumWrong
	extendedNarrow
	counterNotStored
	counterKept
	gmpUnchecked
	gmpLength
	classTaken
	delimiterIgnored
	ebpTaken
	badVCRCAnswered
	badICRCAnswered
	lverTaken
	lengthIgnored
	dlidIgnored
	lmcIgnored
	qp0ClosedInInit
	armedStays
	stateStuck
	armedAtOnce
	lane15Sent
	highLimitIgnored
	arbitrationIgnored
	stateKept
	misrouted
	topIgnored
	unroutedForwarded
	multicastReflected
	icrcRewritten
	reordered
	damageHealed
	partitionIgnored
	oldForwarded
	qp0ClosedInArmed
	receiverStuck
	drOwnSLID
	smpOtherSL
	drBeyondRelayed
	answersOnce
	portInfoOnceRefused
	smSLRefused
	vlcapReserved
	portInfoExternalRefused
	lftUnreadable
	lftPortRefused
	classRefused7
	violationsEach2nd
	qp1OnePKey
	qp0PKeyChecked
	hopLimitKept
	hopLimitIgnored
	localRouted
	smpRouted
	slidKept
	numFaults
)

// faultSet is which faults a node has.
type faultSet [numFaults]bool

// Fault is one departure from the specification that a node may have.
type Fault struct {
	Name string // for Config.Faults
	Text string // what the node does
	fault
}

// Faults lists the faults that a node may have, each a departure of one attribute or rule.
func Faults() []Fault { return slices.Clone(faultTable) }

var faultTable = []Fault{
	{"sltovl-silent", "does not answer SLtoVLMappingTable", sltovlSilent},
	{"sltovl-answers", "answers a Get of SLtoVLMappingTable, which it does not support, with status 0", sltovlAnswers},
	{"sltovl-stores", "takes a Set of SLtoVLMappingTable, which it does not support, with status 0", sltovlStores},
	{"sltovl-status-zero", "refuses SLtoVLMappingTable, which it does not support, with status 0 and no data", sltovlStatusZero},
	{"sltovl-wrong-code", "refuses SLtoVLMappingTable, which it does not support, with a reserved status code", sltovlWrongCode},
	{"sltovl-invalid-value", "refuses SLtoVLMappingTable, which it does not support, with the status code of an invalid value", sltovlInvalidValue},
	{"sltovl-redirect", "redirects requests for SLtoVLMappingTable, which it does not support", sltovlRedirect},
	{"sltovl-busy", "is busy whenever SLtoVLMappingTable, which it does not support, is asked for", sltovlBusy},
	{"sltovl-keeps-refused", "refuses a Set of SLtoVLMappingTable, which it does not support, and answers the next Get with it", sltovlKeepsRefused},
	{"portinfo-changed", "changes PortInfo by a Set of SLtoVLMappingTable that it refuses", portInfoChanged},
	{"vlcap-many", "says in VLCap that it has eight data lanes, though it does not support SLtoVLMappingTable", vlcapMany},
	{"operational-vls-many", "says in OperationalVLs that two data lanes are operational, though it does not support SLtoVLMappingTable", operationalVLsMany},
	{"vl-from-sl", "sends each packet on the VL that has the number of its SL", vlFromSL},
	{"sltovl-pair-mixed", "keeps one SLtoVLMappingTable for all input ports", sltovlPairMixed},
	{"sltovl-not-stored", "confirms a Set of SLtoVLMappingTable and keeps the previous one", sltovlNotStored},
	{"mkey-ignored", "takes a Set with a wrong M_Key", mkeyIgnored},
	{"mkey-shown", "shows its M_Key to a wrong one with protect bits 1", mkeyShown},
	{"mkey-zero-checked", "compares M_Keys though its own is 0", mkeyZeroChecked},
	{"protect-bits-ignored", "answers a Get with a wrong M_Key whatever the protect bits are", protectIgnored},
	{"lease-never-ends", "keeps its protect bits when the lease period has run out", leaseNever},
	{"lease-early", "ends the lease after half of its period", leaseEarly},
	{"lease-not-stopped", "does not stop the timer of the lease at a valid M_Key", leaseNotStopped},
	{"lease-zero-expires", "ends a lease of period 0, which has no end, after a second", leaseZeroExpires},
	{"illegal-stored", "takes illegal values of PortInfo and SwitchInfo", illegalStored},
	{"read-only-written", "takes read-only components of PortInfo and SwitchInfo", readOnlyWritten},
	{"set-not-stored", "confirms a Set of PortInfo and SwitchInfo and keeps the previous values", setNotStored},
	{"combination-taken", "answers methods that an attribute does not have with status 0", combinationTaken},
	{"modifier-ignored", "answers modifiers beyond their range with status 0", modifierIgnored},
	{"answers-answer", "answers a GetResp", answersAnswer},
	{"reregister-kept", "keeps ClientReregister", reregisterKept},
	{"guid-zero-written", "lets the first GUID of GUIDInfo be set", guidZeroWritten},
	{"pkey-bad-status", "refuses a Set of P_KeyTable that is legal", pkeyBadStatus},
	{"pkey-block-ignored", "takes every block of P_KeyTable for block 0", pkeyBlockIgnored},
	{"vlarb-not-stored", "confirms a Set of VLArbitrationTable and keeps the previous one", vlarbNotStored},
	{"lft-not-stored", "confirms a Set of LinearForwardingTable and keeps the previous one", lftNotStored},
	{"node-info-differs", "gives another NodeGUID at each port", nodeInfoDiffers},
	{"state-change-lost", "does not set PortStateChange", stateChangeLost},
	{"trap-goes-on", "repeats a trap after its TrapRepress", trapGoesOn},
	{"trap-too-fast", "repeats traps four times faster than SubnetTimeOut lets it", trapTooFast},
	{"dr-return-wrong", "writes another ingress port into the return path of a directed route", drReturnWrong},
	{"hops-unchecked", "delivers a directed route whose hop pointer is beyond its end, and relays one of more than 63 hops", hopsUnchecked},
	{"class-port-info-missing", "refuses ClassPortInfo of performance management", classPortInfoMissing},
	{"counter-wraps", "lets performance counters wrap", counterWraps},
	{"counter-select-ignored", "sets all performance counters whatever CounterSelect says", counterSelectIgnored},
	{"port-select-ignored", "takes every PortSelect for the port of the MAD", portSelectIgnored},
	{"tid-mixed", "answers with another transaction ID", tidMixed},
	{"node-description-set", "takes a Set of NodeDescription, though it does not say that it can", nodeDescriptionSet},
	{"is-sm-set", "says IsSM in CapabilityMask, though no subnet manager runs at it", isSMSet},
	{"mkey-hidden", "does not show its M_Key to a wrong one with protect bits 0", mkeyHidden},
	{"mkey-not-counted", "does not count violations of M_Key, P_Key and Q_Key", mkeyNotCounted},
	{"mkey-split", "keeps protect bits and lease period at a Set that changes the M_Key too", mkeySplit},
	{"repress-answered", "answers a TrapRepress", repressAnswered},
	{"guid-not-stored", "confirms a Set of GUIDInfo and keeps the previous one", guidNotStored},
	{"pkey-not-stored", "confirms a Set of P_KeyTable and keeps the previous one", pkeyNotStored},
	{"rft-not-stored", "confirms a Set of RandomForwardingTable and keeps the previous one", rftNotStored},
	{"mft-not-stored", "confirms a Set of MulticastForwardingTable and keeps the previous one", mftNotStored},
	{"led-not-stored", "confirms a Set of LedInfo and keeps the previous one", ledNotStored},
	{"vendor-diag-loop", "says in each VendorDiag that index 1 is next", vendorDiagLoop},
	{"lft-port-unchecked", "sends packets whose LinearForwardingTable entry is a port that it does not have back out of the port at which they came in", lftPortUnchecked},
	{"dr-return-rewritten", "writes another port into the return path of a response on a directed route, when it has chosen the port out of which it leaves", drReturnRewritten},
	{"dr-initial-cleared", "clears the initial path of a response on a directed route", drInitialCleared},
	{"reregister-lost", "answers a Set of ClientReregister 1 with 0", reregisterLost},
	{"state-change-any-set", "clears PortStateChange at each Set of SwitchInfo", stateChangeAnySet},
	{"violations-wrap", "lets its counters of violations wrap", violationsWrap},
	{"sltovl-all-ignored", "takes modifiers of SLtoVLMappingTable that mean all ports for those of one pair", sltovlAllIgnored},
	{"dr-out-wrong", "relays a directed route out of the entry of the initial path before the one that is next", drOutWrong},
	{"dr-end-delivered", "takes a directed route that is to go on by LIDs for its own", drEndDelivered},
	{"dr-back-wrong", "relays a response on a directed route by the entry of the return path after the one that is next", drBackWrong},
	{"trap-mkey", "sends traps with its M_Key", trapKeyed},
	{"is-sm-lost", "does not say IsSM in CapabilityMask, though a subnet manager runs at it", isSMLost},
	{"sm-guid-wrong", "gives SMInfo another GUID than that of the port", smGUIDWrong},
	{"trap-new-tid", "repeats traps with another transaction ID", trapNewTID},
	{"get-refused", "refuses each Get but of NodeInfo, PortInfo and SwitchInfo", getRefused},
	{"set-refused", "refuses each Set but of PortInfo", setRefused},
	{"read-only-changes", "changes a read-only component of PortInfo or SwitchInfo at each Set of it, refused or not", readOnlyChanges},
	{"other-component-set", "changes another read-write component at each Set of PortInfo or SwitchInfo", otherComponentSet},
	{"local-port-fixed", "says LocalPortNum 1 at each port", localPortFixed},
	{"port-guid-shared", "gives each port the PortGUID of its first", portGUIDShared},
	{"versions-wrong", "says in NodeInfo that its BaseVersion is 2", versionsWrong},
	{"own-number-other", "answers a Get of PortInfo with the number of its port, as a channel adapter, with that of another port", ownNumberOther},
	{"both-tables", "says in SwitchInfo that it has a RandomForwardingTable beside its linear one", bothTables},
	{"is-sm-disabled", "says in CapabilityMask both IsSM and IsSMdisabled", isSMDisabled},
	{"violations-kept", "does not reset counters of violations", violationsKept},
	{"mkey-never-shown", "does not show its M_Key to the right one", mkeyNeverShown},
	{"mkey-overcounted", "counts an M_Key violation for a Get that it answers", mkeyOvercounted},
	{"trap-lost", "sends no traps", trapLost},
	{"trap-issuer-wrong", "sends traps with another IssuerLID than its LID", trapIssuerWrong},
	{"trap-same-tid", "sends all traps with one transaction ID", trapSameTID},
	{"dr-lids-changed", "writes other DrSLID and DrDLID into its response on a directed route", drLIDsChanged},
	{"dr-count-changed", "counts HopCount up in its response on a directed route", drCountChanged},
	{"dr-pointer-kept", "does not count HopPointer back in its response on a directed route", drPointerKept},
	{"dr-direction-lost", "clears the direction bit of its response on a directed route", drDirectionLost},
	{"slow-answer", "takes twice as long for an answer as RespTimeValue and SubnetTimeOut allow", slowAnswer},
	{"slow-first-answer", "takes eight seconds for an answer", slowFirstAnswer},
	{"version-ignored", "carries out requests of any BaseVersion and ClassVersion", versionIgnored},
	{"method-ignored", "answers methods that it does not have with status 0", methodIgnored},
	{"method-silent", "does not answer methods that it does not have", methodSilent},
	{"refusal-changed", "changes the data that it returns with status code 3", refusalChanged},
	{"tid-shared", "answers requests that come at the same time with the transaction ID of the first", tidShared},
	{"modifier-mixed", "answers requests that come at the same time with the attribute modifier of the first", modifierMixed},
	{"attribute-mixed", "answers requests that come at the same time with the attribute of the first", attributeMixed},
	{"smp-length-unchecked", "takes SMPs that are not 256 bytes long", smpLength},
	{"smp-unchecked", "takes SMPs with immediate data, on a data VL, and from another queue pair than QP0", smpUnchecked},
	{"class-port-info-versions", "says in ClassPortInfo that its BaseVersion is 2", classPortInfoVersions},
	{"counter-off", "counts a word of 4 bytes too many for each packet", counterOff},
	{"packets-uncounted", "does not count the packets that it sends", packetsUncounted},
	{"counter-wrong", "counts errors with the counter after the right one", counterWrong},
	{"sum-wrong", "leaves the first port out of the sum of all ports", sumWrong},
	{"extended-narrow", "keeps counters of 64 bits in 32 bits", extendedNarrow},
	{"counter-not-stored", "confirms a Set of PortCounters and keeps the previous values", counterNotStored},
	{"counter-kept", "keeps counters at a Set to 0", counterKept},
	{"gmp-unchecked", "takes GMPs with another Q_Key, with immediate data and with P_Keys that it does not have", gmpUnchecked},
	{"gmp-length-unchecked", "takes GMPs that are not 256 bytes long", gmpLength},
	{"class-taken", "takes requests of each class of general services for ones of performance management", classTaken},
	{"delimiter-ignored", "takes packets that end with another symbol than EGP or EBP", delimiterIgnored},
	{"ebp-taken", "takes packets that end with EBP", ebpTaken},
	{"bad-vcrc-answered", "takes packets with a wrong VCRC", badVCRCAnswered},
	{"bad-icrc-answered", "takes packets with a wrong ICRC", badICRCAnswered},
	{"lver-taken", "takes packets with a link version that is not 0", lverTaken},
	{"length-ignored", "takes packets whatever length their LRH says", lengthIgnored},
	{"dlid-ignored", "takes packets to any LID for its own", dlidIgnored},
	{"lmc-ignored", "takes only its base LID for its own", lmcIgnored},
	{"qp0-closed-in-init", "takes no packets of subnet management in LinkInitialize", qp0ClosedInInit},
	{"armed-stays", "stays in LinkArm when a packet comes on a data lane", armedStays},
	{"state-stuck", "confirms a Set of PortState and keeps the previous state", stateStuck},
	{"arbitration-ignored", "has its data lanes take turns, whatever VLArbitrationTable says", arbitrationIgnored},
	{"misrouted", "forwards packets out of the port after the one that its table has", misrouted},
	{"top-ignored", "forwards packets to LIDs above LinearFDBTop by its LinearForwardingTable", topIgnored},
	{"unrouted-forwarded", "forwards packets to LIDs that have no way out of the port after the one at which they came in", unroutedForwarded},
	{"multicast-reflected", "forwards multicast packets out of the port at which they came in, too", multicastReflected},
	{"icrc-rewritten", "changes a bit of the BTH of packets that it forwards, and makes the ICRC fit", icrcRewritten},
	{"reordered", "has each second packet that it forwards overtake the one before", reordered},
	{"damage-healed", "forwards packets with a wrong VCRC with one that fits", damageHealed},
	{"partition-ignored", "forwards packets whatever partition enforcement says", partitionIgnored},
	{"old-forwarded", "forwards packets whose lifetime is over", oldForwarded},
	{"armed-at-once", "goes to Armed by itself when its link has trained", armedAtOnce},
	{"lane-15-sent", "sends packets whose service level is mapped to VL 15 on VL 0", lane15Sent},
	{"high-limit-ignored", "lets the high priority part of VLArbitrationTable send without a limit", highLimitIgnored},
	{"state-kept", "keeps its PortState when its link goes down", stateKept},
	{"qp0-closed-in-armed", "takes no packets of subnet management in LinkArm", qp0ClosedInArmed},
	{"receiver-stuck", "takes no packet from a link after the first one that its packet receiver has discarded", receiverStuck},
	{"dr-own-slid", "sends its responses on a directed route from its own LID", drOwnSLID},
	{"smp-other-sl", "sends its answers on SL 1", smpOtherSL},
	{"dr-beyond-relayed", "relays a response on a directed route whose hop pointer is beyond its end, or which has come to its end", drBeyondRelayed},
	{"answers-once", "answers only the first Get of NodeInfo, and the first of ClassPortInfo", answersOnce},
	{"portinfo-once-refused", "refuses the first Get of PortInfo after each Set of it", portInfoOnceRefused},
	{"portinfo-external-refused", "refuses each Get of PortInfo of an external port of a switch", portInfoExternalRefused},
	{"sm-sl-refused", "refuses a Set of PortInfo that changes MasterSMSL", smSLRefused},
	{"vlcap-reserved", "says in VLCap a code that is reserved", vlcapReserved},
	{"lft-unreadable", "refuses a Get of LinearForwardingTable when it has been set", lftUnreadable},
	{"lft-port-refused", "refuses a Set of LinearForwardingTable with a port that it does not have", lftPortRefused},
	{"class-refused-7", "refuses requests of classes of general services that it does not have with the status code of an invalid value", classRefused7},
	{"violations-halved", "counts each second violation of M_Key, P_Key and Q_Key", violationsEach2nd},
	{"qp1-one-pkey", "takes only the first P_Key of its table at QP1", qp1OnePKey},
	{"hop-limit-kept", "leaves the hop limit of packets that it routes as it is", hopLimitKept},
	{"hop-limit-ignored", "routes packets with hop limits 0 and 1", hopLimitIgnored},
	{"local-routed", "routes packets to link-local GIDs", localRouted},
	{"smp-routed", "routes packets of subnet management", smpRouted},
	{"slid-kept", "leaves the SLID of packets that it routes as it is", slidKept},
	{"qp0-pkey-checked", "takes only P_Keys of its table at QP0", qp0PKeyChecked},
}

func faultsOf(names []string) (f faultSet, err error) {
	err = named.Each(names, faultTable, func(t Fault) string { return t.Name }, ErrFault, func(t Fault) { f[t.fault] = true })
	return f, err
}

// has reports whether the node has a fault.
func (n *Node) has(f fault) bool { return n.faults[f] }
