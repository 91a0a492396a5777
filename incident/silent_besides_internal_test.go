package incident

import (
	"strings"
	"testing"

	"ibwitness/packet"
	"ibwitness/timing"
)

// TestSilentBesides: a time in which no program of a host sent a message belongs to the stop of one of them, if it lies within, and who waited is told; not one of another host, nor of before or after.
func TestSilentBesides(t *testing.T) {
	host, other, client := packet.IPv4Addr([]byte{10, 0, 0, 9}), packet.IPv4Addr([]byte{10, 0, 0, 8}), packet.IPv4Addr([]byte{10, 0, 0, 1})
	stops := []processStop{{Silence: timing.Silence{From: 1000, To: 5000}}, {Silence: timing.Silence{From: 9000, To: 12000}}}
	for _, k := range []struct {
		name       string
		of         packet.Addr
		begin, end int64
		want       bool
	}{
		{"within", host, 1200, 11000, true},
		{"of another host", other, 1200, 11000, false},
		{"before", host, 500, 4000, false},
		{"longer", host, 1200, 12001 + aftermath, false},
	} {
		o := Incident{programsOf: k.of, Begin: k.begin, End: k.end, Local: Party{Addr: client}}
		if got := o.ofProgramsIn(host, stops); got != k.want {
			t.Errorf("%s: %t", k.name, got)
		}
		i := Incident{Peer: Party{Addr: host}}
		i.silentBesides(&o)
		if !i.says("likewise") || !strings.HasSuffix(i.Facts[0].Text, "meanwhile: 10.0.0.1 waited, too") {
			t.Errorf("%s: %+v", k.name, i.Facts)
		}
	}
}
