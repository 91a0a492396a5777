package planted

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/cq"
	"ibwitness/fabricagent"
	"ibwitness/hcaagent"
	"ibwitness/hcaagent/eventlog"
	"ibwitness/internal/testkit/sample"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// explained are findings that the logs of recorded runs give and that are true: docs/departures.md tells of them.
var explained = map[string]map[string]int{
	// A plain ACK completes an atomic, and its result is not in memory.
	"netem_corrupt2_rc_mixed_sidecar": {"CPL-MEM-001 violation": 2},
}

// TestRecordedEvents verifies every recorded run of which there are logs of both ends: nothing is found but what is explained.
func TestRecordedEvents(t *testing.T) {
	dir := os.Getenv("IBWITNESS_CAPTURES")
	if dir == "" {
		dir = "../../../../shared/captures"
	}
	logs, _ := filepath.Glob(filepath.Join(dir, "rxe", "*.client.jsonl"))
	if len(logs) == 0 {
		logs, _ = filepath.Glob("testdata/*.client.jsonl")
	}
	var cover [rule.NumRules]rule.Count
	for _, client := range logs {
		name := strings.TrimSuffix(client, ".client.jsonl")
		short := filepath.Base(name)
		t.Run(short, func(t *testing.T) {
			for _, shift := range []int64{0, 7_000_000, -3_600_000_000_000} {
				path := strings.TrimSuffix(strings.TrimSuffix(name, ".uc"), ".ud") + ".pcap"
				if _, err := os.Stat(path); err != nil {
					path = name + ".b.pcap"
				}
				r := judge(t, path, nil, events(t, name, func(c, _ *hcaagent.Log) { delay(c, shift) }))
				found := map[string]int{}
				for i := range r.Findings {
					if f := &r.Findings[i]; f.Rule.NeedsEvents() {
						found[f.Rule.String()+" "+f.Class.String()]++
						if explained[short][f.Rule.String()+" "+f.Class.String()] == 0 {
							t.Errorf("clock %d: %s: %s, log line %d", shift, line(f), f.Detail, f.Line)
						}
					}
				}
				for key, n := range explained[short] {
					if found[key] != n {
						t.Errorf("clock %d: %s %d times, not %d", shift, key, found[key], n)
					}
				}
				for i := range r.Cover {
					cover[i].Exercised += r.Cover[i].Exercised
				}
			}
		})
	}
	for _, id := range []rule.ID{
		rule.RCSEQ006, rule.RCLEN009, rule.RCLEN010, rule.CPLSTS003, rule.CPLSTS012, rule.CPLSTS013, rule.CPLSTS014, rule.CPLORD001,
		rule.CPLLEN001, rule.CPLLEN003, rule.CPLLEN004, rule.CPLOPC001, rule.CPLIMM001, rule.CPLMEM001, rule.CPLMEM003, rule.CPLMEM005,
		rule.QPSTRN001, rule.QPSERR002, rule.RCRSP038,
	} {
		if cover[id].Exercised == 0 {
			t.Errorf("%v was not exercised", id)
		}
	}
}

// events reads the logs of both ends of a run, changed.
func events(t *testing.T, name string, change func(client, server *hcaagent.Log)) []*hcaagent.Log {
	t.Helper()
	var logs []*hcaagent.Log
	for _, end := range []string{".client.jsonl", ".server.jsonl"} {
		l, err := eventlog.ReadFile(name + end)
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, l)
	}
	if change != nil {
		change(logs[0], logs[1])
	}
	return logs
}

// delay lets the clock of a log go ahead.
func delay(l *hcaagent.Log, ns int64) {
	for i := range l.Events {
		l.Events[i].Time += ns
	}
}

