package upper

import (
	"testing"

	"ibwitness/packet"
)

// TestReleases: answers that an end held until its peer granted it credits are known, and how long it had none; where it may have had some, only those of which several left at once, right after a
// message of a peer that had sent none for long; not those that leave later, or to commands that came just before.
func TestReleases(t *testing.T) {
	const ms = int64(1e6)
	for _, c := range []struct {
		name        string
		negotiated  bool
		asked       int
		busy, after int64
		late        bool // the commands come right before the message that grants credits
		dry, others int  // answers held
	}{
		{"no credits", true, 3, 0, 3000, false, 3, 0},
		{"no credits, one answer", true, 1, 0, 3000, false, 1, 0},
		{"a peer that sends much", true, 3, ms, 3000, false, 3, 0},
		{"later", true, 3, 0, 5 * ms, false, 0, 0},
		{"just asked", true, 3, 0, 3000, true, 0, 0},
		{"began before", false, 3, 0, 3000, false, 0, 3},
		{"began before, one answer", false, 1, 0, 3000, false, 0, 0},
		{"began before, a peer that sends much", false, 3, ms, 3000, false, 0, 0},
	} {
		tr := NewTracker(smb{}, true)
		at, frame := int64(0), uint64(0)
		send := func(from int, wait int64, b []byte) {
			at += wait
			frame++
			m := Message{From: from, Whole: true, Head: b, Length: len(b), Time: at, Frame: frame, PSN: packet.PSN(frame)}
			tr.Message(&m)
		}
		smbd := func(granted uint16, data []byte) []byte {
			b := smbdMessage(0, data)
			le.PutUint16(b[2:], granted)
			return b
		}
		ask := func(wait int64, id uint64) { send(0, wait, smbd(0, smb2Message(8, id, 0, 0, 0, make([]byte, 49)))) }
		answer := func(wait int64, id uint64) { send(1, wait, smbd(1, smb2Message(8, id, 1, 0, 0, make([]byte, 17)))) }
		if c.negotiated {
			send(0, ms, bytesOf(le, uint16(0x0100), uint16(0x0100), uint16(0), uint16(255), uint32(1364), uint32(8192), uint32(1048576)))
			send(1, ms, bytesOf(le, uint16(0x0100), uint16(0x0100), uint16(0x0100), uint16(0), uint16(255), uint16(90), uint32(0), uint32(8388608), uint32(1364), uint32(8192), uint32(1048576)))
		}
		send(0, ms, smbd(2, smb2Message(8, 100, 0, 0, 0, make([]byte, 49))))
		answer(ms, 100)
		wait := 20 * ms
		if c.late {
			wait = 1000
			at += 2000 * ms
		}
		for n := range c.asked {
			ask(wait, uint64(200+n))
		}
		if !c.late {
			at += 2000*ms - c.busy
		}
		if c.busy > 0 {
			ask(0, 300)
			at += c.busy
		}
		if !c.late {
			send(0, 0, smbd(20, nil))
		}
		for n := range c.asked {
			wait := int64(1000)
			if n == 0 {
				wait = c.after
			}
			answer(wait, uint64(200+n))
		}
		dry, others := tr.Releases(1, true), tr.Releases(1, false)
		if dry.Held != c.dry || others.Held != c.others || dry.Count != min(dry.Held, 1) || others.Count != min(others.Held, 1) {
			t.Errorf("%s: %+v, %+v", c.name, dry, others)
		}
		marked := 0
		for _, d := range tr.Took().Longest {
			if d.Freed.Frame != 0 && d.Freed.Dry == (c.dry > 0) {
				marked++
			}
		}
		if marked != c.dry+c.others {
			t.Errorf("%s: %d are marked", c.name, marked)
		}
		if c.dry > 0 && (dry.Longest.Freed.Count != 20 || dry.Longest.Lasted() < 2000*ms || dry.Longest.Freed.Time-dry.Longest.Since != dry.Longest.Lasted() || dry.Slow != c.asked) {
			t.Errorf("%s: %+v", c.name, dry)
		}
		if tr.Turn(); *tr.Releases(0, true) != *dry {
			t.Errorf("%s: turned", c.name)
		}
	}
}
