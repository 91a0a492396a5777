package fabricagent

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func gzipped(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zstded(t testing.TB, b []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(b, nil)
}

// sample is a pcap of n frames.
func sample(n int) *pcapFile {
	p := newPcap(binary.LittleEndian, magicNano, 262144, 1)
	for i := range n {
		p.frame(start+int64(i), 0, payload(i, 100+i%50))
	}
	return p
}

func TestCompressed(t *testing.T) {
	file := sample(1000).b
	want, _, err := readBytes(t, file)
	if err != nil || len(want) != 1000 {
		t.Fatal(len(want), err)
	}
	half := len(file) / 2
	tests := map[string][]byte{
		"gzip":              gzipped(t, file),
		"zstd":              zstded(t, file),
		"gzip of zstd":      gzipped(t, zstded(t, file)),
		"zstd of gzip":      zstded(t, gzipped(t, file)),
		"gzip of gzip":      gzipped(t, gzipped(t, file)),
		"gzip, two members": append(gzipped(t, file[:half]), gzipped(t, file[half:])...),
		"zstd of pzstd":     append([]byte("\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"), zstded(t, file)...),
		"zstd, two frames":  append(zstded(t, file[:half]), zstded(t, file[half:])...),
	}
	for name, b := range tests {
		t.Run(name, func(t *testing.T) {
			got, _, err := readBytes(t, b)
			if err != nil {
				t.Fatal(err)
			}
			equalFrames(t, want, got)
		})
	}
	for name, b := range map[string][]byte{
		"three layers":     gzipped(t, gzipped(t, gzipped(t, file))),
		"compressed text":  gzipped(t, []byte("Dear reader,\n")),
		"compressed empty": zstded(t, nil),
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := readBytes(t, b)
			want := NotACapture
			if name == "compressed empty" {
				want = Empty
			}
			if kindOf(t, err) != want {
				t.Errorf("got %v, want %v", err, want)
			}
		})
	}
}

// TestCompressedBad cuts and corrupts compressed files: what could be decompressed is delivered.
func TestCompressedBad(t *testing.T) {
	file := sample(2000).b
	all, _, err := readBytes(t, file)
	if err != nil {
		t.Fatal(err)
	}
	for name, whole := range map[string][]byte{"gzip": gzipped(t, file), "zstd": zstded(t, file)} {
		t.Run(name, func(t *testing.T) {
			for cut := 4; cut < len(whole); cut += 1 + len(whole)/30 {
				got, _, err := readBytes(t, whole[:cut])
				if k := kindOf(t, err); k != CutShort {
					t.Fatalf("cut at %d of %d: %v", cut, len(whole), err)
				}
				equalFrames(t, all[:len(got)], got)
			}
			got, _, err := readBytes(t, whole[:len(whole)-1])
			if kindOf(t, err) != CutShort || name == "gzip" && len(got) != len(all) {
				t.Errorf("%d frames, %v", len(got), err)
			}
			bad := bytes.Clone(whole)
			for i := range 40 {
				bad[len(bad)*2/3+i] ^= 0x5a
			}
			got, _, err = readBytes(t, bad)
			if k := kindOf(t, err); k != Decompression && k != Garbage {
				t.Errorf("%d frames, %v", len(got), err)
			}
			if len(got) == 0 {
				t.Error("no frame before the error")
			}
		})
	}
}
