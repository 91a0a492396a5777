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

// queue writes the frames of a connection of NVMe over RDMA, on which 10.0.0.1 sends commands and 10.0.0.2 responses, each acknowledged at once.
type queue struct {
	list []fabricagent.Frame
	psn  [2]packet.PSN // of the next request of each end
	now  time.Duration
	// namespace of commands; 0: 1
	namespace byte
}

func (q *queue) write(from int, at time.Duration, p *packet.Packet) {
	addrs := [2]packet.Addr{packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})}
	p.Encap, p.Src, p.Dst, p.DestQP, p.PKey, p.SrcPort = packet.RoCEv2IPv4, addrs[from], addrs[1-from], uint32(0x20-from), 0xFFFF, 0xC123
	b := p.CompleteEthernet(nil, [6]byte{2, 0, 0, 0, 0, byte(from)}, [6]byte{2, 0, 0, 0, 0, byte(1 - from)})
	q.list = append(q.list, fabricagent.Frame{Time: int64(1e18) + int64(at), Data: b, Len: uint32(len(b)), Link: fabricagent.LinkEthernet})
}

// send sends a message of an end, at a time since the beginning.
func (q *queue) send(from int, b []byte) {
	q.write(from, q.now, &packet.Packet{Opcode: packet.Op(packet.RC, packet.SendOnly), PSN: q.psn[from], AckReq: true, Payload: b})
	q.psn[from]++
	q.write(1-from, q.now+2*time.Microsecond, &packet.Packet{Opcode: packet.Op(packet.RC, packet.Acknowledge), PSN: q.psn[from] - 1, Syndrome: packet.CreditInvalid, MSN: uint32(q.psn[from])})
	q.now += 5 * time.Microsecond
}

// The opcodes of an I/O queue.
const (
	nvmeFlush = 0
	nvmeWrite = 1
	nvmeRead  = 2
)

// command sends a command for 4096 bytes, of 8 blocks.
func (q *queue) command(opcode byte, cid uint16) {
	b := make([]byte, 64)
	b[0], b[1], b[4], b[39], b[33], b[48] = opcode, 0x40, max(q.namespace, 1), 0x40, 0x10, 7
	binary.LittleEndian.PutUint16(b[2:], cid)
	q.send(0, b)
}

// response answers it.
func (q *queue) response(cid uint16) {
	b := make([]byte, 16)
	binary.LittleEndian.PutUint16(b[12:], cid)
	q.send(1, b)
}

// mixed sends n commands of each opcode in turn, every 5 ms. Of those of an opcode from number 20 on, those that the server answers have their answers so much later, in order; 0: they have none.
func mixed(n int, took func(opcode byte) time.Duration, opcodes ...byte) []fabricagent.Frame {
	q := new(queue)
	type due struct {
		at  time.Duration
		cid uint16
	}
	var wait []due
	next := func(until time.Duration) {
		for {
			first := -1
			for i := range wait {
				if wait[i].at <= until && (first < 0 || wait[i].at < wait[first].at) {
					first = i
				}
			}
			if first < 0 {
				break
			}
			q.now = max(q.now, wait[first].at)
			q.response(wait[first].cid)
			wait = append(wait[:first], wait[first+1:]...)
		}
		q.now = max(q.now, until)
	}
	cid := uint16(0)
	for i := range n {
		for _, o := range opcodes {
			next(time.Duration(cid) * 5 * time.Millisecond)
			d := 300 * time.Microsecond
			if i >= 20 {
				d = took(o)
			}
			q.command(o, cid)
			if d > 0 {
				wait = append(wait, due{q.now + d, cid})
			}
			cid++
		}
	}
	next(q.now + 4*time.Second)
	q.command(nvmeRead, cid)
	q.now += 300 * time.Microsecond
	q.response(cid)
	return q.list
}

// only has commands of an opcode take a time, and others 300 µs.
func only(opcode byte, d time.Duration) func(byte) time.Duration {
	return func(o byte) time.Duration {
		if o == opcode {
			return d
		}
		return 300 * time.Microsecond
	}
}

// snapped cuts frames to a snap length.
func snapped(list []fabricagent.Frame, snap int) []fabricagent.Frame {
	list = slices.Clone(list)
	for i := range list {
		list[i].Data = list[i].Data[:min(snap, len(list[i].Data))]
	}
	return list
}

// TestOnlyClass: where only the commands of one opcode wait, or take long, while others are answered, that is said; not where others wait, too, or are slow, or none was answered meanwhile.
func TestOnlyClass(t *testing.T) {
	const (
		says  = "were answered meanwhile"
		hangs = "has not answered NVMe Write, command id 60, namespace 1 of 10.0.0.1 QP 0x1f for 4.3s: all 20 that are open are NVMe Write; 41 others (NVMe Read) were answered meanwhile, at most 305µs later."
	)
	writesHang := mixed(40, only(nvmeWrite, 0), nvmeWrite, nvmeRead, nvmeRead)
	for _, k := range []struct {
		name string
		list []fabricagent.Frame
		want string // "": nothing is told; "-": that it is of one opcode is not
	}{
		{"WRITEs hang", writesHang, "command-unanswered (proven): 10.0.0.2 QP 0x20 " + hangs},
		{"WRITEs hang, cut to what has their ids", snapped(writesHang, 96), "command-unanswered (proven): 10.0.0.2 QP 0x20 " + hangs},
		{"WRITEs and FLUSHes hang", mixed(40, func(o byte) time.Duration {
			if o == nvmeRead {
				return 300 * time.Microsecond
			}
			return 0
		}, nvmeWrite, nvmeRead, nvmeRead, nvmeFlush), "all 40 that are open are NVMe Write or NVMe Flush; 41 others (NVMe Read)"},
		{"all hang", mixed(40, func(byte) time.Duration { return 0 }, nvmeWrite, nvmeRead), "-"},
		{"there are no others", mixed(40, only(nvmeWrite, 0), nvmeWrite), "-"},
		{"WRITEs are slow", mixed(40, only(nvmeWrite, 1500*time.Millisecond), nvmeWrite, nvmeRead, nvmeRead), "all 20 that took a second or longer are NVMe Write, of 40; "},
		{"all are slow", mixed(40, func(byte) time.Duration { return 1500 * time.Millisecond }, nvmeWrite, nvmeRead), "-"},
		{"none is", mixed(40, only(nvmeWrite, 300*time.Microsecond), nvmeWrite, nvmeRead), ""},
	} {
		got := happened(t, k.list, agent.Options{})
		switch k.want {
		case "":
			if strings.Contains(got, "command") {
				t.Errorf("%s: %s", k.name, got)
			}
		case "-":
			if strings.Contains(got, says) || !strings.Contains(got, "command") {
				t.Errorf("%s: %s", k.name, got)
			}
		default:
			if !strings.Contains(got, k.want) || !strings.Contains(got, says) {
				t.Errorf("%s: %s", k.name, got)
			}
		}
	}
}
