package conform

import (
	"fmt"

	"ibwitness/mad"
)

// Bits of ComponentMask of an MCMemberRecord.
const (
	maskMGID      = 1 << 0
	maskPortGID   = 1 << 1
	maskGroupQKey = 1 << 2
	maskGroupMTU  = 1<<4 | 1<<5 // with its selector
	maskGroupPKey = 1 << 7
	maskJoinState = 1 << 16
	maskMember    = maskMGID | maskPortGID | maskJoinState
	maskCreate    = maskMember | maskGroupQKey | 1<<6 | maskGroupPKey | 1<<12 | 1<<13 // TClass, SL, FlowLabel too
)

// Bits of JoinState, and what the groups of the tester have.
const (
	fullMember = 1 << 0
	nonMember  = 1 << 1
	groupQKey  = 0x1234
)

// Unicast LIDs end before this one, and multicast LIDs before the permissive LID.
const firstMLID = 0xC000

// mgid is an MGID of the tester: transient, of a scope and signature (section 4.1.1).
func mgid(scope uint8, signature uint16, n uint8) []byte {
	return []byte{0xFF, 0x10 | scope, byte(signature >> 8), byte(signature), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x47, n}
}

// Scopes of MGIDs.
const (
	linkLocal = 2
	siteLocal = 5
)

// groupRecord is Set(MCMemberRecord) by which a port creates a group, or joins it, with components changed; or Delete or Get of it.
func groupRecord(method mad.Method, mask uint64, group, port []byte, state uint64, list ...change) inquiry {
	q := inquiry{
		method: method, a: mad.AttrMCMemberRecord, mask: mask, gids: map[string][]byte{"MGID": group, "portGID": port},
		values: map[string]uint64{"QKey": groupQKey, "PKey": 0xFFFF, "joinState": state},
	}
	for _, c := range list {
		q.values[c.name] = c.value
	}
	return q
}

var joins = &Test{
	ID: "X15_004", Title: "multicast groups: created and joined",
	Abstract: "A port creates a group, and joins it again, with all that this takes; what is missing or cannot be is refused.",
	Covers:   []Statement{{"o15-0.1.5", Stated}, {"o15-0.1.8", Stated}, {"o15-0.2.3", Stated}, {"o15-0.2.4", Stated}}, Topology: subnetTopology, Device: Node, Needs: Managed | Administration,
	Qualifiers: []string{administrationQualifier, keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		activeText,
		"Set MCMemberRecord of a group that there is not: MGID, PortGID of the tester, Q_Key, P_Key, TClass, SL, FlowLabel, JoinState FullMember.",
		"Set MCMemberRecord of it with MGID, PortGID and JoinState FullMember only.",
		"The same with another Q_Key than that of the group, and with JoinState 0.",
		"Create groups with MGIDs that cannot be: a first byte of 0xFE; flags of which bit 1 is 1; the signature 0xA01B of subnet administration with link-local scope.",
		"Create a group without a Q_Key.",
		"Create a group with an MTU greater than 4096: MTUSelector 0, MTU code 5.",
		"Delete the MCMemberRecord of the tester.",
	},
	Assertions: []Assertion{
		{"ours#01", "The Set that creates is answered with status 0, an MLID from 0xC000 to 0xFFFE, and the MGID, Q_Key and P_Key of the request."},
		{"ours#02", "The join of it is answered with status 0 and the same MLID."},
		{"ours#03", "The join with another Q_Key is answered with status 0x0200."},
		{"ours#04", "The join with JoinState 0 is answered with status 0x0200."},
		{"ours#05", "Each Set with an MGID that cannot be is answered with status 0x0200."},
		{"ours#06", "The Set without a Q_Key is answered with status 0x0600."},
		{"ours#07", "The Set with an MTU that no port has is answered with status 0x0200."},
	},
	Decisions: ours,
	run: func(r *run) {
		m := r.manages()
		own, _ := m.ends()
		l, group := mad.LayoutMCMemberRecord, mgid(siteLocal, 0x4711, 1)
		r.at(3)
		create := groupRecord(mad.Set, maskCreate, group, own, fullMember)
		got := r.inquires("ours#01", create, 0)
		if got == nil {
			r.halt("the group is not created")
		}
		mlid := l.Field("MLID").Uint(got.data)
		r.check("ours#01", mlid >= firstMLID && mlid < mad.PermissiveLID, "an MLID from 0xC000 to 0xFFFE", "MLID "+hex(mlid), got.p)
		want := create.data()
		for _, name := range []string{"MGID", "QKey", "PKey"} {
			f := l.Field(name)
			r.check("ours#01", f.Same(want, got.data), name+" "+f.Text(want), f.Text(got.data), got.p)
		}
		r.at(4)
		if got := r.inquires("ours#02", groupRecord(mad.Set, maskMember, group, own, fullMember), 0); got != nil {
			again := l.Field("MLID").Uint(got.data)
			r.check("ours#02", again == mlid, "MLID "+hex(mlid), "MLID "+hex(again), got.p)
		}
		r.at(5)
		r.inquires("ours#03", groupRecord(mad.Set, maskMember|maskGroupQKey, group, own, fullMember, change{"QKey", groupQKey + 1}), statusRequestInvalid)
		r.inquires("ours#04", groupRecord(mad.Set, maskMember, group, own, 0), statusRequestInvalid)
		r.at(6)
		first, flags := mgid(siteLocal, 0x4711, 2), mgid(siteLocal, 0x4711, 3)
		first[0], flags[1] = 0xFE, flags[1]|0x20
		for _, g := range [][]byte{first, flags, mgid(linkLocal, 0xA01B, 4)} {
			r.note("MGID %x", g)
			r.inquires("ours#05", groupRecord(mad.Set, maskCreate, g, own, fullMember), statusRequestInvalid)
		}
		r.at(7)
		r.inquires("ours#06", groupRecord(mad.Set, maskCreate&^maskGroupQKey, mgid(siteLocal, 0x4711, 5), own, fullMember), statusInsufficient)
		r.at(8)
		r.inquires("ours#07", groupRecord(mad.Set, maskCreate|maskGroupMTU, mgid(siteLocal, 0x4711, 7), own, fullMember, change{"MTU", 5}), statusRequestInvalid)
		r.at(9)
		m.inquire(groupRecord(mad.Delete, maskMember, group, own, fullMember), madTries)
	},
}

