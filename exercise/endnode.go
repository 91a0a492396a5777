package exercise

import (
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/subnet"
	"ibwitness/subnet/sma"
)

// endNode is the management agents of the exerciser's port, by which a subnet manager gives it its LID.
type endNode struct{ node *sma.Node }

// The GUIDs of the exerciser and of who is at the other end of its link.
const (
	agentGUID = 0x0002_c900_0000_e001
	otherGUID = 0x0002_c900_0000_e101
)

// newEndNode returns the agents of a port whose link is up.
func newEndNode() (*endNode, error) {
	var nodes [2]*sma.Node
	for i, guid := range []uint64{agentGUID, otherGUID} {
		var err error
		if nodes[i], err = sma.New(sma.Config{Type: subnet.ChannelAdapter, GUID: guid, Description: "ibwitness exerciser", Ports: 1, NoSLtoVL: true, NoTraps: true}); err != nil {
			return nil, err
		}
	}
	sma.Join(0, nodes[0], 1, nodes[1], 1)
	return &endNode{nodes[0]}, nil
}

// lid is the LID that the subnet manager gave; 0: none yet.
func (a *endNode) lid() uint16 {
	lid, _ := a.node.LID(1)
	return lid
}

// take takes a packet, and returns the answer, from LRH through VCRC; nil where there is none.
func (a *endNode) take(now int64, p *packet.Packet) []byte {
	if p.Dst != permissive && !a.node.Owns(1, packet.LIDOf(p.Dst)) {
		return nil
	}
	b := append([]byte(nil), p.Payload...)
	if p.VCRCState != packet.CRCGood || p.ICRCState != packet.CRCGood || p.Has&packet.HasDETH == 0 || !a.node.Takes(1, &sma.Arrival{
		MAD: b, SrcQP: p.SrcQP, DestQP: p.DestQP, QKey: p.QKey, PKey: p.PKey, VL: p.VL, GRH: p.Has&packet.HasGRH != 0, Immediate: p.Has&packet.HasImmDt != 0,
	}) {
		return nil
	}
	directed := mad.ClassOf(b) == uint8(mad.ClassSubnetDirected)
	if directed {
		if route, _ := a.node.Relay(1, false, b); route != sma.Deliver {
			return nil
		}
	}
	answer := a.node.Receive(now, 1, b)
	if answer == nil {
		return nil
	}
	if directed {
		if route, _ := a.node.Relay(1, true, answer); route != sma.Forward {
			return nil
		}
	}
	return a.reply(p, answer)
}

// reply is the packet that takes an answer back.
func (a *endNode) reply(p *packet.Packet, answer []byte) []byte {
	lid := a.lid()
	if lid == 0 || p.Dst == permissive {
		lid = mad.PermissiveLID
	}
	r := packet.Packet{
		Encap: packet.Native, Opcode: packet.Op(packet.UD, packet.SendOnly), Src: packet.LIDAddr(lid), Dst: p.Src, SL: p.SL, VL: p.VL, PKey: 0xFFFF, DestQP: p.SrcQP,
		SrcQP: p.DestQP, Payload: answer,
	}
	if p.DestQP == 1 {
		r.QKey = gsiQKey
	}
	r.Complete()
	return r.Append(nil)
}
