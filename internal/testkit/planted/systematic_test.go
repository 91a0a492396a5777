package planted

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ibwitness/internal/view/report"
	"ibwitness/packet"
)

// systematic is a fault of a device that shows in many packets.
type systematic struct {
	name, base string
	plant      Plant
	rules      string // that the lines are of
	lines      int    // at most
}

// long has the traffic of a capture of UC or UD go on: the same several times over, with the PSNs of each sender counting on.
func long(c *Capture) {
	for in := c.Frames[len(c.Frames)-1].Packet.Info(); !in.Last && !in.Only; in = c.Frames[len(c.Frames)-1].Packet.Info() {
		c.Frames = c.Frames[:len(c.Frames)-1] // the capture ends within a message
	}
	n, first, psns := len(c.Frames), map[packet.Addr]packet.PSN{}, map[packet.Addr]int{}
	for _, f := range c.Frames {
		if _, ok := first[f.Packet.Src]; !ok {
			first[f.Packet.Src] = f.Packet.PSN
		}
		psns[f.Packet.Src] = f.Packet.PSN.Diff(first[f.Packet.Src]) + 1
	}
	step := c.Frames[n-1].Time - c.Frames[0].Time + 1e6
	for k := 1; k < 8; k++ {
		for _, f := range c.Frames[:n:n] {
			g := f.Clone()
			g.Time += int64(k) * step
			g.Packet.PSN = g.Packet.PSN.Add(k * psns[g.Packet.Src])
			g.Packet.IPID += uint16(k * n)
			seal(g.Packet)
			c.Frames = append(c.Frames, g)
		}
	}
	for i, f := range c.Frames {
		f.Was = i + 1
	}
}

var systematics = []systematic{
	{"reserved byte of the DETH", "ud", Each(from("10.77.0.1"), func(p *packet.Packet) { p.DETHRes = 1 }), "UD-HDR-002", 1},
	{"AckReq on UD", "ud", Each(from("10.77.0.1"), func(p *packet.Packet) { p.AckReq = true }), "BTH-015", 1},
	{"reserved bits on UD", "ud", Each(from("10.77.0.1"), func(p *packet.Packet) { p.Resv7 = 1 }), "BTH-009", 1},
	{"marked by the source, UD", "ud", Each(from("10.77.0.1"), func(p *packet.Packet) { p.TClass |= 3 }), "ROC-V2-005", 1},
	{"marked by the source, UC", "uc", Each(from("10.77.0.1"), func(p *packet.Packet) { p.TClass |= 3 }), "ROC-V2-005", 1},
	{"marked by the source, RC", "rc", Each(from("10.77.0.1"), func(p *packet.Packet) { p.TClass |= 3 }), "ROC-V2-005", 1},
	{"never padded", "uc", Each(all, unpadded), "BTH-006", 1},
	{"never padded, RC", "rc", Each(from("10.77.0.1"), unpadded), "BTH-006", 1},
	{"TVer 1", "uc", Each(all, func(p *packet.Packet) { p.TVer = 1 }), "BTH-002", 1},
	{"TVer 1, UD", "ud", Each(from("10.77.0.1"), func(p *packet.Packet) { p.TVer = 1 }), "BTH-002", 1},
	{"SE in all", "uc", Each(all, func(p *packet.Packet) { p.SE = true }), "UC-SE-001", 1},
	{"AckReq on UC", "uc", Each(all, func(p *packet.Packet) { p.AckReq = true }), "BTH-015", 1},
	{"IP flags never set", "uc", Each(all, func(p *packet.Packet) { p.IPFrag = 0 }), "ROC-V2-007", 1},
	{"UDP checksum wrong", "uc", Each(all, func(p *packet.Packet) { p.UDPSum = 0x1234 }), "ROC-V2-017", 1},
	{"only the UDP length of the datagram", "uc", Each(all, func(p *packet.Packet) { p.UDPLen -= 8 }), "ROC-V2-016", 1},
	{"source port of each packet another", "uc", Each(all, func(p *packet.Packet) { p.SrcPort = 0xC000 | p.IPID&0xFFF }), "ROC-V2-018", 1},
	{"IP identification in the source port, RC", "rc", Each(from("10.77.0.1"), func(p *packet.Packet) { p.SrcPort = 0xC000 | p.IPID&0xFFF }), "ROC-V2-018", 1},
	{"P_Key 0", "uc", Each(all, func(p *packet.Packet) { p.PKey = 0 }), "PKY-001", 1},
	{"PSN does not advance", "uc", Each(all, func(p *packet.Packet) { p.PSN = 7 }), "UC-PSN-002", 2},
	{"PSN counts by two", "uc", Each(all, func(p *packet.Packet) { p.PSN = 2 * (p.PSN & 0xFFFF) }), "UC-PSN-001", 2},
	{"PSN begins again with each message", "uc", restartedPSN, "UC-PSN-002", 1},
	{"PSN begins again once", "uc", beginsAgain, "UC-PSN-002", 1},
	{"PSN does not advance, UD", "ud", Each(from("10.77.0.1"), func(p *packet.Packet) { p.PSN = 7 }), "UD-PSN-001", 1},
	{"PSN counts down, UD", "ud", Each(from("10.77.0.1"), func(p *packet.Packet) { p.PSN = -p.PSN & packet.PSNMask }), "UD-PSN-001", 1},
	{"Q_Key of each packet another", "ud", Each(from("10.77.0.1"), func(p *packet.Packet) { p.QKey = uint32(p.PSN) }), "UD-QKEY-001", 1},
	{"First where Only should be", "uc", Each(all, func(p *packet.Packet) {
		if p.Opcode == uc(packet.SendOnly) {
			p.Opcode = uc(packet.SendFirst)
		}
	}), "UC-SEQ-001|UC-LEN-001|BTH-007", 5},
	{"Middle where Last should be", "uc", Each(all, func(p *packet.Packet) {
		if p.Opcode == uc(packet.SendLast) || p.Opcode == uc(packet.WriteLast) {
			p.Opcode--
		}
	}), "UC-SEQ-001|UC-LEN-001|BTH-007", 4},
	{"Middles one word short", "uc", Each(func(p *packet.Packet) bool { return p.Info().First || p.Info().Middle }, func(p *packet.Packet) { resize(p, len(p.Payload)-4) }), "UC-LEN-001|UC-LEN-002", 3},
	{"DMALen 0", "uc", Each(all, func(p *packet.Packet) { p.DMALen = 0 }), "UC-LEN-002|UC-LEN-003", 3},
}

