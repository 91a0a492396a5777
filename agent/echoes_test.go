package agent

import (
	"testing"

	"ibwitness/packet"
)

// TestEchoes: what two have counted adds up, in the order of addresses, whoever counted it; of too many hosts none is known.
func TestEchoes(t *testing.T) {
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, n, 1}) }
	var a, b echoes
	a.add(Echo{host(2), 1, 5, 5, 62})
	a.add(Echo{host(1), 1, 6, 6, 63})
	b.add(Echo{host(2), 1, 3, 3, 63})
	b.add(Echo{host(2), 1, 9, 9, 63})
	a.addAll(&b)
	if got := a.hosts(); len(got) != 2 || got[0] != (Echo{host(1), 1, 6, 6, 63}) || got[1] != (Echo{host(2), 3, 3, 9, 63}) {
		t.Errorf("%+v", got)
	}
	for n := range byte(mostEchoes - 2) {
		b.add(Echo{host(10 + n), 1, 9, 9, 63})
	}
	if got := b.hosts(); len(got) != mostEchoes-1 {
		t.Errorf("%d", len(got))
	}
	if a.addAll(&b); len(a.hosts()) != mostEchoes {
		t.Errorf("%d", len(a.hosts()))
	}
	if b.add(Echo{host(3), 1, 9, 9, 63}); b.hosts() == nil {
		t.Error("none, of as many as may be")
	}
	if b.add(Echo{host(4), 1, 9, 9, 63}); b.hosts() != nil {
		t.Errorf("%d of too many", len(b.hosts()))
	}
	var c echoes
	if c.addAll(&b); c.hosts() != nil {
		t.Error("too many for one are known to another")
	}
}
