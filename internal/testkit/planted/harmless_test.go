package planted

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"ibwitness/fabricagent"
	"ibwitness/internal/testkit/sample"
	"ibwitness/packet"
	"ibwitness/rule"
)

// harmless is a change that breaks no rule, or that the network or the tap may have made: nobody may be accused.
type harmless struct {
	name  string
	base  string
	at    int
	plant Plant
	// unproven is how many new findings that prove nothing are tolerated.
	unproven int
	known    string
}

var harmlessChanges = []harmless{
	{"nothing", "rc", 1, func(*Capture, int) {}, 0, ""},
	{"nothing, a sequence NAK and all retransmitted", "nak", 1, func(*Capture, int) {}, 0, ""},
	{"nothing, an RNR NAK and the wait", "rnr", 1, func(*Capture, int) {}, 0, ""},
	{"TTL of one packet", "rc", 98, Set(func(p *packet.Packet) { p.HopLmt = 3 }), 0, ""},
	{"TTL falls along the capture", "rc", 1, Each(all, func(p *packet.Packet) { p.HopLmt = uint8(64 - p.IPID&7) }), 0, ""},
	{"hop limit of one IPv6 packet", "cm", 12, Set(func(p *packet.Packet) { p.HopLmt = 1 }), 0, ""},
	{"DSCP of all packets", "rc", 1, Each(all, func(p *packet.Packet) { p.TClass = 26 << 2 }), 0, ""},
	{"ECN 10 in all packets", "rc", 1, Each(all, func(p *packet.Packet) { p.TClass |= 2 }), 0, ""},
	{"flow label of one endpoint", "cm", 1, Each(from("fd77::1"), func(p *packet.Packet) { p.FlowLabel = 0x12345 }), 0, ""},
	{"IP identification always 0", "rc", 1, Each(all, func(p *packet.Packet) { p.IPID = 0 }), 0, ""},
	{"IP identification always the same", "rc", 1, Each(all, func(p *packet.Packet) { p.IPID = 0x1234 }), 0, ""},
	{"Resv8a and CRC not covered: FECN off", "rc", 98, Unsealed(func(p *packet.Packet) { p.FECN = false }), 0, ""},
	{"right UDP checksum", "rc", 98, checksum, 0, ""},
	{"right UDP checksum on IPv6", "cm", 12, checksum, 0, ""},
	{"UDP source port of one endpoint", "rc", 1, Each(from("10.77.0.1"), func(p *packet.Packet) { p.SrcPort = 0xC123 }), 0, ""},
	{"MigReq in all packets of one endpoint", "rc", 1, Each(from("10.77.0.1"), func(p *packet.Packet) { p.MigReq = true }), 0, ""},
	{"one side of the partition limited", "rc", 1, Each(from("10.77.0.1"), func(p *packet.Packet) { p.PKey = 0x7FFF }), 0, ""},
	{"frames carry their FCS", "rc", 1, func(c *Capture, _ int) {
		for _, f := range c.Frames {
			f.Tail = append(f.Tail, 0xDE, 0xAD, 0xBE, 0xEF)
		}
	}, 0, ""},
	{"frames padded by 40 bytes", "cm", 1, func(c *Capture, _ int) {
		for _, f := range c.Frames {
			f.Tail = append(f.Tail, make([]byte, 40)...)
		}
	}, 0, ""},
	{"VLAN tag", "rc", 1, vlan(1), 0, ""},
	{"two VLAN tags", "rc", 1, vlan(2), 0, ""},
	{"ACK 5 µs before its request", "rc", 152, func(c *Capture, at int) {
		c.Frame(at).Time = c.Frame(151).Time - 5000
		Swap(151)(c, at)
		f, g := c.Frame(at), c.Frame(151)
		f.Time, g.Time = g.Time, f.Time
	}, 0, ""},
	{"responses recorded 5 µs early throughout", "rc", 1, early(5000), 0, ""},
	{"responses recorded 200 µs early throughout", "rc", 1, early(200000), 0, "Q: of early responses those beyond a gap of requests are judged before the window is over"},
	{"responses recorded 5 µs early throughout, with CM", "cm", 1, early(5000), 0, ""},
	{"every packet seen twice by an 'any' capture", "rc", 1, cooked, 0, ""},
	{"every packet seen twice by an 'any' capture, UC", "uc", 1, cooked, 0, ""},
	{"network copy of a request", "rc", 98, networkCopy, 0, ""},
	{"network copy of an ACK", "rc", 152, networkCopy, 0, ""},
	{"network copy of a READ Response", "rc", 134, networkCopy, 0, ""},
	{"network copy of an ATOMIC Acknowledge", "rc", 140, networkCopy, 0, ""},
	{"network copy of a UC packet", "uc", 35, networkCopy, 0, ""},
	{"network copy of a UD packet", "ud", 9, networkCopy, 0, ""},
	{"ghost ACK: the newest ACK once more", "rc", 152, Insert(152, 1000, nil), 0, ""},
	{"SEND Last becomes Last with immediate", "rc", 78, Become(rc(packet.SendLastImm)), 0, ""},
	{"SEND Only becomes Only with Invalidate", "rc", 98, Become(rc(packet.SendOnlyInv)), 0, ""},
	{"SEND Only becomes WRITE Only", "rc", 98, Become(rc(packet.WriteOnly), func(p *packet.Packet) { p.DMALen = 256 }), 0, ""},
	{"FetchAdd becomes CmpSwap", "rc", 128, Become(rc(packet.CmpSwap)), 0, ""},
	{"AckReq on every request", "rc", 1, Each(func(p *packet.Packet) bool { return p.Info().Request }, func(p *packet.Packet) { p.AckReq = true }), 0, ""},
	{"VA and R_Key of a WRITE", "rc", 100, Set(func(p *packet.Packet) { p.VA, p.RKey = 1, 2 }), 0, ""},
	{"data of a READ Response", "rc", 134, Set(func(p *packet.Packet) { p.Payload[0]++ }), 0, ""},
	{"ACK missing, the next one covers it", "rc", 102, Remove(), 0, ""},
	{"UC packet lost before the tap", "uc", 35, Remove(), 1, ""},
	{"UD packet lost", "ud", 9, Remove(), 0, ""},
	{"UD PSN anything", "ud", 9, Set(psn(77777)), 0, ""},
	{"PSNs wrap", "rc", 1, Each(all, func(p *packet.Packet) { p.PSN = (p.PSN - 3307660 + 0xFFFFC0) & packet.PSNMask }), 0, ""},
	{"MSNs wrap", "rc", 1, Each(all, func(p *packet.Packet) {
		if p.Has&packet.HasAETH != 0 {
			p.MSN = (p.MSN + 0xFFFFE0) & packet.PSNMask
		}
	}), 0, ""},
	{"opposite clocks: a second step back in the middle", "rc", 1, func(c *Capture, _ int) {
		for _, f := range c.Frames[130:] {
			f.Time -= 10_000_000
		}
	}, 0, ""},
	{"snap length 96", "rc", 1, snap(96), 0, ""},
	{"snap length 64", "rc", 1, snap(64), 0, ""},
	{"snap length 54: nothing but the BTH", "rc", 1, snap(54), 0, ""},
	{"snap length 128 on IPv6", "cm", 1, snap(128), 0, ""},
	{"snap length 96 on UC", "uc", 1, snap(96), 0, ""},
	{"packet duplicated within a native capture", "native", 21, networkCopy, 0, ""},
	{"SL of all native packets", "native", 1, Each(all, func(p *packet.Packet) { p.SL = 3 }), 0, ""},
	{"VL of one native packet: rewritten at every hop", "native", 21, Set(func(p *packet.Packet) { p.VL = 2 }), 0, ""},
	{"Resv8a of the BTH set by a switch: FECN", "native", 21, Set(func(p *packet.Packet) { p.FECN = true }), 0, ""},
}

