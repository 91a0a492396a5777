package eventlog

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"strings"
	"testing"

	"ibwitness/cq"
)

// scansAlike holds what the scanner reads of a line against what encoding/json does. It reports whether the scanner took the line.
func scansAlike(t *testing.T, s *scanner, text []byte) bool {
	t.Helper()
	if !s.scan(text) {
		return false
	}
	got := says(s)
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		t.Errorf("%s: the scanner takes it, and it is wrong: %v", text, err)
		return true
	}
	s.fill(&l)
	if want := says(s); !maps.Equal(got, want) {
		t.Errorf("%s: the scanner reads %v, not %v", text, got, want)
	}
	return true
}

// says is what a line says, by its fields.
func says(s *scanner) map[string]string {
	m := map[string]string{}
	for k, name := range keys {
		switch k := key(k); {
		case k == kSGE && len(s.sge) > 0:
			m[name] = fmt.Sprint(s.sge)
		case !s.has(k) || k == kSGE || k == kEv && s.str(k) == "":
		case s.fields[name].kind == ofBytes:
			m[name] = string(s.digits(k))
			if b, err := s.octets(k); err == nil {
				m[name] += fmt.Sprintf(" %x", b)
			}
		case k == kType:
			m[name] = s.typeName()
		case s.fields[name].kind == ofText:
			m[name] = s.str(k)
		default:
			m[name] = fmt.Sprint(s.i64(k))
		}
	}
	return m
}

// TestKeys: each field of a line has a key, and each key a field.
func TestKeys(t *testing.T) {
	l := reflect.TypeFor[line]()
	if l.NumField() != len(keys) || len(keyOf) != len(keys) || len(keys) != int(kWindowType) {
		t.Errorf("%d fields, %d keys of %d names", l.NumField(), len(keys), len(keyOf))
	}
	for i := range l.NumField() {
		if name := tag(l.Field(i)); keys[keyOf[name]] != name {
			t.Errorf("%s has no key", name)
		}
	}
}

// TestScan: the scanner takes nearly all lines of the recorded logs, and all that Writer writes of their events, and reads in them what encoding/json does.
func TestScan(t *testing.T) {
	lines, taken := 0, 0
	for _, name := range recorded(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s := newScanner()
		for l := range bytes.Lines(text) {
			lines++
			if scansAlike(t, s, l) {
				taken++
			}
		}
		for l := range bytes.Lines(written(t, name)) {
			if !scansAlike(t, s, l) {
				t.Errorf("%s: the scanner leaves %s", name, l)
			}
		}
	}
	if lines == 0 || taken*10 < lines*9 {
		t.Errorf("the scanner takes %d of %d lines", taken, lines)
	}
}

