package verifier_test

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/wqe"
)

// operations are the names of the operations in scenarios; a prefix UC_, UD_, RD_ or XRC_ names another service than RC.
var operations = map[string]packet.Fn{
	"SEND_FIRST": packet.SendFirst, "SEND_MIDDLE": packet.SendMiddle, "SEND_LAST": packet.SendLast, "SEND_LAST_IMM": packet.SendLastImm,
	"SEND_ONLY": packet.SendOnly, "SEND_ONLY_IMM": packet.SendOnlyImm, "SEND_LAST_INV": packet.SendLastInv, "SEND_ONLY_INV": packet.SendOnlyInv,
	"WRITE_FIRST": packet.WriteFirst, "WRITE_MIDDLE": packet.WriteMiddle, "WRITE_LAST": packet.WriteLast, "WRITE_LAST_IMM": packet.WriteLastImm,
	"WRITE_ONLY": packet.WriteOnly, "WRITE_ONLY_IMM": packet.WriteOnlyImm, "ATOMIC_WRITE": packet.AtomicWrite, "FLUSH": packet.Flush,
	"READ_REQUEST": packet.ReadRequest, "READ_FIRST": packet.ReadRespFirst, "READ_MIDDLE": packet.ReadRespMiddle,
	"READ_LAST": packet.ReadRespLast, "READ_ONLY": packet.ReadRespOnly, "CMP_SWAP": packet.CmpSwap, "FETCH_ADD": packet.FetchAdd,
	"ATOMIC_ACK": packet.AtomicAck, "ACK": packet.Acknowledge, "RESYNC": packet.Resync,
}

// negatives are the Acknowledges that are not positive.
var negatives = map[string]packet.Syndrome{
	"NAK_SEQUENCE": packet.NAKSequence, "NAK_INVALID": packet.NAKInvalidRequest, "NAK_ACCESS": packet.NAKRemoteAccess,
	"NAK_OPERATIONAL": packet.NAKRemoteOp, "RNR_NAK": packet.Syndrome(packet.RNRNAK) << 5,
}

var services = map[string]packet.Service{"UC": packet.UC, "UD": packet.UD, "RD": packet.RD, "XRC": packet.XRC}

// parseOpcode reads the name of an opcode, or its number. syndrome is that of an Acknowledge.
func parseOpcode(s string) (o packet.Opcode, syndrome packet.Syndrome, err error) {
	syndrome = packet.CreditInvalid
	if n, err := strconv.ParseUint(s, 0, 8); err == nil {
		return packet.Opcode(n), syndrome, nil
	}
	if s == "CNP" {
		return packet.OpCNP, 0, nil
	}
	service := packet.RC
	if prefix, rest, ok := strings.Cut(s, "_"); ok {
		if v, ok := services[prefix]; ok {
			service, s = v, rest
		}
	}
	if v, ok := negatives[s]; ok {
		syndrome, s = v, "ACK"
	}
	fn, ok := operations[s]
	if !ok {
		return 0, 0, fmt.Errorf("no operation %q", s)
	}
	return packet.Op(service, fn), syndrome, nil
}