// bySwitch are the changes that a switch makes: no tap near the sender can show them.
var bySwitch = map[string]bool{"Resv8a of the BTH set by a switch: FECN": true}

func TestHarmless(t *testing.T) {
	wrongs := 0
	for _, x := range slices.Concat(harmlessChanges, allowed()) {
		t.Run(x.base+"/"+x.name, func(t *testing.T) {
			b := bases[x.base]
			whole := b.load(t)
			c := whole.Clone()
			x.plant(c, x.at)
			wrong := x.judge(t, c, whole, b, nil)
			for _, a := range hosts(whole) {
				if wrong == "" && x.unproven == 0 && !(bySwitch[x.name] && whole.Frames[x.at-1].Packet.Src == a) {
					wrong = x.judge(t, c, whole, b, []packet.Addr{a})
				}
			}
			switch {
			case wrong == "" && x.known != "":
				t.Errorf("right now: take away known %q", x.known)
			case wrong != "" && x.known == "":
				wrongs++
				t.Error(wrong)
			case wrong != "":
				t.Logf("known: %s\n        %s", x.known, wrong)
			}
		})
	}
	t.Logf("%d harmless changes, %d taken for faults", len(harmlessChanges)+len(allowed()), wrongs)
}

func (x *harmless) judge(t *testing.T, c, whole *Capture, b *base, near []packet.Addr) string {
	unproven := 0
	old := b.clean(t, whole, near...)
	for _, f := range fresh(c, check(t, c, near...), old) {
		if k := keyOf(c, &f); old[key{k.rule, rule.Violation, k.was, k.addr}] > 0 {
			continue // what the capture has anyhow is proven no more
		}
		if f.Class == rule.Violation && f.Accused.Role != rule.Capture {
			return fmt.Sprintf("near %v: accuses: %s", near, line(&f))
		}
		if unproven++; unproven > x.unproven {
			return fmt.Sprintf("near %v: new finding: %s", near, line(&f))
		}
	}
	return ""
}

