package incident_test

import (
	"encoding/binary"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/rule"
)

// datagram is a frame with a UDP datagram between hosts 10.0.0.x, of so many bytes that are no RoCE.
func datagram(at int64, from, to byte, source, port uint16, size int) fabricagent.Frame {
	b := make([]byte, max(60, 42+size))
	copy(b, []byte{2, 0, 0, 0, 0, to, 2, 0, 0, 0, 0, from, 8, 0, 0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, from, 10, 0, 0, to})
	binary.BigEndian.PutUint16(b[16:], uint16(28+size))
	sum := uint32(0)
	for k := 14; k < 34; k += 2 {
		sum += uint32(binary.BigEndian.Uint16(b[k:]))
	}
	binary.BigEndian.PutUint16(b[24:], ^uint16(sum+sum>>16))
	binary.BigEndian.PutUint16(b[34:], source)
	binary.BigEndian.PutUint16(b[36:], port)
	binary.BigEndian.PutUint16(b[38:], uint16(8+size))
	for k := range size {
		b[42+k] = "PRBE"[k%4] + byte(k/4)
	}
	return fabricagent.Frame{Time: at, Data: b, Len: uint32(len(b)), Link: fabricagent.LinkEthernet}
}

// TestNoRoCE: datagrams to port 4791 that have no room for a BTH, or no right ICRC, and are answered from there to the port that they come from are no RoCE: they are counted so, and nothing is suspected of them.
// Where nothing, or another port, is answered, it is.
func TestNoRoCE(t *testing.T) {
	for _, k := range []struct {
		name    string
		size    int
		answers uint16 // to which port; 0: to none
		every   int    // of how many one is answered
		no      bool
	}{
		{"too short", 8, 41007, 1, true},
		{"without an ICRC", 40, 41007, 1, true},
		{"not answered", 8, 0, 1, false},
		{"answered to another port", 8, 41008, 1, false},
		{"hardly answered", 8, 41007, 3, false},
		{"long, and not answered", 40, 0, 1, false},
	} {
		list := frames(t, writes)
		roce := uint64(len(list))
		for n := range 6 {
			at := list[len(list)-1].Time + 1000
			list = append(list, datagram(at, 1, 2, 41007, packet.UDPPort, k.size))
			if k.answers != 0 && n%k.every == 0 {
				list = append(list, datagram(at+500, 2, 1, packet.UDPPort, k.answers, k.size))
			}
		}
		r := judged(t, list, agent.Options{})
		suspected := uint32(0)
		for n := range r.Findings {
			if f := &r.Findings[n]; f.Class != rule.Event && f.Frame > roce {
				suspected++
			}
		}
		if no := len(r.NoRoCE) == 1; no != k.no || no == (suspected > 0) || no && (r.RDMA != roce || r.Undecoded+r.Unjudged > 0 || len(r.OtherFrames) > 0) || !no && r.RDMA != roce+6 {
			t.Errorf("%s: %+v, %d suspicions, %d of RoCE, %+v", k.name, r.NoRoCE, suspected, r.RDMA, r.OtherFrames)
		}
		if k.no && (r.NoRoCE[0].Port != 41007 || r.NoRoCE[0].Count != 6 || r.NoRoCE[0].Answers != 6 || r.NoRoCE[0].Frame != roce+1) {
			t.Errorf("%s: %+v", k.name, r.NoRoCE)
		}
	}
}
