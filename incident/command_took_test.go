package incident_test

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// dataWritten is 300 Reads of 10.0.0.1, every 5 ms, of which 10.0.0.2 writes the data by RDMA after a time, and answers after another: 100
// and 120 µs, but for three of them from number first on. The first of these comes while its receive queue
// is empty, where notReady is so.
func dataWritten(first uint32, data, answer time.Duration, notReady bool) []fabricagent.Frame {
	type step struct {
		at   time.Duration
		what func()
	}
	var steps []step
	q := &queue{psn: [2]packet.PSN{0x7A3F10, 0x20}}
	m := nvmeMessages(func(b []byte) { binary.LittleEndian.PutUint16(b[26:], binary.LittleEndian.Uint16(b[2:])) })
	for i := range uint32(300) {
		at, write, done, slow := time.Duration(i)*5*time.Millisecond, 100*time.Microsecond, 120*time.Microsecond, i >= first && i < first+3
		if slow {
			write, done = data, answer
		}
		steps = append(steps, step{at, func() {
			if notReady && i == first {
				q.write(0, q.now, &packet.Packet{Opcode: packet.Op(packet.RC, packet.SendOnly), PSN: q.psn[0], AckReq: true, Payload: m.command(i)})
				q.write(1, q.now+2*time.Microsecond, &packet.Packet{Opcode: packet.Op(packet.RC, packet.Acknowledge), PSN: q.psn[0], Syndrome: 0x20 | 14, MSN: uint32(q.psn[0])})
				q.now += 1100 * time.Microsecond
			}
			q.send(0, m.command(i))
		}}, step{at + write, func() {
			q.write(1, q.now, &packet.Packet{Opcode: packet.Op(packet.RC, packet.WriteOnly), PSN: q.psn[1], AckReq: true, VA: uint64(i) << 16, DMALen: 1024, Payload: make([]byte, 1024)})
			q.psn[1]++
			q.write(0, q.now+2*time.Microsecond, &packet.Packet{Opcode: packet.Op(packet.RC, packet.Acknowledge), PSN: q.psn[1] - 1, Syndrome: packet.CreditInvalid, MSN: uint32(q.psn[1])})
		}}, step{at + done, func() { q.send(1, m.answer(i)) }})
	}
	slices.SortStableFunc(steps, func(a, b step) int { return int(a.at - b.at) })
	for _, s := range steps {
		q.now = max(q.now, s.at)
		s.what()
	}
	return q.list
}

// ofServer has frames be of another server, 10.0.0.3.
func ofServer(list []fabricagent.Frame) []fabricagent.Frame {
	list = slices.Clone(list)
	server, other := packet.IPv4Addr([]byte{10, 0, 0, 2}), packet.IPv4Addr([]byte{10, 0, 0, 3})
	for i := range list {
		list[i].Data = slices.Clone(list[i].Data)
		changed(&list[i], func(p *packet.Packet) {
			if p.Src == server {
				p.Src, p.DestQP = other, 0x3f
			} else {
				p.Dst, p.DestQP = other, 0x40
			}
		})
	}
	return list
}

// merged puts frames in the order of their times.
func merged(a, b []fabricagent.Frame) []fabricagent.Frame {
	list := append(slices.Clone(a), b...)
	slices.SortStableFunc(list, func(a, b fabricagent.Frame) int { return int(a.Time - b.Time) })
	return list
}

// holed lacks each fifth of the frames of a time.
func holed(list []fabricagent.Frame) (left []fabricagent.Frame) {
	for i := range list {
		if i < 900 || i > 1300 || i%5 != 0 {
			left = append(left, list[i])
		}
	}
	return left
}

// TestTook: of slow commands it is told how many there were, when, how long the others take, when their data moved, what the connection
// lost meanwhile, and who was answered soon; that the network did not hold them up only where the
// server answered others until their data moved. Where the capture has lost packets the answer may be another's.
func TestTook(t *testing.T) {
	const (
		late, soon, usual = 1200 * time.Millisecond, 100 * time.Microsecond, 120 * time.Microsecond
		innocent          = "so that the network did not hold this one up"
		nothing           = "transport: nothing on the connection was lost or stalled for long meanwhile"
		reused            = "capture: it has lost packets: the answer may be to a later command of the same ID, which it does not hold"
	)
	quick := dataWritten(60, soon, usual, false)
	for _, k := range []struct {
		name       string
		of         []fabricagent.Frame
		want, lack []string
	}{
		{"its data moved late", dataWritten(60, late, late+20*time.Microsecond, false), []string{
			"command-slow (proven): 10.0.0.2 QP 0x20 took 1.2s", "others: 3 commands of 300 took 1s or longer; usually 1", "late: 3 commands of 300 took 10ms or longer, from +0.300 s to +1.510 s", nothing,
			"data: 10.0.0.2 first wrote data of it by RDMA 1.2s after it was sent, in frame ", "and answered 20µs after that: it answered other commands on this connection until 4.", innocent,
		}, []string{reused, "elsewhere"}},
		{"its data moved soon", dataWritten(295, soon, late, false), []string{"first wrote data of it by RDMA 100µs after it was sent, in frame ", "and answered 1.2s after that", nothing}, []string{innocent}},
		{"it was refused first", dataWritten(60, late, late+20*time.Microsecond, true), []string{
			"command-slow (proven)", "transport: retransmissions or RNR NAKs held requests on the connection up for 1.1ms of that time",
		}, []string{innocent, "data:"}},
		{"another server", merged(dataWritten(60, late, late+20*time.Microsecond, false), ofServer(quick)), []string{
			"10.0.0.2 QP 0x20 took 1.2s", "elsewhere: 10.0.0.3 answered 300 commands of 10.0.0.1, in at most 12",
		}, nil},
		{"the capture lost packets", holed(dataWritten(60, soon, late, false)), []string{"command-slow (likely)", reused}, []string{innocent, "data:"}},
		{"none is slow", merged(quick, ofServer(quick)), nil, []string{"command"}},
	} {
		got := happened(t, k.of, agent.Options{Timing: true})
		if slices.ContainsFunc(k.want, func(s string) bool { return !strings.Contains(got, s) }) || slices.ContainsFunc(k.lack, func(s string) bool { return strings.Contains(got, s) }) {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
