package gmp

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"ibwitness/fabricagent"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// TestRealSubnetAdministrator compares the decoder with the PathRecord that a real subnet administrator returned, as Wireshark reads it, and the
// verifier against the management datagrams of a real subnet: none of them breaks a rule.
func TestRealSubnetAdministrator(t *testing.T) {
	dir := os.Getenv("IBWITNESS_CAPTURES")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "captures")
	}
	path := filepath.Join(dir, "public", "wireshark-wiki__infiniband.pcap")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("%s is not there; set IBWITNESS_CAPTURES to the folder of the captures", path)
	}
	src, err := fabricagent.Open([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	rec := new(rule.Recorder)
	v := New(rec, func(packet.Addr, packet.Addr) bool { return true })
	paths := 0
	for {
		b, err := src.Next()
		if b != nil {
			for i := range b.Frames {
				var p packet.Packet
				if !fabricagent.Decode(&b.Frames[i], &p).IsRDMA() || !Management(&p) {
					continue
				}
				v.Datagram(&p)
				var h mad.Header
				if mad.DecodeHeader(p.Payload, &h) == nil && h.Class == mad.ClassSubnetAdmin && h.Method == mad.GetResp {
					paths++
					path := p.Payload[mad.SAHeaderSize:]
					for _, c := range []struct {
						name string
						want uint64
					}{{"DLID", 2}, {"SLID", 4}, {"MTUSelector", 2}, {"MTU", 4}, {"rateSelector", 2}, {"rate", 3}, {"packetLifeTimeSelector", 2}, {"packetLifeTime", 0x12}} {
						if got := mad.LayoutPathRecord.Field(c.name).Uint(path); got != c.want {
							t.Errorf("%s is %d, want %d", c.name, got, c.want)
						}
					}
					if g := packet.GIDAddr(mad.LayoutPathRecord.Field("DGID").Bytes(path)).String(); g != "fe80::2:c903:0:1895" {
						t.Errorf("DGID %s", g)
					}
				}
			}
			b.Release()
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	v.Finish(v.now)
	if paths != 1 || rec.Cover[rule.MADSA012].Exercised != 1 {
		t.Errorf("%d PathRecords, %d judged", paths, rec.Cover[rule.MADSA012].Exercised)
	}
	for _, f := range rec.Findings {
		t.Errorf("frame %d: %v expected %s, actual %s", f.Frame, f.Rule, f.Expected, f.Actual)
	}
}
