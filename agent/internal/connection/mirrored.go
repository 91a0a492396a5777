package connection

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"ibwitness/packet"
	"ibwitness/verifier"
)

// A mirror of two ports of one switch shows what passes between them twice: as it comes in at one and as it goes out at the other, among other packets. All bytes are the same, the IPv4 identification
// too, by which one that is retransmitted differs where its sender numbers its packets. Where it does not, each packet comes twice, in the same order, and new ones come between the copies.

const (
	// Of senders that number their packets, so many copies show a mirror, where there is not more than one packet without a copy for so many, and new packets come after copies on the same queue pair so often; of others, so many copies, and new packets after a copy on the
	// same queue pair.
	numberedCopies, numberedTurns, numberedPart = 8, 2, 2
	otherCopies, otherTurns, otherPart          = 16, 8, 8
	// alsoCopies is how many show it of the other direction of the same hosts.
	alsoCopies = 3
	// otherWindow is how soon a copy comes of a sender that does not number its packets, sooner than a timer has it retransmit, where all that came before has come twice when a new packet comes.
	otherWindow = int64(time.Millisecond)
	// unlikeTime is by how much more than four times as late as others copies come at most that show it there.
	unlikeTime = int64(5 * time.Microsecond)
	// mostAwaited is how many packets are kept that may have a copy yet.
	mostAwaited = 1 << 14
	// suspectWatched is how many packets of a direction are looked at from a suspicion on where none is a copy, in CopyTime at least.
	suspectWatched = 32
	// vainWatches is how often the packets of a direction are looked at in vain. One time that takes laterWatched packets or more counts as longWatch.
	vainWatches, longWatch = 15, 5
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
	Numbered      bool   // by their IPv4 identifications no copy was retransmitted
	Alone         uint64 // packets that lack their copy, since that was found: the capture lost one of the two
	LateTwice     uint64 // packets that came after later ones and have a copy: they passed so
	late          map[uint32]uint32
}

// Late is how many packets to a queue pair, requests or else responses, came after later ones as the first of the two is missing: see displaced.
func (m *Mirrored) Late(qpn uint32, responses bool) uint32 { return m.late[streamTo(qpn, responses)] }

// AllLate is how many did to any.
func (m *Mirrored) AllLate() (n uint64) {
	for _, late := range m.late {
		n += uint64(late)
	}
	return n
}

// mirrored is what is kept of a direction while its packets are looked at.
type mirrored struct {
	Mirrored
	awaited map[uint64]awaited
	queue   []queued              // of them, oldest first, also those whose copy has come
	alone   uint64                // packets whose copies have not come, of those that are kept no longer, while it is not found
	turns   int                   // new packets after copies on the same queue pair
	within  int                   // of them, those that came before all of the older ones had come twice, as one that retransmits does not send them
	newest  map[uint32]newestOfQP // by streamTo
	id      uint16                // IPv4 identification and PSN of the newest
	psn     packet.PSN
	behind  uint64 // frame of the newest that came after later ones, and no second of these before it
	oneID   bool   // packets with other PSNs have the same
	wraps   bool   // the newest 0 came among numbers as a counter gives them that begins again
	mixed   bool   // some copies came in another order than their packets
	vain    uint8
	began   bool
	start   int64 // when they began to be looked at
	idle    int   // packets since then, or since the newest copy
}

// newestOfQP is what came last to a queue pair, of the requests or of the responses.
type newestOfQP struct {
	psn            packet.PSN // of the newest that is no copy
	id             uint16     // its IPv4 identification
	shown          packet.PSN // of the newest whose copy has come
	shownAt        int64      // when the packet came whose copy came last
	copied, within bool       // the newest was a copy, and of an older one than that
}

// streamTo tells the requests to a queue pair from the responses to it, which have PSNs of their own.
func streamTo(qpn uint32, responses bool) uint32 {
	if responses {
		return qpn | 1<<31
	}
	return qpn
}

// streamOf is what a packet is of.
func streamOf(p *packet.Packet) uint32 { return streamTo(p.DestQP, p.Opcode.Info().Response) }

