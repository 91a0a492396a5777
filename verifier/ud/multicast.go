package ud

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/rule"
)

// groups is what one shard has seen of multicast groups on InfiniBand. What the subnet administrator reports of a group and what is sent to it
// may be in different shards: see JudgeGroups.
type groups struct {
	records map[groupMember]groupLID
	uses    map[groupUse]*groupPacket
}

// groupMember is a group, and a port that got a record of it.
type groupMember struct{ mgid, port packet.Addr }

// groupLID is the LID of a group, as the subnet administrator has reported it.
type groupLID struct {
	mlid    uint16
	changed bool // another LID was reported before
	time    int64
}

// add takes what another shard has seen of the same group.
func (g *groupLID) add(other groupLID, ok bool) {
	if ok {
		g.changed = g.changed || other.changed || other.mlid != g.mlid
		g.time = min(g.time, other.time)
	}
}

type groupUse struct {
	mgid, src packet.Addr
	dlid      uint16
}

// groupPacket is the first packet of a use, and when the newest one came.
type groupPacket struct {
	packet.Packet
	newest groupNewest
	judged bool
}

// groupNewest is what differs between the packets of a use.
type groupNewest struct {
	time  int64
	frame uint64
	psn   packet.PSN
}

const (
	// mostGroups is how many groups are kept.
	mostGroups = 1 << 12
	// recordSettled is how long after a port got the record of a group nothing that it had queued before comes any more.
	recordSettled = time.Second
)

// Offsets of the fields of a subnet administrator's response that describes a multicast group (tables T10, T13).
const (
	saClass, saGetResp, saMCMember = 3, 0x81, 0x38
	saData, saMLID                 = 56, saData + 36
)

// group notes a record of a group in a datagram, or that it is sent to a group.
func (v *Verifier) group(p *packet.Packet) {
	if p.SrcQP == 1 && isGroupRecord(p.Payload) && len(v.groups.records) < mostGroups {
		v.groupRecord(p)
	}
	if p.DestQP == packet.PSNMask && p.Has&(packet.HasLRH|packet.HasGRH) == packet.HasLRH|packet.HasGRH && p.DGID.IsMulticast() && p.DLID >= 0xC000 {
		v.groupUse(p)
	}
}

// isGroupRecord reports whether a management datagram is the response of a subnet administrator with the record of a multicast group.
func isGroupRecord(b []byte) bool {
	return len(b) > saMLID+1 && b[1] == saClass && b[3] == saGetResp && binary.BigEndian.Uint16(b[4:]) == 0 && binary.BigEndian.Uint16(b[16:]) == saMCMember && b[saData] == 0xFF
}

// groupRecord notes which LID the record of a multicast group gives for its MGID, and to whom.
func (v *Verifier) groupRecord(p *packet.Packet) {
	b := p.Payload
	mgid, mlid := packet.GIDAddr(b[saData:saData+16]), binary.BigEndian.Uint16(b[saMLID:])
	if v.groups.records == nil {
		v.groups.records = map[groupMember]groupLID{}
	}
	k, g := groupMember{mgid, p.Dst}, groupLID{mlid: mlid, time: p.Time}
	old, ok := v.groups.records[k]
	g.add(old, ok)
	v.groups.records[k] = g
}

// groupUse notes that a datagram is sent to a multicast group.
func (v *Verifier) groupUse(p *packet.Packet) {
	k := groupUse{p.DGID, p.Src, p.DLID}
	u := v.groups.uses[k]
	if u == nil && len(v.groups.uses) < mostGroups {
		if v.groups.uses == nil {
			v.groups.uses = map[groupUse]*groupPacket{}
		}
		u = &groupPacket{Packet: *p.Bare()}
		v.groups.uses[k] = u
	}
	if u != nil {
		u.newest = groupNewest{p.Time, p.Frame, p.PSN}
	}
}

// JudgeGroups compares the packets to multicast groups that the shards have seen with the records of the groups that any of them saw (rule UD-MC-002).
// A group may have been made again since with another LID, of which the capture shows nothing; but then its sender was not the one that got the record.
func JudgeGroups(all ...*Verifier) {
	records, anyone := map[groupMember]groupLID{}, map[packet.Addr]groupLID{}
	for _, v := range all {
		for k, g := range v.groups.records {
			one, both := g, g
			old, ok := records[k]
			one.add(old, ok)
			records[k] = one
			old, ok = anyone[k.mgid]
			both.add(old, ok)
			anyone[k.mgid] = both
		}
	}
	if len(records) == 0 {
		return
	}
	for _, v := range all {
		var uses []*groupPacket
		for k, u := range v.groups.uses {
			if g, ok := anyone[k.mgid]; ok && !g.changed && !u.judged {
				uses = append(uses, u)
			}
		}
		slices.SortFunc(uses, func(a, b *groupPacket) int { return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Frame, b.Frame)) })
		for _, u := range uses {
			u.judged = true
			v.Covered(rule.UDMC002)
			g, p := anyone[u.DGID], &u.Packet
			if g.mlid == u.DLID {
				continue
			}
			own, ok := records[groupMember{u.DGID, u.Src}]
			knew := ok && own.time <= u.Time
			if ok && !knew && u.newest.time-own.time > int64(recordSettled) { // it goes on with it
				knew = true
				p.Time, p.Frame, p.PSN = u.newest.time, u.newest.frame, u.newest.psn
			}
			v.ReportUnpaired(p, rule.Verdict{
				Rule: rule.UDMC002, Class: rule.Proven(knew), Role: rule.Sender,
				Wants: rule.Want(expect.DLID, uint64(g.mlid)), Expected: fmt.Sprintf("DLID 0x%04x, which the subnet administrator gives for %v", g.mlid, u.DGID), Actual: fmt.Sprintf("DLID 0x%04x", u.DLID),
			})
		}
	}
}
