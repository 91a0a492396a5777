package soft_test

import (
	"fmt"
	"testing"

	"ibwitness/packet"
)

// dump prints the frames of a capture that end with one, of its connection only.
func (c *capture) dump(t testing.TB, frame int) {
	var at packet.Packet
	decode := func(i int) (p packet.Packet) {
		d := c.frames[i].Data
		packet.DecodeIP(&p, d[14:], len(d)-14)
		return p
	}
	at = decode(frame - 1)
	t.Logf("frame %d goes to QP %#x", frame, at.DestQP)
	for i := max(0, frame-60); i < min(frame+3, len(c.frames)); i++ {
		p := decode(i)
		way := fmt.Sprintf("%v > %#x", p.Src, p.DestQP)
		text := fmt.Sprintf("%5d %9d %s %v psn=%06x id=%d", i+1, (c.frames[i].Time - c.frames[0].Time), way, p.Opcode, uint32(p.PSN), p.IPID)
		if p.AckReq {
			text += " ackreq"
		}
		if p.Has&packet.HasAETH != 0 {
			text += fmt.Sprintf(" %v msn=%d", p.Syndrome, p.MSN)
		}
		if p.Has&packet.HasRETH != 0 {
			text += fmt.Sprintf(" va=%x dma=%d", p.VA, p.DMALen)
		}
		t.Logf("%s len=%d", text, p.PayloadLen)
	}
}
