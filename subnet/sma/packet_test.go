package sma

import (
	"testing"

	"ibwitness/mad"
)

// TestTakes: which packets QP0 and QP1 take, and what a port counts of the others.
func TestTakes(t *testing.T) {
	smp := Arrival{MAD: make([]byte, mad.Size), VL: managementVL, PKey: 0x7FFF}
	gmp := Arrival{MAD: make([]byte, mad.Size), SrcQP: 1, DestQP: 1, QKey: gsiQKey, PKey: 0xFFFF}
	for _, x := range []struct {
		of     Arrival
		change func(a *Arrival)
		takes  bool
		counts string // of PortInfo
	}{
		{smp, func(*Arrival) {}, true, ""},
		{smp, func(a *Arrival) { a.PKey, a.QKey = 5, 5 }, true, ""}, // which QP0 does not check
		{smp, func(a *Arrival) { a.MAD = a.MAD[:252] }, false, ""},
		{smp, func(a *Arrival) { a.VL = 0 }, false, ""},
		{smp, func(a *Arrival) { a.SrcQP = 5 }, false, ""},
		{smp, func(a *Arrival) { a.GRH = true }, false, ""},
		{smp, func(a *Arrival) { a.Immediate = true }, false, ""},
		{smp, func(a *Arrival) { a.Damaged = true }, false, ""},
		{gmp, func(*Arrival) {}, true, ""},
		{gmp, func(a *Arrival) { a.SrcQP, a.GRH, a.PKey = 5, true, 0x7FFF }, true, ""},
		{gmp, func(a *Arrival) { a.MAD = append(a.MAD, 0, 0, 0, 0) }, false, ""},
		{gmp, func(a *Arrival) { a.VL = managementVL }, false, ""},
		{gmp, func(a *Arrival) { a.SrcQP = 0 }, false, ""},
		{gmp, func(a *Arrival) { a.Immediate = true }, false, ""},
		{gmp, func(a *Arrival) { a.PKey = 0x8001 }, false, "PKeyViolations"},
		{gmp, func(a *Arrival) { a.QKey = 5 }, false, "QKeyViolations"},
		{gmp, func(a *Arrival) { a.DestQP = 5 }, false, ""},
	} {
		n, a := node(t, hostConfig()), x.of
		x.change(&a)
		if got := n.Takes(1, &a); got != x.takes {
			t.Errorf("%+v: %v", a, got)
		}
		for _, name := range []string{"PKeyViolations", "QKeyViolations"} {
			if got := mad.LayoutPortInfo.Field(name).Uint(n.PortInfo(1)); got != 0 != (name == x.counts) {
				t.Errorf("%+v: %s %d", a, name, got)
			}
		}
	}
}
