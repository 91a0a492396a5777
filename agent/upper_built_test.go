package agent

import (
	"bytes"
	"context"
	"encoding/binary"
	"testing"
	"time"

	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// upperTalk writes the packets of one connection of RC, which no communication management has announced.
type upperTalk struct {
	snap int // bytes that are kept of a frame; 0: all
	t    *testing.T
	w    *fabricagent.Writer
	psn  [2]packet.PSN // of the next request of each end
	msn  [2]uint32     // of the requests of each end
	now  int64
	psns [2]packet.PSN // of the newest
}

func newUpperTalk(t *testing.T, out *bytes.Buffer) *upperTalk {
	w := fabricagent.NewWriter(out, "")
	if _, err := w.AddTap(fabricagent.Tap{Link: fabricagent.LinkEthernet}); err != nil {
		t.Fatal(err)
	}
	return &upperTalk{t: t, w: w, psn: [2]packet.PSN{1000, 2000}, now: 1e18}
}

// write writes a packet of an end.
func (k *upperTalk) write(from int, p *packet.Packet) {
	k.t.Helper()
	k.now += int64(10 * time.Microsecond)
	addrs := [2]packet.Addr{packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})}
	p.Encap, p.Src, p.Dst, p.DestQP, p.PKey, p.SrcPort = packet.RoCEv2IPv4, addrs[from], addrs[1-from], uint32(0x20-from), 0xFFFF, 0xC123
	b := p.CompleteEthernet(nil, [6]byte{2, 0, 0, 0, 0, byte(from)}, [6]byte{2, 0, 0, 0, 0, byte(1 - from)})
	n := len(b)
	if k.snap > 0 {
		b = b[:min(n, k.snap)]
	}
	if err := k.w.Write(&fabricagent.Frame{Time: k.now, Data: b, Len: uint32(n), Link: fabricagent.LinkEthernet}, ""); err != nil {
		k.t.Fatal(err)
	}
}

// request writes a request of an end, which takes n PSNs, and where it is answered at once its acknowledgement.
func (k *upperTalk) request(from int, p *packet.Packet, n int, answered bool) {
	p.PSN, p.AckReq = k.psn[from], true
	k.psns[from] = k.psn[from]
	k.psn[from] = k.psn[from].Add(n)
	k.msn[from]++
	k.write(from, p)
	if answered {
		k.write(1-from, &packet.Packet{Opcode: packet.Op(packet.RC, packet.Acknowledge), PSN: k.psn[from].Add(-1), Syndrome: packet.CreditInvalid, MSN: k.msn[from]})
	}
}

func (k *upperTalk) send(from int, b []byte) {
	k.request(from, &packet.Packet{Opcode: packet.Op(packet.RC, packet.SendOnly), Payload: b}, 1, true)
}

// nvmeWrite is a command capsule, and nvmeDone its response.
func nvmeWrite(cid uint16, addr uint64, key uint32) []byte {
	b := make([]byte, 64)
	b[0], b[1], b[4], b[39] = 1, 0x40, 1, 0x40
	binary.LittleEndian.PutUint16(b[2:], cid)
	binary.LittleEndian.PutUint64(b[24:], addr)
	b[33] = 0x10 // 4096 bytes
	binary.LittleEndian.PutUint32(b[35:], key)
	return b
}

func nvmeDone(cid uint16) []byte {
	b := make([]byte, 16)
	binary.LittleEndian.PutUint16(b[12:], cid)
	return b
}

