package agent

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// groupCapture is a capture of a native link: what the subnet administrator tells of multicast groups, now and then otherwise than before, and
// what is sent to them, some of it to wrong LIDs.
func groupCapture(packets int) []byte {
	const groups = 24
	var b bytes.Buffer
	words(&b, 0xa1b2c3d4, 4<<16|2, 0, 0, 65535, 247) // the header of a pcap of native packets
	r := rand.New(rand.NewPCG(5, 6))
	for i := range packets {
		group, port := r.IntN(groups), uint16(2+r.IntN(12))
		lid := 0xC000 + uint16(group)
		if r.IntN(400) == 0 {
			lid += 0x100
		}
		mgid := packet.Addr{Hi: 0xff12 << 48, Lo: uint64(group)}
		p := packet.Packet{Encap: packet.Native, Opcode: packet.Op(packet.UD, packet.SendOnly), PKey: 0xFFFF, PSN: packet.PSN(i), Payload: make([]byte, mad.Size)}
		if r.IntN(8) == 0 {
			d := p.Payload
			d[0], d[1], d[2], d[3], d[17] = 1, 3, 2, 0x81, 0x38
			binary.BigEndian.PutUint64(d[8:], uint64(i))
			binary.BigEndian.PutUint64(d[56:], mgid.Hi)
			binary.BigEndian.PutUint64(d[64:], mgid.Lo)
			binary.BigEndian.PutUint16(d[92:], lid)
			p.DestQP, p.SrcQP, p.QKey, p.SLID, p.DLID = 1, 1, 0x80010000, 1, port
		} else {
			p.Has, p.SGID, p.DGID = packet.HasGRH, packet.Addr{Hi: 0xfe80 << 48, Lo: uint64(port)}, mgid
			p.DestQP, p.SrcQP, p.QKey, p.SLID, p.DLID = packet.PSNMask, 0x40, 0xb1b, port, lid
		}
		p.Src, p.Dst = packet.LIDAddr(p.SLID), packet.LIDAddr(p.DLID)
		p.Complete()
		frame := p.Append(nil)
		words(&b, uint32(1+i/1000), uint32(i%1000*1000), uint32(len(frame)), uint32(len(frame)))
		b.Write(frame)
	}
	return b.Bytes()
}

// TestWorkersAgreeOnGroups (rule UD-MC-002): what is told of a group and what is sent to it are in different shards.
func TestWorkersAgreeOnGroups(t *testing.T) {
	r := workersAgree(t, groupCapture(4000))
	if c := r.Cover[rule.UDMC002]; c.Exercised < 100 || c.Violated == 0 || c.Unproven == 0 {
		t.Errorf("the capture exercises little: %+v", c)
	}
}
