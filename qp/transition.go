package qp

import (
	"fmt"
	"strings"
)

// Sets of attributes that table T7 uses again and again.
const (
	initConnected = KnowsPKey | KnowsPort | KnowsAccess
	initDatagram  = KnowsPKey | KnowsPort | KnowsQKey
	initSpecial   = KnowsPKey | KnowsQKey
	rtrConnected  = KnowsDestAddr | KnowsPMTU | KnowsDestQPN | KnowsRQPSN
	rtrResponder  = rtrConnected | KnowsMaxDestRdAtomic | KnowsMinRNRTimer
	rtsRequester  = KnowsTimeout | KnowsRetryCnt | KnowsRNRRetry | KnowsSQPSN | KnowsMaxRdAtomic
	optConnected  = KnowsAltPath | KnowsAccess | KnowsPKey
	optDatagram   = KnowsPKey | KnowsQKey
	optLive       = KnowsCurState | KnowsAltPath | KnowsAccess | KnowsMigState
	sqdUnreliable = KnowsDestAddr | KnowsAltPath | KnowsAccess | KnowsPKey | KnowsMigState
	sqdShared     = sqdUnreliable | KnowsPort | KnowsTimeout
	sqdRequester  = sqdShared | KnowsRetryCnt | KnowsRNRRetry | KnowsMaxRdAtomic
	sqdResponder  = sqdShared | KnowsMaxDestRdAtomic | KnowsMinRNRTimer

	// addressVector are the attributes that come with the address vector, whose bit is KnowsDestAddr.
	addressVector = KnowsTClass | KnowsHopLimit | KnowsSL | KnowsGRH | KnowsSourceAddr
)

// row is one entry of table T7.
type row struct{ required, optional Known }

type transition struct{ from, to State }

// transitions is table T7 without the transitions to RESET and to ERR, which every state has and which need nothing.
var transitions = map[transition][numTypes]*row{
	{Reset, Init}: {
		TypeRC: {initConnected, 0}, TypeUC: {initConnected, 0}, TypeXRCInitiator: {initConnected, 0}, TypeXRCTarget: {initConnected, 0},
		TypeUD: {initDatagram, 0}, TypeSMI: {initSpecial, 0}, TypeGSI: {initSpecial, 0}, TypeRawPacket: {KnowsPort, 0},
	},
	{Init, Init}: {
		TypeRC: {0, initConnected}, TypeUC: {0, initConnected}, TypeXRCInitiator: {0, initConnected}, TypeXRCTarget: {0, initConnected},
		TypeUD: {0, initDatagram}, TypeSMI: {0, initSpecial}, TypeGSI: {0, initSpecial},
	},
	{Init, RTR}: {
		TypeRC: {rtrResponder, optConnected}, TypeUC: {rtrConnected, optConnected},
		TypeXRCInitiator: {rtrConnected, optConnected}, TypeXRCTarget: {rtrResponder, optConnected},
		TypeUD: {0, optDatagram}, TypeSMI: {0, optDatagram}, TypeGSI: {0, optDatagram}, TypeRawPacket: {},
	},
	{RTR, RTS}: live(row{rtsRequester, 0}, row{KnowsSQPSN, 0}, row{rtsRequester, 0}, row{KnowsTimeout | KnowsSQPSN, 0}, row{KnowsSQPSN, 0}),
	{RTS, RTS}: live(row{}, row{}, row{}, row{}, row{}),
	{SQD, RTS}: live(row{}, row{}, row{}, row{}, row{}),
	{RTS, SQD}: {
		TypeRC: {0, KnowsSQDNotify}, TypeUC: {0, KnowsSQDNotify}, TypeXRCInitiator: {0, KnowsSQDNotify}, TypeXRCTarget: {0, KnowsSQDNotify},
		TypeUD: {0, KnowsSQDNotify}, TypeSMI: {0, KnowsSQDNotify}, TypeGSI: {0, KnowsSQDNotify}, TypeRawPacket: {0, KnowsSQDNotify},
	},
	{SQD, SQD}: {
		TypeRC: {0, sqdRequester | sqdResponder}, TypeUC: {0, sqdUnreliable},
		TypeXRCInitiator: {0, sqdRequester}, TypeXRCTarget: {0, sqdResponder},
		TypeUD: {0, optDatagram}, TypeSMI: {0, optDatagram}, TypeGSI: {0, optDatagram},
	},
	{SQE, RTS}: {
		TypeUC: {0, KnowsCurState | KnowsAccess},
		TypeUD: {0, KnowsCurState | KnowsQKey}, TypeSMI: {0, KnowsCurState | KnowsQKey}, TypeGSI: {0, KnowsCurState | KnowsQKey},
	},
}