// isBehind reports whether a packet that is no copy, and comes after later ones, may be the second of two of which the capture lost the first:
// no second of a later one has come, as each mirrored port shows its packets in order, unless the copies are mixed.
func (q *newestOfQP) isBehind(p *packet.Packet, mixed bool) bool {
	return p.PSN.Before(q.psn) && (mixed || q.shown.Before(p.PSN))
}

// SecondOnly reports whether a packet that came after later ones may be the second of two that mirrored ports show, of which the capture lost the
// first, of a sender that numbers its packets.
func (t *Table) SecondOnly(p *packet.Packet) bool {
	h := t.hosts.slot(p.Src, p.Dst)
	if h.way == 0 || t.Several {
		return false
	}
	m := t.mirrors[h.way-1]
	return m != nil && m.Since != 0 && m.Numbered && !m.oneID && m.behind == p.Frame
}

// awaited is packets whose copies may come yet.
type awaited struct {
	at        [2]int64
	n         uint8
	to        uint32 // displaced: see streamTo
	displaced bool
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
			h.watched = suspectWatched
		}
	}
}

// restart begins to look at packets.
func (m *mirrored) restart(now int64) {
	m.awaited, m.queue, m.newest, m.alone, m.turns, m.within, m.start, m.idle = map[uint64]awaited{}, nil, map[uint32]newestOfQP{}, 0, 0, 0, now, 0
	if m.Since == 0 {
		m.late = map[uint32]uint32{}
		m.Copies, m.Once, m.Least, m.Most = 0, 0, 0, 0
	}
}

// watchMirrored has the packets of a direction looked at for longer, while a copy may come yet, and reports whether it has.
func (t *Table) watchMirrored(h *hostSlot, now int64) bool {
	m := t.mirrors[h.way-1]
	if m == nil || m.awaited == nil {
		return false
	}
	looked := m.Copies + m.Once
	switch {
	case m.idle >= mostAwaited:
	case m.Since != 0:
		h.watched = laterWatched
		return true
	case now-m.start < verifier.CopyTime, m.Copies > 0 && (looked < laterWatched || now-m.start < 2*verifier.CopyTime):
		h.watched = suspectWatched
		return true
	}
	if looked >= laterWatched {
		m.vain += longWatch - 1
	}
	m.awaited, m.queue, m.newest = nil, nil, nil
	return false
}

// mirroredCopy takes a packet of a direction that is looked at, and reports whether it is the copy of one, to be taken out.
func (t *Table) mirroredCopy(p *packet.Packet, h *hostSlot) bool {
	m := t.mirrors[h.way-1]
	if m == nil || m.awaited == nil {
		return false
	}
	numbered := m.follow(p)
	back := t.mirrors[(h.way-1)^1]
	if !numbered && m.Since == 0 && back != nil && p.Opcode.Fn() == packet.Acknowledge && p.Syndrome == packet.NAKSequence && back.Since == 0 {
		back.restart(p.Time) // what it asks for is retransmitted, and not copied
	}
	least, most := int64(0), verifier.CopyTime
	if !numbered && m.Since != 0 {
		least, most = m.Least/2, min(2*m.Most, most)
	}
	m.forget(p.Time - verifier.CopyTime)
	key := identity(p) ^ uint64(p.HopLmt)<<1
	a := m.awaited[key]
	if a.n > 0 && p.Time-a.at[0] > most {
		a.at[0], a.n = a.at[1], a.n-1
	}
	at := a.at[0]
	since := p.Time - at
	if a.n == 0 || since < least || since > most {
		m.await(p, key, a)
		return false
	}
	if a.displaced {
		m.LateTwice++
	}
	a.at[0], a.n, a.displaced = a.at[1], a.n-1, false
	m.awaited[key] = a
	m.idle = 0
	q := m.newest[streamOf(p)]
	m.mixed = m.mixed || numbered && at < q.shownAt && p.PSN.Before(q.shown)
	q.copied, q.within, q.shown, q.shownAt = true, p.PSN.Before(q.psn), p.PSN, at
	m.newest[streamOf(p)] = q
	if m.Copies == 0 || since < m.Least {
		m.Least = since
	}
	m.Most = max(m.Most, since)
	if m.Copies++; m.Copies == 1 {
		m.First, m.Tap, m.Numbered = p.Frame, p.Tap, true
	}
	m.Newest, m.Last, m.Numbered = p.Frame, p.Time, m.Numbered && numbered
	if m.Since != 0 {
		h.watched, m.vain, t.repeats.ecn = laterWatched, 0, p.TClass&3
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
	to := streamOf(p)
	q, known := m.newest[to]
	switch {
	case !known || q.psn.Before(p.PSN):
		if q.copied {
			m.turns++
		}
		if q.within {
			m.within++
		}
		if !known {
			q.shown = p.PSN.Add(-1)
		}
		q = newestOfQP{psn: p.PSN, id: p.IPID, shown: q.shown}
	case q.isBehind(p, m.mixed):
		if m.behind = p.Frame; m.displaced(p, &q) {
			a.to, a.displaced = to, true
			if q.shown.Before(p.PSN) {
				q.shown = p.PSN
			}
		}
	}
	m.newest[to] = q
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
			if a.n > 0 {
				m.lacks(a, m.queue[n].time)
			}
			delete(m.awaited, m.queue[n].key)
		}
	}
	m.queue = m.queue[n:]
}

