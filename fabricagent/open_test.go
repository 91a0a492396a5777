package fabricagent

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func write(t testing.TB, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestNotACapture wants the kind, and what the message says.
func TestNotACapture(t *testing.T) {
	zip := append([]byte("PK\x03\x04"), payload(1, 200)...)
	tests := []struct {
		name, file string
		kind       ErrKind
		says       string
	}{
		{"empty", "", Empty, "the file is empty"},
		{"one byte", "\xd4", NotACapture, "first bytes"},
		{"text", "Frame 1: 60 bytes on wire\n", NotACapture, "text2pcap"},
		{"utf-8", "größer\n", NotACapture, "text"},
		{"html", "\n<!DOCTYPE html><html>", NotACapture, "HTML"},
		{"xml", "<?xml version=\"1.0\"?><pdml>", NotACapture, "XML"},
		{"json", "[\n  {\n", NotACapture, "JSON"},
		{"lfs", "version https://git-lfs.github.com/spec/v1\n", NotACapture, "git lfs pull"},
		{"elf", "\x7fELF\x02\x01\x01\x00", NotACapture, "ELF"},
		{"zip", string(zip), NotACapture, "zip"},
		{"xz", "\xfd7zXZ\x00\x00\x04", NotACapture, "xz -d"},
		{"bzip2", "BZh91AY&SY\x00", NotACapture, "bzip2 -d"},
		{"lz4", "\x04\x22\x4d\x18\x64\x40", NotACapture, "lz4 -d"},
		{"snoop", "snoop\x00\x00\x00\x00\x00\x00\x02", NotACapture, "editcap"},
		{"pcap magic", "\xd4\x35\xb2\xa1\x02\x00\x04\x00", NotACapture, "unknown magic 0xa1b235d4"},
		{"zeros", strings.Repeat("\x00", 5000), NotACapture, "zero bytes"},
		{"noise", string(payload(3, 5000)), NotACapture, "unknown data"},
		{"pcapng order", "\n\r\r\n\x1c\x00\x00\x00????????????????\x1c\x00\x00\x00", NotACapture, "byte order magic"},
		{"wifi", string(newPcap(binary.LittleEndian, magicMicro, 0, 105).b), UnknownLinkType, "IEEE 802.11 (105)"},
		{"link 200", string(newPcap(binary.LittleEndian, magicMicro, 0, 200).b), UnknownLinkType, "Ethernet (1)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := write(t, "x.pcap", []byte(test.file))
			_, err := Open([]string{path})
			if kindOf(t, err) != test.kind || !errors.Is(err, test.kind) {
				t.Fatalf("got %v, want %v", err, test.kind)
			}
			msg := err.Error()
			if !strings.Contains(msg, test.says) || !strings.HasPrefix(msg, "fabricagent: "+path+": ") {
				t.Errorf("%q does not say %q", msg, test.says)
			}
		})
	}
}

func TestUnopenable(t *testing.T) {
	dir := t.TempDir()
	_, err := Open([]string{filepath.Join(dir, "nothing.pcap")})
	if !errors.Is(err, NotFound) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	_, err = Open([]string{dir})
	if !errors.Is(err, Unreadable) || !strings.Contains(err.Error(), "directory") {
		t.Errorf("directory: %v", err)
	}
	if _, err = Open(nil); err == nil {
		t.Error("no error for no input")
	}
	_, err = Open([]string{dir, filepath.Join(dir, "nothing.pcap")})
	if fe := FileErrors(err); len(fe) != 2 || fe[0].Kind != Unreadable || fe[1].Kind != NotFound {
		t.Errorf("two errors: %v", err)
	}
}

