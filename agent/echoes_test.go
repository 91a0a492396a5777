package agent

import (
	"reflect"
	"slices"
	"testing"

	"ibwitness/packet"
)

// TestEchoes: what two have counted adds up, in the order of addresses, whoever counted it; of too many hosts none is known.
func TestEchoes(t *testing.T) {
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, n, 1}) }
	echo := func(n byte, replies uint64, first, last int64, hops uint8) Echo {
		return Echo{Addr: host(n), Replies: replies, First: first, Last: last, HopLimit: hops}
	}
	var a, b echoes
	a.add(echo(2, 1, 5, 5, 62))
	a.add(echo(1, 1, 6, 6, 63))
	b.add(echo(2, 1, 3, 3, 63))
	b.add(echo(2, 1, 9, 9, 63))
	a.addAll(&b)
	if got := a.hosts(); !reflect.DeepEqual(got, []Echo{echo(1, 1, 6, 6, 63), echo(2, 3, 3, 9, 63)}) {
		t.Errorf("%+v", got)
	}
	for n := range byte(mostEchoes - 2) {
		b.add(echo(10+n, 1, 9, 9, 63))
	}
	if got := b.hosts(); len(got) != mostEchoes-1 {
		t.Errorf("%d", len(got))
	}
	if a.addAll(&b); len(a.hosts()) != mostEchoes {
		t.Errorf("%d", len(a.hosts()))
	}
	if b.add(echo(3, 1, 9, 9, 63)); b.hosts() == nil {
		t.Error("none, of as many as may be")
	}
	if b.add(echo(4, 1, 9, 9, 63)); b.hosts() != nil {
		t.Errorf("%d of too many", len(b.hosts()))
	}
	var c echoes
	if c.addAll(&b); c.hosts() != nil {
		t.Error("too many for one are known to another")
	}
}

// TestEchoesAnswer: whether a host may have answered a ping in a time is known of so many answers, whoever counted them; of more, only between the
// first and the last.
func TestEchoesAnswer(t *testing.T) {
	host := packet.IPv4Addr([]byte{10, 0, 0, 1})
	at := func(n int64) Echo { return Echo{Addr: host, Replies: 1, First: n, Last: n, Times: []int64{n}} }
	var a, b echoes
	for n := int64(10); n > 0; n-- { // none from 40 to 70
		e := &a
		if n%2 == 0 {
			e = &b
		}
		if n < 4 || n > 7 {
			e.add(at(n * 10))
		}
	}
	a.addAll(&b)
	if e := &a.hosts()[0]; e.Answers(35, 75) || !e.Answers(25, 75) || e.Answers(101, 200) || !slices.IsSorted(e.Times) {
		t.Errorf("%+v", *e)
	}
	for n := range int64(mostReplies) {
		a.add(at(200 + n))
	}
	if e := &a.hosts()[0]; !e.Answers(35, 75) || e.Answers(1, 9) || e.Times != nil {
		t.Errorf("times of %d answers", len(e.Times))
	}
}
