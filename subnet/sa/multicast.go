package sa

import (
	"bytes"
	"encoding/binary"
	"slices"

	"ibwitness/mad"
)

// Bits of ComponentMask of an MCMemberRecord. A group is created by who gives PortGID, Q_Key, TClass, P_Key, SL, FlowLabel and JoinState.
const (
	maskMGID      = 1 << 0
	maskPortGID   = 1 << 1
	maskMTU       = 1<<4 | 1<<5 // with its selector
	maskJoinState = 1 << 16
	maskCreate    = maskPortGID | 1<<2 | 1<<6 | 1<<7 | 1<<12 | 1<<13 | maskJoinState
)

// LIDs of multicast groups (section 4.1.3).
const (
	firstMLID = 0xC000
	lastMLID  = 0xFFFE
)

const (
	fullMember = 1 << 0 // of JoinState
	joinStates = 0xF
)

// group is a multicast group.
type group struct {
	record  []byte // MCMemberRecord of it, without a member
	members []member
}

// member is a port in a group. Invariant: state != 0.
type member struct {
	port  []byte // its GID
	state uint64
	proxy bool // another port has joined for it
}

func (g *group) index(port []byte) int {
	return slices.IndexFunc(g.members, func(m member) bool { return bytes.Equal(m.port, port) })
}

// recordOf is the MCMemberRecord of a member.
func (g *group) recordOf(m member) []byte {
	r := bytes.Clone(g.record)
	copy(mad.LayoutMCMemberRecord.Field("portGID").Bytes(r), m.port)
	mad.LayoutMCMemberRecord.Field("joinState").PutUint(r, m.state)
	mad.LayoutMCMemberRecord.Field("proxyJoin").PutUint(r, 0)
	if m.proxy {
		mad.LayoutMCMemberRecord.Field("proxyJoin").PutUint(r, 1)
	}
	return r
}

// members are the MCMemberRecords of all groups.
func (a *Agent) members() (list [][]byte) {
	for _, g := range a.groups {
		for _, m := range g.members {
			list = append(list, g.recordOf(m))
		}
	}
	return list
}

func (a *Agent) group(mgid []byte) *group {
	i := slices.IndexFunc(a.groups, func(g *group) bool { return bytes.Equal(mad.LayoutMCMemberRecord.Field("MGID").Bytes(g.record), mgid) })
	if i < 0 {
		return nil
	}
	return a.groups[i]
}

// legalMGID reports whether a group may have an MGID (o15-0.1.5).
func legalMGID(g []byte) bool {
	const signature, linkLocal = 0xA01B, 2
	return g[0] == 0xFF && g[1]&0xE0 == 0 && (binary.BigEndian.Uint16(g[2:]) != signature || g[1]&15 != linkLocal)
}

// greaterMTU reports whether a request asks for an MTU that is greater than the greatest, 4096 bytes.
func greaterMTU(r []byte) bool {
	const greaterThan, mtu4096 = 0, 5
	l := mad.LayoutMCMemberRecord
	return l.Field("MTUSelector").Uint(r) == greaterThan && l.Field("MTU").Uint(r) >= mtu4096
}

// join answers Set(MCMemberRecord): a port joins a group, which is created where there is none.
func (a *Agent) join(from End, b []byte, mask uint64) {
	l := mad.LayoutMCMemberRecord
	r := b[mad.SAHeaderSize : mad.SAHeaderSize+l.Size]
	mgid, port, state := l.Field("MGID").Bytes(r), l.Field("portGID").Bytes(r), l.Field("joinState").Uint(r)
	g := a.group(mgid)
	if status := a.unjoinable(g, mask, r, state); status != 0 {
		a.refuse(from, b, status)
		return
	}
	if g == nil {
		a.mlid++
		g = &group{record: bytes.Clone(r)}
		for name, v := range map[string]uint64{"MLID": uint64(a.mlid), "MTUSelector": 2, "MTU": 4, "rateSelector": 2, "rate": 3, "packetLifeTimeSelector": 2, "packetLifeTime": 18} {
			l.Field(name).PutUint(g.record, v)
		}
		if a.faults[mlidUnicast] {
			l.Field("MLID").PutUint(g.record, 1)
		}
		a.groups = append(a.groups, g)
	}
	i := g.index(port)
	if i < 0 {
		i = len(g.members)
		g.members = append(g.members, member{port: bytes.Clone(port), proxy: !bytes.Equal(port, a.gid(from.LID))})
	}
	g.members[i].state |= state
	out := a.answer(b, 0)
	copy(out[mad.SAHeaderSize:], g.recordOf(g.members[i]))
	a.send(from, out)
}

