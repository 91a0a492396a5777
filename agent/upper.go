package agent

import (
	"encoding/binary"
	"maps"
	"time"

	"ibwitness/agent/internal/connection"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/upper"
	"ibwitness/wqe"
)

const (
	// young is with how many messages of an end one must be of its protocol for that to be recognized, and patience with how many it must be.
	young, patience = 32, 64
	// mostUppers is how many connections of a bucket are followed: all buckets together may take 400 MiB if each connection has upper.MostCommands open, and take a fifth
	// of that else.
	mostUppers = 128

	// A message is looked at where it begins, and where it ends with an immediate that says what it was.
	sendHeads  = 1<<packet.SendFirst | 1<<packet.SendOnly | 1<<packet.SendOnlyImm | 1<<packet.SendOnlyInv
	writeHeads = 1<<packet.WriteFirst | 1<<packet.WriteOnly
	writeEnds  = 1<<packet.WriteLastImm | 1<<packet.WriteOnlyImm
	// A READ is looked at as it tells whose data was fetched.
	reads = 1 << packet.ReadRequest
	// The first response to a READ of a connection that has just begun may have what its first command asks for.
	responses = 1<<packet.ReadRespFirst | 1<<packet.ReadRespOnly
)

// headed reports whether a packet of RC with an opcode from an end is looked at: of a connection that is followed, or is new and may
// begin to be with such a packet. Most are of neither.
func headed(c *connection.Connection, end *qp.QP, o packet.Opcode) bool {
	isYoung := end.SQ.Count <= young
	switch {
	case !isYoung && !c.Headed() || o >= 0x20:
		return false
	case !c.Headed():
		return (sendHeads|writeEnds)>>o&1 != 0
	}
	return (sendHeads|writeHeads|writeEnds|reads)>>o&1 != 0 || isYoung && responses>>o&1 != 0
}

// uppers are the protocols above the transport of the connections of which one was recognized, or seems to be.
type uppers struct {
	of      map[*connection.Connection]*upper.Tracker
	buckets [packet.Buckets]uint16 // how many each bucket has
	message upper.Message
}

// head looks at the head of a message, which the verifier of its service has judged.
func (t *Transport) head(c *connection.Connection, from int, p *packet.Packet) {
	u := &t.uppers
	switch {
	case !c.Headed():
		u.recognize(c, from, p)
	case !c.Ends[0].Reused && !c.Ends[1].Reused:
		t.commanded(c, p, u.follow(c, from, p))
	}
}

// recognize begins to follow a connection where a message may be of a protocol that is known.
func (u *uppers) recognize(c *connection.Connection, from int, p *packet.Packet) {
	if sendHeads>>p.Opcode.Fn()&1 != 0 && !upper.Plausible(payload(p)) {
		return
	}
	u.fill(c, from, p)
	if protocol, fit := upper.Recognize(&u.message); fit > upper.NoFit {
		if t := u.begin(c, protocol, false); t != nil {
			t.Message(&u.message)
		}
	}
}

// begin begins to follow a connection, where there is room.
func (u *uppers) begin(c *connection.Connection, p upper.Protocol, named bool) *upper.Tracker {
	n := &u.buckets[c.Bucket()]
	if *n >= mostUppers {
		return nil
	}
	if u.of == nil {
		u.of = map[*connection.Connection]*upper.Tracker{}
	}
	*n++
	t := upper.NewTracker(p, named)
	u.of[c] = t
	c.SetHeaded(true)
	return t
}

// end ends that.
func (u *uppers) end(c *connection.Connection) {
	if _, ok := u.of[c]; ok {
		u.buckets[c.Bucket()]--
		delete(u.of, c)
		c.SetHeaded(false)
	}
}

// commanded measures, where times are, how long the command took that a packet has answered, if it has answered one.
func (t *Transport) commanded(c *connection.Connection, p *packet.Packet, took time.Duration) {
	if took <= 0 || t.timings == nil {
		return
	}
	if k := t.timings.timed(c); k != nil {
		k.Command(took, p.Time, p.Frame)
	}
}

