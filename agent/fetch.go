package agent

import "ibwitness/packet"

// fetched is from how many flows on their state is fetched from memory ahead of the packets: fewer stay in the processor's cache.
const fetched = 2048

// ahead is what is known of the packets whose state is being fetched.
type ahead struct {
	keys [portion]uint64
	ways [portion]uint32 // of the connection, twice, plus the end that sent the packet
	sum  uint64          // of what was read: it keeps the compiler from leaving the reads out
}

// fetch reads what the packets will need, step by step for all of them, so that the processor waits for many lines of memory at
// once and not for one after the other. It changes nothing.
func (t *Transport) fetch(packets []packet.Packet) {
	if t.flows.used < fetched {
		return
	}
	f := &t.fetching
	sum := uint64(0)
	for i := range packets {
		p := &packets[i]
		f.keys[i] = 0
		if s := t.hosts.slot(p.Src, p.Dst); s.way != 0 {
			f.keys[i] = uint64(s.way-1)<<24 | uint64(p.DestQP) + 1
			sum += t.flows.touch(f.keys[i])
		}
	}
	for i := range packets {
		f.ways[i] = 0
		if f.keys[i] == 0 {
			continue
		}
		if id, ok := t.flows.get(f.keys[i]-1, 0); ok {
			f.ways[i] = id + 1
			sum += uint64(t.pairs.at(id >> 1).PMTU)
		}
	}
	for i := range packets {
		if id := f.ways[i] - 1; f.ways[i] != 0 {
			sum += t.pairs.at(id>>1).Touch(int(id&1), packets[i].Info().Request)
		}
	}
	for i := range packets {
		if id := f.ways[i] - 1; f.ways[i] != 0 {
			sum += t.pairs.at(id>>1).TouchQueues(int(id&1), &packets[i])
		}
	}
	f.sum += sum
}
