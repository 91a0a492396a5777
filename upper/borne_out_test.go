package upper

import "testing"

// TestBorneOut: command capsules that use fields which most do not, or are cut before their descriptor, are of NVMe once the peer has
// answered several by their IDs; not where it has answered none, the IDs
// are the same each time, or a message is no capsule.
func TestBorneOut(t *testing.T) {
	metadata := func(b []byte) []byte { b[16] = 8; return b }
	reserved := func(b []byte) []byte { b[9] = 1; return b }
	cut := func(b []byte) []byte { return b[:20] }
	for _, k := range []struct {
		name    string
		change  func(b []byte) []byte
		answers func(cid uint16) (uint16, bool)
		odd     int // from that command on a message of the host is something else
		want    bool
	}{
		{"metadata pointer", metadata, func(cid uint16) (uint16, bool) { return cid, true }, 99, true},
		{"reserved", reserved, func(cid uint16) (uint16, bool) { return cid, true }, 99, true},
		{"cut", cut, func(cid uint16) (uint16, bool) { return cid, true }, 99, true},
		{"nothing answers", cut, func(uint16) (uint16, bool) { return 0, false }, 99, false},
		{"others answer", cut, func(cid uint16) (uint16, bool) { return cid + 1000, true }, 99, false},
		{"one in four is answered", cut, func(cid uint16) (uint16, bool) { return cid, cid%4 == 0 }, 99, true},
		{"something else", cut, func(cid uint16) (uint16, bool) { return cid, true }, 3, false},
	} {
		p, fit := Recognize(message(k.change(nvmeRead(0, 1, 0x1000, 7, 4096))))
		if fit != Faint {
			t.Fatalf("%s: fit %d", k.name, fit)
		}
		x, psn := NewTracker(p, false), uint32(0)
		for cid := range 20 {
			b := k.change(nvmeRead(uint16(cid), 1, uint64(cid)<<12, 7, 4096))
			if cid == k.odd {
				b[1] = 0
			}
			send := func(from int, b []byte) {
				m := message(b)
				m.From, m.PSN = from, m.PSN.Add(int(psn))
				psn++
				if !x.Refuted() {
					x.Message(m)
				}
			}
			send(0, b)
			if id, ok := k.answers(uint16(cid)); ok {
				send(1, nvmeResponse(id, 0))
			}
		}
		if x.Recognized() != k.want || k.odd < 20 && !x.Refuted() {
			t.Errorf("%s: recognized %t, refuted %t", k.name, x.Recognized(), x.Refuted())
		}
	}
	x := NewTracker(nvme{}, false)
	for n := range 20 {
		m := message(cut(nvmeRead(5, 1, 0x1000, 7, 4096)))
		m.PSN = m.PSN.Add(n)
		x.Message(m)
		m = message(nvmeResponse(5, 0))
		m.From, m.PSN = 1, m.PSN.Add(n)
		x.Message(m)
	}
	if x.Recognized() {
		t.Error("the same ID each time is taken for evidence")
	}
}

// message is a SEND of one packet, of which the snap length left a submission queue entry that is shorter than it was.
func message(b []byte) *Message {
	n := len(b)
	if n > cqeSize {
		n = max(n, sqeSize)
	}
	return &Message{Whole: true, Head: b, Length: n}
}
