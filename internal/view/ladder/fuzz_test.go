package ladder

import (
	"encoding/hex"
	"encoding/json"
	"testing"

	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/rule"
)

// FuzzBuild draws a ladder of whatever frame: each field has its bytes within those that are shown.
func FuzzBuild(f *testing.F) {
	for _, s := range []string{
		"4500003071934000 4011b48d0a4d00020a4d0001 ca4812b7001c0000 1100ffff0000002f00ec4820 60000000 53eda462",
		"6000000001201140fd770000000000000000000000000002fd770000000000000000000000000001d87212b7012000006400ffff00000001800000208001000000000001",
	} {
		var b []byte
		for _, c := range s {
			if c != ' ' {
				b = append(b, byte(c))
			}
		}
		raw, err := hex.DecodeString(string(b))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(append([]byte("\x02\x00\x00\x00\x00\x01\x02\x00\x00\x00\x00\x02\x08\x00"), raw...), uint16(fabricagent.LinkEthernet), "PSN 0x000001", "PSN 0xec4820, 3 ahead")
	}
	f.Fuzz(func(t *testing.T, data []byte, link uint16, expected, actual string) {
		fr := Frame{Frame: fabricagent.Frame{Number: 1, Link: fabricagent.LinkType(link), Len: uint32(len(data)), Data: data}}
		var p packet.Packet
		if !fabricagent.Decode(&fr.Frame, &p).IsRDMA() {
			return
		}
		finding := &rule.Finding{Frame: 1, Expected: expected, Actual: actual, Accused: rule.Endpoint{Addr: p.Src}, Peer: rule.Endpoint{Addr: p.Dst, QPN: p.DestQP, QPNKnown: true}}
		l := Build(finding, FlowOf(finding), []Frame{fr}, Options{})
		if len(l.Rows) != 1 || l.Missing {
			t.Fatalf("%d rows", len(l.Rows))
		}
		for _, layer := range l.Rows[0].Layers {
			for _, fd := range layer.Fields {
				if fd.At >= 0 && 2*(fd.At+fd.Size) > len(l.Rows[0].Hex) && len(l.Rows[0].Hex) < 2*shownBytes && len(l.Rows[0].Hex) < 2*len(p.Data) {
					t.Errorf("%s, %s: %d bytes at %d of %d", layer.Name, fd.Name, fd.Size, fd.At, len(l.Rows[0].Hex)/2)
				}
			}
		}
		if _, err := json.Marshal(l); err != nil {
			t.Error(err)
		}
	})
}
