package packet_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"ibwitness/packet"
)

// TestGoldenFrames reads real frames and the fields that another decoder found in them.
func TestGoldenFrames(t *testing.T) {
	datadriven.RunTest(t, "testdata/rxe", func(t *testing.T, d *datadriven.TestData) string {
		b, err := hex.DecodeString(strings.ReplaceAll(d.Input, "\n", ""))
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		var p packet.Packet
		if !packet.DecodeIP(&p, b, len(b)) {
			return "not RoCEv2\n"
		}
		if again := p.Append(nil); !bytes.Equal(again, b) {
			t.Errorf("%s: appended\n%x, was\n%x", d.Pos, again, b)
		}
		if p.CheckICRC(); p.ICRCState != packet.CRCGood {
			t.Errorf("%s: ICRC state %d", d.Pos, p.ICRCState)
		}
		if p.Flaws != 0 || p.Cut {
			t.Errorf("%s: flaws %b, cut %v", d.Pos, p.Flaws, p.Cut)
		}
		return describe(&p)
	})
}

func describe(p *packet.Packet) string {
	var s strings.Builder
	if p.Has&packet.HasIPv4 != 0 {
		fmt.Fprintf(&s, "ip4 %v > %v id=%d frag=0x%04x tos=%d ttl=%d sum=0x%04x len=%d\n",
			p.Src, p.Dst, p.IPID, p.IPFrag, p.TClass, p.HopLmt, p.IPSum, p.PayLen)
	}
	if p.Has&packet.HasIPv6 != 0 {
		fmt.Fprintf(&s, "ip6 %v > %v tclass=%d flow=%d hop=%d len=%d\n", p.SGID, p.DGID, p.TClass, p.FlowLabel, p.HopLmt, p.PayLen)
	}
	fmt.Fprintf(&s, "udp %d > %d len=%d sum=0x%04x\n", p.SrcPort, p.DstPort, p.UDPLen, p.UDPSum)
	n := map[bool]int{true: 1}
	fmt.Fprintf(&s, "bth op=0x%02x se=%d m=%d pad=%d tver=%d pkey=0x%04x fecn=%d becn=%d qp=0x%x ack=%d psn=%v\n",
		uint8(p.Opcode), n[p.SE], n[p.MigReq], p.PadCnt, p.TVer, p.PKey, n[p.FECN], n[p.BECN], p.DestQP, n[p.AckReq], p.PSN)
	if p.Has&packet.HasDETH != 0 {
		fmt.Fprintf(&s, "deth qkey=0x%x srcqp=0x%x\n", p.QKey, p.SrcQP)
	}
	if p.Has&packet.HasRETH != 0 {
		fmt.Fprintf(&s, "reth va=0x%x rkey=0x%x len=%d\n", p.VA, p.RKey, p.DMALen)
	}
	if p.Has&packet.HasAtomicETH != 0 {
		fmt.Fprintf(&s, "atomiceth va=0x%x rkey=0x%x swapadd=0x%x compare=0x%x\n", p.VA, p.RKey, p.SwapAdd, p.Compare)
	}
	if p.Has&packet.HasAETH != 0 {
		fmt.Fprintf(&s, "aeth syndrome=0x%02x msn=%d\n", uint8(p.Syndrome), p.MSN)
	}
	if p.Has&packet.HasAtomicAckETH != 0 {
		fmt.Fprintf(&s, "atomicacketh orig=0x%x\n", p.OrigData)
	}
	if p.Has&packet.HasImmDt != 0 {
		fmt.Fprintf(&s, "immdt 0x%x\n", p.Imm)
	}
	if p.Has&packet.HasIETH != 0 {
		fmt.Fprintf(&s, "ieth rkey=0x%x\n", p.InvRKey)
	}
	fmt.Fprintf(&s, "payload %d crc32=0x%08x\nicrc 0x%08x\n", p.PayloadLen, crc32.ChecksumIEEE(p.Payload), p.ICRC)
	return s.String()
}