// written is a log as Writer writes it, with data of all lengths that the request of a line has room for.
func written(t *testing.T, name string) []byte {
	log, err := ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w, err := NewWriter(&b, log.Addr, log.Exact)
	if err != nil {
		t.Fatal(err)
	}
	for i := range log.Events {
		e := log.Events[i]
		if e.Kind == cq.EvPostSend && len(e.Send.Segments) > 0 {
			e.Data = bytes.Repeat([]byte{byte(i), 0xa5, 0xfe}, i%50)
			e.Data = e.Data[:min(len(e.Data), int(e.Send.Segments[0].Length))]
		}
		if err := w.Write(&e); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// decodesAlike holds what digits are decoded to against what package hex makes of them.
func decodesAlike(t *testing.T, text []byte) {
	t.Helper()
	want := make([]byte, hex.DecodedLen(len(text)))
	_, err := hex.Decode(want, text)
	got := make([]byte, len(want))
	if ok := decodeHex(got, text); ok != (err == nil) || ok && !bytes.Equal(got, want) {
		t.Errorf("%q: %x %v, want %x %v", text, got, ok, want, err)
	}
}

// TestDecodeHex: each byte is taken for a digit that is one, at each place of eight, and after them.
func TestDecodeHex(t *testing.T) {
	for c := range 256 {
		for at := range 10 {
			text := []byte("09afAF12c4")
			text[at] = byte(c)
			decodesAlike(t, text)
		}
	}
	decodesAlike(t, []byte("012"))
	decodesAlike(t, nil)
}

func FuzzDecodeHex(f *testing.F) {
	f.Add([]byte("00112233445566778899aabbccddeeffAABBCCDDEEFF"))
	f.Fuzz(func(t *testing.T, text []byte) { decodesAlike(t, text) })
}

// oddLines are lines at the borders of what the scanner takes.
var oddLines = []string{
	``, `{}`, `{"t":1`, `{"t":1}x`, `{"t":01}`, `{"t":-0}`, `{"t":-}`, `{"t":1.0}`, `{"t":1e3}`, `{"t":null}`, `{"t":true}`, `{"T":5}`, `{"t":1,"t":2}`, `{"t":1,}`, `{,}`,
	`{"t":9223372036854775807}`, `{"t":9223372036854775808}`, `{"t":-9223372036854775808}`, `{"t":-9223372036854775809}`,
	`{"wr_id":18446744073709551615}`, `{"wr_id":18446744073709551616}`, `{"wr_id":-1}`, `{"wr_id":99999999999999999999}`, `{"wr_id":00000000000000000001}`,
	`{"qpn":4294967295}`, `{"qpn":4294967296}`, `{"timeout":255}`, `{"timeout":256}`, `{"slid":65535}`, `{"slid":65536}`,
	`{"ev":"a\u0062"}`, `{"ev":"ä"}`, `{"ev":5}`, `{"ev":""}`, `{"ev":"cqe" , "t" : 3 }`, "{\t\"ev\":\"cqe\"\r\n}\r\n", `{"type":"rc"}`, `{"type":2}`, `{"type":2.5}`, `{"type":-2}`, `{"type":[1]}`, `{"type":9007199254740993}`, `{"head":"00ff"}`, `{"head":"\u0061"}`, `{"head": "" ,"t":1}`, `{"unknown":2}`,
	`{"unknown":-2,"t":1}`, `{"unknown":"a","unknown":3,"t":1}`, `{"Unknown":2.5}`, `{"unknown":[1]}`, `{"unknown":"\u0061"}`, `{"UNKNOWN":01}`, `{"Type":2}`, `{"":3,"t":1}`,
	`{"sge":[]}`, `{"sge":[{}]}`, `{"sge":[{"addr":1,"length":2,"lkey":3},{"addr":4}]}`, `{"sge":[{"addr":1,"addr":2}]}`, `{"sge":[{"length":4294967296}]}`, `{"sge":[{"addr":1},]}`,
	`{"sge":[{"addr":-1}]}`, `{"sge":[{"x":1}]}`, `{"sge":null}`, `{"sge":[`, `{"sge":[{"addr":1}`, ` {"t":4}`,
}

// TestScanBorders: what the scanner does not take it leaves, and nothing of one line is found in the next one.
func TestScanBorders(t *testing.T) {
	s := newScanner()
	for _, first := range oddLines {
		for _, second := range oddLines {
			scansAlike(t, s, []byte(first))
			scansAlike(t, s, []byte(second))
		}
	}
	for _, text := range []string{
		`{"t":-9223372036854775808}`, `{"wr_id":18446744073709551615}`, `{"ev":"cqe" , "t" : 3 }`, `{"sge":[{"addr":1,"length":2,"lkey":3},{"addr":4}]}`,
		`{"unknown":-2,"t":1}`,
	} {
		if !s.scan([]byte(text)) {
			t.Errorf("%s is left to encoding/json", text)
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, text := range oddLines {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := newScanner()
		for range 2 {
			for l := range bytes.Lines(b) {
				scansAlike(t, s, l)
			}
		}
	})
}

// TestScanAllocates: a line that the scanner takes costs no allocation.
func TestScanAllocates(t *testing.T) {
	s := newScanner()
	list := [][]byte{
		[]byte(`{"seq":103,"t":1767225600000016000,"ev":"post_send","qpn":2610,"wr_id":13000003,"opcode":"SEND","sge":[{"addr":268495680,"length":4000,"lkey":548032}],"flags":2}`),
		[]byte(`{"seq":104,"t":1767225600000016111,"ev":"cqe","qpn":2610,"cq":4,"wr_id":12000017,"opcode":"RECV","status":"SUCCESS","status_code":0,"byte_len":4000}`),
	}
	n := testing.AllocsPerRun(100, func() {
		for _, l := range list {
			if !s.scan(l) {
				t.Fatalf("%s is left to encoding/json", l)
			}
		}
	})
	if n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkRead reads a log as its events are asked for.
func BenchmarkRead(b *testing.B) {
	const head = `{"ev":"device","gid":"10.0.0.1"}` + "\n"
	const lines = `{"seq":103,"t":1767225600000016000,"ev":"post_send","qpn":2610,"wr_id":13000003,"opcode":"SEND","sge":[{"addr":268495680,"length":4000,"lkey":548032}],"flags":2}` + "\n" +
		`{"seq":104,"t":1767225600000016111,"ev":"cqe","qpn":2610,"cq":4,"wr_id":12000017,"opcode":"RECV","status":"SUCCESS","status_code":0,"byte_len":4000}` + "\n" +
		`{"seq":105,"t":1767225600000016111,"ev":"arm","qpn":0,"cq":4}` + "\n"
	const repeat = 10_000
	text := head + strings.Repeat(lines, repeat)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		log, err := Follow("log", strings.NewReader(text))
		if err != nil {
			b.Fatal(err)
		}
		n := len(log.Events)
		for list := log.More(); len(list) > 0; list = log.More() {
			n += len(list)
		}
		if n != 3*repeat || log.Err() != nil {
			b.Fatal(n, log.Err())
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(3*repeat), "ns/line")
}
