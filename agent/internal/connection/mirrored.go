package connection

import (
	"cmp"
	"slices"
	"time"

	"ibwitness/packet"
	"ibwitness/verifier"
)

// A mirror of two ports of one switch shows what passes between them twice: as it comes in at one and as it goes out at the other, among other packets. All bytes are the same, the IPv4 identification
// too, by which one that is retransmitted differs where its sender numbers its packets. Where it does not, each packet comes twice, in the same order, and new ones come between the copies.

const (
	// Of senders that number their packets, so many copies show a mirror, where they are so large a part of the packets (one of so many); of others, so many copies, new packets after a copy on the same
	// queue pair, and not more than one of so many without a copy.
	numberedCopies, numberedPart       = 8, 2
	otherCopies, otherTurns, otherPart = 16, 8, 8
	// alsoCopies is how many show it of the other direction of the same hosts.
	alsoCopies = 3
	// otherWindow is how soon a copy comes of a sender that does not number its packets: sooner than a timer has it retransmit.
	otherWindow = int64(time.Millisecond)
	// mostAwaited is how many packets are kept that may have a copy yet.
	mostAwaited = 1 << 14
	// vainWatches is how often the packets of a direction are looked at in vain.
	vainWatches = 3
)

// Mirrored is packets from one host to another that are in the capture twice, and are judged once.
type Mirrored struct {
	From, To      packet.Addr
	Copies, Once  uint64 // Once: those that were looked at and are no copies
	Least, Most   int64  // how long after the packet its copy came, nanoseconds
	Since         int64  // until then the copies were taken for other packets; 0: it was not found
	First, Newest uint64 // frames of copies
	Last          int64  // when the newest came
	Tap           uint16
	Numbered      bool // by their IPv4 identifications no copy was retransmitted
}

// mirrored is what is kept of a direction while its packets are looked at.
type mirrored struct {
	Mirrored
	awaited map[uint64]awaited
	queue   []queued // of them, oldest first, also those whose copy has come
	turns   int
	copied  map[uint32]bool // by destination QP, whether the newest was a copy
	id      uint16          // IPv4 identification and PSN of the newest
	psn     packet.PSN
	oneID   bool // packets with other PSNs have the same
	vain    uint8
	began   bool
	start   int64 // when they began to be looked at
	idle    int   // packets since then, or since the newest copy
}

// awaited is packets whose copies may come yet.
type awaited struct {
	at [2]int64
	n  uint8
}

type queued struct {
	key  uint64
	time int64
}

// Suspect has the packets between two hosts looked at: one of them came that is like an earlier one, or otherwise out of order.
func (t *Table) Suspect(p *packet.Packet) {
	if p.Station == 0 || t.Several || t.hosts.used == 0 {
		return
	}
	for _, w := range [2][2]packet.Addr{{p.Src, p.Dst}, {p.Dst, p.Src}} {
		h := t.hosts.slot(w[0], w[1])
		if h.way == 0 || h.watched > 0 && h.settled {
			continue
		}
		m := t.mirrors[h.way-1]
		if m == nil {
			m = &mirrored{Mirrored: Mirrored{From: w[0], To: w[1]}}
			if t.mirrors == nil {
				t.mirrors = map[uint32]*mirrored{}
			}
			t.mirrors[h.way-1] = m
		}
		if m.vain < vainWatches {
			m.vain++
			m.restart(p.Time)
			t.watchRouted(h, (h.way-1)>>1, (h.way-1)&1, p.Time)
		}
	}
}

// restart begins to look at packets.
func (m *mirrored) restart(now int64) {
	m.awaited, m.queue, m.copied, m.turns, m.start, m.idle = map[uint64]awaited{}, nil, map[uint32]bool{}, 0, now, 0
	if m.Since == 0 {
		m.Copies, m.Once, m.Least, m.Most = 0, 0, 0, 0
	}
}

// watchMirrored has the packets of a direction looked at for longer, while a copy may come yet, and reports whether it has.
func (t *Table) watchMirrored(h *hostSlot, now int64) bool {
	m := t.mirrors[h.way-1]
	if m == nil || m.awaited == nil {
		return false
	}
	if m.idle < mostAwaited && (m.Since != 0 || now-m.start < 2*verifier.CopyTime) {
		h.watched = laterWatched
		return true
	}
	m.awaited, m.queue, m.copied = nil, nil, nil
	return false
}

