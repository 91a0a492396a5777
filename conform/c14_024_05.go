package conform

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"ibwitness/mad"
)

// guidTests are those of row 05 of the attributes of C14-24.1.1, GUIDInfo.
var guidTests = []*Test{guidInfo}

// Assertions of guidInfo.
const (
	guidTaken   = "v1c14-024.1.1#05.01"
	guidFixed   = "v1c14-024.1.1#05.02"
	guidStored  = "v1c14-024.1.1#05.03"
	guidRefused = "ours#01"
)

// GUIDs of a block of GUIDInfo, and how many blocks there may be.
const (
	blockGUIDs = 8
	guidBlocks = 32
)

var guidInfo = &Test{
	ID: "C14_024_05", Title: "GUIDInfo",
	Abstract: "The GUIDs of a port are set and read in blocks, up to GUIDCap; the first is the PortGUID and stays.",
	Covers:   []Statement{{"C14-24.1.1", Stated}, {"C13-24", Seen}, {"C14-27", Seen}, {"C14-30", Seen}}, Topology: ownTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"At each port that has an agent of its own, for each block from 0 to 31, Get GUIDInfo.",
		"Set it to the inverse of what came.",
		"Get it, and Set what was in it first.",
	},
	Assertions: []Assertion{
		{guidTaken, "Get and Set of GUIDInfo of a block that begins within GUIDCap are answered with status code 0."},
		{guidFixed, "The first GUID of block 0 is the PortGUID of NodeInfo, before and after the Set."},
		{guidStored, "The other GUIDs up to GUIDCap have the values that were set, in the answer and in the next Get."},
		{guidRefused, "GUIDs from GUIDCap on are 0, and a block that begins there is answered with status code 7."},
	},
	Decisions: []Decision{
		{"Which of the numbers #05.02 and #05.03 is what is only partly told.", "#05.01 is GUIDCap, and so which blocks are answered; #05.02 is the read-only GUID, #05.03 are those that can be set."},
		{"What is beyond GUIDCap may be 0 or refused.", "Within a block that begins before it, 0; a block after it, status code 7 (ours)."},
	},
	run: func(r *run) {
		r.eachAgent(r.survey(), r.guids)
	},
}

// guids sets and reads the GUIDs of a port.
func (r *run) guids(s *surveyed) {
	limit := int(s.port.uint(mad.LayoutPortInfo, "GUIDCap"))
	if limit == 1 {
		r.skip(guidStored, "GUIDCap is 1: there is only the PortGUID")
	}
	for block := range guidBlocks {
		r.again(2)
		x := r.manager.ask(mad.Get, mad.AttrGUIDInfo, uint32(block), nil)
		if block*blockGUIDs >= limit {
			r.answered(guidRefused, x, badValue, fmt.Sprintf("GUIDCap %d", limit))
			continue
		}
		if r.answered(guidTaken, x, granted, fmt.Sprintf("GUIDCap %d", limit)) {
			r.guidBlock(s, x, block, limit)
		}
	}
}

// guidBlock sets a block of GUIDs, judges what becomes of it, and sets what it was.
func (r *run) guidBlock(s *surveyed, x *exchange, block, limit int) {
	m := r.manager
	r.again(3)
	data := bytes.Clone(x.Data)
	for i := range data {
		data[i] ^= 0xFF
	}
	set := m.ask(mad.Set, mad.AttrGUIDInfo, uint32(block), data)
	ok := r.answered(guidTaken, set, granted, "all inverted")
	r.again(4)
	now := m.get(mad.AttrGUIDInfo, uint32(block))
	defer m.ask(mad.Set, mad.AttrGUIDInfo, uint32(block), x.Data)
	if !ok {
		return
	}
	own := s.node.uint(mad.LayoutNodeInfo, "portGUID")
	for i := range blockGUIDs {
		guid := func(x *exchange) uint64 { return binary.BigEndian.Uint64(x.Data[i*8:]) }
		id, was, want := guidStored, guid(x), binary.BigEndian.Uint64(data[i*8:])
		switch n := block*blockGUIDs + i; {
		case n == 0:
			id, want = guidFixed, own
			r.check(id, was == own, fmt.Sprintf("the PortGUID %#x", own), fmt.Sprintf("%#x", was), s.node.got, x.got)
		case n >= limit:
			id, want = guidRefused, 0
			r.check(id, was == 0, fmt.Sprintf("GUID %d 0: GUIDCap is %d", n, limit), fmt.Sprintf("%#x", was), s.port.got, x.got)
		}
		r.check(id, guid(set) == want && guid(now) == want, fmt.Sprintf("GUID %d of block %d %#x", i, block, want),
			fmt.Sprintf("%#x in the answer, %#x in the next Get", guid(set), guid(now)), set.sent, set.got, now.got)
	}
}
