package incident

import (
	"testing"

	"ibwitness/packet"
)

// TestAtCapture: packets of three hosts that came just after the next ones, and for which no receiver sent a NAK, are one incident, which fits the capture
// first; not those of two hosts, that others were further ahead of, for which a NAK came, or of which it is not known that they had left first.
func TestAtCapture(t *testing.T) {
	for _, k := range []struct {
		name   string
		change func(*Incident)
		want   int
	}{
		{"three hosts", func(*Incident) {}, 1},
		{"two hosts", func(i *Incident) { i.Local.Addr = packet.IPv4Addr([]byte{10, 0, 0, 1}) }, 3},
		{"further ahead", func(i *Incident) { i.late.depth = 3 }, 3},
		{"a NAK", func(i *Incident) { i.late.naks = 1 }, 3},
		{"not known", func(i *Incident) { i.late.numbered = false }, 3},
	} {
		var list []Incident
		for n := range byte(3) {
			list = append(list, Incident{
				Kind: Reordered, Local: Party{Addr: packet.IPv4Addr([]byte{10, 0, 0, n + 1})}, Peer: Party{Addr: packet.IPv4Addr([]byte{10, 0, 0, n + 2})}, Connections: 1,
				Begin: int64(10 - n), End: int64(20 + n), late: late{name: requests.name, packets: 2, of: 500, numbered: true, depth: 1 + uint32(n)%2},
			})
		}
		k.change(&list[2])
		got := atCapture(list)
		if len(got) != k.want {
			t.Errorf("%s: %d incidents", k.name, len(got))
			continue
		}
		const what = "6 packets of 3 hosts came after later ones in the capture, by 2 PSNs at most, though they had left first; no receiver sent a NAK: it is likely the capture that holds them in another order."
		i := &got[0]
		if told := i.What == what && i.Begin == 8 && i.End == 22 && i.Connections == 3 && len(i.Also) == 2 && i.FitsWith[0] == orderOfCapture && i.harmless; told != (k.want == 1) {
			t.Errorf("%s: %+v", k.name, i)
		}
	}
}