// hosts lists the senders of a capture.
func hosts(c *Capture) (out []packet.Addr) {
	for _, f := range c.Frames {
		if f.Packet != nil && !slices.Contains(out, f.Packet.Src) {
			out = append(out, f.Packet.Src)
		}
	}
	return out
}

// TestPartOfACapture takes away the beginning, the end, or one frame of captures in which nothing is wrong. What is missing may be
// the tap's doing, so nobody may be accused.
func TestPartOfACapture(t *testing.T) {
	for _, name := range []string{"rc", "nak", "rnr", "cm", "uc", "ud", "native", "wiki"} {
		b := bases[name]
		for _, kind := range []string{"begins", "ends", "misses"} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				whole := b.load(t)
				blind := b.clean(t, whole)
				bad, shown := 0, 0
				for k := 0; k < len(whole.Frames); k += sample.Stride(5) {
					c := &Capture{Link: whole.Link}
					switch kind {
					case "begins":
						c.Frames = whole.Frames[k:]
					case "ends":
						c.Frames = whole.Frames[:k+1]
					case "misses":
						c.Frames = slices.Concat(whole.Frames[:k], whole.Frames[k+1:])
					}
					for _, f := range fresh(c, check(t, c), blind) {
						if f.Class != rule.Violation {
							continue
						}
						bad++
						if shown++; shown <= 4 {
							t.Logf("%s at frame %d: %s", kind, k+1, line(&f))
						}
						break
					}
				}
				want := partKnown[name+"/"+kind]
				switch {
				case bad > 0 && want == "":
					t.Errorf("%d of %d parts accuse somebody", bad, len(whole.Frames))
				case bad > 0:
					t.Logf("known: %s: %d of %d parts accuse somebody", want, bad, len(whole.Frames))
				case want != "":
					t.Errorf("right now: take away known %q", want)
				}
			})
		}
	}
}

// partKnown says which of them accuse somebody all the same.
var partKnown = map[string]string{}

// checksum fills in the UDP checksum.
func checksum(c *Capture, at int) {
	p := c.Frame(at).Packet
	p.UDPSum = 0
	b := p.Append(nil)
	src, dst := p.Src.Bytes(), p.Dst.Bytes()
	pseudo := slices.Concat(src[:], dst[:])
	off := 40
	if p.Has&packet.HasIPv4 != 0 {
		off = 20
		pseudo = slices.Concat(src[12:], dst[12:])
	}
	pseudo = append(pseudo, 0, 17)
	pseudo = binary.BigEndian.AppendUint16(pseudo, p.UDPLen)
	// The ICRC leaves the UDP checksum out, and the checksum counts the ICRC.
	sum := uint32(0)
	for all := append(pseudo, b[off:]...); len(all) > 0; all = all[2:] {
		if len(all) == 1 {
			all = append(all, 0)
		}
		sum += uint32(binary.BigEndian.Uint16(all))
	}
	for sum>>16 != 0 {
		sum = sum>>16 + sum&0xFFFF
	}
	p.UDPSum = ^uint16(sum)
}

func vlan(tags int) Plant {
	return func(c *Capture, _ int) {
		for _, f := range c.Frames {
			if f.Packet == nil {
				continue
			}
			h := bytes.Clone(f.Head[:12])
			for range tags {
				h = append(h, 0x81, 0, 0x60, 5)
			}
			f.Head = append(h, f.Head[12:]...)
		}
	}
}

// early records all responses ns sooner, so that some are before their requests.
func early(ns int64) Plant {
	return func(c *Capture, _ int) {
		for _, f := range c.Frames {
			if f.Packet != nil && f.Packet.Info().Response {
				f.Time -= ns
			}
		}
		slices.SortStableFunc(c.Frames, func(a, b *Frame) int { return int(a.Time - b.Time) })
	}
}

// cooked makes a capture on all interfaces of it, which shows each packet coming in and going out again.
func cooked(c *Capture, _ int) {
	c.Link = fabricagent.LinkLinuxSLL
	var out []*Frame
	for _, f := range c.Frames {
		if f.Packet == nil {
			continue
		}
		f.Head = []byte{0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, f.Head[12], f.Head[13]}
		g := f.Clone()
		g.Head[1] = 4
		g.Time += 2000
		out = append(out, f, g)
	}
	slices.SortStableFunc(out, func(a, b *Frame) int { return int(a.Time - b.Time) })
	c.Frames = out
}

// networkCopy shows a frame twice, 3 µs apart, byte for byte.
func networkCopy(c *Capture, at int) {
	i := c.index(at)
	f := c.Frames[i].Clone()
	f.Was = 0
	f.Time += 100
	c.Frames = slices.Insert(c.Frames, i+1, f)
}

func snap(n int) Plant {
	return func(c *Capture, _ int) {
		for _, f := range c.Frames {
			f.Snap = n
		}
	}
}
