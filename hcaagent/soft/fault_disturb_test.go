package soft_test

import (
	"bytes"

	"ibwitness/hcaagent/soft"
	"ibwitness/packet"
)

// disturb has happen on the link what a fault needs.
func (s *stage) disturb(n soft.Need) {
	count := 0
	lose := func(to int, which func(p *packet.Packet) bool) {
		deliver := s.link.ends[to]
		s.link.ends[to] = func(frame []byte) {
			var p packet.Packet
			packet.DecodeIP(&p, frame[14:], len(frame)-14)
			if which(&p) {
				// nor does the tap of that end see it
				c := &s.link.taps[to]
				c.frames = c.frames[:len(c.frames)-1]
				if s.verbs {
					s.events = s.events[:len(s.events)-1]
				}
				return
			}
			deliver(frame)
		}
	}
	once := func(f packet.Fn, at int) func(p *packet.Packet) bool {
		return func(p *packet.Packet) bool {
			if p.Opcode.Fn() != f {
				return false
			}
			count++
			return count == at
		}
	}
	switch n {
	case soft.ShortResponse:
		s.shorten()
	case soft.Shared:
		_ = s.ends[1].ModifySRQ(ctx, s.ends[1].srq, 60) // before the requests come
	case soft.LostRequest:
		lose(1, once(packet.SendOnly, 2))
	case soft.LostAgain:
		first := packet.PSN(0)
		lose(1, func(p *packet.Packet) bool {
			if p.Opcode.Fn() == packet.WriteOnly && first == 0 {
				first = p.PSN
			}
			return first != 0 && p.PSN == first
		})
	case soft.SlowACK:
		lose(0, s.slowACK())
	case soft.LostACK, soft.TimerOff:
		lose(0, func(p *packet.Packet) bool {
			if !p.Info().Response {
				return false
			}
			count++
			return count >= 6 && count <= 12
		})
	case soft.LostReadAndSend:
		sends := 0
		lose(0, once(packet.ReadRespOnly, 1))
		lose(1, func(p *packet.Packet) bool {
			if p.Opcode.Fn() == packet.SendOnly {
				sends++
			}
			return p.Opcode.Fn() == packet.SendOnly && sends == 3
		})
	case soft.LostThenSilent:
		lose(0, func(*packet.Packet) bool { count++; return count == 1 || count > 6 })
	case soft.LostMiddle:
		lose(1, once(packet.SendMiddle, 1))
	case soft.LostFirst:
		lose(1, once(packet.SendFirst, 1))
	case soft.ExtendedLost:
		lose(0, firstAnswers())
	case soft.Congested, soft.CongestedBurst, soft.MarkedAnswers, soft.MarkedCNPs:
		s.link.mark = marks(n)
	case soft.LostRead:
		lose(0, once(packet.ReadRespMiddle, 2))
	case soft.Silence:
		lose(0, func(*packet.Packet) bool { count++; return count > 5 })
	case soft.Damaged:
		deliver := s.link.ends[1]
		s.link.ends[1] = func(frame []byte) {
			if count++; count == 2 {
				frame = bytes.Clone(frame)
				frame[70] ^= 0xFF
				c := &s.link.taps[1]
				c.frames[len(c.frames)-1].Data = frame
				if s.verbs {
					s.events[len(s.events)-1] = c.frames[len(c.frames)-1]
				}
			}
			deliver(frame)
		}
	case soft.Duplicate, soft.LateDuplicate:
		late := int64(5_000)
		if n == soft.LateDuplicate {
			late = 19_000
		}
		deliver := s.link.ends[1]
		s.link.ends[1] = func(frame []byte) {
			deliver(frame)
			var p packet.Packet
			packet.DecodeIP(&p, frame[14:], len(frame)-14)
			if f := p.Opcode.Fn(); f == packet.FetchAdd || f == packet.SendOnly {
				s.link.After(late, func() {
					s.link.taps[1].add(s.link.now, frame)
					deliver(frame)
				})
			}
		}
	}
}
