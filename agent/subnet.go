package agent

import (
	"ibwitness/packet"
	"ibwitness/verifier/smp"
)

// Subnet management packets are given to every shard, as what they tell of the ports holds for the packets of all. The one to which their
// addresses belong reports on them.

// foreign reports whether a packet is here only to learn from: another shard reports on it.
func (t *Transport) foreign(p *packet.Packet) bool {
	return t.shards > 1 && smp.Is(p) && shardOf(p, t.shards) != t.shard
}

// common reports whether a packet is given to every shard.
func common(p *packet.Packet) bool { return smp.Is(p) && p.ICRCState != packet.CRCBad }

// shardOf is the shard that a packet belongs to.
func shardOf(p *packet.Packet, shards int) int {
	return packet.Bucket(p.Src, p.Dst) % shards
}

// tables judges a packet by the tables of the subnet, where some are known.
func (t *Transport) tables(p *packet.Packet) {
	if p.Encap == packet.Native && p.DestQP != 0 && t.smp.Subnet.Known() {
		t.smp.Data(p)
	}
	if p.Link != 0 && p.Encap == packet.Native && p.DestQP != 0 {
		t.smp.Leaves(p)
	}
}
