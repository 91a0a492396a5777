package scenario

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ibwitness/packet"
	"ibwitness/wqe"
)

const base = `hcas: {a: 10.0.0.1, b: 10.0.0.2}
qps:
  a1: {hca: a, peer: b1}
  b1: {hca: b, peer: a1}
`

var native = strings.NewReplacer("10.0.0.", "lid:").Replace(base)

// TestMistakes: each mistake is told with its line and what to do.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "scenario: x.yaml: it is empty; docs/simulate.md says what a scenario holds"},
		{"a: b: c", "scenario: x.yaml: line 1, column 4: mapping value is not allowed in this context"},
		{"- 1", "line 1: the scenario is no mapping: write it as {key: value, …} or as indented lines of key: value"},
		{"hcas: {a: 10.0.0.1}\nsped: 1", `line 2: the scenario has no key "sped": give one of about, attributes, errors, hcas, link, near, packets, qps, seed, srqs, taps, until, work`},
		{"seed: 1\nseed: 2", `line 2: the scenario has "seed" twice, first in line 1: remove one`},
		{"seed: -1", `line 1: "-1": give a number from 0 to 9223372036854775808`},
		{"seed:", "line 1: a value is missing here: give a number from 0 to 9223372036854775808"},
		{"until: soon", `line 1: "soon": give a duration such as 5us, 20ms or 1s`},
		{"about: x", "line 1: no HCA: give hcas: with a name and an address for each"},
		{"hcas: {a: nowhere}", `line 1: "nowhere" is no address of a port: give an IPv4 or IPv6 address, or for a native link a LID such as lid:1`},
		{"hcas: {a: lid:0}", `line 1: "lid:0" is no address of a port: give an IPv4 or IPv6 address, or for a native link a LID such as lid:1`},
		{"hcas: {a: lid:0xC000}", `line 1: "lid:0xC000" is no address of a port: give an IPv4 or IPv6 address, or for a native link a LID such as lid:1`},
		{"hcas: {a: lid:5}", "line 1: a native link joins two HCAs: give both a LID, and no other"},
		{"hcas: {a: 10.0.0.1, b: lid:5}", `line 1: HCA "b" has a LID: give all HCAs one, or none`},
		{native + "link: {bounces: [{at: 10us}]}", "line 5: a bounce lasts: give for, such as 50us"},
		{native + "link: {bounces: [{at: 10us, for: 9us}, {at: 19us, for: 1us}]}", "line 5: the link is down at 19µs already: list bounces in their order"},
		{native + "link: {rate: 1G}", "line 5: rate: a native link has symbol and width"},
		{native + "errors:\n  - {do: reorder, from: a}", "line 6: reorder: on a native link packets are lost and damaged, and nothing else happens to them"},
		{native + "  u: {hca: a, type: UD, groups: 239.1.1.1}", `line 5: QP "u" joins groups: there are none on a native link`},
		{strings.Replace(native, "a: lid:1", "a: {address: lid:1, fault: udp-length}", 1), `line 1: HCA "a": the fault udp-length is one of RoCE, and the link is native`},
		{strings.Replace(native, "a: lid:1", "a: {address: lid:1, sl_to_vl: [0, 1]}", 1), `line 1: HCA "a": sl_to_vl has 2 lanes: give 16, one for each SL`},
		{base + "link: {lanes: 2}", "line 5: lanes, symbol, width, mtu, noise and bounces are those of a native link: give the HCAs LIDs, such as lid:1"},
		{strings.Replace(base, "a: 10.0.0.1", "a: {address: 10.0.0.1, buffer: 100}", 1), `line 1: HCA "a": buffer, drain, sl_to_vl and faults of a link are those of a port of a native link: give the HCAs LIDs, such as lid:1`},
		{"hcas: {a: {memory: 1MiB}}", `line 1: HCA "a" has no address: give address: 10.0.0.1 or the like`},
		{"hcas: {a: {address: 10.0.0.1, fault: early-retry, fault_at: 2}}", `line 1: fault early-retry shows whenever it can: leave fault_at out`},
		{"hcas: {a: {address: 10.0.0.1, memory: 1GiB}, b: {address: 10.0.0.2, memory: 1GiB}, c: {address: 10.0.0.3, memory: 1GiB}, d: {address: 10.0.0.4, memory: 1GiB}, e: 10.0.0.5}", `line 1: the HCAs have 4296015872 bytes of memory together: give them 4294967296 at most`},
		{"hcas: {a: {memory: 9GiB}}", `line 1: "9GiB": give a number from 4096 to 1073741824`},
		{"hcas: {middle: 10.0.0.1}", `line 1: an HCA cannot be called "middle": that is the tap halfway`},
		{"hcas: {a: 10.0.0.1,\n b: 10.0.0.1}", `line 2: HCA "b" has the address of HCA "a": give it another one`},
		{base + "taps: [c]", `line 5: tap "c" is no HCA: name one of hcas`},
		{base + "attributes: {pmtu: 1000}", `line 5: "1000": give one of 1024, 2048, 256, 4096, 512`},
		{base + "attributes: {access: [read, fly]}", `line 5: "fly" is no access: give any of write, read, atomic, flush`},
		{base + "  c1: {hca: c}", `line 5: QP "c1": hca "c" is no HCA: name one of hcas`},
		{base + "  c1: {hca: a, peer: b1}", `line 5: QP "c1": the peer of "b1" is "a1": queue pairs are each other's peers`},
		{base + "  c1: {hca: a, peer: c1}", `line 5: QP "c1" and its peer are on the same HCA: give them one each`},
		{base + "  c1: {hca: a, peer: d1}", `line 5: QP "c1": peer "d1" is no QP: name one of qps`},
		{base + "  c1: {hca: a, srq: s, type: UD}", `line 5: QP "c1": srq "s" is no SRQ of its HCA: name one of srqs`},
		{base + "work: {qp: a1}", "line 5: work is no list: begin each item on a line of its own with a dash"},
		{base + "work:\n  - {qp: a1, op: jump}", `line 6: op "jump": give receive, look, modify or one of atomic_write, cmp_swap, fetch_add, flush, read, send, send_imm, send_inv, write, write_imm`},
		{base + "work:\n  - {qp: c1, op: send}", `line 6: work for QP "c1", which there is none of: name one of qps`},
		{base + "work:\n  - {srq: s, op: receive}", `line 6: a receive request for SRQ "s", which there is none of: name one of srqs, or a qp`},
		{base + "work:\n  - {qp: a1, op: send, to: b1}", `line 6: to "b1": a connected QP sends to its peer; remove it`},
		{base + "  u: {hca: a, type: UD}\nwork:\n  - {qp: u, op: send}", `line 7: to "": a datagram goes to a QP of type UD; name one of qps`},
		{base + "errors:\n  - {from: a}", `line 6: do "": give one of corrupt, delay, drop, duplicate, mark, reorder`},
		{base + "errors:\n  - {do: drop}", `line 6: from "" to "" is no path: give from: and to:, the HCAs that it joins`},
		{base + "errors:\n  - {do: drop, from: a, psn: x}", `line 6: psn "x": give 0x100, 0x100..0x104, or +3 or +3..+7 to count from the first PSN of the QP that sends it`},
		{base + "errors:\n  - {do: drop, from: a, count: 0}", `line 6: count "0": give how often, or all`},
		{base + "errors:\n  - {do: drop, from: a, probability: 2}", `line 6: "2": give a probability above 0 and up to 1`},
		{base + "errors:\n  - {do: corrupt, from: a}", "line 6: corrupt: give either set, to build the packet wrong, or flip or bits, to damage it on its way"},
		{base + "errors:\n  - {do: drop, qp: c1}", `line 6: qp "c1" is none of qps: give the one that the packets go to`},
		{base + "  a2: {hca: a, peer: b2}\n  b2: {hca: b, peer: a2}\nerrors:\n  - {do: drop, from: a, psn: +1}", "line 8: psn counts from the first PSN of the QP that sends it: give qp:, the one that the packets go to"},
		{base + "---\nseed: 1", "line 5: a second document: give each scenario a file of its own"},
	} {
		_, err := Read("x.yaml", []byte(c.text))
		if err == nil {
			t.Errorf("%q is read; want %s", c.text, c.want)
			continue
		}
		first, _, _ := strings.Cut(err.Error(), "\n")
		want := c.want
		if strings.HasPrefix(want, "line") {
			want = "scenario: x.yaml, " + want
			var le *LineError
			if !errors.As(err, &le) {
				t.Errorf("%q: no LineError", c.text)
			}
		}
		if first != want {
			t.Errorf("%q:\n got %s\nwant %s", c.text, first, want)
		}
	}
}

