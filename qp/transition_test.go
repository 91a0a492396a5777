package qp

import (
	"errors"
	"strings"
	"testing"

	"ibwitness/packet"
)

// TestQPSTRN001 lists every transition that table T7 has for each type, beside those to RESET and ERR.
func TestQPSTRN001(t *testing.T) {
	connected := "RESET-INIT INIT-INIT INIT-RTR RTR-RTS RTS-RTS RTS-SQD SQD-RTS SQD-SQD"
	for typ, want := range map[Type]string{
		TypeRC:           connected,
		TypeUC:           connected + " SQE-RTS",
		TypeUD:           connected + " SQE-RTS",
		TypeXRCInitiator: connected,
		TypeXRCTarget:    connected,
		TypeSMI:          connected + " SQE-RTS",
		TypeGSI:          connected + " SQE-RTS",
		TypeRawPacket:    "RESET-INIT INIT-RTR RTR-RTS RTS-RTS RTS-SQD SQD-RTS",
	} {
		var got []string
		for from := Reset; from <= Err; from++ {
			for to := Reset; to <= Err; to++ {
				err := ValidTransition(typ, from, to, 0)
				var te *TransitionError
				exists := err == nil || errors.As(err, &te) && te.Exists
				if to == Reset || to == Err {
					if err != nil {
						t.Errorf("%v: %v to %v: %v", typ, from, to, err)
					}
					continue
				}
				if exists {
					got = append(got, from.String()+"-"+to.String())
				}
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%v has %v, want %s", typ, got, want)
		}
	}
}

// TestQPSTRN002 takes each required attribute away, QPSTRN003 adds each one that the transition does not take.
func TestQPSTRN002QPSTRN003(t *testing.T) {
	const all = KnowsSourceAddr<<1 - 1
	av := KnowsDestAddr
	ready := KnowsTimeout | KnowsRetryCnt | KnowsRNRRetry | KnowsSQPSN | KnowsMaxRdAtomic
	liveSet := KnowsCurState | KnowsAltPath | KnowsAccess | KnowsMigState
	for _, c := range []struct {
		typ                Type
		from, to           State
		required, optional Known
	}{
		{TypeRC, Reset, Init, KnowsPKey | KnowsPort | KnowsAccess, 0},
		{TypeUD, Reset, Init, KnowsPKey | KnowsPort | KnowsQKey, 0},
		{TypeGSI, Reset, Init, KnowsPKey | KnowsQKey, 0},
		{TypeRawPacket, Reset, Init, KnowsPort, 0},
		{TypeUC, Init, Init, 0, KnowsPKey | KnowsPort | KnowsAccess},
		{
			TypeRC, Init, RTR,
			av | KnowsPMTU | KnowsDestQPN | KnowsRQPSN | KnowsMaxDestRdAtomic | KnowsMinRNRTimer,
			KnowsAltPath | KnowsAccess | KnowsPKey,
		},
		{TypeUC, Init, RTR, av | KnowsPMTU | KnowsDestQPN | KnowsRQPSN, KnowsAltPath | KnowsAccess | KnowsPKey},
		{TypeXRCInitiator, Init, RTR, av | KnowsPMTU | KnowsDestQPN | KnowsRQPSN, KnowsAltPath | KnowsAccess | KnowsPKey},
		{TypeUD, Init, RTR, 0, KnowsPKey | KnowsQKey},
		{TypeRawPacket, Init, RTR, 0, 0},
		{TypeRC, RTR, RTS, ready, liveSet | KnowsMinRNRTimer},
		{TypeXRCInitiator, RTR, RTS, ready, liveSet},
		{TypeXRCTarget, RTR, RTS, KnowsTimeout | KnowsSQPSN, liveSet | KnowsMinRNRTimer},
		{TypeUC, RTR, RTS, KnowsSQPSN, liveSet},
		{TypeUD, RTR, RTS, KnowsSQPSN, KnowsCurState | KnowsQKey},
		{TypeRawPacket, RTR, RTS, 0, KnowsCurState | KnowsRateLimit},
		{TypeRC, RTS, RTS, 0, liveSet | KnowsMinRNRTimer},
		{TypeRC, RTS, SQD, 0, KnowsSQDNotify},
		{
			TypeRC, SQD, SQD, 0,
			av | KnowsAltPath | KnowsAccess | KnowsPKey | KnowsMigState | KnowsPort | KnowsTimeout | KnowsRetryCnt | KnowsRNRRetry |
				KnowsMaxRdAtomic | KnowsMaxDestRdAtomic | KnowsMinRNRTimer,
		},
		{TypeUC, SQD, SQD, 0, av | KnowsAltPath | KnowsAccess | KnowsPKey | KnowsMigState},
		{
			TypeXRCTarget, SQD, SQD, 0,
			av | KnowsAltPath | KnowsAccess | KnowsPKey | KnowsMigState | KnowsPort | KnowsTimeout | KnowsMaxDestRdAtomic | KnowsMinRNRTimer,
		},
		{TypeUC, SQE, RTS, 0, KnowsCurState | KnowsAccess},
		{TypeUD, SQE, RTS, 0, KnowsCurState | KnowsQKey},
		{TypeRC, RTS, Err, 0, 0},
		{TypeRC, Reset, Err, 0, 0},
	} {
		full := c.required | c.optional
		if full&KnowsDestAddr != 0 {
			full |= KnowsTClass | KnowsHopLimit | KnowsSL | KnowsGRH | KnowsSourceAddr
		}
		for _, given := range []Known{c.required, full} {
			if err := ValidTransition(c.typ, c.from, c.to, given); err != nil {
				t.Errorf("with %v: %v", given, err)
			}
		}
		for k := Known(1); k < all; k <<= 1 {
			var te *TransitionError
			err := ValidTransition(c.typ, c.from, c.to, full&^k)
			if missing := c.required & k; missing != 0 && (!errors.As(err, &te) || te.Missing != missing) || missing == 0 && err != nil {
				t.Errorf("%v %v to %v without %v: %v", c.typ, c.from, c.to, k, err)
			}
			err = ValidTransition(c.typ, c.from, c.to, full|k)
			if extra := k &^ full; extra != 0 && (!errors.As(err, &te) || te.Extra != extra) || extra == 0 && err != nil {
				t.Errorf("%v %v to %v with %v: %v", c.typ, c.from, c.to, k, err)
			}
		}
	}
}

func TestDeviceTransition(t *testing.T) {
	for typ := range Type(numTypes) {
		for from := Reset; from <= Err; from++ {
			for to := Reset; to <= Err; to++ {
				want := to == Err && from != Reset && from != Err
				if from == RTS && to == SQE {
					want = typ == TypeUC || typ == TypeRD || typ == TypeUD || typ == TypeSMI || typ == TypeGSI
				}
				if got := DeviceTransition(typ, from, to); got != want {
					t.Errorf("%v: %v to %v: %v", typ, from, to, got)
				}
			}
		}
	}
}

func TestErrors(t *testing.T) {
	if err := ValidTransition(TypeRD, Reset, Init, 0); !errors.Is(err, ErrUnknown) {
		t.Errorf("RD: %v", err)
	}
	var te *TransitionError
	for _, err := range []error{ValidTransition(99, Reset, Init, 0), ValidTransition(TypeRC, 9, Init, 0), ValidTransition(TypeRC, Reset, 9, 0)} {
		if !errors.As(err, &te) || te.Exists {
			t.Errorf("nonsense is a transition: %v", err)
		}
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{ValidTransition(TypeRC, SQE, RTS, 0), "qp: RC queue pairs have no transition from SQE to RTS"},
		{
			ValidTransition(TypeUC, RTR, RTS, KnowsQKey|KnowsPMTU),
			"qp: UC queue pair, RTR to RTS: the transition needs SQ PSN and does not take path MTU, Q_Key",
		},
		{&UnknownError{What: "memory"}, "qp: not known: memory"},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("got %q, want %q", c.err, c.want)
		}
	}
}

// TestT7b is table T7b.
func TestT7b(t *testing.T) {
	for s, want := range map[State]string{Reset: "....", Init: "r...", RTR: "rR..", RTS: "rRsS", SQD: "rRsS", SQE: "rRs.", Err: "r.s."} {
		got := []byte("....")
		if s.PostReceive() {
			got[0] = 'r'
		}
		if s.Receives() {
			got[1] = 'R'
		}
		if s.PostSend() {
			got[2] = 's'
		}
		if s.Sends() {
			got[3] = 'S'
		}
		if string(got) != want {
			t.Errorf("%v: %s, want %s", s, got, want)
		}
	}
	if s, ok := TypeXRCTarget.Service(); !ok || s != packet.XRC {
		t.Error("XRC target")
	}
	if _, ok := TypeRawPacket.Service(); ok {
		t.Error("a raw packet has no transport service")
	}
}
