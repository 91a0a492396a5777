package packet_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"ibwitness/packet"
)

// tables3and4 are the rows of T3 and T4: code, credits, RNR timer in milliseconds.
const tables3and4 = `0 0 655.36|1 1 0.01|2 2 0.02|3 3 0.03|4 4 0.04|5 6 0.06|6 8 0.08|7 12 0.12|8 16 0.16|9 24 0.24|10 32 0.32|
11 48 0.48|12 64 0.64|13 96 0.96|14 128 1.28|15 192 1.92|16 256 2.56|17 384 3.84|18 512 5.12|19 768 7.68|20 1024 10.24|
21 1536 15.36|22 2048 20.48|23 3072 30.72|24 4096 40.96|25 6144 61.44|26 8192 81.92|27 12288 122.88|28 16384 163.84|
29 24576 245.76|30 32768 327.68|31 - 491.52`

func TestSyndromeTables(t *testing.T) {
	rows := strings.Split(strings.ReplaceAll(tables3and4, "\n", ""), "|")
	if len(rows) != 32 {
		t.Fatalf("%d rows", len(rows))
	}
	for code, row := range rows {
		f := strings.Fields(row)
		n, limited := packet.Syndrome(code).Credits()
		if want := f[1] != "-"; limited != want || want && strconv.Itoa(int(n)) != f[1] {
			t.Errorf("credit code %d: %d, %v, want %s", code, n, limited, f[1])
		}
		ms, err := strconv.ParseFloat(f[2], 64)
		if err != nil || f[0] != strconv.Itoa(code) {
			t.Fatal(row)
		}
		if got, want := packet.RNRTimer(uint8(code)), time.Duration(ms*100+0.5)*10*time.Microsecond; got != want {
			t.Errorf("RNR timer code %d: %v, want %v", code, got, want)
		}
	}
}

// TestSyndromes is table T5: which syndromes there are, and which end the connection.
func TestSyndromes(t *testing.T) {
	for i := range 256 {
		s := packet.Syndrome(i)
		want := i < 0x40 || i >= 0x60 && i <= 0x64
		if s.Reserved() == want {
			t.Errorf("%#x: reserved %v", i, s.Reserved())
		}
		if s.Fatal() != (i >= 0x61 && i <= 0x64) {
			t.Errorf("%#x: fatal %v", i, s.Fatal())
		}
		if int(s.Type()) != i>>5&3 || int(s.Value()) != i&31 || s.String() == "" {
			t.Errorf("%#x: type %d, value %d, %q", i, s.Type(), s.Value(), s)
		}
		if _, ok := s.Credits(); ok != (s.Type() == packet.ACK && i&31 != 31) {
			t.Errorf("%#x: credits %v", i, ok)
		}
	}
	for s, want := range map[packet.Syndrome]string{
		0x1F: "ACK", 0x05: "ACK credits 6", 0x2C: "RNR NAK 640µs", 0x60: "NAK PSN Sequence Error", 0x65: "NAK reserved code 5", 0x9F: "reserved 0x9f",
	} {
		if s.String() != want {
			t.Errorf("%#x: %q, want %q", uint8(s), s, want)
		}
	}
	if got := packet.Timeout(14); got != 67108864*time.Nanosecond {
		t.Errorf("timeout code 14: %v", got)
	}
}