func unpadded(p *packet.Packet) {
	if p.PadCnt > 0 {
		p.PadCnt, p.Pad = 0, nil
		p.FitLengths()
	}
}

// restartedPSN counts the PSNs of each message from 0.
func restartedPSN(c *Capture, _ int) {
	psn := packet.PSN(0)
	Each(all, func(p *packet.Packet) {
		if p.Info().First || p.Info().Only {
			psn = 0
		}
		p.PSN = psn
		psn++
	})(c, 0)
}

// beginsAgain has the second half count from where the first did.
func beginsAgain(c *Capture, _ int) {
	n := len(c.Frames) / 2
	first := c.Frames[0].Packet.PSN
	for i, f := range c.Frames[n:] {
		f.Packet.PSN = first.Add(i)
		seal(f.Packet)
	}
}

// TestSystematic: what a device does wrong in every packet is told in a line or two, and accuses it of nothing else.
func TestSystematic(t *testing.T) {
	for _, x := range systematics {
		t.Run(x.name+" "+x.base, func(t *testing.T) {
			whole := bases[x.base].load(t)
			if x.base != "rc" {
				long(whole)
			}
			c := whole.Clone()
			x.plant(c, 1)
			for _, near := range [][]packet.Addr{nil, {whole.Frames[0].Packet.Src}} {
				old := bases[x.base].clean(t, whole, near...)
				if len(old) > 0 {
					t.Fatalf("there is something wrong before: %v", old)
				}
				list, _ := report.Fold(fresh(c, check(t, c, near...), old), false)
				told, right := "", true
				for i := range list {
					told += fmt.Sprintf("\n    %s, %d times", line(list[i].Finding), list[i].Count)
					right = right && slices.Contains(strings.Split(x.rules, "|"), list[i].Rule.String())
				}
				if n := len(list); n > x.lines || n == 0 && near != nil || !right {
					t.Errorf("near %v: %d lines, want at most %d of %s:%s", near, n, x.lines, x.rules, told)
				}
			}
		})
	}
}
