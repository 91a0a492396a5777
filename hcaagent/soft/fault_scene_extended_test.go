package soft_test

import (
	"ibwitness/hcaagent/soft"
	"ibwitness/packet"
	"ibwitness/wqe"
)

// extended is work with FLUSHes and ATOMIC WRITEs, or with others than those; nil: the fault needs neither.
func (s *stage) extended(n soft.Need) (w []wqe.SendRequest) {
	a, b := s.ends[0], s.ends[1]
	add := func(op wqe.SendOp, length int) {
		w = append(w, wqe.SendRequest{
			Op: op, Segments: a.sge(len(w)*8, length), RKey: b.key, RemoteVA: b.va + 1024 + uint64(len(w)/4*64),
			Flush: wqe.FlushRequest{Length: 256, Placement: uint8(1 + len(w)%2)},
		})
	}
	flush, write := false, false
	switch n {
	case soft.Extended, soft.ExtendedLost:
		flush, write = true, true
	case soft.ExtendedFlush:
		flush = true
	case soft.ExtendedWrite, soft.ExtendedLooks, soft.ManyAtomicWrites, soft.NoWrites:
		write = true
	default:
		return nil
	}
	for range 6 {
		add(wqe.OpSend, 101)
		if n != soft.NoWrites && n != soft.ExtendedLooks {
			add(wqe.OpWrite, 256)
		}
		if flush {
			add(wqe.OpFlush, 0)
		}
		for range 1 + 2*b2i(n == soft.ManyAtomicWrites) {
			if write {
				add(wqe.OpAtomicWrite, 8)
			}
		}
	}
	return w
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// extendedScene has happen what a fault of XRC, FLUSH or ATOMIC WRITE needs.
func (s *stage) extendedScene(n soft.Need, work []wqe.SendRequest) {
	b := s.ends[1]
	switch n {
	case soft.UnknownQueue:
		work[6].XRCSRQ += 0x1000
	case soft.ForeignQueue:
		domain := must(b.CreateXRCD(ctx))(s.t)
		srq := must(b.CreateXRCSRQ(ctx, b.pd, domain, 4, 1))(s.t)
		if err := b.PostSharedReceive(ctx, srq, wqe.ReceiveRequest{ID: receiveID + 5000, Segments: b.sge(8192, 4096)}); err != nil {
			s.t.Fatal(err)
		}
		work[6].XRCSRQ = uint32(srq)
	case soft.NoWrites:
		b.attr.Access = wqe.RemoteRead
		s.again(b)
		for i := range 8 {
			b.receive(receiveID+100+uint64(i), 8192, 4096)
		}
		s.complete(b)
	case soft.ExtendedLooks:
		for at := int64(3_000); at < 1_500_000; at += 10_000 {
			s.link.After(at, func() {
				for i := range 4 {
					b.bytes(1024+64*i, 8)
				}
			})
		}
	}
}

// firstAnswers loses the first response to each FLUSH and ATOMIC WRITE, but for the first two.
func firstAnswers() func(p *packet.Packet) bool {
	seen := map[packet.PSN]bool{}
	return func(p *packet.Packet) bool {
		if p.Opcode.Fn() != packet.ReadRespOnly || seen[p.PSN] {
			return false
		}
		seen[p.PSN] = true
		return len(seen) > 2
	}
}

// slowACK loses all responses but the first, which comes a timeout and a quarter later.
func (s *stage) slowACK() func(p *packet.Packet) bool {
	deliver := s.link.ends[0]
	begun := s.link.now
	n := 0
	return func(p *packet.Packet) bool {
		if n++; n == 1 {
			frame := p.AppendEthernet(nil, [6]byte{}, [6]byte{})
			s.link.After(1_300_000, func() {
				s.link.taps[0].add(s.link.now, frame)
				deliver(frame)
			})
			return true
		}
		return s.link.now < begun+2_600_000
	}
}
