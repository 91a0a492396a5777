package soft_test

import (
	"maps"
	"math/rand/v2"
	"testing"

	"ibwitness/cq"
	"ibwitness/fabricagent"
	"ibwitness/hcaagent"
	"ibwitness/hcaagent/soft"
	"ibwitness/internal/testkit/sample"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// stage is what a fault is shown on: two devices, connected, with work for the first.
type stage struct {
	t       testing.TB
	link    *link
	ends    [2]*end
	tap     int // at the device with the fault
	credits bool
	events  []any // those of both devices and the frames at the tap, in order
	verbs   bool
	srqs    [2]wqe.SRQ
	needs   soft.Need
	strayed []uint64 // frames at that tap that show it
}

// newStage sets up two devices, one of which has a fault, or none has. What happens on the link is what the fault needs.
func newStage(t testing.TB, name string, f *soft.Fault, faulty bool) *stage {
	return newStageAt(t, name, f, faulty, 0)
}

// newStageAt lets the device pass so many occasions, or as many as suit the fault where at is 0.
func newStageAt(t testing.TB, name string, f *soft.Fault, faulty bool, at int) *stage {
	s := &stage{t: t, credits: f.Needs == soft.Credits, verbs: f.Verbs, needs: f.Needs}
	if f.Responder {
		s.tap = 1
	}
	hosts := addrs
	if f.Needs == soft.IPv6 {
		hosts = six
	}
	var hs [2]*adapter
	s.link, hs = devices(t, 1, hosts, func(i int, o *soft.Options) {
		o.Credits = f.Needs == soft.Credits
		if congested(f.Needs) {
			o.Congestion = soft.Congestion{CNPs: soft.PerQP, Every: 20_000, TClass: 48<<2 | 2}
		}
		if f.Verbs {
			o.Event = func(e *cq.Event) { s.events = append(s.events, e) }
		}
		if i == s.tap && faulty {
			o.Fault = name
			if some, ok := faultAt[name]; at > 0 {
				o.FaultAt = at
			} else if ok {
				o.FaultAt = some
			} else if f.Needs == soft.Plain && !f.Verbs {
				o.FaultAt = 1 // nothing is learned from only the first packet
			}
			o.Strayed = func() { s.strayed = append(s.strayed, uint64(len(s.link.taps[s.tap].frames)+1)) }
		}
	})
	typ := qp.TypeRC
	switch f.Service {
	case packet.UC:
		typ = qp.TypeUC
	case packet.UD:
		typ = qp.TypeUD
	case packet.XRC:
		typ = qp.TypeXRCInitiator
	}
	s.ends = pair(t, hs, typ, 0, 1<<16, func(a, b *end) {
		for _, e := range []*end{a, b} {
			e.attr.PMTU, e.attr.MinRNRTimer, e.attr.MaxRdAtomic, e.attr.MaxDestRdAtomic = 256, 12, 2, 8
			e.attr.HopLimit = 64
			if congested(f.Needs) {
				e.attr.TClass = 2 // ECN-capable
			}
			switch f.Needs {
			case soft.TimerOff:
				e.attr.Timeout = 0
			case soft.Silence, soft.LostAgain, soft.LostThenSilent:
				e.attr.RetryCnt = 2
			case soft.NeverReady:
				e.attr.RNRRetry = 2
			case soft.NotReadyLong:
				e.attr.MinRNRTimer, e.attr.Timeout = 20, 14
			case soft.NotReadyTwice:
				e.attr.RNRRetry = 1
			}
		}
	}, create(f.Needs))
	if f.Verbs {
		s.link.taps[s.tap].also = func(frame *fabricagent.Frame) { s.events = append(s.events, *frame) }
	}
	src := make([]byte, 4096)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range src {
		src[i] = byte(r.Uint32())
	}
	s.ends[0].set(0, src)
	s.ends[1].set(0, src)
	s.disturb(f.Needs)
	return s
}

// faultAt is how many occasions some faults pass by, so that they come where they can be told.
var faultAt = map[string]int{
	"rnr-for-write": 4, "credits-taken-back": 1, "start-psn": 0, "ud-start-psn": 0, "no-ackreq": 0, "dscp-ipv6": 1, "hop-limit": 0, "no-ack": 1,
	"message-repeated": 2, "cnp-unfounded": 20, "atomic-not-stored": 1, "completes-refused": 1,
	"last-completion-lost": 36, "write-not-stored": 1, "write-changed": 1, "write-visible-late": 1,
}

// play posts the work, lets time pass and verifies what the tap saw.
func (s *stage) play(f *soft.Fault) []rule.Finding {
	a, b := s.ends[0], s.ends[1]
	receives := func() {
		for i := range 64 {
			if a.typ == qp.TypeXRCInitiator {
				s.shared(i)
				continue
			}
			if list := b.sge(8192, 4096); f.Needs == soft.BadReceive && i == 3 {
				list[0].LKey ^= 0x55000
				_ = b.PostReceive(ctx, b.qp, wqe.ReceiveRequest{ID: receiveID + 3, Segments: list})
				continue
			}
			b.receive(receiveID+uint64(i), 8192, 4096)
		}
	}
	switch f.Needs {
	case soft.NotReady, soft.NotReadyLong:
		for i := range 3 {
			b.receive(receiveID+uint64(i), 8192, 4096)
		}
		ready := int64(400_000)
		if f.Needs == soft.NotReadyLong {
			ready = 5_000_000
		}
		s.link.After(ready, receives)
	case soft.NotReadyTwice:
		for i := range 8 {
			s.link.After(int64(i/2)*500_000, func() { b.receive(receiveID+uint64(i), 8192, 4096) })
		}
	case soft.NeverReady, soft.SharedFew:
	case soft.Credits:
		for i := range 3 {
			b.receive(receiveID+uint64(i), 8192, 4096)
		}
		s.link.After(900_000, receives)
	default:
		receives()
	}
	work := s.scene(f.Needs, s.work(f))
	gap := int64(20_000)
	switch f.Needs {
	case soft.LostRequest, soft.LostACK, soft.TimerOff, soft.SlowACK, soft.LostAgain, soft.Burst, soft.NeverReady, soft.ManyReads, soft.Refused, soft.Silence, soft.TooLong, soft.BadReceive, soft.Fenced,
		soft.LocalInvalidate, soft.RefusedUnsignaled, soft.ManyAtomicWrites:
		gap = 200
	case soft.CongestedBurst:
		gap = 2000
	case soft.NotReadyLong:
		gap = 100_000
	case soft.Congested, soft.MarkedAnswers, soft.MarkedCNPs:
		gap = 11_000_000
	case soft.Sparse, soft.LostThenSilent:
		gap = 5_000_000
	}
	for i, q := range work {
		q.ID = uint64(i)
		if f.Needs != soft.SignalAll && !s.unsignaled(f.Needs, &q) && (f.Needs != soft.Unsignaled || i%3 == 0) {
			q.Flags |= wqe.Signaled
		}
		at := int64(i) * gap
		if f.Needs == soft.Credits {
			at = int64(min(i, 3)) * gap
		}
		s.link.After(at, func() { a.post(q) })
	}
	if s.verbs {
		if f.Needs == soft.Misuse {
			s.misuse()
		}
		step := int64(500)
		if f.Rule == "CPL-STS-014" {
			step = 100 // while the message is in flight
		}
		for at := step; at < 3e6; at += step {
			s.link.After(at, func() {
				if f.Needs != soft.Overrun || at > 2.5e6 {
					a.poll()
				}
				b.poll()
			})
		}
		s.link.run(2e9)
		a.poll()
		b.poll()
		return s.verifyEvents()
	}
	s.link.run(2e9)
	return s.verify()
}

// work is what the first end does.
func (s *stage) work(f *soft.Fault) (w []wqe.SendRequest) {
	a, b := s.ends[0], s.ends[1]
	add := func(op wqe.SendOp, n int, change ...func(q *wqe.SendRequest)) {
		q := wqe.SendRequest{Op: op, Segments: a.sge(len(w)*8, n), RKey: b.key, RemoteVA: b.va + 1024, Imm: uint32(len(w)), Dest: b.qp, QKey: 0x1234}
		if op >= wqe.OpRead {
			q.Segments = a.sge(16384, n)
		}
		for _, c := range change {
			c(&q)
		}
		w = append(w, q)
	}
	if f.Service == packet.XRC {
		ops := []wqe.SendOp{wqe.OpSend, wqe.OpSend, wqe.OpSendImm, wqe.OpRead, wqe.OpSend, wqe.OpSend, wqe.OpSend, wqe.OpWriteImm}
		for i, op := range ops {
			add(op, 61+i+600*(i%2), func(q *wqe.SendRequest) { q.XRCSRQ = uint32(s.srqs[i%2]) })
		}
		return append(w, w[:5]...)
	}
	if w := s.extended(f.Needs); w != nil {
		return w
	}
	solicited := func(q *wqe.SendRequest) { q.Flags = wqe.Solicited }
	if f.Service == packet.UD {
		for i := range 8 {
			add(wqe.OpSend, 61+i)
		}
		return w
	}
	if f.Needs == soft.Credits {
		for range 3 {
			add(wqe.OpSend, 101)
		}
		if f.Rule == "RC-CRD-002" {
			add(wqe.OpSend, 900)
		}
		add(wqe.OpSend, 101)
		add(wqe.OpSend, 128)
		return w
	}
	for round := range 3 {
		add(wqe.OpSend, 101)
		add(wqe.OpSend, 128)
		add(wqe.OpSend, 900, solicited)
		add(wqe.OpWrite, 256)
		add(wqe.OpWrite, 900)
		add(wqe.OpSendImm, 300)
		add(wqe.OpWriteImm, 128, solicited)
		if f.Service == packet.UC || f.Needs == soft.NotReady || f.Needs == soft.NotReadyLong || f.Needs == soft.NeverReady || f.Needs == soft.NotReadyTwice {
			continue
		}
		if f.Needs == soft.Refused && round == 0 {
			add(wqe.OpWrite, 64, func(q *wqe.SendRequest) { q.RKey ^= 0x55000 })
		}
		if f.Needs == soft.ZeroLength {
			add(wqe.OpWrite, 0, func(q *wqe.SendRequest) { q.RKey = 0x55000 })
		}
		add(wqe.OpRead, 900)
		add(wqe.OpFetchAdd, 8, func(q *wqe.SendRequest) { q.SwapAdd = 3 })
		add(wqe.OpCmpSwap, 8, func(q *wqe.SendRequest) { q.Compare, q.SwapAdd = 9, 8 })
		add(wqe.OpRead, 200)
		add(wqe.OpSend, 64)
		if round == 0 {
			_, _, key, err := b.RegisterMR(ctx, hcaagent.NewMR{PD: b.pd, VA: b.va + 2048, Length: 64, Access: wqe.RemoteRead})
			if err != nil {
				s.t.Fatal(err)
			}
			add(wqe.OpSendInv, 64, func(q *wqe.SendRequest) { q.InvKey = key })
		}
		if f.Needs == soft.ManyReads {
			for range 4 {
				add(wqe.OpRead, 900)
			}
		}
	}
	return w
}

// TestFaults has each fault shown: it is caught under its rule, at the frame that shows it, nothing else is found but what the table says comes
// with it, nobody but the device is accused, and without the fault the same work on the same link breaks nothing.
func TestFaults(t *testing.T) {
	for i, name := range soft.FaultNames() {
		if i%sample.Stride(4) > 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			f := soft.Faults[name]
			if f.Needs == soft.Tester {
				t.Skip("package conform has the tests that show it")
			}
			clean := newStage(t, name, f, false)
			for _, x := range clean.play(f) {
				if x.Class == rule.Violation && !consumers(f.Needs, &x) {
					t.Errorf("without the fault: %s", tell(&x))
					if *show > 0 {
						clean.link.taps[clean.tap].dump(t, int(x.Frame))
					}
					break
				}
			}
			s := newStage(t, name, f, true)
			device := s.ends[s.tap].qp.Addr
			var others []string
			caught := false
			also := maps.Clone(f.Also)
			for _, x := range s.play(f) {
				if x.Class == rule.Event {
					continue
				}
				others = append(others, tell(&x))
				if x.Class != rule.Violation || consumers(f.Needs, &x) {
					continue
				}
				id := x.Rule.String()
				if x.Accused.Addr != device {
					t.Errorf("not the device is accused: %s", tell(&x))
				}
				switch _, known := f.Also[id]; {
				case id == f.Rule:
					caught = caught || s.shows(&x)
				case known:
					delete(also, id)
				default:
					t.Errorf("nothing says why this should come with the fault: %s", tell(&x))
				}
			}
			for id, why := range also {
				t.Errorf("%s should come with the fault (%s), and does not", id, why)
			}
			if !caught {
				if *show > 0 && len(s.strayed) > 0 {
					s.link.taps[s.tap].dump(t, int(s.strayed[0])+20)
				}
				t.Errorf("%s: not caught under %s at frames %v of %d; found: %q", f.Text, f.Rule, s.strayed, len(s.link.taps[s.tap].frames), others)
			}
		})
	}
}
