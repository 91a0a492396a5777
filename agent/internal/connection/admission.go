package connection

import (
	"unsafe"

	"ibwitness/packet"
	"ibwitness/verifier/smp"
)

// A flood of packets that each belong to a connection of their own would cost many times what other traffic does. So of the pairs of hosts of a bucket only so
// many connections of few packets are followed at once; while there are as many, a packet that would begin another one is counted and not judged, until its flow
// has shown that it goes on. Ordinary traffic does not come near the limit, and which packets are judged does not depend on the number of workers, as the pairs of
// hosts of a bucket have one.

const (
	// MostAdmitted is how many connections of few packets a bucket may have.
	MostAdmitted = 8192
	// roomy is up to which weight a bucket has room for a pair of hosts.
	roomy = MostAdmitted - 1 - perHosts
	// grown is from how many packets on a connection is not a new one any more.
	grown = 16
	// perHosts is how many connections the first one of a pair of hosts counts for: the pair costs more than that connection.
	perHosts = 64
	// persists is with which packet a flow is followed although there are too many new connections.
	persists = grown
	// tallies is how many counters of packets that were refused a bucket has. After perTally for each of them all begin again: no flow becomes one that goes on
	// by sharing its counter with others.
	tallies, perTally = 1 << 18, 4
)

// admissionBucket is what is kept of the new connections among some pairs of hosts. The zero value has none.
type admissionBucket struct {
	list    []admitted
	weight  int     // of all in the list
	looked  int     // at which of them last
	tally   []uint8 // packets that were refused, by a hash of their flow
	refused int     // how many there were since tally was cleared
}

// admitted is a connection with few packets, or a pair of hosts without any.
type admitted struct {
	index  uint32 // of the connection, plus one; 0: none. It is no pointer, which would keep the memory of a connection that was merged into another.
	weight int32
}

// stays reports whether it is one still.
func (y *admitted) stays(all *pairs) bool {
	if y.index == 0 {
		return true
	}
	c := all.at(y.index - 1)
	return !c.Dead() && !c.Leaving() && c.Ends[0].Packets()+c.Ends[1].Packets() < grown
}

// bucketOf is the bucket of a packet's pair of hosts.
func bucketOf(p *packet.Packet) int { return packet.Bucket(p.Src, p.Dst) }

// admission are the connections that have just begun.
type admission struct {
	buckets [packet.Buckets]admissionBucket
	full    int // how many buckets have no room for a pair of hosts
	refused uint64
}

// RefusedWhy says of packets that were refused why they were not judged.
const RefusedWhy = "first packets of connections that began while very many others did: not judged, and of what follows nothing is proven by their absence"

// Refuse reports whether a packet begins a connection for which there is no room. It counts it then.
func (t *Table) Refuse(p *packet.Packet) bool {
	if t.admission.full == 0 {
		return false
	}
	b := &t.admission.buckets[bucketOf(p)]
	if b.weight <= roomy || smp.Is(p) {
		return false
	}
	weight, way := 1, uint32(0)
	if t.hosts.used > 0 {
		way = t.hosts.slot(p.Src, p.Dst).way
	}
	switch {
	case way == 0:
		weight += perHosts
	case p.IsCNP() || t.followed(p, uint64(way-1)):
		return false
	}
	if b.room(t, weight) || b.persists(p) {
		return false
	}
	t.admission.refused++
	if way > 0 {
		t.hosts.list[(way-1)>>1].answered[(way-1)&1] = true // it may be an answer
		t.Judge.Unfollowed(p)
	}
	return true
}

// Crowded reports whether packets of a pair of hosts, or of others in its bucket, were refused.
func (t *Table) Crowded(p *packet.Packet) bool {
	return t.admission.refused > 0 && t.admission.buckets[bucketOf(p)].tally != nil
}

// followed reports whether a packet from one host to another is of a connection that is followed.
func (t *Table) followed(p *packet.Packet, way uint64) bool {
	key, extra := way<<24|uint64(p.DestQP), uint32(0)
	switch p.Opcode.Service() {
	case packet.UD:
		extra = p.SrcQP + 1
	case packet.RD:
		key, extra = way<<24|uint64(p.EEC), contextFlow
	}
	return t.flows.find(key, extra) != nil
}

