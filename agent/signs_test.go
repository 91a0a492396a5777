package agent

import (
	"testing"

	"ibwitness/packet"
)

// TestSigns: what two have counted is listed in the order of frames, without that of ports whose host is not known; of too many none is known.
func TestSigns(t *testing.T) {
	host := packet.IPv4Addr([]byte{10, 0, 0, 1})
	var a, b signs
	a.add(sign{Sign: Sign{Host: host, At: 5, Frame: 5}})
	a.add(sign{Sign: Sign{At: 2, Frame: 2, LLDP: true}, port: 7})
	b.add(sign{Sign: Sign{Host: host, At: 3, Frame: 3}})
	a.addAll(&b)
	if got := a.of(nil); len(got) != 2 || got[0].Frame != 3 || got[1].Frame != 5 {
		t.Errorf("%+v", got)
	}
	for range mostSigns - 2 {
		b.add(sign{Sign: Sign{Host: host}})
	}
	if got := b.of(nil); len(got) != mostSigns-1 {
		t.Errorf("%d", len(got))
	}
	if a.addAll(&b); a.of(nil) != nil {
		t.Error("of too many")
	}
}