// unjoinable is the status by which a join is refused, or 0.
func (a *Agent) unjoinable(g *group, mask uint64, r []byte, state uint64) mad.Status {
	mgid := mad.LayoutMCMemberRecord.Field("MGID").Bytes(r)
	switch {
	case mask&(maskMGID|maskPortGID) != maskMGID|maskPortGID, !knows(mad.AttrMCMemberRecord, mask):
		return statusInvalid
	case state&joinStates == 0 && (g == nil || !a.faults[joinStateUnchecked]):
		return statusInvalid
	case g == nil && !legalMGID(mgid) && !a.faults[mgidUnchecked]:
		return statusInvalid
	case g == nil && state&fullMember == 0:
		return statusInvalid
	case g == nil && mask&maskCreate != maskCreate && !a.faults[createIncompleteTaken]:
		return statusMissing
	case g == nil && mask&maskMTU == maskMTU && greaterMTU(r) && !a.faults[mtuUnchecked]: // o15-0.1.8
		return statusInvalid
	case g == nil:
		if len(a.groups) == mostGroups || a.mlid == lastMLID {
			return statusRoom
		}
		return 0
	case len(g.members) == mostMembers:
		return statusRoom
	case !agrees(mad.AttrMCMemberRecord, mask, r, g.record, "portGID", "joinState", "MTUSelector", "MTU") && !a.faults[joinDifferingTaken], a.faults[joinRefused]:
		return statusInvalid
	}
	return 0
}

// leave answers Delete(MCMemberRecord): a member gives up states that it has, and no others (o15-0.1.14), and who is not its port gives them up only where another port has joined for it
// (o15-0.2.1). A group without members ends.
func (a *Agent) leave(from End, b []byte, mask uint64) {
	l := mad.LayoutMCMemberRecord
	r := b[mad.SAHeaderSize : mad.SAHeaderSize+l.Size]
	g, state := a.group(l.Field("MGID").Bytes(r)), l.Field("joinState").Uint(r)
	const needed = maskMGID | maskPortGID | maskJoinState
	i := -1
	if g != nil {
		i = g.index(l.Field("portGID").Bytes(r))
	}
	switch {
	case g != nil && i < 0 && a.faults[leavePortUnchecked]:
		a.send(from, a.answer(b, 0))
		return
	case i < 0, mask&needed != needed, a.faults[leaveRefused]:
		a.refuse(from, b, statusInvalid)
		return
	case !g.members[i].proxy && !bytes.Equal(g.members[i].port, a.gid(from.LID)) && !a.faults[requesterUnchecked]:
		a.refuse(from, b, statusInvalid)
		return
	case (state == 0 || state&^g.members[i].state != 0) && !a.faults[leaveStateUnchecked]:
		a.refuse(from, b, statusInvalid)
		return
	}
	out := a.answer(b, 0)
	copy(out[mad.SAHeaderSize:], g.recordOf(g.members[i]))
	a.send(from, out)
	if a.faults[groupKept] {
		return
	}
	if g.members[i].state &^= state; g.members[i].state == 0 {
		g.members = slices.Delete(g.members, i, i+1)
	}
	if len(g.members) == 0 {
		a.groups = slices.DeleteFunc(a.groups, func(o *group) bool { return o == g })
	}
}