// mirroredCopy takes a packet of a direction that is looked at, and reports whether it is the copy of one, to be taken out.
func (t *Table) mirroredCopy(p *packet.Packet, h *hostSlot) bool {
	m := t.mirrors[h.way-1]
	if m == nil || m.awaited == nil {
		return false
	}
	m.oneID = m.oneID || m.began && p.IPID == m.id && p.PSN != m.psn
	m.began, m.id, m.psn = true, p.IPID, p.PSN
	numbered := verifier.Numbered(p) && !m.oneID
	back := t.mirrors[(h.way-1)^1]
	if !numbered && m.Since == 0 && back != nil && p.Opcode.Fn() == packet.Acknowledge && p.Syndrome == packet.NAKSequence && back.Since == 0 {
		back.turns = 0 // what it asks for is retransmitted, and not copied
	}
	least, most := int64(0), otherWindow
	switch {
	case numbered:
		most = verifier.CopyTime
	case m.Since != 0:
		least, most = m.Least/2, min(2*m.Most, otherWindow)
	}
	m.forget(p.Time - verifier.CopyTime)
	key := identity(p) ^ uint64(p.HopLmt)<<1
	a := m.awaited[key]
	if a.n > 0 && p.Time-a.at[0] > most {
		a.at[0], a.n = a.at[1], a.n-1
	}
	since := p.Time - a.at[0]
	if a.n == 0 || since < least || since > most {
		m.await(p, key, a)
		return false
	}
	a.at[0], a.n = a.at[1], a.n-1
	m.awaited[key] = a
	m.copied[p.DestQP], m.idle = true, 0
	if m.Copies == 0 || since < m.Least {
		m.Least = since
	}
	m.Most = max(m.Most, since)
	if m.Copies++; m.Copies == 1 {
		m.First, m.Tap, m.Numbered = p.Frame, p.Tap, true
	}
	m.Newest, m.Last, m.Numbered = p.Frame, p.Time, m.Numbered && numbered
	if m.Since != 0 {
		m.vain, t.repeats.ecn = 0, p.TClass&3
		return true
	}
	if m.shows(numbered, back, p.Time) {
		m.Since, m.vain = p.Time, 0
	}
	return false
}

// await takes a packet that is no copy.
func (m *mirrored) await(p *packet.Packet, key uint64, a awaited) {
	m.Once++
	m.idle++
	if m.copied[p.DestQP] {
		m.copied[p.DestQP] = false
		m.turns++
	}
	if len(m.queue) >= mostAwaited {
		m.forget(m.queue[len(m.queue)/2].time)
	}
	if a.n < uint8(len(a.at)) {
		a.at[a.n], a.n = p.Time, a.n+1
	}
	m.awaited[key] = a
	m.queue = append(m.queue, queued{key, p.Time})
}

// forget drops packets that came before a time.
func (m *mirrored) forget(before int64) {
	n := 0
	for ; n < len(m.queue) && m.queue[n].time < before; n++ {
		if a, is := m.awaited[m.queue[n].key]; is && (a.n == 0 || a.at[a.n-1] <= m.queue[n].time) {
			delete(m.awaited, m.queue[n].key)
		}
	}
	m.queue = m.queue[n:]
}

// shows reports whether the copies of a direction are those of a mirror. back is the other direction.
func (m *mirrored) shows(numbered bool, back *mirrored, now int64) bool {
	alone := uint64(0) // packets whose copies have not come
	for _, q := range m.queue {
		if now-q.time > 2*m.Most && m.awaited[q.key].n > 0 {
			alone++
		}
	}
	least := uint64(otherCopies)
	if numbered {
		least = numberedCopies
	}
	if back != nil && back.Since != 0 {
		least = alsoCopies
	}
	if numbered {
		return m.Copies >= least && numberedPart*m.Copies >= m.Copies+alone
	}
	return m.Copies >= least && (m.turns >= otherTurns || least == alsoCopies && m.turns >= alsoCopies-1) && otherPart*alone <= m.Copies
}

// Mirrored lists the directions of pairs of hosts whose packets are in the capture twice, by addresses.
func (t *Table) Mirrored() (list []Mirrored) {
	for _, m := range t.mirrors {
		if m.Since != 0 {
			list = append(list, m.Mirrored)
		}
	}
	slices.SortFunc(list, func(a, b Mirrored) int {
		return cmp.Or(cmp.Compare(a.From.Hi, b.From.Hi), cmp.Compare(a.From.Lo, b.From.Lo), cmp.Compare(a.To.Hi, b.To.Hi), cmp.Compare(a.To.Lo, b.To.Lo))
	})
	return list
}

// Between reports whether packets between two hosts are meant, either way.
func (m *Mirrored) Between(a, b packet.Addr) bool {
	return m.From == a && m.To == b || m.From == b && m.To == a
}