// live gives the rows of a transition to RTS: what each type requires, and the optional attributes that table T7 lists for RTR -> RTS.
func live(rc, uc, initiator, target, datagram row) [numTypes]*row {
	rc.optional |= optLive | KnowsMinRNRTimer
	uc.optional |= optLive
	initiator.optional |= optLive
	target.optional |= optLive | KnowsMinRNRTimer
	datagram.optional |= KnowsCurState | KnowsQKey
	return [numTypes]*row{
		TypeRC: &rc, TypeUC: &uc, TypeXRCInitiator: &initiator, TypeXRCTarget: &target,
		TypeUD: &datagram, TypeSMI: &datagram, TypeGSI: &datagram, TypeRawPacket: {0, KnowsCurState | KnowsRateLimit},
	}
}

// Takes returns the attributes that a transition requires and those that it takes besides (table T7); nothing where the table does not have
// the transition.
func Takes(t Type, from, to State) (required, optional Known) {
	if t >= numTypes || to == Reset || to == Err {
		return 0, 0
	}
	r := transitions[transition{from, to}][t]
	if r == nil {
		return 0, 0
	}
	if optional = r.optional; (r.required|optional)&KnowsDestAddr != 0 {
		optional |= addressVector
	}
	return r.required, optional
}

// ValidTransition checks a transition that a consumer asks for, with the attributes given along, against table T7 (rules
// QPS-TRN-001 to QPS-TRN-004). The error is a *TransitionError; for RD, which the table does not have, an *UnknownError.
//
// RESET to ERR is accepted: implementations differ. The parts of an address vector count as the address vector.
func ValidTransition(t Type, from, to State, given Known) error {
	if t >= numTypes || from > Err || to > Err {
		return &TransitionError{Type: t, From: from, To: to}
	}
	if t == TypeRD {
		return &UnknownError{What: "state transitions of RD"}
	}
	if to != Reset && to != Err && transitions[transition{from, to}][t] == nil {
		return &TransitionError{Type: t, From: from, To: to}
	}
	required, optional := Takes(t, from, to)
	missing, extra := required&^given, given&^(required|optional)
	if missing|extra != 0 {
		return &TransitionError{Type: t, From: from, To: to, Exists: true, Missing: missing, Extra: extra}
	}
	return nil
}

// DeviceTransition reports whether a device may make the transition by itself, on an error of its own (last rows of table T7).
func DeviceTransition(t Type, from, to State) bool {
	switch to {
	case SQE:
		return from == RTS && (t == TypeUC || t == TypeUD || t == TypeRD || t == TypeSMI || t == TypeGSI)
	case Err:
		return from >= Init && from <= SQE
	}
	return false
}

// TransitionError says why a state transition is not legal.
type TransitionError struct {
	Type     Type
	From, To State
	Exists   bool  // table T7 has the transition; the attributes are at fault
	Missing  Known // required and not given
	Extra    Known // given, and neither required nor optional
}

func (e *TransitionError) Error() string {
	if !e.Exists {
		return fmt.Sprintf("qp: %v queue pairs have no transition from %v to %v", e.Type, e.From, e.To)
	}
	var why []string
	if e.Missing != 0 {
		why = append(why, "needs "+e.Missing.String())
	}
	if e.Extra != 0 {
		why = append(why, "does not take "+e.Extra.String())
	}
	return fmt.Sprintf("qp: %v queue pair, %v to %v: the transition %s", e.Type, e.From, e.To, strings.Join(why, " and "))
}
