package upper

import "testing"

// TestInterim: the first STATUS_PENDING of a command is known, of that only.
func TestInterim(t *testing.T) {
	k := &talk{TB: t}
	k.send(0, smbdMessage(0, smb2Message(7, 7, 0, 0, 0, make([]byte, 24))))
	c := k.t.Oldest()
	if got := k.t.Interim(c); got != 0 {
		t.Error(got)
	}
	k.send(1, smbdMessage(0, smb2Message(7, 8, smb2IsReply, statusPended, 0, make([]byte, 9)))) // of none
	for range 2 {
		k.send(1, smbdMessage(0, smb2Message(7, 7, smb2IsReply, statusPended, 0, make([]byte, 9))))
	}
	if got := k.t.Interim(c); got != 3 {
		t.Error(got)
	}
	k.send(0, smbdMessage(0, smb2Message(7, 9, 0, 0, 0, make([]byte, 24))))
	k.send(1, smbdMessage(0, smb2Message(7, 7, smb2IsReply, 0, 0, make([]byte, 4))))
	if a, b := k.t.AnsweredIn(c), k.t.AnsweredIn(k.t.Oldest()); a == 0 || b != 0 || k.t.Interim(k.t.Oldest()) != 0 {
		t.Error(a, b)
	}
}

// TestUngranted: how many messages an end has sent since it got credits last is known, and the most between two grants, though the connection began before.
func TestUngranted(t *testing.T) {
	data := func(granted uint16) []byte {
		return bytesOf(le, uint16(255), granted, uint32(0), uint32(0), uint32(0), uint32(0))
	}
	k := &talk{TB: t}
	k.send(0, smbdMessage(0, smb2Message(0, 0, 0, 0, 0, make([]byte, 36))))
	grant := func(n uint16, messages int) {
		for range messages {
			k.send(0, data(0))
		}
		k.send(1, data(n))
	}
	grant(1, 7) // how many came before is not known
	grant(2, 2)
	grant(3, 3)
	grant(0, 20)
	c, known := k.t.Credits()
	since, before, granted := c.Ungranted(0)
	if known || since != 20 || before != 3 || !granted {
		t.Error(known, since, before, granted)
	}
	if _, _, granted = c.Ungranted(1); granted && c.Granted[1].Count != 1 {
		t.Errorf("%+v", c)
	}
	k.t.Turn()
	c, _ = k.t.Credits()
	if since, before, _ = c.Ungranted(1); since != 20 || before != 3 {
		t.Error(since, before)
	}
}
