package qp

import (
	"fmt"
	"iter"
	"strconv"

	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// Value is the check of the value of one attribute.
type Value struct {
	Rule        rule.ID // that is broken by a device which accepts an invalid value
	Valid       bool
	Want, Given string // what is valid and what was given, where that is not Valid
}

// Values checks the values of the attributes that a.Known names, for a queue pair in state from (section 11.2.5.2, rules QPS-ATT-001 to QPS-ATT-006 and
// QPS-TRN-005). Those of one rule follow each other.
func (a *Attr) Values(from State, l Limits) iter.Seq[Value] {
	return func(yield func(Value) bool) {
		for i := range values {
			v := &values[i]
			if !a.Has(v.attr) || v.decided != nil && !v.decided(a, &l) {
				continue
			}
			x := Value{Rule: v.rule, Valid: v.valid(a, from, &l)}
			if !x.Valid {
				x.Want, x.Given = v.text(a, from, &l)
			}
			if !yield(x) {
				return
			}
		}
	}
}

// value is a check of an attribute. decided, where not nil, says whether it can be judged.
type value struct {
	rule    rule.ID
	attr    Known
	decided func(a *Attr, l *Limits) bool
	valid   func(a *Attr, from State, l *Limits) bool
	text    func(a *Attr, from State, l *Limits) (want, given string)
}

// values are the checks of Values.
var values = []value{
	{
		rule.QPSATT001, KnowsPMTU, nil, func(a *Attr, _ State, _ *Limits) bool { return wqe.ValidMTU(int(a.PMTU)) },
		func(a *Attr, _ State, _ *Limits) (string, string) {
			return "a path MTU is 256, 512, 1024, 2048 or 4096", strconv.Itoa(int(a.PMTU))
		},
	},
	upTo(KnowsTimeout, 31, func(a *Attr) uint8 { return a.Timeout }), upTo(KnowsMinRNRTimer, 31, func(a *Attr) uint8 { return a.MinRNRTimer }),
	upTo(KnowsRetryCnt, 7, func(a *Attr) uint8 { return a.RetryCnt }), upTo(KnowsRNRRetry, 7, func(a *Attr) uint8 { return a.RNRRetry }),
	bounded(KnowsMaxRdAtomic, "an initiator depth of", func(a *Attr, l *Limits) (given, most uint8) { return a.MaxRdAtomic, l.MaxRdAtomic }),
	bounded(KnowsMaxDestRdAtomic, "responder resources for", func(a *Attr, l *Limits) (given, most uint8) { return a.MaxDestRdAtomic, l.MaxDestRdAtomic }),
	{
		rule.QPSATT004, KnowsPKey, func(a *Attr, l *Limits) bool { return a.PKey == 0 && l.PKeys > 0 },
		func(a *Attr, _ State, l *Limits) bool { return int(a.PKeyIndex) < l.PKeys },
		func(a *Attr, _ State, l *Limits) (string, string) {
			return fmt.Sprintf("the P_Key table has %d entries", l.PKeys), fmt.Sprintf("P_Key index %d", a.PKeyIndex)
		},
	},
	{
		rule.QPSATT004, KnowsPort, nil, func(a *Attr, _ State, l *Limits) bool { return a.Port > 0 && (l.Ports == 0 || a.Port <= l.Ports) },
		func(a *Attr, _ State, l *Limits) (string, string) {
			return fmt.Sprintf("the device has ports 1 to %d", max(l.Ports, 1)), fmt.Sprintf("port %d", a.Port)
		},
	},
	{
		rule.QPSATT005, KnowsMigState, nil, func(a *Attr, _ State, _ *Limits) bool { return a.MigState != Armed },
		func(*Attr, State, *Limits) (string, string) { return "only the device sets ARMED", "ARMED" },
	},
	of24Bits(KnowsSQPSN, "a PSN", func(a *Attr) uint32 { return uint32(a.SQPSN) }), of24Bits(KnowsRQPSN, "a PSN", func(a *Attr) uint32 { return uint32(a.RQPSN) }),
	of24Bits(KnowsDestQPN, "a queue pair number", func(a *Attr) uint32 { return a.DestQPN }),
	{
		rule.QPSTRN005, KnowsCurState, nil, func(a *Attr, from State, _ *Limits) bool { return a.CurState == from && from >= RTR && from <= SQE },
		func(a *Attr, from State, _ *Limits) (string, string) {
			return fmt.Sprintf("the queue pair is in %v", from), fmt.Sprintf("current state %v", a.CurState)
		},
	},
}

// ValidValues checks the values of the attributes that a.Known names, as Values does. The error is an *InvalidError.
func (a *Attr) ValidValues(from State, l Limits) error {
	for v := range a.Values(from, l) {
		if !v.Valid {
			return invalid(v.Rule, "%s: %s", v.Given, v.Want)
		}
	}
	return nil
}

// upTo checks that a code or a count is at most so much.
func upTo(attr Known, most uint8, of func(a *Attr) uint8) value {
	return value{
		rule.QPSATT003, attr, nil, func(a *Attr, _ State, _ *Limits) bool { return of(a) <= most },
		func(a *Attr, _ State, _ *Limits) (string, string) {
			return fmt.Sprintf("the %v is at most %d", attr, most), strconv.Itoa(int(of(a)))
		},
	}
}

// bounded checks a number of READs and atomics by what the device has.
func bounded(attr Known, has string, of func(a *Attr, l *Limits) (given, most uint8)) value {
	return value{
		rule.QPSATT002, attr,
		func(a *Attr, l *Limits) bool {
			_, most := of(a, l)
			return most > 0
		},
		func(a *Attr, _ State, l *Limits) bool {
			given, most := of(a, l)
			return given <= most
		},
		func(a *Attr, _ State, l *Limits) (string, string) {
			given, most := of(a, l)
			return fmt.Sprintf("the device has %s %d", has, most), fmt.Sprintf("%v %d", attr, given)
		},
	}
}

// of24Bits checks that a number has 24 bits.
func of24Bits(attr Known, what string, of func(a *Attr) uint32) value {
	return value{
		rule.QPSATT006, attr, nil, func(a *Attr, _ State, _ *Limits) bool { return of(a) <= packet.PSNMask },
		func(a *Attr, _ State, _ *Limits) (string, string) {
			return what + " has 24 bits", fmt.Sprintf("%v %#x", attr, of(a))
		},
	}
}
