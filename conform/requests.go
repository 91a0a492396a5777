package conform

import (
	"bytes"
	"fmt"
	"strings"

	"ibwitness/packet"
	"ibwitness/wqe"
)

// Where the tester's requests go: the end of the region.
const remoteOffset = regionSize - remoteRoom

// ask sends a request of one packet with the tester's next PSN; change, where not nil, completes it. A READ takes the PSNs of its response.
func (c *conn) ask(f packet.Fn, payload []byte, change func(p *packet.Packet)) *packet.Packet {
	p := c.request(f, payload, change)
	n := 1
	if f == packet.ReadRequest {
		n = max(1, (int(p.DMALen)+pmtu-1)/pmtu)
	}
	c.next = p.PSN.Add(n)
	return c.send(p)
}

// request is a packet of a request with the tester's next PSN.
func (c *conn) request(f packet.Fn, payload []byte, change func(p *packet.Packet)) packet.Packet {
	m := c.r.memory
	p := packet.Packet{Opcode: packet.Op(c.service, f), PSN: c.next, AckReq: c.service == packet.RC || c.service == packet.XRC, Payload: payload}
	if p.Info().Headers&(packet.HasRETH|packet.HasAtomicETH) != 0 {
		p.VA, p.RKey, p.DMALen = m.va+remoteOffset, m.rkey, uint32(len(payload))
	}
	if change != nil {
		change(&p)
	}
	return p
}

// again sends a request of the tester once more, unchanged.
func (c *conn) again(p *packet.Packet) *packet.Packet {
	q := packet.Packet{
		Opcode: p.Opcode, PSN: p.PSN, AckReq: p.AckReq, Payload: p.Payload, VA: p.VA, RKey: p.RKey, DMALen: p.DMALen, Compare: p.Compare, SwapAdd: p.SwapAdd, FETH: p.FETH,
		SE: p.SE, Imm: p.Imm, InvRKey: p.InvRKey, XRCSRQ: p.XRCSRQ,
	}
	return c.send(q)
}

// tell sends a SEND or WRITE of the tester, AckReq only in its last packet.
func (c *conn) tell(op wqe.SendOp, data []byte) (list []*packet.Packet) {
	n := max(1, (len(data)+pmtu-1)/pmtu)
	for i := range n {
		list = append(list, c.ask(function(op, i, n), data[i*pmtu:min(len(data), (i+1)*pmtu)], func(p *packet.Packet) {
			p.AckReq = p.AckReq && i == n-1
			if p.DMALen = 0; p.Info().Headers&packet.HasRETH != 0 {
				p.DMALen = uint32(len(data))
			}
		}))
	}
	return list
}

// answer takes the next packet of the device; nil where none comes in time.
func (c *conn) answer() *packet.Packet { return c.receive(c.r.soon()) }

// quiet lets time pass, and returns what the device has sent that nobody has taken, or nil.
func (c *conn) quiet() *packet.Packet {
	c.r.settle()
	if len(c.arrived) == 0 {
		return nil
	}
	return c.receive(c.r.now())
}

// acked judges that a packet of the device acknowledges a request.
func (c *conn) acked(id string, sent, got *packet.Packet, psn packet.PSN, msn uint32) bool {
	return c.answeredBy(id, sent, got, psn, msn, packet.ACK, 0)
}

// nakked judges that a packet of the device is a NAK with a syndrome.
func (c *conn) nakked(id string, sent, got *packet.Packet, psn packet.PSN, msn uint32, s packet.Syndrome) bool {
	return c.answeredBy(id, sent, got, psn, msn, packet.NAK, s)
}

func (c *conn) answeredBy(id string, sent, got *packet.Packet, psn packet.PSN, msn uint32, t packet.SyndromeType, s packet.Syndrome) bool {
	what := "ACK"
	if t == packet.NAK {
		what = s.String()
	}
	want := fmt.Sprintf("%s, PSN %v, MSN %d", what, psn, msn&packet.PSNMask)
	if got == nil {
		return c.r.check(id, false, want, "no answer", sent)
	}
	ok := got.Opcode == packet.Op(c.service, packet.Acknowledge) && got.Syndrome.Type() == t && (t == packet.ACK || got.Syndrome == s) && !got.Syndrome.Reserved() &&
		got.PSN == psn && got.MSN == msn&packet.PSNMask && got.PayloadLen == 0
	return c.r.check(id, ok, want, told(got), sent, got)
}

// bareBTH judges that the BTH of an answer has what the connection has, and nothing that answers do not have.
func (c *conn) bareBTH(id string, sent, got *packet.Packet) {
	var d departure
	d.note(3, "AckReq", !got.AckReq, false, true)
	d.note(3, "SE", !got.SE, false, true)
	d.note(3, "pad count", int(got.PadCnt) == -got.PayloadLen&3, -got.PayloadLen&3, got.PadCnt)
	d.note(3, "transport version", got.TVer == 0, 0, got.TVer)
	d.note(3, "reserved bits", got.Resv7|got.Resv8a == 0, 0, got.Resv7|got.Resv8a)
	d.note(3, "FECN or BECN", !got.FECN && !got.BECN, false, true)
	d.note(3, "MigReq", got.MigReq, true, got.MigReq)
	d.note(3, "P_Key", got.PKey == c.attr.PKey, hex(uint64(c.attr.PKey)), hex(uint64(got.PKey)))
	c.r.check(id, len(d[2]) == 0, "the BTH of an answer", actually(strings.Join(d[2], ", "), "that"), sent, got)
}

// holds judges that memory at an offset of the tester's part of the region holds data.
func (c *conn) holds(id string, offset int, data []byte, frames ...*packet.Packet) bool {
	got := make([]byte, len(data))
	_, err := c.r.dev.MemoryData(ctx, c.r.memoryAt(uint64(remoteOffset+offset), len(data)), got)
	c.r.must(err)
	return c.r.check(id, bytes.Equal(got, data), "memory with that data", "memory with "+dataIs(bytes.Equal(got, data)), frames...)
}

// fill has the consumer store data in the tester's part of the region.
func (c *conn) fill(offset int, data []byte) {
	c.r.must(c.r.dev.SetMemory(ctx, c.r.memoryAt(uint64(remoteOffset+offset), len(data)), data))
}
