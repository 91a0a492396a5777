package fabricagent

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"ibwitness/internal/testkit/traffic"
	"ibwitness/packet"
)

// TestEnds: where Ends tells addresses they are those that Decode finds, of whole frames, damaged ones and beginnings of them.
func TestEnds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	paths, err := filepath.Glob("../testdata/captures/*.pcap*")
	if err != nil || len(paths) == 0 {
		t.Fatal(err, "no captures")
	}
	told, all := 0, 0
	compare := func(f *Frame) bool {
		src, dst, ok := Ends(f)
		var p packet.Packet
		out := Decode(f, &p)
		if ok && out != TooShort && (!out.IsRDMA() || p.Src != src || p.Dst != dst || p.Encap == packet.Native) {
			t.Fatalf("%v to %v, but it is %v, %v to %v: % x", src, dst, out, p.Src, p.Dst, f.Data)
		}
		was, numbered := Identification(f)
		if numbered && out != TooShort && (!out.IsRDMA() || p.Src != was.Src || p.IPID != was.ID || p.Has&packet.HasBTH != 0 && (p.Opcode != was.Opcode || p.DestQP != was.DestQP) || p.Has&packet.HasIPv4 == 0) {
			t.Fatalf("%+v, but it is %v, %v of %v with %d: % x", was, out, p.Opcode, p.Src, p.IPID, f.Data)
		}
		if numbered != (ok && p.Has&packet.HasIPv4 != 0) && out.IsRDMA() {
			t.Fatalf("numbered %v, ends %v: % x", numbered, ok, f.Data)
		}
		return ok
	}
	frames := func(src Source) {
		for {
			b, err := src.Next()
			if b == nil {
				if err != nil {
					return
				}
				continue
			}
			for i := range b.Frames {
				f := b.Frames[i]
				all++
				if compare(&f) {
					told++
				}
				whole := f.Data
				for range 8 {
					f.Data = bytes.Clone(whole)
					if r.IntN(2) == 0 {
						f.Data = f.Data[:r.IntN(len(whole)+1)]
					}
					for range r.IntN(3) {
						if n := min(len(f.Data), 64); n > 0 {
							f.Data[r.IntN(n)] ^= 1 << r.IntN(8)
						}
					}
					compare(&f)
				}
			}
			b.Release()
		}
	}
	for _, path := range paths {
		src, err := Open([]string{path})
		if err != nil {
			continue
		}
		frames(src)
		src.Close()
	}
	if told == 0 {
		t.Errorf("of %d frames in files none tells", all)
	}
	told, all = 0, 0
	src, err := OpenReader("traffic", bytes.NewReader(traffic.Capture(traffic.Small(64), 2000)))
	if err != nil {
		t.Fatal(err)
	}
	frames(src)
	if told != all {
		t.Errorf("of %d frames of RoCEv2, %d tell", all, told)
	}
}