// judge verifies a capture with logs. change, where not nil, changes the capture before.
func judge(t *testing.T, path string, change func(c *Capture), logs []*hcaagent.Log, near ...packet.Addr) *agent.Result {
	t.Helper()
	if change != nil {
		c, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		change(c)
		path = filepath.Join(t.TempDir(), "changed.pcap")
		if err := os.WriteFile(path, c.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	src, err := fabricagent.Open([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r, err := agent.Run(context.Background(), src, agent.Options{Events: logs, Near: near})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// nth is the n-th event, from 0 on, that which takes.
func nth(l *hcaagent.Log, n int, which func(e *cq.Event) bool) int {
	for i := range l.Events {
		if which(&l.Events[i]) {
			if n == 0 {
				return i
			}
			n--
		}
	}
	panic("no such event")
}

func done(op cq.CompletionOp) func(e *cq.Event) bool {
	return func(e *cq.Event) bool {
		return e.Completion != nil && e.Completion.Status == cq.Success && e.Completion.Op == op
	}
}

func posted(op wqe.SendOp) func(e *cq.Event) bool {
	return func(e *cq.Event) bool { return e.Send != nil && e.Send.Op == op }
}

func modified(to qp.State) func(e *cq.Event) bool {
	return func(e *cq.Event) bool { return e.Kind == cq.EvModifyQP && e.State == to }
}

// move brings an event to another place of its log, and to the time of what is there.
func move(l *hcaagent.Log, from, to int) {
	e := l.Events[from]
	l.Events = slices.Delete(l.Events, from, from+1)
	e.Time = l.Events[to].Time - 1
	l.Events = slices.Insert(l.Events, to, e)
}

type eventFault struct {
	name    string
	base    string
	want    rule.ID
	with    []rule.ID // that may be reported beside it
	near    bool      // the tap is near both ends
	log     func(client, server *hcaagent.Log)
	capture func(c *Capture)

	unproven bool // who is to blame is not certain
}

const (
	mixed  = "sidecar_rc_mtu256"
	window = "err_mw_send_invalidate"
	atomic = "err_atomic_misaligned"
)

var eventFaults = []eventFault{
	{name: "a SEND completes long before its ACK", base: mixed, want: rule.CPLSTS012, log: func(c, _ *hcaagent.Log) {
		c.Events[nth(c, 3, done(cq.DoneSend))].Time -= 50_000_000
	}},
	{name: "a READ completes long before its answer", base: mixed, want: rule.CPLSTS013, log: func(c, _ *hcaagent.Log) {
		c.Events[nth(c, 3, done(cq.DoneRead))].Time -= 50_000_000
	}},
	{name: "a receive completes before the message", base: mixed, want: rule.CPLSTS014, log: func(_, s *hcaagent.Log) {
		s.Events[nth(s, 3, done(cq.DoneRecv))].Time -= 50_000_000
	}},
	{name: "a completion comes twice", base: mixed, want: rule.CPLORD002, log: func(c, _ *hcaagent.Log) {
		i := nth(c, 4, done(cq.DoneWrite))
		c.Events = slices.Insert(c.Events, i, c.Events[i])
	}},
	{name: "a receive completion comes twice", base: mixed, want: rule.CPLORD002, log: func(_, s *hcaagent.Log) {
		i := nth(s, 4, done(cq.DoneRecv))
		s.Events = slices.Insert(s.Events, i, s.Events[i])
	}, with: []rule.ID{rule.CPLLEN001, rule.CPLIMM001, rule.CPLMEM001, rule.CPLOPC001, rule.CPLLEN002, rule.CPLSTS014}},
	{name: "a completion is missing", base: mixed, want: rule.CPLORD001, log: func(c, _ *hcaagent.Log) {
		i := nth(c, 4, done(cq.DoneWrite))
		c.Events = slices.Delete(c.Events, i, i+1)
	}, with: []rule.ID{rule.CPLSIG003}},
	{name: "two completions change places", base: mixed, want: rule.CPLORD001, log: func(c, _ *hcaagent.Log) {
		i, k := nth(c, 4, done(cq.DoneWrite)), nth(c, 5, done(cq.DoneWrite))
		c.Events[i].Completion, c.Events[k].Completion = c.Events[k].Completion, c.Events[i].Completion
	}, with: []rule.ID{rule.CPLSTS012, rule.CPLORD002}},
	{name: "receives into a region that the device may not write", base: mixed, want: rule.CPLSTS010, log: func(_, s *hcaagent.Log) {
		for i := range s.Events {
			if e := &s.Events[i]; e.Kind == cq.EvRegisterMR {
				e.Region.Access &^= wqe.LocalWrite
			}
		}
	}},
	{name: "byte_len of a receive", base: mixed, want: rule.CPLLEN001, log: func(_, s *hcaagent.Log) {
		s.Events[nth(s, 2, done(cq.DoneRecv))].Completion.ByteLen += 3
	}},
	{name: "byte_len of a WRITE with immediate", base: mixed, want: rule.CPLLEN002, log: func(_, s *hcaagent.Log) {
		s.Events[nth(s, 2, done(cq.DoneRecvWriteImm))].Completion.ByteLen = 0
	}},
	{name: "byte_len of a READ", base: mixed, want: rule.CPLLEN003, log: func(c, _ *hcaagent.Log) {
		c.Events[nth(c, 2, done(cq.DoneRead))].Completion.ByteLen++
	}},
	{name: "immediate data in the wrong byte order", base: mixed, want: rule.CPLIMM001, log: func(_, s *hcaagent.Log) {
		c := s.Events[nth(s, 2, done(cq.DoneRecvWriteImm))].Completion
		c.Imm = c.Imm<<24 | c.Imm<<8&0xFF0000 | c.Imm>>8&0xFF00 | c.Imm>>24
	}},
	{name: "no immediate data", base: mixed, want: rule.CPLIMM001, log: func(_, s *hcaagent.Log) {
		s.Events[nth(s, 2, done(cq.DoneRecvWriteImm))].Completion.Flags = 0
	}},
	{name: "opcode of a completion", base: mixed, want: rule.CPLOPC001, log: func(c, _ *hcaagent.Log) {
		c.Events[nth(c, 2, done(cq.DoneSend))].Completion.Op = cq.DoneWrite
	}},
	{name: "opcode of a receive completion", base: mixed, want: rule.CPLOPC001, log: func(_, s *hcaagent.Log) {
		s.Events[nth(s, 2, done(cq.DoneRecvWriteImm))].Completion.Op = cq.DoneRecv
	}},
	{name: "data of a SEND", base: mixed, want: rule.CPLMEM003, log: func(c, _ *hcaagent.Log) {
		c.Events[nth(c, 2, posted(wqe.OpSend))].Sum++
	}},
	{name: "data of a WRITE", base: mixed, want: rule.RCLEN009, log: func(c, _ *hcaagent.Log) {
		c.Events[nth(c, 2, posted(wqe.OpWrite))].Sum++
	}},
	{name: "a payload byte on the wire", base: mixed, want: rule.RCLEN009, capture: func(c *Capture) {
		first(c, packet.WriteMiddle, func(p *packet.Packet) { p.Payload[7] ^= 1 })
	}},
	{name: "a payload byte of a SEND on the wire", base: mixed, want: rule.CPLMEM003, with: []rule.ID{rule.CPLMEM001}, capture: func(c *Capture) {
		first(c, packet.SendFirst, func(p *packet.Packet) { p.Payload[7] ^= 1 })
	}},
	{name: "a payload byte of a READ response", base: mixed, want: rule.CPLMEM001, unproven: true, capture: func(c *Capture) {
		first(c, packet.ReadRespMiddle, func(p *packet.Packet) { p.Payload[7] ^= 1 })
	}},
	{name: "received data in memory", base: mixed, want: rule.CPLMEM001, log: func(_, s *hcaagent.Log) {
		s.Events[nth(s, 2, done(cq.DoneRecv))].Sum++
	}},
	{name: "read data in memory", base: mixed, want: rule.CPLMEM001, near: true, log: func(c, _ *hcaagent.Log) {
		c.Events[nth(c, 2, done(cq.DoneRead))].Sum++
	}},
	{name: "virtual address on the wire", base: mixed, want: rule.RCLEN010, capture: func(c *Capture) {
		first(c, packet.WriteFirst, func(p *packet.Packet) { p.VA += 8 })
	}},
	{name: "R_Key on the wire", base: mixed, want: rule.RCLEN010, with: []rule.ID{rule.CPLMEM005}, capture: func(c *Capture) {
		first(c, packet.ReadRequest, func(p *packet.Packet) { p.RKey ^= 0x100 })
	}},
	{name: "immediate data on the wire", base: mixed, want: rule.RCLEN010, with: []rule.ID{rule.CPLIMM001}, capture: func(c *Capture) {
		first(c, packet.WriteOnlyImm, func(p *packet.Packet) { p.Imm++ })
	}},
	{name: "a work request of another length", base: mixed, want: rule.CPLLEN004, log: func(c, _ *hcaagent.Log) {
		c.Events[nth(c, 2, posted(wqe.OpSend))].Send.Segments[0].Length++
	}, with: []rule.ID{rule.RCSEQ006}},
	{name: "two work requests change places", base: mixed, want: rule.RCSEQ006, log: func(c, _ *hcaagent.Log) {
		i, k := nth(c, 0, posted(wqe.OpSend)), nth(c, 0, posted(wqe.OpWrite))
		c.Events[i].Send, c.Events[k].Send = c.Events[k].Send, c.Events[i].Send
	}, with: []rule.ID{rule.CPLORD001}},
	{name: "SE that was not asked for", base: mixed, want: rule.BTH012, capture: func(c *Capture) {
		first(c, packet.SendOnly, func(p *packet.Packet) { p.SE = true })
	}},
	{name: "a success reported as an error", base: mixed, want: rule.CPLSTS003, near: true, log: func(c, _ *hcaagent.Log) {
		c.Events[nth(c, 2, done(cq.DoneSend))].Completion.Status = cq.RemAccessErr
	}, with: []rule.ID{rule.CPLORD004, rule.QPSERR001}},
	{name: "retries that were not made", base: mixed, want: rule.CPLSTS006, near: true, log: func(c, _ *hcaagent.Log) {
		c.Events[nth(c, 2, done(cq.DoneSend))].Completion.Status = cq.RetryExcErr
	}, with: []rule.ID{rule.CPLORD004, rule.QPSERR001}},
	{name: "RNR NAKs that were not there", base: mixed, want: rule.CPLSTS007, log: func(c, _ *hcaagent.Log) {
		c.Events[nth(c, 2, done(cq.DoneSend))].Completion.Status = cq.RNRRetryExcErr
	}, with: []rule.ID{rule.CPLORD004, rule.QPSERR001}},
	{name: "an error reported as a success", base: window, want: rule.CPLSTS003, log: func(c, _ *hcaagent.Log) {
		i := nth(c, 0, func(e *cq.Event) bool {
			return e.Completion != nil && e.Completion.Status == cq.RemAccessErr
		})
		c.Events[i].Completion.Status, c.Events[i].Completion.Op = cq.Success, cq.DoneWrite
	}},
	{name: "another NAK than the status says", base: window, want: rule.CPLSTS002, capture: func(c *Capture) {
		for _, f := range c.Frames {
			if p := f.Packet; p != nil && p.Has&packet.HasAETH != 0 && p.Syndrome == packet.NAKRemoteAccess {
				p.Syndrome = packet.NAKInvalidRequest
				seal(p)
			}
		}
	}},
	{name: "another status than the NAK says", base: atomic, want: rule.CPLSTS002, log: func(c, _ *hcaagent.Log) {
		i := nth(c, 0, func(e *cq.Event) bool {
			return e.Completion != nil && e.Completion.Status == cq.RemInvReqErr
		})
		c.Events[i].Completion.Status = cq.RemOpErr
	}},
	{name: "an access to a window that is gone", base: window, want: rule.CPLMEM005, capture: func(c *Capture) {
		for _, f := range c.Frames {
			if p := f.Packet; p != nil && p.Has&packet.HasAETH != 0 && p.Syndrome == packet.NAKRemoteAccess {
				p.Syndrome = packet.CreditInvalid
				seal(p)
			}
		}
	}, with: []rule.ID{rule.CPLSTS003}},
	{name: "a refusal without a cause", base: window, want: rule.RCRSP024, capture: func(c *Capture) {
		first(c, packet.SendLastInv, func(p *packet.Packet) { p.InvRKey ^= 0x10000 })
	}, with: []rule.ID{rule.RCLEN010}},
	{name: "an access outside of the region", base: mixed, want: rule.CPLMEM005, log: func(_, s *hcaagent.Log) {
		i := nth(s, 0, func(e *cq.Event) bool { return e.Kind == cq.EvRegisterMR && e.Region.RKey != 0 })
		s.Events[i].Region.Length = 1 << 16
	}},
	{name: "a flush before the error", base: atomic, want: rule.CPLORD003, log: func(c, _ *hcaagent.Log) {
		i := nth(c, 0, func(e *cq.Event) bool {
			return e.Completion != nil && e.Completion.Status == cq.RemInvReqErr
		})
		k := nth(c, 0, func(e *cq.Event) bool {
			return e.Completion != nil && e.Completion.Status == cq.WRFlushErr && e.Completion.ID < 1000
		})
		c.Events[i].Completion.Status, c.Events[k].Completion.Status = cq.WRFlushErr, cq.RemInvReqErr
	}, with: []rule.ID{rule.CPLSTS002}},
	{name: "two errors of their own", base: window, want: rule.QPSERR002, log: func(c, _ *hcaagent.Log) {
		k := nth(c, 0, func(e *cq.Event) bool {
			return e.Completion != nil && e.Completion.Status == cq.WRFlushErr && e.Completion.ID < 1000
		})
		c.Events[k].Completion.Status = cq.LocProtErr
	}},
	{name: "a transition without an attribute", base: mixed, want: rule.QPSTRN002, log: func(c, _ *hcaagent.Log) {
		c.Events[nth(c, 0, modified(qp.RTS))].Attr.Known &^= qp.KnowsRetryCnt
	}},
	{name: "a transition that does not exist", base: mixed, want: rule.QPSTRN001, log: func(c, _ *hcaagent.Log) {
		i := nth(c, 0, modified(qp.Init))
		c.Events = slices.Delete(c.Events, i, i+1)
	}},
	{name: "a post in RTR", base: mixed, want: rule.QPSRST001, log: func(c, _ *hcaagent.Log) {
		move(c, nth(c, 0, posted(wqe.OpSend)), nth(c, 0, modified(qp.RTS)))
	}, with: []rule.ID{rule.RCSEQ006, rule.CPLORD001}},
}

// first changes the first packet of an operation.
func first(c *Capture, fn packet.Fn, change func(p *packet.Packet)) {
	for _, f := range c.Frames {
		if f.Packet != nil && f.Packet.Has&packet.HasBTH != 0 && f.Packet.Opcode == rc(fn) {
			change(f.Packet)
			seal(f.Packet)
			return
		}
	}
	panic("no such packet")
}

// TestEventFaults plants faults into logs and captures: each is found under its rule, and nothing else.
func TestEventFaults(t *testing.T) {
	for _, x := range eventFaults {
		t.Run(x.name, func(t *testing.T) {
			for _, shift := range []int64{0, -20_000_000, -5e9, -2e9, -3e8, 3e8, 3e9, 60e9, 86_400e9}[:sample.Part(9, 9)] {
				var near []packet.Addr
				logs := events(t, "testdata/"+x.base, func(c, s *hcaagent.Log) {
					if x.log != nil {
						x.log(c, s)
					}
					delay(c, shift)
					if x.near {
						near = []packet.Addr{c.Addr, s.Addr}
					}
				})
				r := judge(t, "testdata/"+x.base+".pcap", x.capture, logs, near...)
				hit, class := false, rule.Violation
				if x.unproven {
					class = rule.Unproven
				}
				for i := range r.Findings {
					f := &r.Findings[i]
					switch {
					case f.Rule == x.want && f.Class == class:
						hit = true
					case f.Rule.NeedsEvents() && !slices.Contains(x.with, f.Rule):
						t.Errorf("clock %d: %s: %s, log line %d", shift, line(f), f.Detail, f.Line)
					}
				}
				if !hit {
					t.Errorf("clock %d: %v is not found", shift, x.want)
				}
			}
		})
	}
}

// TestEventsTold: whatever the clock of the logs is set to and however it drifts, what is wrong is told as soon as with that of the packets, and the
// difference is named.
func TestEventsTold(t *testing.T) {
	base := "testdata/" + mixed
	run := func(shift int64, ppm float64) (told []string, clocks []agent.LogClock) {
		logs := events(t, base, func(c, s *hcaagent.Log) {
			c.Events[nth(c, 2, posted(wqe.OpWrite))].Sum++
			s.Events[nth(s, 2, done(cq.DoneRecv))].Completion.ByteLen += 3
			i := nth(c, 4, done(cq.DoneSend))
			c.Events = slices.Insert(c.Events, i, c.Events[i])
			for _, l := range []*hcaagent.Log{c, s} {
				begin := l.Events[0].Time
				for i := range l.Events {
					e := &l.Events[i]
					e.Time += shift + int64(float64(e.Time-begin)*ppm/1e6)
				}
			}
		})
		src, err := fabricagent.Open([]string{base + ".pcap"})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		s := agent.NewSession(agent.Options{Events: logs})
		if _, err := s.Tap(src.Taps()[0]); err != nil {
			t.Fatal(err)
		}
		take := func(frame uint64, list []rule.Change) {
			for _, c := range list {
				if c.Finding.Rule.NeedsEvents() {
					told = append(told, fmt.Sprintf("%v %v line %d at frame %d", c.Kind, c.Finding.Rule, c.Finding.Line, frame))
				}
			}
		}
		for err == nil {
			var b *fabricagent.Batch
			if b, err = src.Next(); b == nil {
				continue
			}
			for i := range b.Frames {
				list, err := s.Frame(&b.Frames[i])
				if err != nil {
					t.Fatal(err)
				}
				take(b.Frames[i].Number, list)
			}
			b.Release()
		}
		r, list, err := s.End()
		if err != nil {
			t.Fatal(err)
		}
		take(0, list)
		return told, r.LogClocks
	}
	want, real := run(0, 0) // the two machines and the tap did not have quite the same time
	if len(want) != 3 {
		t.Fatalf("told: %q", want)
	}
	for _, x := range want {
		if strings.HasSuffix(x, "at frame 0") {
			t.Errorf("%s: only at the end", x)
		}
	}
	for _, shift := range []int64{0, -5e9, -2e9, -3e8, 3e8, 3e9, 60e9, 86_400e9} {
		for _, ppm := range []float64{0, 50, -50} {
			got, clocks := run(shift, ppm)
			if !slices.Equal(got, want) {
				t.Errorf("clock %d, %v ppm: told %q, not %q", shift, ppm, got, want)
			}
			if len(clocks) != 2 {
				t.Fatalf("%d clocks", len(clocks))
			}
			for i, c := range clocks {
				if off := c.Ahead - real[i].Ahead - time.Duration(shift); !c.Known || off.Abs() > c.Within || c.Within > 5*time.Millisecond {
					t.Errorf("clock %d, %v ppm: log %d is ahead by %v, within %v", shift, ppm, i, c.Ahead, c.Within)
				}
			}
		}
	}
}