// room reports whether a bucket has room for one more, and now and then looks at one that is there.
func (b *admissionBucket) room(t *Table, weight int) bool {
	if len(b.list) > 0 && b.refused%4 == 0 {
		b.looked++
		if b.looked >= len(b.list) {
			b.looked = 0
		}
		if y := &b.list[b.looked]; !y.stays(&t.pairs) {
			t.admission.add(b, -int(y.weight))
			last := len(b.list) - 1
			*y, b.list[last] = b.list[last], admitted{}
			b.list = b.list[:last]
		}
		b.fetchNext(t)
	}
	return b.weight+weight <= MostAdmitted
}

// fetchNext fetches what is read of the newcomer that is looked at next.
func (b *admissionBucket) fetchNext(t *Table) {
	next := b.looked + 1
	if next >= len(b.list) || t.Few() {
		return
	}
	if y := &b.list[next]; y.index != 0 {
		c := t.pairs.at(y.index - 1)
		t.ahead.lines.Add(unsafe.Pointer(&c.state))
		QPs(c).Fetch(&t.ahead.lines)
	}
}

// persists counts a packet that is refused, and reports whether enough of its flow were.
func (b *admissionBucket) persists(p *packet.Packet) bool {
	if b.refused++; b.refused > tallies*perTally {
		b.refused = 1
		clear(b.tally)
	}
	if b.tally == nil {
		b.tally = make([]uint8, tallies)
	}
	n := b.tallyOf(p)
	*n = min(*n+1, persists)
	return *n == persists
}

// tallyOf is the counter of a packet's flow.
func (b *admissionBucket) tallyOf(p *packet.Packet) *uint8 {
	to := uint64(p.DestQP)<<24 | uint64(p.SrcQP)
	if p.Opcode.Service() == packet.RD {
		to = uint64(p.EEC)
	}
	return &b.tally[mix(mix(p.Src.Lo*31+p.Dst.Lo)^mix(p.Src.Hi*31+p.Dst.Hi)^mix(to))%tallies]
}

// fetchTally fetches the counter of the flow of a packet between two hosts that are not known, where it may be turned away.
func (t *Table) fetchTally(p *packet.Packet) {
	if t.admission.full == 0 {
		return
	}
	if b := &t.admission.buckets[bucketOf(p)]; b.tally != nil && b.weight > roomy {
		t.ahead.lines.Add(unsafe.Pointer(b.tallyOf(p)))
	}
}

// add adds to the weight of a bucket.
func (s *admission) add(b *admissionBucket, weight int) {
	was := b.weight > roomy
	b.weight += weight
	switch is := b.weight > roomy; {
	case is && !was:
		s.full++
	case was && !is:
		s.full--
	}
}

// Size is how many connections and pairs of hosts a table has.
type Size struct {
	Connections uint32
	Hosts       int
}

func (t *Table) Size() Size { return Size{t.pairs.n, len(t.hosts.list)} }

// Begun notes the connections and the pairs of hosts that a packet began, since the table had a size.
func (t *Table) Begun(p *packet.Packet, since Size) {
	if t.Size() != since {
		t.admission.begun(t, p, since)
	}
}

func (s *admission) begun(t *Table, p *packet.Packet, since Size) {
	b := &s.buckets[bucketOf(p)]
	weight := (len(t.hosts.list) - since.Hosts) * perHosts
	for n := since.Connections; n < t.pairs.n; n++ {
		s.add(b, weight+1)
		b.list = append(b.list, admitted{n + 1, int32(weight + 1)})
		weight = 0
	}
	if weight > 0 {
		s.add(b, weight)
		b.list = append(b.list, admitted{weight: int32(weight)})
	}
}

// forget drops what is not new any more, or leaves. A bucket is crowded until no packet is refused from one time to the next.
func (s *admission) forget(all *pairs) {
	for i := range s.buckets {
		b := &s.buckets[i]
		stay := b.list[:0]
		weight := 0
		for _, y := range b.list {
			if y.index != 0 && y.stays(all) {
				stay = append(stay, y)
				weight += int(y.weight)
			}
		}
		b.list = stay
		s.add(b, weight-b.weight)
		if b.refused == 0 {
			b.tally = nil
		}
		b.refused = 0
		clear(b.tally)
	}
}

// renumber follows connections that have new indices, plus one.
func (s *admission) renumber(moved []uint32) {
	for i := range s.buckets {
		list := s.buckets[i].list
		for k := range list {
			list[k].index = moved[list[k].index-1]
		}
	}
}
