package qp

import (
	"testing"

	"ibwitness/packet"
	"ibwitness/wqe"
)

// TestHistoryFirst finds the first known PSN of short and long ranges, around the end of the PSNs too.
func TestHistoryFirst(t *testing.T) {
	var h History
	for _, psn := range []packet.PSN{packet.PSNMask, 3, 0x400005} {
		h.Put(psn, 1, packet.Trace{}, 0)
	}
	for _, k := range []struct {
		from, to, want packet.PSN
		known          bool
	}{
		{0xfffff0, 0xffffff, 0xffffff, true},
		{0xfffffe, 5, 0xffffff, true},
		{0, 5, 3, true},
		{0, 2, 0, false},
		{4, 0x400004, 0, false},
		{4, 0x400005, 0x400005, true},
		{0, 0x7fffff, 3, true},
		{0x900000, 0x10, 0xffffff, true},
		{0x400006, 0xbffff0, 0, false},
	} {
		if got, known := h.First(k.from, k.to); got != k.want || known != k.known {
			t.Errorf("%v to %v: %v, %v", k.from, k.to, got, known)
		}
	}
}

// TestHistory: what is kept of a packet is all of its trace, whatever of it other packets do not have in common, and a ring that grows keeps it and the messages.
func TestHistory(t *testing.T) {
	usual := packet.Trace{ICRC: 0xDEADBEEF, Len: 1024, IPID: 7, SrcPort: 0xC123, Opcode: packet.Op(packet.RC, packet.SendOnly), Encap: packet.RoCEv2IPv4, BTHOff: 42, Flags: packet.TraceSealed}
	other := func(set func(*packet.Trace)) packet.Trace {
		x := usual
		set(&x)
		return x
	}
	for name, traces := range map[string][]packet.Trace{
		"usual":         {usual},
		"flags":         {usual, other(func(x *packet.Trace) { x.Flags = packet.TraceAckReq }), other(func(x *packet.Trace) { x.Flags = packet.TraceMigReq | packet.TraceSealed })},
		"port":          {usual, other(func(x *packet.Trace) { x.SrcPort++ })},
		"encapsulation": {usual, other(func(x *packet.Trace) { x.Encap, x.BTHOff = packet.RoCEv1, 54 })},
		"offset":        {usual, usual, usual, other(func(x *packet.Trace) { x.BTHOff = 46 })},
		"long":          {usual, other(func(x *packet.Trace) { x.Len = 0xFFFF }), usual},
		"zero":          {{}, usual},
		"highest":       {other(func(x *packet.Trace) { x.Opcode, x.ICRC, x.IPID, x.Len = 0xFF, 0xFFFFFFFF, 0xFFFF, 1<<14-1 })},
	} {
		t.Run(name, func(t *testing.T) {
			var s SendQueue
			const packets = 200
			first := packet.PSN(packet.PSNMask - 20) // they wrap
			for i := range packets {
				psn := first.Add(i)
				s.History().Put(psn, uint64(i), traces[i%len(traces)], i+1)
				w := s.Messages.Push(first, new(Pair), new(packet.Packet), new(Accepted))
				w.First, w.Last, w.VA = psn, psn, uint64(i)
				for k := range i + 1 {
					psn := first.Add(k)
					want := Sent{PSN: psn | Valid, Frame: uint32(k), Trace: traces[k%len(traces)]}
					if got := s.History().Get(psn); got == nil || *got != want {
						t.Fatalf("after %d packets, number %d: %+v, want %+v", i+1, k, got, want)
					}
					if w := s.Messages.At(k); w.VA != uint64(k) || w.First != psn || w.Op != wqe.None {
						t.Fatalf("after %d messages, number %d: %+v", i+1, k, w)
					}
				}
			}
			if s.History().Get(first.Add(packets)) != nil || s.History().Get(first.Add(-256)) != nil {
				t.Error("there is a packet that was not put")
			}
			s.History().Drop(first)
			if s.History().Get(first) != nil || s.History().Get(first.Add(1)) == nil {
				t.Error("not just the first is dropped")
			}
			s.History().Reset()
			if psn, known := s.History().First(0, packet.PSNMask>>1); known {
				t.Errorf("%v is known after a reset", psn)
			}
			s.History().Put(5, 1, usual, 0)
			if got := s.History().Get(5); got == nil || got.Trace != usual {
				t.Errorf("after a reset: %+v", got)
			}
		})
	}
}

// TestNote: a packet that is noted is kept as its trace is.
func TestNote(t *testing.T) {
	for _, p := range []packet.Packet{
		{PSN: 3, Frame: 1<<32 + 9, ICRC: 5, IPID: 6, SrcPort: 7, Encap: packet.RoCEv2IPv6, BTHOff: 62, PayloadLen: 4095, PadCnt: 1, AckReq: true, ICRCState: packet.CRCGood},
		{PSN: packet.PSNMask, Opcode: packet.Op(packet.UC, packet.WriteOnly), MigReq: true, PayloadLen: 65535, BTHOff: 8, Encap: packet.Native},
		{},
	} {
		var s SendQueue
		s.History().Put(0, 1, packet.Trace{SrcPort: 9}, 0)
		s.History().Note(&p, 1)
		if got, want := s.History().Get(p.PSN), (Sent{p.PSN | Valid, uint32(p.Frame), p.Trace()}); got == nil || *got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}