var leaves = &Test{
	ID: "X15_005", Title: "multicast groups: left",
	Abstract: "A member leaves a group by the states that it has; with others, for a port that is no member, or from another port, this is refused. A group ends with its last member.",
	Covers:   []Statement{{"o15-0.1.4", Seen}, {"o15-0.1.14", Stated}, {"o15-0.2.1", Stated}}, Topology: subnetTopology, Device: Node, Needs: Managed | Administration,
	Qualifiers: []string{administrationQualifier, keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		activeText,
		"Create a group as a full member by Set(MCMemberRecord).",
		"Delete MCMemberRecord with JoinState 0; with NonMember, which the tester is not; with FullMember and NonMember.",
		"Delete MCMemberRecord with the PortGID of the device, which is no member, and FullMember.",
		"Delete MCMemberRecord of the tester with FullMember from a second tester at another port.",
		"Delete MCMemberRecord with FullMember.",
		"Get MCMemberRecord of the MGID.",
	},
	Assertions: []Assertion{
		{"ours#01", "Each Delete with a JoinState that the member does not have is answered with status 0x0200."},
		{"ours#02", "The Delete of a port that is no member is answered with status 0x0200."},
		{"ours#03", "The Delete from another port than that of the member is answered with status 0x0200."},
		{"ours#04", "The Delete with the JoinState of the member is answered with status 0."},
		{"ours#05", "The Get of the group that has ended is answered with status 0x0300."},
	},
	Decisions: ours,
	run: func(r *run) {
		m := r.manages()
		own, device := m.ends()
		group := mgid(siteLocal, 0x4711, 6)
		r.at(3)
		if _, got := m.inquire(groupRecord(mad.Set, maskCreate, group, own, fullMember), madTries); got == nil || got.Status != 0 {
			r.halt("the group is not created")
		}
		r.at(4)
		for _, state := range []uint64{0, nonMember, fullMember | nonMember} {
			r.note("JoinState %s", fmt.Sprint(state))
			r.inquires("ours#01", groupRecord(mad.Delete, maskMember, group, own, state), statusRequestInvalid)
		}
		r.at(5)
		r.inquires("ours#02", groupRecord(mad.Delete, maskMember, group, device, fullMember), statusRequestInvalid)
		r.at(6)
		leave := groupRecord(mad.Delete, maskMember, group, own, fullMember)
		if m.linkOther() {
			m.other = true
			r.inquires("ours#03", leave, statusRequestInvalid)
			m.other = false
		} else {
			r.skip("ours#03", "the device has no second port that relays")
		}
		r.at(7)
		r.inquires("ours#04", leave, 0)
		r.at(8)
		r.inquires("ours#05", groupRecord(mad.Get, maskMGID, group, own, 0), statusNoRecords)
	},
}