// follow has the tracker of a connection take a message. It returns how long a command took that the message has answered; 0: none.
func (u *uppers) follow(c *connection.Connection, from int, p *packet.Packet) (took time.Duration) {
	t := u.of[c]
	if t == nil {
		return 0
	}
	if p.Opcode.Fn() == packet.ReadRequest {
		t.Read(p.VA, p.RKey, p.DMALen, p.Time, p.Frame)
		return 0
	}
	if responses>>p.Opcode.Fn()&1 != 0 {
		t.ReadData(from, payload(p))
		return 0
	}
	u.fill(c, from, p)
	answered := t.Took().Count
	if t.Message(&u.message); t.Refuted() || !t.Recognized() && c.Ends[from].SQ.Count > patience {
		u.end(c)
	}
	if t.Took().Count > answered {
		took = time.Duration(t.Took().Newest)
	}
	return took
}

// fill takes the message at hand from one of its packets.
func (u *uppers) fill(c *connection.Connection, from int, p *packet.Packet) {
	m := &u.message
	*m = upper.Message{From: from, Whole: p.Info().Only, PSN: p.PSN, Time: p.Time, Frame: p.Frame, Tap: p.Tap}
	switch fn := p.Opcode.Fn(); {
	case sendHeads>>fn&1 != 0:
		m.Head, m.Length = payload(p), p.PayloadLen
		if at := p.BTHOff + packet.BTHSize + packet.HeaderSize(p.Opcode); fn == packet.SendOnlyInv && at <= len(p.Data) {
			m.Invalidates, m.InvRKey = true, binary.BigEndian.Uint32(p.Data[at-4:])
		}
		return
	case writeEnds>>fn&1 != 0:
		m.Kind = upper.WriteImm
		if at := p.BTHOff + packet.BTHSize + packet.HeaderSize(p.Opcode); at <= len(p.Data) {
			m.Imm = binary.BigEndian.Uint32(p.Data[at-4:])
		}
	default:
		m.Kind = upper.Write
	}
	m.VA, m.RKey, m.DMALen = p.VA, p.RKey, p.DMALen
	if w := c.Ends[from].SQ.Messages.Newest(); !m.Whole && m.Kind == upper.WriteImm && w != nil && w.Op == wqe.Write {
		m.VA, m.RKey, m.DMALen = w.VA, w.RKey, w.Length
	}
}

// payload is what was captured of the payload of a packet, of which Part may be decoded.
func payload(p *packet.Packet) []byte {
	if !p.Part {
		return p.Payload
	}
	at := p.BTHOff + packet.BTHSize + packet.HeaderSize(p.Opcode)
	return p.Data[at : at+p.PayloadLen]
}

// announce takes which service communication management has connected, and which queue of it.
func (u *uppers) announce(c *connection.Connection, s mad.ServiceID, q mad.NVMeQueue) {
	proto, port, ok := s.IP()
	if !ok || proto != mad.ProtocolTCP || c.Service != packet.RC {
		return
	}
	p := upper.ByPort(port)
	if p == nil {
		return
	}
	if t := u.begin(c, p, true); t != nil && q.Known {
		t.SetQueue(q.ID, q.Sends)
	}
}

// merge takes over what is known of a connection that was merged into another, of which end from has sent what the first end of gone has. Where both are followed, what has ended
// is not known.
func (u *uppers) merge(to, gone *connection.Connection, from int) {
	t := u.of[gone]
	if t == nil {
		return
	}
	u.end(gone)
	if from == 1 {
		t.Turn()
	}
	if was := u.of[to]; was != nil {
		if was.Recognized() || !t.Recognized() {
			t = was
		}
		t.Forget()
		u.end(to)
	}
	u.buckets[to.Bucket()]++
	u.of[to] = t
	to.SetHeaded(true)
}

// forget forgets the connections that leave.
func (u *uppers) forget() {
	maps.DeleteFunc(u.of, func(c *connection.Connection, _ *upper.Tracker) bool {
		leaves := !c.Watched()
		if leaves {
			u.buckets[c.Bucket()]--
		}
		return leaves
	})
}

// refused has the commands be open whose answers end from of a connection has sent from a request on which its peer has refused.
func (u *uppers) refused(c *connection.Connection, from int, trouble *qp.Trouble) {
	if trouble == nil || trouble.Refusal.Time == 0 {
		return
	}
	if t := u.recognized(c); t != nil {
		r := &trouble.Refusal.Request
		t.Refused(from, upper.From{Tap: trouble.Refusal.Tap, Frame: r.Frame, PSN: r.First})
	}
}