// TestAllMistakes: they are all told at once.
func TestAllMistakes(t *testing.T) {
	_, err := Read("x.yaml", []byte("seed: x\nuntil: y\nfoo: 1"))
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Error(err)
	}
}

// TestRead reads what a scenario can say, and what follows from it.
func TestRead(t *testing.T) {
	s, err := Read("x.yaml", []byte(base+`seed: 9
until: 2s
link: {delay: 5us, rate: 100G}
attributes: &all {pmtu: 256, timeout: 0x10, access: read}
srqs: {s: {hca: b, depth: 9}}
work:
  - {qp: b1, op: receive, length: [10, 20], repeat: 3, at: 1ms, every: 2us}
  - {qp: a1, op: write_imm, length: 1KiB, imm: 0xffffffff, signaled: false, fence: true}
errors:
  - {do: drop, to: b, op: [send, ack], psn: +1..+2, nth: 4}
  - {do: delay, qp: a1, count: all, delay: 1ms, where: after}
near: []
`))
	if err != nil {
		t.Fatal(err)
	}
	if s.Seed != 9 || s.Link.Seed != 9 || s.Until != int64(2*time.Second) || s.Link.Delay != 5000 || s.Link.Rate != 1e11 {
		t.Errorf("%+v", s)
	}
	q := s.QP("b1")
	if q.Attr.PMTU != 256 || q.Attr.Timeout != 16 || q.Attr.Access != wqe.RemoteRead || q.Attr.SQPSN != 0x200000 || q.Depth != defaultDepth {
		t.Errorf("%+v", q)
	}
	w := s.Work
	if d := cmp.Diff([]uint32{10, 20}, w[0].Lengths); d != "" || w[0].Action != PostReceive || w[0].At != 1e6 || w[0].Every != 2000 || w[0].Repeat != 3 {
		t.Errorf("%+v", w[0])
	}
	if w[1].Flags != wqe.Fence || w[1].Imm != 0xffffffff || w[1].Lengths[0] != 1024 {
		t.Errorf("%+v", w[1])
	}
	e := s.Errors
	if e[0].From != "a" || e[0].QP != "b1" || !e[0].Relative || e[0].PSN.First != 1 || e[0].PSN.Last != 2 || e[0].Filter.From != 4 || e[0].Count != 1 {
		t.Errorf("%+v", e[0])
	}
	if e[1].From != "b" || e[1].To != "a" || !e[1].AfterTap || e[1].Count != 0 {
		t.Errorf("%+v", e[1])
	}
	if len(s.Taps) != 1 || s.Taps[0] != "a" || len(s.Near) != 0 {
		t.Errorf("taps %v near %v", s.Taps, s.Near)
	}
}

