package soft_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"ibwitness/cq"
	"ibwitness/hcaagent/soft"
	"ibwitness/internal/testkit/sample"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// timed is a connection whose requester may have a fault of its timers; its tap is near that.
func timed(t *testing.T, fault string, change func(a *qp.Attr)) *stage {
	t.Helper()
	s := &stage{t: t}
	var hs [2]*adapter
	s.link, hs = devices(t, 1, addrs, func(i int, o *soft.Options) {
		if i == 0 {
			o.Fault, o.FaultAll = fault, true
		}
	})
	s.ends = pair(t, hs, qp.TypeRC, 0, 1<<16, func(a, b *end) {
		for _, e := range []*end{a, b} {
			e.attr.HopLimit = 64
			change(&e.attr)
		}
	})
	return s
}

// silence loses all answers to the first end from now on.
func (s *stage) silence() {
	s.link.ends[0] = func([]byte) {
		c := &s.link.taps[0]
		c.frames = c.frames[:len(c.frames)-1]
	}
}

// sentAt are the times at which the first end sent requests.
func (s *stage) sentAt() (at []int64) {
	for _, f := range s.link.taps[0].frames {
		var p packet.Packet
		packet.DecodeIP(&p, f.Data[14:], len(f.Data)-14)
		if p.Src == s.ends[0].qp.Addr {
			at = append(at, f.Time)
		}
	}
	return at
}

// judged are the rules that are violated: with the attributes known, with what CM says of them, and only by the packets.
func (s *stage) judged() (known, byCM, alone []string) {
	list := func(all []rule.Finding) (ids []string) {
		for i := range all {
			if id := all[i].Rule.String(); all[i].Class == rule.Violation && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		return ids
	}
	return list(s.verify()), list(s.exchanged().verify(s.t).Findings), list(s.link.taps[0].verify(s.t).Findings)
}

// rnrTimes are the values of the 32 codes, in units of 10 us (table 45).
var rnrTimes = [32]int64{
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
	49152,
}

// TestRNRWait: after an RNR NAK of each code the request is retransmitted when its time has passed, and no sooner (C9-130). That is judged whether
// or not anything is known of the queue pairs.
func TestRNRWait(t *testing.T) {
	for code, units := range rnrTimes {
		for fault, want := range map[string][]string{"": nil, "resend-before-timer": {"RC-RNR-001"}} {
			s := timed(t, fault, func(a *qp.Attr) { a.MinRNRTimer, a.Timeout = uint8(code), 20 })
			a, b := s.ends[0], s.ends[1]
			wait := units * 10_000
			s.link.After(4000, func() { b.receive(receiveID, 4096, 64) })
			a.post(wqe.SendRequest{ID: 1, Op: wqe.OpSend, Flags: wqe.Signaled, Segments: a.sge(0, 64)})
			s.link.run(3*wait + 1e6)
			at := s.sentAt()
			if len(at) != 2 {
				t.Fatalf("code %d, fault %q: sent %d times", code, fault, len(at))
			}
			if early := at[1]-at[0] < wait; early != (fault != "") {
				t.Errorf("code %d, fault %q: retransmitted after %v, the time is %v", code, fault, time.Duration(at[1]-at[0]), time.Duration(wait))
			}
			known, byCM, alone := s.judged()
			if fmt.Sprint(known, byCM, alone) != fmt.Sprint(want, want, want) {
				t.Errorf("code %d, fault %q: %v, by CM %v, by the packets only %v", code, fault, known, byCM, alone)
			}
		}
	}
}

// TestACKTimeout: a requester that nothing answers retransmits within one and four times its timeout, of each code (C9-142).
// Where only CM is known nothing is proven: the application may have set another timeout.
func TestACKTimeout(t *testing.T) {
	for code := range uint8(32) {
		for fault, want := range map[string][]string{"": nil, "early-retry": {"RC-TMO-002"}, "late-retry": {"RC-TMO-002"}} {
			if code == 0 && fault != "" {
				continue
			}
			s := timed(t, fault, func(a *qp.Attr) { a.Timeout = code })
			s.silence()
			a := s.ends[0]
			a.post(wqe.SendRequest{ID: 1, Op: wqe.OpWrite, Flags: wqe.Signaled, Segments: a.sge(0, 64), RKey: s.ends[1].key, RemoteVA: s.ends[1].va})
			one := int64(4096) << code
			s.link.run(9 * one)
			at := s.sentAt()
			if code == 0 {
				if len(at) != 1 {
					t.Errorf("without a timeout: sent %d times", len(at))
				}
				continue
			}
			if len(at) < 2 {
				t.Fatalf("code %d, fault %q: sent %d times", code, fault, len(at))
			}
			took := at[1] - at[0]
			if right := took >= one && took <= 4*one; right != (fault == "") {
				t.Errorf("code %d, fault %q: retransmitted after %v, the timeout is %v", code, fault, time.Duration(took), time.Duration(one))
			}
			if known, byCM, alone := s.judged(); fmt.Sprint(known, byCM, alone) != fmt.Sprint(want, []string(nil), []string(nil)) {
				t.Errorf("code %d, fault %q: %v, by CM %v, by the packets only %v", code, fault, known, byCM, alone)
			}
		}
	}
}

// TestRetryCounts: a requester retransmits as often as its retry counters say, and then its request fails (C9-143).
func TestRetryCounts(t *testing.T) {
	for count := uint8(0); count < 8; count += uint8(sample.Stride(7)) {
		for _, c := range []struct {
			fault  string
			silent bool
			want   []string
			status cq.Status
		}{
			{"", true, nil, cq.RetryExcErr},
			{"retry-forever", true, []string{"RC-RTY-001"}, 0},
			{"", false, nil, cq.RNRRetryExcErr},
			{"rnr-forever", false, []string{"RC-RNR-003"}, 0},
		} {
			if count == 7 && !c.silent {
				c.want, c.status = nil, 0 // 7 is without end
			}
			s := timed(t, c.fault, func(a *qp.Attr) { a.Timeout, a.RetryCnt, a.RNRRetry, a.MinRNRTimer = 8, count, count, 1 })
			if c.silent {
				s.silence()
			}
			a := s.ends[0]
			a.post(wqe.SendRequest{ID: 1, Op: wqe.OpSend, Flags: wqe.Signaled, Segments: a.sge(0, 64)})
			s.link.run(25e6)
			a.poll()
			n, got := len(s.sentAt()), statuses(a.sends())
			if right := n == int(count)+1; right != (c.status != 0) {
				t.Errorf("count %d, fault %q: sent %d times", count, c.fault, n)
			}
			if c.status != 0 && (len(got) != 1 || got[0] != c.status) || c.status == 0 && len(got) != 0 {
				t.Errorf("count %d, fault %q: completed with %v", count, c.fault, got)
			}
			if known, byCM, alone := s.judged(); fmt.Sprint(known, byCM, alone) != fmt.Sprint(c.want, c.want, []string(nil)) {
				t.Errorf("count %d, fault %q: %v, by CM %v, by the packets only %v", count, c.fault, known, byCM, alone)
			}
		}
	}
}