// TestReadError fails in the middle of a file.
func TestReadError(t *testing.T) {
	file := sample(10).b
	broken := errors.New("the disk is on fire")
	r := io.MultiReader(bytes.NewReader(file[:len(file)-10]), errReader{broken})
	s, err := OpenReader("mem", r)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	frames, err := readAll(t, s)
	if len(frames) != 9 || kindOf(t, err) != Unreadable || !errors.Is(err, broken) {
		t.Errorf("%d frames, %v", len(frames), err)
	}
	s, err = OpenReader("mem", io.MultiReader(bytes.NewReader(gzipped(t, file)[:100]), errReader{broken}))
	if err == nil {
		defer s.Close()
		_, err = readAll(t, s)
	}
	if kindOf(t, err) != Unreadable {
		t.Errorf("compressed: %v", err)
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

// TestStandardInput reads a compressed capture from a pipe.
func TestStandardInput(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	old := os.Stdin
	os.Stdin = r
	defer func() { os.Stdin = old }()
	go func() {
		_, _ = w.Write(gzipped(t, sample(300).b))
		_ = w.Close()
	}()
	s, err := Open([]string{"-", "-"})
	if err != nil {
		t.Fatal(err)
	}
	frames, err := readAll(t, s)
	if len(frames) != 300 || !errors.Is(err, Unreadable) || !strings.Contains(err.Error(), "twice") {
		t.Errorf("%d frames, %v", len(frames), err)
	}
	if taps := s.Taps(); len(taps) != 1 || taps[0].File != "-" {
		t.Errorf("taps %v", taps)
	}
	if done, total := s.Progress(); done == 0 || total != 0 {
		t.Errorf("progress %d of %d", done, total)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := r.Stat(); err != nil {
		t.Errorf("standard input was closed: %v", err)
	}
}

func TestProgress(t *testing.T) {
	file := gzipped(t, sample(30000).b)
	path := write(t, "x.pcap.gz", file)
	s, err := Open([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var last int64
	for {
		b, err := s.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		b.Release()
		done, total := s.Progress()
		if done < last || done > total || total != int64(len(file)) {
			t.Fatalf("%d of %d after %d", done, total, last)
		}
		last = done
	}
	if last != int64(len(file)) {
		t.Errorf("ended at %d of %d", last, len(file))
	}
}

// TestCutEverywhere cuts a file of each format at every byte: the frames of whole records are there, and the error is
// the right one.
func TestCutEverywhere(t *testing.T) {
	small := func(magic uint32) []byte {
		p := newPcap(binary.BigEndian, magic, 65535, 1)
		for i := range 4 {
			p.frame(start+int64(i), 60, payload(i, 20+i))
		}
		return p.b
	}
	g := newNG(binary.LittleEndian).section().iface(LinkEthernet, 0, opt{2, []byte("eth0")})
	for i := range 3 {
		g.enhanced(0, uint64(i), 60, payload(i, 20+i), opt{2, g.num32(1)}).block(0x99, payload(i, 8))
	}
	g.section().iface(LinkEthernet, 0).simple(9, payload(1, 9)).obsolete(0, 1, 5, 20, payload(2, 20)).statistics(0)
	var erf []byte
	for i := range 4 {
		erf = append(erf, erfRecord(erfInfiniBand, 0, start+int64(i)*1e9, 1, 40+i, payload(i, 40+i), i)...)
	}
	real, err := os.ReadFile("testdata/rc_send_all_sizes.pcap")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		file  []byte
		magic int // bytes before which it cannot be told what it is
		head  int // bytes of the file header
	}{
		{"micro", small(magicMicro), 4, 24},
		{"nano", small(magicNano), 4, 24},
		{"kuznetzov", small(magicKuznetzov), 4, 24},
		{"real", real, 4, 24},
		{"pcapng", g.b, 4, 28},
		{"erf", erf, 16, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			all, _, err := readBytes(t, test.file)
			if err != nil {
				t.Fatal(err)
			}
			starts := recordStarts(test.name, test.file)
			for n := range test.file {
				want := CutShort
				switch {
				case n == 0:
					want = Empty
				case n < test.magic:
					want = NotACapture
				case slices.Contains(starts, n):
					want = 0
				}
				got, _, err := readBytes(t, test.file[:n:n])
				if kindOf(t, err) != want {
					t.Fatalf("cut at %d: %v, want %v", n, err, want)
				}
				if len(got) > len(all) || len(got) == len(all) && n < starts[len(starts)-1] {
					t.Fatalf("cut at %d: %d frames", n, len(got))
				}
				if !slices.EqualFunc(all[:len(got)], got, sameFrame) {
					t.Fatalf("cut at %d: other frames", n)
				}
				if want == CutShort {
					at := 0
					for _, s := range starts {
						if s < n {
							at = s
						}
					}
					if fe := FileErrors(err)[0]; fe.Offset != int64(at) {
						t.Fatalf("cut at %d: %v, want it at byte %d", n, err, at)
					}
				}
			}
		})
	}
}

func sameFrame(a, b Frame) bool {
	same := bytes.Equal(a.Data, b.Data)
	return same && a.Time == b.Time && a.Number == b.Number && a.Tap == b.Tap && a.Link == b.Link && a.Way == b.Way && a.Len == b.Len
}

// recordStarts is where the records of a good file begin.
func recordStarts(format string, b []byte) []int {
	var starts []int
	at := 24
	order := binary.ByteOrder(binary.BigEndian)
	head := pcapRecord
	switch format {
	case "pcapng", "erf":
		at = 0
	case "real":
		order = binary.LittleEndian
	case "kuznetzov":
		head = kuznetzovRecord
	}
	for at < len(b) {
		if at > 0 {
			starts = append(starts, at)
		}
		switch format {
		case "pcapng":
			at += int(binary.LittleEndian.Uint32(b[at+4:]))
		case "erf":
			at += int(binary.BigEndian.Uint16(b[at+10:]))
		default:
			at += head + int(order.Uint32(b[at+8:]))
		}
	}
	return starts
}

// TestErrorMessages pins what a user sees.
func TestErrorMessages(t *testing.T) {
	for _, e := range []error{
		&FileError{Path: "-", Kind: Empty},
		&FileError{Path: "a.pcap", Offset: 77, Frame: 3, Kind: CutShort, Err: io.ErrUnexpectedEOF},
		&FileError{Path: "a.pcap", Offset: 77, Kind: Decompression, Err: io.ErrUnexpectedEOF},
	} {
		msg := strings.ReplaceAll(e.Error(), "EOF", "end of file")
		if msg != strings.ToLower(msg) || !strings.HasPrefix(msg, "fabricagent: ") || !strings.Contains(msg, ":") {
			t.Error(msg)
		}
	}
	e := &FileError{Path: "a.pcap", Offset: 77, Frame: 3, Kind: Garbage, Err: errors.New("zeros")}
	want := "fabricagent: a.pcap: garbage at byte 77, frame 3: zeros: everything before is used; copy the file again, or capture again"
	if e.Error() != want {
		t.Errorf("%q", e.Error())
	}
	if s := fmt.Sprint(ErrKind(99)); s != "error kind 99" {
		t.Error(s)
	}
}
