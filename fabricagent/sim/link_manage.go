package sim

import (
	"math/bits"

	"ibwitness/mad"
	"ibwitness/packet"
)

// manage has the other port of a faulty one ask it what it is and what it was told, as a manager does: its fault is one that is known by that. It takes LIDs.
func (l *Link) manage() {
	for i, p := range l.ports {
		asker := l.ports[1-i]
		if p.fault == nil || !p.fault.told || p.LID == 0 || asker.LID == 0 {
			continue
		}
		for k, a := range []mad.Attribute{mad.AttrNodeInfo, mad.AttrPortInfo, mad.AttrSLtoVL} {
			epoch := asker.epoch
			l.clock.After(int64(portActive+1+k)*training, func() {
				if asker.epoch == epoch {
					s := mad.SMP{Header: mad.Header{Method: mad.Get, Attribute: a, TID: uint64(a)}}
					asker.enqueue(directed(&s, 0))
				}
			})
		}
	}
}

// directed is an SMP on the route of one hop to the other port of the link.
func directed(s *mad.SMP, back uint8) []byte {
	s.BaseVersion, s.ClassVersion, s.Class = 1, 1, mad.ClassSubnetDirected
	s.DrSLID, s.DrDLID = mad.PermissiveLID, mad.PermissiveLID
	s.Initial, s.Return = []byte{0, 1}, []byte{0, back}
	s.SetHops(1, 1)
	any := packet.LIDAddr(mad.PermissiveLID)
	p := packet.Packet{Encap: packet.Native, Opcode: packet.Op(packet.UD, packet.SendOnly), Src: any, Dst: any, VL: vl15, PKey: 0xFFFF, Payload: make([]byte, mad.Size)}
	if s.Encode(p.Payload) != nil {
		return nil
	}
	p.Complete()
	return p.Append(nil)
}

// answer answers a Get that has come to the port, and reports whether it was one.
func (p *linkPort) answer(data []byte) bool {
	var q packet.Packet
	var s mad.SMP
	if p.LID == 0 || !packet.DecodeInfiniBand(&q, data, len(data)) || q.DestQP != 0 || s.Decode(q.Payload) != nil || !s.Directed() {
		return false
	}
	if s.Method != mad.Get {
		return true
	}
	r := mad.SMP{Header: mad.Header{Method: mad.GetResp, Attribute: s.Attribute, Modifier: s.Modifier, TID: s.TID, Status: 0x8000}, Data: make([]byte, mad.SMPDataSize)}
	p.tells(&r)
	p.enqueue(directed(&r, 1))
	return true
}

// tells fills in an attribute of the port.
func (p *linkPort) tells(s *mad.SMP) {
	put := func(values map[string]uint64) {
		for name, n := range values {
			mad.SMPAttribute(s.Attribute).Field(name).PutUint(s.Data, n)
		}
	}
	guid := 0x1000 + uint64(p.LID)*16
	lanes := uint64(bits.Len(uint(p.link.opt.Lanes)))
	if p.link.opt.Lanes == 15 {
		lanes = 5
	}
	switch s.Attribute {
	case mad.AttrNodeInfo:
		put(map[string]uint64{
			"baseVersion": 1, "classVersion": 1, "nodeType": 1, "numPorts": 1, "nodeGUID": guid, "portGUID": guid + 1, "systemImageGUID": guid, "partitionCap": 32,
			"localPortNum": 1,
		})
	case mad.AttrPortInfo:
		put(map[string]uint64{
			"GIDPrefix": 0xfe80 << 48, "LID": uint64(p.LID), "masterSMLID": uint64(p.link.ports[1-p.index].LID), "capabilityMask": 1 << 6, "localPortNum": 1,
			"linkWidthEnabled": 2, "linkWidthSupported": 2, "linkWidthActive": 2, "linkSpeedEnabled": 1, "linkSpeedSupported": 1, "linkSpeedActive": 1,
			"portState": 4, "portPhysicalState": 5, "neighborMTU": uint64(bits.Len32(p.link.opt.MTU) - 8), "MTUCap": 5, "VLCap": lanes, "operationalVLs": lanes,
			"respTimeValue": 18, "subnetTimeOut": 18,
		})
	case mad.AttrSLtoVL:
		for sl, vl := range p.SLtoVL {
			s.Data[sl/2] |= vl << (4 * (1 - sl%2))
		}
		p.told = true
	}
}
