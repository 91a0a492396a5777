package verifier

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// groups is what one shard has seen of multicast groups on InfiniBand. What the subnet administrator tells of a group and what is sent to it
// may be in different shards: see JudgeGroups.
type groups struct {
	told map[packet.Addr]groupTold
	used map[groupUse]*groupPacket
}

// groupTold is the LID of a group, as the subnet administrator has told it.
type groupTold struct {
	mlid    uint16
	changed bool // another LID was told before
	time    int64
}

type groupUse struct {
	mgid packet.Addr
	dlid uint16
}

// groupPacket is the first packet of a use.
type groupPacket struct {
	packet.Packet
	c      *qp.Pair
	from   int
	judged bool
}

// groupsMost is how many groups are kept.
const groupsMost = 1 << 12

// Where the fields of a response of the subnet administrator stand that tells of a group (tables T10, T13).
const (
	saClass, saGetResp, saMCMember = 3, 0x81, 0x38
	saData, saMLID                 = 56, saData + 36
)

// group notes what a datagram tells or uses of a group.
func (v *Verifier) group(c *qp.Pair, from int, p *packet.Packet) {
	if b := p.Payload; p.SrcQP == 1 && len(b) > saMLID+1 && b[1] == saClass && b[3] == saGetResp && binary.BigEndian.Uint16(b[4:]) == 0 &&
		binary.BigEndian.Uint16(b[16:]) == saMCMember && b[saData] == 0xFF && len(v.groups.told) < groupsMost {
		mgid, mlid := packet.GIDAddr(b[saData:saData+16]), binary.BigEndian.Uint16(b[saMLID:])
		if v.groups.told == nil {
			v.groups.told = map[packet.Addr]groupTold{}
		}
		old, ok := v.groups.told[mgid]
		if !ok {
			old = groupTold{mlid: mlid, time: p.Time}
		}
		old.changed = old.changed || old.mlid != mlid
		v.groups.told[mgid] = old
	}
	if p.DestQP != packet.PSNMask || p.Has&(packet.HasLRH|packet.HasGRH) != packet.HasLRH|packet.HasGRH || !p.DGID.IsMulticast() || p.DLID < 0xC000 {
		return
	}
	k := groupUse{p.DGID, p.DLID}
	if v.groups.used[k] == nil && len(v.groups.used) < groupsMost {
		if v.groups.used == nil {
			v.groups.used = map[groupUse]*groupPacket{}
		}
		v.groups.used[k] = &groupPacket{Packet: *bare(p), c: c, from: from}
	}
}

// JudgeGroups holds the packets to multicast groups that the shards have seen against what any of them was told of the groups (rule UD-MC-002).
func JudgeGroups(all ...*Verifier) {
	told := map[packet.Addr]groupTold{}
	for _, v := range all {
		for mgid, g := range v.groups.told {
			if old, ok := told[mgid]; ok {
				g.changed = g.changed || old.changed || old.mlid != g.mlid
				g.time = min(g.time, old.time)
			}
			told[mgid] = g
		}
	}
	if len(told) == 0 {
		return
	}
	for _, v := range all {
		var uses []*groupPacket
		for k, u := range v.groups.used {
			if g, ok := told[k.mgid]; ok && !g.changed && !u.judged {
				uses = append(uses, u)
			}
		}
		slices.SortFunc(uses, func(a, b *groupPacket) int { return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Frame, b.Frame)) })
		for _, u := range uses {
			u.judged = true
			v.covered(rule.UDMC002)
			if g := told[u.DGID]; g.mlid != u.DLID {
				v.report(u.c, u.from, &u.Packet, verdict{
					rule: rule.UDMC002, class: proven(g.time <= u.Time), role: rule.Sender,
					expected: fmt.Sprintf("DLID 0x%04x, which the subnet administrator gives for %v", g.mlid, u.DGID), actual: fmt.Sprintf("DLID 0x%04x", u.DLID),
				})
			}
		}
	}
}