// lacks takes packets whose copies have not come, the newest of them at a time.
func (m *mirrored) lacks(a awaited, at int64) {
	early := m.early(at)
	if m.Numbered || !early {
		m.alone += uint64(a.n)
	}
	if early {
		return
	}
	if a.displaced {
		m.late[a.to]++
	}
	if m.Since != 0 {
		m.Alone += uint64(a.n)
	}
}

// early reports whether a packet came when they had just begun to be looked at: it may be the copy of one before.
func (m *mirrored) early(at int64) bool { return at-m.start <= m.Most }

// overdue is how many packets lack a copy that is to have come.
func (m *mirrored) overdue(now int64) (n uint64) {
	for _, q := range m.queue {
		if now-q.time > 2*m.Most && (m.Numbered || !m.early(q.time)) && m.awaited[q.key].n > 0 {
			n++
		}
	}
	return n
}

// shows reports whether the copies of a direction are those of a mirror. back is the other direction.
func (m *mirrored) shows(numbered bool, back *mirrored, now int64) bool {
	alone := m.alone + m.overdue(now)
	least := uint64(otherCopies)
	if numbered {
		least = numberedCopies
	}
	if back != nil && back.Since != 0 {
		least = alsoCopies
	}
	if numbered {
		return m.Copies >= least && m.turns >= numberedTurns && numberedPart*alone <= m.Copies
	}
	turns, enough := m.turns, otherTurns
	if m.Most > otherWindow {
		turns = m.within
	}
	if least == alsoCopies {
		enough = alsoCopies - 1
	}
	return m.Copies >= least && m.Most <= 4*m.Least+unlikeTime && turns >= enough && otherPart*alone <= m.Copies
}

// known is what is known by now, with what lacks a copy that is to have come.
func (m *mirrored) known() Mirrored {
	of := *m
	of.late = maps.Clone(m.late)
	for _, q := range m.queue {
		a := m.awaited[q.key]
		switch is := a.n > 0 && a.at[a.n-1] == q.time; {
		case is && m.Last-q.time > 2*m.Most:
			of.lacks(a, q.time)
		case is && a.displaced && of.late[a.to] > 0: // at the end, as others before
			of.late[a.to]++
		}
	}
	return of.Mirrored
}

// Mirrored lists the directions of pairs of hosts whose packets are in the capture twice, by addresses.
func (t *Table) Mirrored() (list []Mirrored) {
	for _, m := range t.mirrors {
		if m.Since != 0 {
			list = append(list, m.known())
		}
	}
	slices.SortFunc(list, func(a, b Mirrored) int {
		return cmp.Or(a.From.Compare(b.From), a.To.Compare(b.To))
	})
	return list
}

// Between reports whether packets between two hosts are meant, either way.
func (m *Mirrored) Between(a, b packet.Addr) bool {
	return m.From == a && m.To == b || m.From == b && m.To == a
}