// TestPacketSets holds the names of kinds of packets against the packets.
func TestPacketSets(t *testing.T) {
	of := func(f packet.Fn, s packet.Syndrome) string {
		p := &packet.Packet{Opcode: packet.Op(packet.RC, f), Syndrome: s}
		var names []string
		for name, is := range packetSets {
			if is(p) {
				names = append(names, name)
			}
		}
		return strings.Join(slices.Sorted(slices.Values(names)), " ")
	}
	for f, want := range map[packet.Fn]string{
		packet.SendOnly: "request send send_only", packet.SendLastImm: "request send send_last_imm", packet.SendOnlyInv: "request send send_only_inv",
		packet.WriteFirst: "request write write_first", packet.WriteOnlyImm: "request write write_only_imm", packet.ReadRequest: "read request",
		packet.ReadRespMiddle: "read_response read_response_middle response", packet.CmpSwap: "atomic cmp_swap request",
		packet.FetchAdd: "atomic fetch_add request", packet.AtomicAck: "atomic_ack response", packet.Flush: "flush request",
		packet.AtomicWrite: "atomic_write request",
	} {
		if got := of(f, 0); got != want {
			t.Errorf("%v is %s, want %s", f, got, want)
		}
	}
	for s, want := range map[packet.Syndrome]string{
		0x1f: "ack acknowledge response", 0x2e: "acknowledge response rnr_nak", packet.NAKSequence: "acknowledge nak response",
	} {
		if got := of(packet.Acknowledge, s); got != want {
			t.Errorf("%v is %s, want %s", s, got, want)
		}
	}
}
