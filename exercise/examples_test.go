package exercise_test

import (
	"bytes"
	"context"
	"fmt"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/exercise"
	"ibwitness/fabricagent"
	"ibwitness/internal/testkit/programs"
	"ibwitness/link"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// examples are the scripts of examples/exercise, and what each shows.
var examples = map[string]func(t *testing.T, r *exercise.Result, f *frames){
	"opcodes": func(t *testing.T, _ *exercise.Result, f *frames) { f.all(t) },
	"opcodes-grh": func(t *testing.T, _ *exercise.Result, f *frames) {
		f.all(t)
		for i := range f.packets {
			if f.packets[i].Has&packet.HasGRH == 0 {
				t.Errorf("frame %d has no GRH", f.packets[i].Frame)
			}
		}
	},
	"mads": func(t *testing.T, r *exercise.Result, f *frames) {
		if s := r.Streams[0]; s.Fired != 1 || s.TimedOut != 0 || len(f.packets) != 14 {
			t.Errorf("%+v, %d packets", s, len(f.packets))
		}
		var q mad.REQ
		if err := q.Decode(f.packets[11].Payload); err != nil || q.LocalQPN != 0x40 || q.StartingPSN != 7 || q.Primary.RemoteLID != 2 || q.Primary.RemoteGID.Lo != 2 || q.TID != 11 ||
			!q.Primary.SubnetLocal || string(q.Private[:4]) != "\x01\x02\x03\x00" {
			t.Errorf("%+v, %v", q, err)
		}
	},
	"raw": func(t *testing.T, _ *exercise.Result, f *frames) {
		for i := range f.packets {
			if p := &f.packets[i]; p.Has&(packet.HasBTH|packet.HasICRC) != 0 || p.VCRCState == packet.CRCBad || p.LNH > packet.LNHIPv6 {
				t.Errorf("%+v", p)
			}
		}
	},
	"credits-kept": func(t *testing.T, r *exercise.Result, _ *frames) {
		if r.Streams[0].Sent != 40 || r.Streams[0].Waiting != 0 || r.Lanes[0].FCTBS != 160 {
			t.Errorf("%+v", r)
		}
	},
	"credits-ignored": func(t *testing.T, r *exercise.Result, f *frames) {
		var psns []packet.PSN
		for i := range f.packets {
			psns = append(psns, f.packets[i].PSN)
		}
		if fmt.Sprint(psns) != fmt.Sprint([]packet.PSN{0, 1, 4}) || r.Streams[0].Waiting != 2 {
			t.Errorf("PSNs %v left, %d packets wait", psns, r.Streams[0].Waiting)
		}
	},
	"lanes": func(t *testing.T, r *exercise.Result, _ *frames) {
		for vl, capacity := range []int{4, 100} {
			if l := r.Lanes[vl]; l.Taken != 20 || l.Discarded != 0 || l.FCTBS != 140 || l.Capacity != capacity || int(l.FCCL-l.ABR) != capacity {
				t.Errorf("%+v", l)
			}
		}
	},
	"sink": func(t *testing.T, r *exercise.Result, f *frames) {
		if l := r.Lanes[0]; l.Taken != 200 || l.Discarded != 0 || l.Blocks < link.Modulus {
			t.Errorf("%+v", l)
		}
		f.offers(t, 1, 70)
	},
	"sink-large": func(t *testing.T, r *exercise.Result, f *frames) {
		if l := r.Lanes[0]; l.Taken != 100 || l.Discarded != 0 || l.Blocks != 6400 {
			t.Errorf("%+v", l)
		}
		f.offers(t, link.Window, link.Window)
	},
	"sink-overrun": func(t *testing.T, r *exercise.Result, _ *frames) {
		if l := r.Lanes[0]; l.Taken != 1 || l.Discarded != 9 || l.Used != 3 {
			t.Errorf("%+v", l)
		}
	},
	"sink-changed": func(t *testing.T, r *exercise.Result, _ *frames) {
		if l := r.Lanes[0]; l.Taken != 200 || l.Discarded != 0 || l.Capacity != 100 {
			t.Errorf("%+v", l)
		}
	},
	"abr": func(t *testing.T, r *exercise.Result, f *frames) {
		most := uint16(0)
		for _, c := range f.flows {
			most = max(most, c.FCCL)
		}
		if l := r.Lanes[0]; most < 420+100 || l.ABR != 180 || l.FCCL != 280 {
			t.Errorf("FCCL up to %d, at the end %+v", most, l)
		}
	},
	"flow-control": func(t *testing.T, r *exercise.Result, f *frames) {
		if r.Streams[0].Sent != 9 || len(f.flows) != 9 {
			t.Errorf("%d of %+v", len(f.flows), r.Streams[0])
		}
	},
	"source-automatic": func(t *testing.T, r *exercise.Result, f *frames) {
		var of []uint16
		for i := range f.packets {
			if f.ports[i] == 0 {
				of = append(of, f.packets[i].SLID)
			}
		}
		if fmt.Sprint(of) != "[65535 65535 7 7 7]" || r.LID != 7 {
			t.Errorf("source LIDs %v, LID %d", of, r.LID)
		}
	},
	"source-switch": func(t *testing.T, _ *exercise.Result, f *frames) {
		for i := range f.packets {
			if lid := f.packets[i].SLID; lid != uint16(5+i%2) {
				t.Errorf("packet %d has source LID %d", i, lid)
			}
		}
	},
	"source-router": func(t *testing.T, _ *exercise.Result, f *frames) {
		for i := range f.packets {
			if p := &f.packets[i]; p.SLID != 9 || p.HopLmt != uint8(62-i) || p.SGID.Lo != uint64(5+i) || p.ICRCState != packet.CRCGood {
				t.Errorf("%+v", p)
			}
		}
	},
	"damaged": func(t *testing.T, r *exercise.Result, f *frames) {
		if r.Streams[0].Sent != 12 || f.bad != 4 || r.Lanes[0].FCTBS != 24 {
			t.Errorf("%+v, %d without EGP", r, f.bad)
		}
	},
	"random": func(t *testing.T, r *exercise.Result, f *frames) {
		lengths, qps := map[int]bool{}, map[uint32]bool{}
		for i := range f.packets {
			p := &f.packets[i]
			lengths[p.PayloadLen], qps[p.DestQP] = true, true
			if p.DestQP < 0x20 || p.DestQP > 0x2f || p.PayloadLen > 2048 || p.VL != p.SL%4 {
				t.Errorf("%+v", p)
			}
		}
		if len(f.packets) != 100 || len(lengths) < 90 || len(qps) != 16 || r.Streams[0].Sent != 100 {
			t.Errorf("%d packets of %d lengths to %d queue pairs", len(f.packets), len(lengths), len(qps))
		}
	},
	"triggers": func(t *testing.T, r *exercise.Result, f *frames) {
		want := []string{"ended", "ended", "stopped", "ended", "ended"}
		for i, s := range r.Streams {
			if s.Outcome != want[i] || s.TimedOut != 0 || s.Sent == 0 {
				t.Errorf("%+v", s)
			}
		}
		if last := &f.packets[len(f.packets)-1]; last.Opcode.Service() != packet.UC {
			t.Errorf("the last packet is %v", last.Opcode)
		}
	},
	"link": func(t *testing.T, r *exercise.Result, f *frames) {
		if r.Lanes[0].FCTBS != 4 || len(f.packets) != 4 { // counts begin again
			t.Errorf("%+v", r)
		}
	},
	"ethernet": func(t *testing.T, r *exercise.Result, f *frames) {
		if len(f.packets) != 7 || r.Packets != 1 || r.Streams[1].Fired != 1 {
			t.Errorf("%+v, %d packets", r, len(f.packets))
		}
	},
	"interface": func(t *testing.T, r *exercise.Result, f *frames) {
		if len(f.packets) != 52 || r.Streams[0].TimedOut != 1 {
			t.Errorf("%+v, %d packets", r, len(f.packets))
		}
	},
	"bytes": func(t *testing.T, r *exercise.Result, f *frames) {
		if s := r.Streams[0]; s.Fired != 1 || s.Sent != 2 || r.Damaged != 1 || len(f.packets) != 1 || string(f.packets[0].Payload) != "byte by byte" {
			t.Errorf("%+v, %d packets", r, len(f.packets))
		}
	},
	"memory": func(t *testing.T, r *exercise.Result, f *frames) {
		if r.Lost == 0 || r.Packets != 100 || len(f.packets) >= 17 || f.packets[len(f.packets)-1].PSN != 99 {
			t.Errorf("%+v, %d packets", r, len(f.packets))
		}
	},
	"rocev1": func(t *testing.T, _ *exercise.Result, f *frames) {
		for i := range f.packets {
			if f.packets[i].Encap != packet.RoCEv1 {
				t.Errorf("%v", f.packets[i].Encap)
			}
		}
	},
}

// frames are what a run kept, decoded.
type frames struct {
	packets []packet.Packet
	ports   []uint8            // that sent them
	flows   []link.FlowControl // of the exerciser
	bad     int                // that did not end with EGP
}

// all checks that each opcode is there that a native link has.
func (f *frames) all(t *testing.T) {
	t.Helper()
	for i := range 0x100 {
		if o := packet.Opcode(i); o.Info().Defined && o != packet.OpCNP && f.of(o) == 0 {
			t.Errorf("no %v", o)
		}
	}
}

func (f *frames) of(o packet.Opcode) (n int) {
	for i := range f.packets {
		if f.packets[i].Opcode == o {
			n++
		}
	}
	return n
}

// offers checks that FCCL was never further than most ahead of the first ABR that it may belong to, and wraps.
func (f *frames) offers(t *testing.T, least, most uint16) {
	t.Helper()
	wraps := 0
	for i, c := range f.flows {
		if i > 0 && c.FCCL < f.flows[i-1].FCCL {
			wraps++
		}
		if i > 0 && (c.FCCL-f.flows[i-1].FCCL)&(link.Modulus-1) > link.Window {
			t.Errorf("FCCL %d after %d", c.FCCL, f.flows[i-1].FCCL)
		}
	}
	if wraps == 0 || f.flows[0].FCCL < least || f.flows[0].FCCL > most {
		t.Errorf("first FCCL %d, of %d to %d; %d wraps", f.flows[0].FCCL, least, most, wraps)
	}
}

// play runs a script and verifies what it sends.
func play(t *testing.T, s *exercise.Script) (*exercise.Run, []rule.Finding) {
	t.Helper()
	r, err := s.Start()
	if err != nil {
		t.Fatal(err)
	}
	result, err := agent.Run(context.Background(), r.Source, agent.Options{Workers: 1, Near: r.Near()})
	if err != nil {
		t.Fatal(err)
	}
	return r, result.Findings
}

// decode writes what a run kept to a file, and reads it.
func decode(t *testing.T, r *exercise.Run) (path string, f *frames) {
	t.Helper()
	path, f = filepath.Join(t.TempDir(), "x.pcapng"), &frames{}
	var b bytes.Buffer
	if err := r.WriteCapture(&b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := fabricagent.Open([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	for {
		batch, err := src.Next()
		if err != nil {
			return path, f
		}
		for i := range batch.Frames {
			x := batch.Frames[i]
			x.Data = bytes.Clone(x.Data)
			f.take(&x)
		}
		batch.Release()
	}
}

func (f *frames) take(x *fabricagent.Frame) {
	k, m, native := link.DecodeHeader(x.Data)
	if native && k == link.Packet {
		if c, ok := link.DecodeFlowControl(x.Data[link.HeaderSize:]); ok && m.Port == 0 {
			f.flows = append(f.flows, c)
		}
		return
	}
	var p packet.Packet
	if !fabricagent.Decode(x, &p).IsRDMA() {
		return
	}
	if m.Bad {
		f.bad++
	}
	p.CheckICRC()
	p.CheckVCRC()
	f.packets, f.ports = append(f.packets, p), append(f.ports, m.Port)
}

// TestExamples: each script does what it is to show, the verifiers find just the rules that it breaks on purpose, and tshark sees the same packets.
func TestExamples(t *testing.T) {
	list, err := filepath.Glob("../examples/exercise/*.yaml")
	if err != nil || len(list) != len(examples) {
		t.Fatalf("%d scripts, %d of them described here", len(list), len(examples))
	}
	for _, path := range list {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := exercise.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			r, findings := play(t, s)
			if v := s.Verdict(findings); !v.AsSaid() {
				t.Errorf("%+v of %+v", v, findings)
			}
			for i := range findings {
				if f := &findings[i]; f.Class == rule.Violation && len(s.Breaks) == 0 {
					t.Errorf("%v on frame %d: expected %s, actual %s", f.Rule, f.Frame, f.Expected, f.Actual)
				}
			}
			capture, f := decode(t, r)
			examples[name](t, r.Result(), f)
			compare(t, capture, f)
		})
	}
}

// compare has tshark decode a capture: frames of a link tap have eight bytes before the packet.
func compare(t *testing.T, capture string, f *frames) {
	t.Helper()
	const native = `uat:user_dlts:"User 11 (DLT=158)","infiniband","8","","0",""`
	cmd := exec.Command(programs.Find(t, "tshark"), "-r", capture, "-o", native, "-T", "fields", "-E", "occurrence=f", "-E", "separator=,",
		"-e", "frame.number", "-e", "infiniband.bth.opcode", "-e", "infiniband.bth.destqp", "-e", "infiniband.bth.psn",
		"-e", "infiniband.mad.mgmtclass", "-e", "infiniband.mad.method", "-e", "infiniband.mad.attributeid", "-e", "infiniband.mad.transactionid",
		"-e", "infiniband.reth.va", "-e", "infiniband.aeth.syndrome", "-e", "infiniband.invariant.crc")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tshark: %v", err)
	}
	told := map[string]string{}
	for line := range strings.Lines(string(out)) {
		number, fields, _ := strings.Cut(strings.TrimSpace(line), ",")
		told[number] = fields
	}
	for i := range f.packets {
		p := &f.packets[i]
		if p.Has&packet.HasBTH == 0 || p.Flaws&packet.FlawLRHLength != 0 {
			continue
		}
		got := strings.Split(told[fmt.Sprint(p.Frame)], ",")
		for k, want := range wanted(p) {
			if k >= len(got) || got[k] != want && (got[k] != "" || k < 3) { // it does not dissect all that follows the BTH
				t.Errorf("frame %d: tshark has %q, not %q as field %d", p.Frame, got, want, k)
			}
		}
	}
}

// wanted are the fields of a packet as tshark shows them. Of RD it looks for the headers after the BTH in other places than section 9.2 has them.
func wanted(p *packet.Packet) []string {
	list := []string{fmt.Sprint(uint8(p.Opcode)), fmt.Sprintf("0x%06x", p.DestQP), fmt.Sprint(uint32(p.PSN)), "", "", "", "", "", "", ""}
	var h mad.Header
	if p.DestQP <= 1 && p.Has&packet.HasDETH != 0 && mad.DecodeHeader(p.Payload, &h) == nil {
		for i, v := range []uint64{uint64(h.Class), uint64(h.Method), uint64(h.Attribute), h.TID} {
			list[3+i] = fmt.Sprintf("0x%0*x", []int{2, 2, 4, 16}[i], v)
		}
	}
	if p.Has&(packet.HasRETH|packet.HasAtomicETH) != 0 {
		list[7] = fmt.Sprintf("0x%016x", p.VA)
	}
	if p.Has&packet.HasAETH != 0 {
		list[8] = fmt.Sprint(uint8(p.Syndrome))
	}
	if p.Opcode.Service() == packet.RD {
		return list[:3]
	}
	list[9] = fmt.Sprintf("0x%08x", bits.ReverseBytes32(p.ICRC))
	return list
}

// TestSeed: a script does the same again, and something else with another seed.
func TestSeed(t *testing.T) {
	of := func(seed uint64) string {
		s, err := exercise.ReadFile("../examples/exercise/random.yaml")
		if err != nil {
			t.Fatal(err)
		}
		s.Seed = seed
		r, _ := play(t, s)
		var b bytes.Buffer
		if err := r.WriteCapture(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if first := of(1); first != of(1) || first == of(2) {
		t.Error("the seed does not say what happens")
	}
}

// TestMemory: what the receive memory has no room for is counted, and the newest frames are kept.
func TestMemory(t *testing.T) {
	s, err := exercise.ReadFile("../examples/exercise/random.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all, _ := play(t, s)
	s.Memory = 50_000
	some, _ := play(t, s)
	a, b := all.Result(), some.Result()
	if a.Lost != 0 || b.Lost == 0 || b.Kept+int(b.Lost) != a.Kept {
		t.Errorf("%d kept of %d, %d lost", b.Kept, a.Kept, b.Lost)
	}
}