// TestUpperBuilt: of packets that take the fast path, too, the commands are followed, and the READ that nobody answers is of the one that is open.
func TestUpperBuilt(t *testing.T) {
	var out bytes.Buffer
	k := newUpperTalk(t, &out)
	const n = 300
	for i := range uint16(n) {
		k.send(0, nvmeWrite(i, uint64(i)<<12, uint32(i)+7))
		read := &packet.Packet{Opcode: packet.Op(packet.RC, packet.ReadRequest), VA: uint64(i) << 12, RKey: uint32(i) + 7, DMALen: 4096}
		k.request(1, read, 4, false)
		if i == n-1 {
			break
		}
		for part := range 4 {
			fn := [...]packet.Fn{packet.ReadRespFirst, packet.ReadRespMiddle, packet.ReadRespMiddle, packet.ReadRespLast}[part]
			k.write(0, &packet.Packet{
				Opcode: packet.Op(packet.RC, fn), PSN: k.psns[1].Add(part), Payload: make([]byte, 1024), Syndrome: packet.CreditInvalid, MSN: k.msn[1],
			})
		}
		k.send(1, nvmeDone(i))
	}
	if err := k.w.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{1, 3} {
		src, err := fabricagent.OpenReader("built", bytes.NewReader(out.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Run(context.Background(), src, Options{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Connections) != 1 || r.Connections[0].Upper == nil {
			t.Fatalf("%+v", r.Connections)
		}
		for i := range r.Findings {
			t.Errorf("frame %d: %v, expected %s, actual %s", r.Findings[i].Frame, r.Findings[i].Rule, r.Findings[i].Expected, r.Findings[i].Actual)
		}
		u := r.Connections[0].Upper
		if u.Protocol != "NVMe over RDMA" || u.Begun != n || u.Ended != n-1 || u.Open != 1 || u.Failure != nil {
			t.Errorf("%s %+v", u.Protocol, u.Counts)
		}
		if e := &r.Connections[0].Ends[1]; e.Trouble != nil {
			t.Errorf("trouble: %+v", e.Trouble)
		}
		if o := u.Oldest; o == nil || o.Name != "NVMe Write, command id 299, namespace 1" || o.Frame != r.Packets-2 || o.Unsure || o.Unfetched != 0 || u.Fetched != n-1 {
			t.Errorf("the oldest is %+v, and of %d the data was fetched", o, u.Fetched)
		}
	}
	a := NewTransport(nil)
	all := packetsOf(t, out.Bytes())
	for _, p := range all {
		a.Packet(p)
	}
	c, _ := a.table.ConnectionTo(all[len(all)-1])
	if o := a.causeOf(c, (n-1)<<12, n-1+7, 4096); o == nil || o.Name != "NVMe Write, command id 299, namespace 1" {
		t.Errorf("the READ is of %+v", o)
	}
	if o := a.causeOf(c, (n-1)<<12, 1, 4096); o != nil {
		t.Errorf("a READ with another key is of %+v", o)
	}
}

// TestUpperCause: the command is known that a READ belongs to which waits, and which has waited.
func TestUpperCause(t *testing.T) {
	var out bytes.Buffer
	k := newUpperTalk(t, &out)
	for i := range uint16(12) {
		k.send(0, nvmeWrite(i, uint64(i)<<12, uint32(i)+7))
		read := &packet.Packet{Opcode: packet.Op(packet.RC, packet.ReadRequest), VA: uint64(i) << 12, RKey: uint32(i) + 7, DMALen: 1024}
		k.request(1, read, 1, false)
		if i == 8 || i == 11 {
			for range 2 {
				k.now += int64(200 * time.Millisecond)
				again := *read
				k.write(1, &again)
			}
		}
		if i < 11 {
			k.write(0, &packet.Packet{Opcode: packet.Op(packet.RC, packet.ReadRespOnly), PSN: k.psns[1], Payload: make([]byte, 1024), Syndrome: packet.CreditInvalid, MSN: k.msn[1]})
			k.send(1, nvmeDone(i))
		}
	}
	if err := k.w.Flush(); err != nil {
		t.Fatal(err)
	}
	a := NewTransport(nil)
	for _, p := range packetsOf(t, out.Bytes()) {
		a.Packet(p)
	}
	c := &a.Connections()[0]
	e := &c.Ends[1]
	if e.Trouble == nil || !e.Stalled {
		t.Fatalf("%+v", e.Trouble)
	}
	for what, of := range map[string]struct {
		stall   *qp.Stall
		command string
	}{"waits": {&e.Trouble.Now, "NVMe Write, command id 11, namespace 1"}, "waited": {&e.Trouble.Longest[0], "NVMe Write, command id 8, namespace 1"}} {
		if o := c.Cause(1, of.stall); o == nil || o.Name != of.command {
			t.Errorf("what %s is of %+v", what, o)
		}
	}
	if o := c.Cause(1, &e.Trouble.Longest[1]); o != nil {
		t.Errorf("nothing is of %+v", o)
	}
}

// TestUpperSlow: how long a command took is known, of those that took long; one that is meant to wait is not slow.
func TestUpperSlow(t *testing.T) {
	var out bytes.Buffer
	k := newUpperTalk(t, &out)
	for i := range uint16(12) {
		k.send(0, nvmeWrite(i, uint64(i)<<12, uint32(i)+7))
		switch i {
		case 4:
			k.now += int64(900 * time.Millisecond)
		case 6:
			k.now += int64(1500 * time.Millisecond)
		case 8:
			k.now += int64(1100 * time.Millisecond)
		}
		k.send(1, nvmeDone(i))
	}
	if err := k.w.Flush(); err != nil {
		t.Fatal(err)
	}
	a := NewTransport(nil)
	a.measure(0)
	for _, p := range packetsOf(t, out.Bytes()) {
		a.Packet(p)
	}
	u := a.Connections()[0].Upper
	if u == nil || !u.Answered || u.Slow != 2 || u.Slowest == nil || u.Answers != u.Ended || u.Took.Round(time.Millisecond) != 3500*time.Millisecond {
		t.Fatalf("%+v", u)
	}
	if w := a.Connections()[0].Timing.Commands; w == nil || w.Latency.Count() != u.Answers || w.Most != time.Duration(u.Slowest.Ended-u.Slowest.Since) || w.Frame != u.Slowest.Answer {
		t.Errorf("%+v", w)
	}
	if o := u.Slowest; o.Name != "NVMe Write, command id 6, namespace 1" || o.From != 0 || o.Ended-o.Since < int64(1500*time.Millisecond) || o.Ended-o.Since > int64(1501*time.Millisecond) ||
		o.Frame != 25 || o.Answer != 27 || o.Unsure {
		t.Errorf("%+v", o)
	}
}

// TestUpperUnfetched: of a command whose data its peer has not asked for it is known, and of how many it has.
func TestUpperUnfetched(t *testing.T) {
	for _, asks := range []bool{false, true} {
		var out bytes.Buffer
		k := newUpperTalk(t, &out)
		for i := range uint16(12) {
			k.send(0, nvmeWrite(i, uint64(i)<<12, uint32(i)+7))
			if i != 7 || asks {
				k.request(1, &packet.Packet{Opcode: packet.Op(packet.RC, packet.ReadRequest), VA: uint64(i) << 12, RKey: uint32(i) + 7, DMALen: 4096}, 4, false)
				for part, fn := range [...]packet.Fn{packet.ReadRespFirst, packet.ReadRespMiddle, packet.ReadRespMiddle, packet.ReadRespLast} {
					k.write(0, &packet.Packet{Opcode: packet.Op(packet.RC, fn), PSN: k.psns[1].Add(part), Payload: make([]byte, 1024), Syndrome: packet.CreditInvalid, MSN: k.msn[1]})
				}
			}
			if i != 7 {
				k.send(1, nvmeDone(i))
			}
		}
		if err := k.w.Flush(); err != nil {
			t.Fatal(err)
		}
		a := NewTransport(nil)
		for _, p := range packetsOf(t, out.Bytes()) {
			a.Packet(p)
		}
		u := a.Connections()[0].Upper
		want := [3]uint64{4096, 1, 10}
		if asks {
			want = [3]uint64{0, 0, 11}
		}
		if o := u.Oldest; o == nil || [3]uint64{o.Unfetched, uint64(u.Unfetched), u.Fetched} != want {
			t.Errorf("%v: %+v, %+v", asks, u, o)
		}
	}
}

// TestUpperUnanswered: a command to a peer that never answers is open, and sure to be.
func TestUpperUnanswered(t *testing.T) {
	var out bytes.Buffer
	k := newUpperTalk(t, &out)
	for i := range uint16(2) {
		k.request(0, &packet.Packet{Opcode: packet.Op(packet.RC, packet.SendOnly), Payload: nvmeWrite(i, 0x1000, 7)}, 1, false)
	}
	for range 3 {
		k.now += int64(500 * time.Millisecond)
		for i := range uint16(2) {
			k.write(0, &packet.Packet{Opcode: packet.Op(packet.RC, packet.SendOnly), PSN: k.psn[0].Add(int(i) - 2), AckReq: true, Payload: nvmeWrite(i, 0x1000, 7)})
		}
	}
	if err := k.w.Flush(); err != nil {
		t.Fatal(err)
	}
	a := NewTransport(nil)
	for _, p := range packetsOf(t, out.Bytes()) {
		a.Packet(p)
	}
	list := a.Connections()
	if len(list) != 1 || list[0].Upper == nil || list[0].Upper.Begun != 2 || list[0].Upper.Open != 2 {
		t.Fatalf("%+v", list)
	}
	if o := list[0].Upper.Oldest; o.Name != "NVMe Write, command id 0, namespace 1" || o.Frame != 1 || o.Unsure {
		t.Errorf("%+v", o)
	}
}

// TestUpperCut: a command that nothing ended is sure to be open where the snap length has left what ends the others, and not where it has not.
func TestUpperCut(t *testing.T) {
	for snap, sure := range map[int]bool{0: true, 120: true, 118: true, 66: false} {
		var out bytes.Buffer
		k := newUpperTalk(t, &out)
		k.snap = snap
		for i := range uint16(40) {
			k.send(0, nvmeWrite(i, uint64(i)<<12, uint32(i)+7))
			if i != 20 {
				k.send(1, nvmeDone(i))
			}
		}
		if err := k.w.Flush(); err != nil {
			t.Fatal(err)
		}
		a := NewTransport(nil)
		for _, p := range packetsOf(t, out.Bytes()) {
			a.Packet(p)
		}
		u := a.Connections()[0].Upper
		if (u != nil && u.Oldest != nil && u.Oldest.Name == "NVMe Write, command id 20, namespace 1" && !u.Oldest.Unsure) != sure {
			t.Errorf("cut after %d bytes: %+v", snap, u)
		}
	}
}

// packetsOf decodes a capture.
func packetsOf(t *testing.T, raw []byte) (list []*packet.Packet) {
	src, err := fabricagent.OpenReader("built", bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	for {
		b, _ := src.Next()
		if b == nil {
			return list
		}
		for i := range b.Frames {
			f, p := b.Frames[i], new(packet.Packet)
			f.Data = bytes.Clone(f.Data)
			fabricagent.Decode(&f, p)
			p.CheckICRC()
			list = append(list, p)
		}
		b.Release()
	}
}

// TestUpperBefore: of a request for which no receive was posted it is known how many commands before it were open, and when the newest answers came.
func TestUpperBefore(t *testing.T) {
	var out bytes.Buffer
	k := newUpperTalk(t, &out)
	for i := range uint16(17) {
		k.send(0, nvmeWrite(i, uint64(i)<<12, uint32(i)+7))
		if i < 12 {
			k.send(1, nvmeDone(i))
		}
	}
	answered := k.now
	for range 3 {
		k.write(0, &packet.Packet{Opcode: packet.Op(packet.RC, packet.SendOnly), PSN: k.psn[0], AckReq: true, Payload: nvmeWrite(17, 17<<12, 24)})
		k.write(1, &packet.Packet{Opcode: packet.Op(packet.RC, packet.Acknowledge), PSN: k.psn[0], Syndrome: 0x2e, MSN: k.msn[0]})
		k.now += int64(2 * time.Millisecond)
	}
	if err := k.w.Flush(); err != nil {
		t.Fatal(err)
	}
	a := NewTransport(nil)
	for _, p := range packetsOf(t, out.Bytes()) {
		a.Packet(p)
	}
	u := a.Connections()[0].Upper
	if u == nil || u.Before != [2]int{5, 0} || u.Open != 6 || len(u.Recent) != 12 || u.Newest != 47 || u.Recent[11] >= answered {
		t.Errorf("%+v", u)
	}
}