// packet reads a line: time, direction, operation, fields. It builds the frame and feeds it to the agent.
func (s *scenario) packet(words []string) error {
	if len(words) < 2 {
		return fmt.Errorf("give time, direction and operation")
	}
	if err := s.time(words[0]); err != nil {
		return err
	}
	switch words[1] {
	case "dropped":
		s.agent.Dropped()
		return nil
	case "end":
		return nil
	}
	src, dst, err := parseWay(words[1])
	if err != nil {
		return err
	}
	if len(words) < 3 {
		return fmt.Errorf("give an operation")
	}
	f, err := parseFields(words[3:])
	if err != nil {
		return err
	}
	seen := &packet.Packet{Time: s.now}
	if done, err := s.linkLine(words[2], src, f, seen); done || err != nil {
		return err
	}
	if words[2] == "PAUSE" {
		return s.pause(src, f, seen)
	}
	q := s.sender(src, dst)
	if words[2] == "copy" {
		f.tap(seen)
		if n, ok := f.number("ecn"); ok {
			remark(q.frame, uint8(n))
		}
		return s.feed(q.encap, q.frame, len(q.frame), seen)
	}
	how := s.encap
	if w, ok := f.word("encap"); ok {
		how = encapByName[w]
	}
	p := &packet.Packet{Encap: how.encap, PKey: 0xFFFF, SrcPort: 0xC000 + uint16(src.n), IPID: q.ipid, DestQP: dst.qpn, SrcQP: src.qpn}
	q.ipid++
	p.Src, p.Dst, p.SGID, p.DGID = s.encap.addr(src.host), s.encap.addr(dst.host), gid(src.host), gid(dst.host)
	if how.grh {
		p.Has = packet.HasGRH
	}
	if strings.HasPrefix(words[2], "SMP_") {
		if err = s.subnet(p, words[2], src, dst, f); err != nil {
			return err
		}
	} else if strings.HasPrefix(words[2], "CM_") {
		carrier := f.carrier()
		if p.Payload, err = s.message(words[2], src, dst, f); err != nil {
			return err
		}
		p.Opcode, p.DestQP, p.SrcQP, p.QKey = packet.Op(packet.UD, packet.SendOnly), 1, 1, 0x80010000
		if n, ok := carrier.number("pkey"); ok {
			p.PKey = uint16(n)
		}
		f = carrier
	} else if strings.HasPrefix(words[2], "QP0_") {
		p.Payload, err = subnetManagement(words[2], f)
		if err != nil {
			return err
		}
		p.Opcode, p.DestQP, p.SrcQP, p.VL = packet.Op(packet.UD, packet.SendOnly), 0, 0, 15
		f.psn(&p.PSN)
	} else if p.Payload, err = s.management(words[2], src, dst, f); err != nil {
		return err
	} else if p.Payload != nil {
		p.Opcode, p.DestQP, p.SrcQP, p.QKey = packet.Op(packet.UD, packet.SendOnly), 1, 1, 0x80010000
	} else if err := s.fill(p, words[2], src, dst, f); err != nil {
		return err
	}
	around, onEthernet, err := s.ether(src, dst, f)
	if err != nil {
		return err
	}
	mtu, tooBig := f.number("refused")
	quote, _ := f.number("quote")
	outer, inside := f.number("outer")
	frame, wireLen, err := f.build(p)
	if err != nil {
		return err
	}
	q.frame, q.encap = frame, how.encap
	f.tap(seen)
	switch {
	case onEthernet:
		more := len(frame)
		frame = around.frame(frame)
		return s.frame(fabricagent.LinkEthernet, frame, wireLen+len(frame)-more, seen)
	case inside:
		frame = tunnelled(frame, uint8(outer))
		return s.frame(fabricagent.LinkRaw, frame, len(frame), seen)
	case tooBig:
		frame = refuse(frame, uint32(mtu), quote)
		return s.frame(fabricagent.LinkRaw, frame, len(frame), seen)
	}
	return s.feed(how.encap, frame, wireLen, seen)
}

// time reads when a packet is seen: since the beginning, or with a plus since the line before.
func (s *scenario) time(word string) error {
	d, err := time.ParseDuration(strings.TrimPrefix(word, "+"))
	if err != nil {
		return fmt.Errorf("%q is no time: give 3us or, since the line before, +3us", word)
	}
	if s.now == 0 || word[0] != '+' {
		s.now = epoch
	}
	s.now += int64(d)
	return nil
}

// fill gives a packet what its opcode needs and the line does not say.
func (s *scenario) fill(p *packet.Packet, op string, src, dst end, f *fields) (err error) {
	if p.Opcode, p.Syndrome, err = parseOpcode(op); err != nil {
		return err
	}
	q, peer := s.sender(src, dst), s.sender(dst, src)
	in := p.Info()
	fn := p.Opcode.Fn()
	switch {
	case p.Opcode == packet.OpCNP || p.Opcode == packet.OpCNPIB:
		f.psn(&p.PSN)
		if n, ok := f.number("data"); ok {
			p.Payload = append(make([]byte, 15), byte(n))
		}
		if n, ok := f.number("reserved"); ok {
			p.Payload = make([]byte, n)
		}
		return nil
	case !in.Response:
		p.PSN = q.next
	case fn == packet.ReadRespMiddle || fn == packet.ReadRespLast:
		p.PSN = q.response.Add(1)
	default:
		p.PSN = peer.newest
	}
	f.psn(&p.PSN)
	if in.First || in.Middle {
		p.PayloadLen = int(s.pmtu)
	} else if in.Payload {
		p.PayloadLen = 64
	}
	f.content(p)
	p.VA, p.RKey, p.DMALen = 0x10000, 0x777, uint32(len(p.Payload))
	switch {
	case fn == packet.WriteFirst:
		p.DMALen = 2 * s.pmtu
	case fn == packet.ReadRequest:
		p.DMALen = 64
	case in.Opcode.Service() == packet.UD:
		p.QKey = 0x1234
	}
	if n, ok := f.number("dma"); ok {
		p.DMALen = uint32(n)
	}
	if n, ok := f.number("timer"); ok {
		p.Syndrome |= packet.Syndrome(n & 31)
	}
	if in.Response {
		before := 0
		if p.Syndrome.Type() != packet.ACK {
			before = 1
		}
		q.response, p.MSN = p.PSN, peer.completed(p.PSN.Add(-before))
		if n, ok := f.number("msn"); ok {
			p.MSN = uint32(n)
		}
		if s.heat != nil {
			p.MSN = (p.MSN + s.heat.shift[min(src.name, dst.name)+max(src.name, dst.name)]) & packet.PSNMask
		}
		return nil
	}
	span := 1
	if fn == packet.ReadRequest {
		span = wqe.Packets(p.DMALen, s.pmtu)
	}
	q.sent(p.PSN, span, in.Last || in.Only)
	return nil
}
