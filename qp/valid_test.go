package qp_test

import (
	"errors"
	"testing"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// broken is the rule that an error says a device would break which accepts; empty: there is no error.
func broken(t *testing.T, err error) string {
	t.Helper()
	var e *qp.InvalidError
	if err == nil {
		return ""
	}
	if !errors.As(err, &e) || e.Reason == "" {
		t.Fatalf("%v is no *InvalidError with a reason", err)
	}
	return e.Rule.String()
}

// TestValues: the greatest and the least value of each attribute, and those beyond.
func TestValues(t *testing.T) {
	limits := qp.Limits{MaxRdAtomic: 4, MaxDestRdAtomic: 5, PKeys: 3, Ports: 2}
	for _, c := range []struct {
		known qp.Known
		rule  rule.ID
		set   func(a *qp.Attr, n uint32)
		good  []uint32
		bad   []uint32
		free  bool // any value is good where the limits are not known
	}{
		{qp.KnowsPMTU, rule.QPSATT001, func(a *qp.Attr, n uint32) { a.PMTU = n }, []uint32{256, 512, 1024, 2048, 4096}, []uint32{0, 128, 255, 257, 8192}, false},
		{qp.KnowsTimeout, rule.QPSATT003, func(a *qp.Attr, n uint32) { a.Timeout = uint8(n) }, []uint32{0, 31}, []uint32{32}, false},
		{qp.KnowsMinRNRTimer, rule.QPSATT003, func(a *qp.Attr, n uint32) { a.MinRNRTimer = uint8(n) }, []uint32{0, 31}, []uint32{32}, false},
		{qp.KnowsRetryCnt, rule.QPSATT003, func(a *qp.Attr, n uint32) { a.RetryCnt = uint8(n) }, []uint32{0, 7}, []uint32{8}, false},
		{qp.KnowsRNRRetry, rule.QPSATT003, func(a *qp.Attr, n uint32) { a.RNRRetry = uint8(n) }, []uint32{0, 7}, []uint32{8}, false},
		{qp.KnowsMaxRdAtomic, rule.QPSATT002, func(a *qp.Attr, n uint32) { a.MaxRdAtomic = uint8(n) }, []uint32{0, 4}, []uint32{5}, true},
		{qp.KnowsMaxDestRdAtomic, rule.QPSATT002, func(a *qp.Attr, n uint32) { a.MaxDestRdAtomic = uint8(n) }, []uint32{0, 5}, []uint32{6}, true},
		{qp.KnowsPKey, rule.QPSATT004, func(a *qp.Attr, n uint32) { a.PKeyIndex = uint16(n) }, []uint32{0, 2}, []uint32{3}, true},
		{qp.KnowsPort, rule.QPSATT004, func(a *qp.Attr, n uint32) { a.Port = uint8(n) }, []uint32{1, 2}, []uint32{3}, true},
		{qp.KnowsMigState, rule.QPSATT005, func(a *qp.Attr, n uint32) { a.MigState = qp.MigState(n) }, []uint32{uint32(qp.Migrated), uint32(qp.Rearm)}, []uint32{uint32(qp.Armed)}, false},
		{qp.KnowsSQPSN, rule.QPSATT006, func(a *qp.Attr, n uint32) { a.SQPSN = packet.PSN(n) }, []uint32{0, 1<<24 - 1}, []uint32{1 << 24}, false},
		{qp.KnowsRQPSN, rule.QPSATT006, func(a *qp.Attr, n uint32) { a.RQPSN = packet.PSN(n) }, []uint32{0, 1<<24 - 1}, []uint32{1 << 24}, false},
		{qp.KnowsDestQPN, rule.QPSATT006, func(a *qp.Attr, n uint32) { a.DestQPN = n }, []uint32{0, 1<<24 - 1}, []uint32{1 << 24}, false},
	} {
		for i, list := range [][]uint32{c.good, c.bad} {
			for _, n := range list {
				var a qp.Attr
				c.set(&a, n)
				for _, known := range []qp.Known{c.known, 0} {
					for _, l := range []qp.Limits{limits, {}} {
						want := ""
						if i == 1 && known != 0 && (!c.free || l != qp.Limits{}) {
							want = c.rule.String()
						}
						a.Known = known
						if got := broken(t, a.ValidValues(qp.RTS, l)); got != want {
							t.Errorf("%v %d, known %v, limits %+v: breaks %q, want %q", c.known, n, known, l, got, want)
						}
					}
				}
			}
		}
	}
	a := qp.Attr{Known: qp.KnowsPort}
	if got := broken(t, a.ValidValues(qp.Reset, qp.Limits{})); got != "QPS-ATT-004" {
		t.Errorf("port 0 breaks %q", got)
	}
	a = qp.Attr{Known: qp.KnowsPKey, PKey: 0xFFFF, PKeyIndex: 9}
	if err := a.ValidValues(qp.Reset, limits); err != nil {
		t.Errorf("a P_Key by its value: %v", err)
	}
	for from := qp.Reset; from <= qp.Err; from++ {
		for given := qp.Reset; given <= qp.Err; given++ {
			a := qp.Attr{Known: qp.KnowsCurState, CurState: given}
			want := "QPS-TRN-005"
			if given == from && from != qp.Reset && from != qp.Init && from != qp.Err {
				want = ""
			}
			if got := broken(t, a.ValidValues(from, qp.Limits{})); got != want {
				t.Errorf("current state %v in %v breaks %q, want %q", given, from, got, want)
			}
		}
	}
}

// TestValidSend: which operations each type of queue pair takes, and how much.
func TestValidSend(t *testing.T) {
	const invalid = "CPL-IMD-002"
	most := map[qp.Type]wqe.SendOp{ // those up to which all are taken, where it is so
		qp.TypeRC: wqe.OpAtomicWrite, qp.TypeXRCInitiator: wqe.OpBindMW, qp.TypeUD: wqe.OpSendImm, qp.TypeSMI: wqe.OpSend, qp.TypeGSI: wqe.OpSend, qp.TypeRawPacket: wqe.OpSend,
	}
	for typ, last := range most {
		for op := range wqe.OpAtomicWrite + 2 {
			n := qp.InitAttr{Type: typ}
			r := wqe.SendRequest{Op: op, Segments: []wqe.Segment{{Length: 8}}, Window: &wqe.Bind{}}
			want := ""
			if op > last {
				want = invalid
			}
			if got := broken(t, n.ValidSend(qp.RTS, &r)); got != want {
				t.Errorf("%v on %v breaks %q, want %q", op, typ, got, want)
			}
		}
	}
	seg := func(lengths ...uint32) (list []wqe.Segment) {
		for _, n := range lengths {
			list = append(list, wqe.Segment{Length: n})
		}
		return list
	}
	n := qp.InitAttr{MaxSendSegments: 2, MaxInline: 16}
	for _, c := range []struct {
		what string
		r    wqe.SendRequest
		want string
	}{
		{"two segments", wqe.SendRequest{Segments: seg(1, 2)}, ""},
		{"three segments", wqe.SendRequest{Segments: seg(1, 2, 3)}, invalid},
		{"2^31 bytes", wqe.SendRequest{Op: wqe.OpWrite, Segments: seg(1<<30, 1<<30)}, ""},
		{"a byte more", wqe.SendRequest{Op: wqe.OpWrite, Segments: seg(1<<31, 1)}, invalid},
		{"16 bytes inline", wqe.SendRequest{Flags: wqe.Inline, Segments: seg(8, 8)}, ""},
		{"17 bytes inline", wqe.SendRequest{Flags: wqe.Inline, Segments: seg(8, 9)}, invalid},
		{"WRITE with immediate inline", wqe.SendRequest{Op: wqe.OpWriteImm, Flags: wqe.Inline, Segments: seg(8)}, ""},
		{"ATOMIC WRITE inline", wqe.SendRequest{Op: wqe.OpAtomicWrite, Flags: wqe.Inline, Segments: seg(8)}, ""},
		{"READ inline", wqe.SendRequest{Op: wqe.OpRead, Flags: wqe.Inline, Segments: seg(8)}, invalid},
		{"CmpSwap of 7 bytes", wqe.SendRequest{Op: wqe.OpCmpSwap, Segments: seg(7)}, invalid},
		{"FetchAdd of 9 bytes", wqe.SendRequest{Op: wqe.OpFetchAdd, Segments: seg(9)}, invalid},
		{"ATOMIC WRITE of 4 bytes", wqe.SendRequest{Op: wqe.OpAtomicWrite, Segments: seg(4)}, invalid},
		{"FetchAdd in two parts", wqe.SendRequest{Op: wqe.OpFetchAdd, RemoteVA: 24, Segments: seg(4, 4)}, ""},
		{"FetchAdd not aligned", wqe.SendRequest{Op: wqe.OpFetchAdd, RemoteVA: 20, Segments: seg(8)}, invalid},
		{"no window", wqe.SendRequest{Op: wqe.OpBindMW}, invalid},
	} {
		if got := broken(t, n.ValidSend(qp.RTS, &c.r)); got != c.want {
			t.Errorf("%s breaks %q, want %q", c.what, got, c.want)
		}
	}
	for s := qp.Reset; s <= qp.Err; s++ {
		want := "QPS-RST-001"
		if s >= qp.RTS {
			want = ""
		}
		if got := broken(t, n.ValidSend(s, &wqe.SendRequest{})); got != want {
			t.Errorf("a send request in %v breaks %q, want %q", s, got, want)
		}
	}
}

// TestValidReceive: which queue pairs take receive requests of their own, and how much.
func TestValidReceive(t *testing.T) {
	for _, c := range []struct {
		n    qp.InitAttr
		s    qp.State
		segs int
		want string
	}{
		{qp.InitAttr{MaxRecvSegments: 2}, qp.Init, 2, ""},
		{qp.InitAttr{MaxRecvSegments: 2}, qp.Init, 3, "CPL-IMD-002"},
		{qp.InitAttr{}, qp.Err, 30, ""},
		{qp.InitAttr{}, qp.Reset, 0, "QPS-RST-001"},
		{qp.InitAttr{SRQ: 3}, qp.RTS, 0, "CPL-SRQ-004"},
		{qp.InitAttr{Type: qp.TypeXRCInitiator}, qp.RTS, 0, "CPL-IMD-002"},
		{qp.InitAttr{Type: qp.TypeXRCTarget}, qp.RTS, 0, "CPL-IMD-002"},
	} {
		if got := broken(t, c.n.ValidReceive(c.s, &wqe.ReceiveRequest{Segments: make([]wqe.Segment, c.segs)})); got != c.want {
			t.Errorf("%+v in %v, %d segments: breaks %q, want %q", c.n, c.s, c.segs, got, c.want)
		}
	}
	for segs, want := range []string{"", "", "", "CPL-IMD-002"} {
		if got := broken(t, qp.ValidSharedReceive(2, &wqe.ReceiveRequest{Segments: make([]wqe.Segment, segs)})); got != want {
			t.Errorf("%d segments for a shared receive queue: breaks %q, want %q", segs, got, want)
		}
	}
	if err := qp.ValidSharedReceive(0, &wqe.ReceiveRequest{Segments: make([]wqe.Segment, 9)}); err != nil {
		t.Errorf("a shared receive queue whose limits are not known: %v", err)
	}
}
