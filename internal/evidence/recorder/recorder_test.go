package recorder_test

import (
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibwitness/fabricagent"
	"ibwitness/internal/evidence/recorder"
	"ibwitness/internal/testkit/traffic"
	"ibwitness/packet"
	"ibwitness/rule"
)

// frames makes n frames of traffic.
func frames(shape traffic.Shape, n int) []fabricagent.Frame {
	g := traffic.New(shape)
	list := make([]fabricagent.Frame, n)
	for i := range list {
		var p packet.Packet
		src, dst := g.Next(&p)
		b := p.AppendEthernet(nil, src, dst)
		list[i] = fabricagent.Frame{Time: int64(1e18 + i), Number: uint64(i) + 1, Link: fabricagent.LinkEthernet, Way: packet.WayIn, Len: uint32(len(b)), Data: b}
	}
	return list
}

// about is a finding about a frame, as one on a connection both of whose queue pairs are known.
func about(f *fabricagent.Frame, sender uint32, evidence ...uint64) *rule.Finding {
	var p packet.Packet
	fabricagent.Decode(f, &p)
	return &rule.Finding{
		Tap: f.Tap, Frame: f.Number, Evidence: evidence,
		Accused: rule.Endpoint{Addr: p.Src, QPN: sender, QPNKnown: sender != 0}, Peer: rule.Endpoint{Addr: p.Dst, QPN: p.DestQP, QPNKnown: true},
	}
}

// ends are the addresses and queue pairs of a frame of the generator, whose pairs of queue pairs are 0x11 + 2i and 0x12 + 2i.
func ends(f *fabricagent.Frame) (sender, connection uint32) {
	var p packet.Packet
	fabricagent.Decode(f, &p)
	return (p.DestQP - 0x11 ^ 1) + 0x11, (p.DestQP - 0x11) / 2
}

func numbers(list []fabricagent.Frame) (out []uint64) {
	for i := range list {
		out = append(out, list[i].Number)
	}
	return out
}

// TestAround: the frames around one are those of both directions of its connection.
func TestAround(t *testing.T) {
	all := frames(traffic.Small(40), 30_000)
	r := recorder.New(recorder.Options{Memory: 1 << 20})
	for rest := all; len(rest) > 0; {
		n := min(len(rest), 256)
		r.Add(rest[:n])
		rest = rest[n:]
	}
	of := make([]uint32, len(all))
	for i := range all {
		_, of[i] = ends(&all[i])
	}
	kept := 0
	for i := 0; i < len(all); i += 197 {
		sender, connection := ends(&all[i])
		var same []fabricagent.Frame
		at := 0
		for k := range all {
			if of[k] == connection {
				if k == i {
					at = len(same)
				}
				same = append(same, all[k])
			}
		}
		got := r.Around(about(&all[i], sender), 16)
		if len(got) == 0 {
			if kept > 0 {
				t.Fatalf("frame %d is gone, and earlier ones are not", i+1)
			}
			continue
		}
		if kept++; kept == 1 {
			continue // some before it may be gone
		}
		want := same[at+1 : min(len(same), at+5)]
		want = same[max(0, at-(15-len(want))) : at+1+len(want)]
		if len(got) < len(want) && kept < 10 {
			want = want[len(want)-len(got):]
		}
		if d := cmp.Diff(numbers(want), numbers(got)); d != "" {
			t.Fatalf("frame %d: want (-), got (+):\n%s", i+1, d)
		}
		for k := range got {
			w, g := want[k], got[k]
			if len(w.Data) != len(g.Data) {
				w.Data = w.Data[:len(g.Data)]
			}
			if d := cmp.Diff(w, g); d != "" {
				t.Fatal(d)
			}
		}
	}
	if kept < 20 {
		t.Errorf("%d of the frames are kept", kept)
	}
}

// TestPayload: a frame is kept up to the end of its headers, or with as much payload as one asks for.
func TestPayload(t *testing.T) {
	all := frames(traffic.Large(4), 2000)
	for _, payload := range []int{0, 10, -1} {
		r := recorder.New(recorder.Options{Payload: payload})
		r.Add(all)
		cut := 0
		for i := range all {
			var was, p packet.Packet
			fabricagent.Decode(&all[i], &was)
			got := r.Around(about(&all[i], 0), 1)
			if len(got) != 1 || got[0].Len != all[i].Len {
				t.Fatalf("frame %d: %+v", i+1, got)
			}
			if !fabricagent.Decode(&got[0], &p).IsRDMA() || p.Has|packet.HasICRC != was.Has || p.PayloadLen != was.PayloadLen {
				t.Fatalf("frame %d: %+v, not %+v", i+1, p, was)
			}
			want := len(was.Payload)
			if payload >= 0 && want > payload {
				want, cut = payload, cut+1
				if p.Has&packet.HasICRC != 0 {
					t.Errorf("frame %d is cut, and has an ICRC", i+1)
				}
			} else if len(got[0].Data) != len(all[i].Data) {
				t.Errorf("frame %d: %d bytes of %d", i+1, len(got[0].Data), len(all[i].Data))
			}
			if len(p.Payload) != want {
				t.Errorf("frame %d: %d bytes of payload, not %d", i+1, len(p.Payload), want)
			}
		}
		if cut == 0 && payload >= 0 {
			t.Error("no frame is cut")
		}
	}
}

// TestKinds: of whatever kind the frames are, they are found, and end where their headers do.
func TestKinds(t *testing.T) {
	for name, change := range map[string]func(*packet.Packet){
		"IPv4": func(*packet.Packet) {},
		"IPv6": func(p *packet.Packet) { p.Encap, p.Src.Hi, p.Dst.Hi = packet.RoCEv2IPv6, 0xfe80<<48, 0xfe80<<48 },
		"GRH":  func(p *packet.Packet) { p.Encap, p.Src.Hi, p.Dst.Hi = packet.RoCEv1, 0xfe80<<48, 0xfe80<<48 },
	} {
		for _, tagged := range []bool{false, true} {
			g := traffic.New(traffic.Large(4))
			r := recorder.New(recorder.Options{})
			var list []fabricagent.Frame
			for i := range 500 {
				var p packet.Packet
				src, dst := g.Next(&p)
				change(&p)
				p.Complete()
				b := p.AppendEthernet(nil, src, dst)
				if tagged {
					b = slices.Insert(b, 12, 0x81, 0, 0, 7)
				}
				list = append(list, fabricagent.Frame{Number: uint64(i) + 1, Link: fabricagent.LinkEthernet, Len: uint32(len(b)), Data: b})
			}
			r.Add(list)
			for i := range list {
				sender, _ := ends(&list[i])
				got := r.Around(about(&list[i], sender), 8)
				k := slices.Index(numbers(got), list[i].Number)
				if k < 0 || i > 200 && len(got) < 6 {
					t.Fatalf("%s, tagged %v: around %d: %d", name, tagged, i+1, numbers(got))
				}
				var was, p packet.Packet
				fabricagent.Decode(&list[i], &was)
				fabricagent.Decode(&got[k], &p)
				if len(p.Payload) > 0 || p.Has|packet.HasICRC != was.Has || p.PayloadLen != was.PayloadLen || was.PayloadLen == 0 && p.Cut {
					t.Fatalf("%s, tagged %v: %+v, not %+v", name, tagged, p, was)
				}
			}
		}
	}
}

// TestUnknownSender: where the queue pair of the accused is not known, there are the frames of one direction; and the frames that prove a finding are
// there wherever they are.
func TestUnknownSender(t *testing.T) {
	all := frames(traffic.Small(40), 5000)
	r := recorder.New(recorder.Options{})
	r.Add(all)
	got := r.Around(about(&all[4000], 0, 7, 4990, 99999), 10)
	list := numbers(got)
	if !slices.IsSorted(list) || !slices.Contains(list, 7) || !slices.Contains(list, 4990) || !slices.Contains(list, 4001) || len(list) != 12 {
		t.Errorf("%d", list)
	}
	var own, p packet.Packet
	fabricagent.Decode(&all[4000], &own)
	for i := range got {
		fabricagent.Decode(&got[i], &p)
		if n := got[i].Number; n != 7 && n != 4990 && (p.DestQP != own.DestQP || p.Src != own.Src) {
			t.Errorf("frame %d is of another connection", n)
		}
	}
	if got := r.Around(&rule.Finding{}, 10); len(got) > 0 {
		t.Errorf("%v around no frame", numbers(got))
	}
	if got := r.Around(about(&fabricagent.Frame{Number: 9999, Data: all[0].Data, Link: fabricagent.LinkEthernet}, 0), 10); len(got) > 0 {
		t.Errorf("%v around a frame that was never there", numbers(got))
	}
}

// TestHold: what is held is there when the memory has gone round, with what was added later; it is bounded, and so is what a flood of findings takes.
func TestHold(t *testing.T) {
	all := frames(traffic.Small(40), 40_000)
	r := recorder.New(recorder.Options{Memory: 1 << 20})
	r.Add(all[:2000])
	sender, connection := ends(&all[1500])
	f := about(&all[1500], sender, 1600)
	whole := numbers(r.Around(f, 20))
	early := recorder.New(recorder.Options{Memory: 1 << 20})
	early.Add(all[:1501])
	early.Hold(f, 20)
	first := numbers(early.Around(f, 20))
	if len(first) != 20 || first[19] != 1501 {
		t.Errorf("held at once: %d", first)
	}
	early.Add(all[1501:2000])
	early.Hold(f, 20)
	early.Add(all[2000:])
	if d := cmp.Diff(whole, numbers(early.Around(f, 20))); d != "" {
		t.Errorf("while it was kept (-), held (+):\n%s", d)
	}
	for i, g := range early.Around(f, 20) {
		if _, c := ends(&g); c != connection && g.Number != 1600 || string(g.Data) != string(all[g.Number-1].Data[:len(g.Data)]) {
			t.Errorf("frame %d: %+v", i, g)
		}
	}
	alone := *f
	alone.Evidence = nil
	if d := cmp.Diff(slices.DeleteFunc(whole, func(n uint64) bool { return n == 1600 }), numbers(early.Around(&alone, 20))); d != "" {
		t.Errorf("without what proves it, want (-), got (+):\n%s", d)
	}
	g := about(&all[1400], sender)
	if got := early.Around(g, 20); len(got) > 0 {
		t.Errorf("%d is neither kept nor held", numbers(got))
	}
	n, last := 0, 0
	for i := 38_000; i < 40_000; i += 5 {
		g := about(&all[i], 0)
		g.Time = int64(i/200) * 1e9 // no flood
		early.Hold(g, 200)
	}
	more := frames(traffic.Small(40), 40_000)
	for i := range more {
		more[i].Number += 40_000
	}
	early.Add(more) // all of that is overwritten
	for i := 38_000; i < 40_000; i += 5 {
		if len(early.Around(about(&all[i], 0), 200)) > 0 {
			n, last = n+1, i
		}
	}
	if n < 5 || n > 300 || last != 39_995 {
		t.Errorf("%d findings are held, the last one %d", n, last)
	}

	flood := recorder.New(recorder.Options{})
	flood.Add(all)
	for i := range 1000 {
		flood.Hold(about(&all[39_000+i], 0), 2)
	}
	for range 30 {
		flood.Add(more)
	}
	n = 0
	for i := range 1000 {
		if len(flood.Around(about(&all[39_000+i], 0), 2)) > 0 {
			n++
		}
	}
	if n != 256 {
		t.Errorf("of a flood, %d findings are held", n)
	}
}

// batches is a source of frames.
type batches struct {
	fabricagent.Source
	left [][]fabricagent.Frame
}

func (s *batches) Next() (*fabricagent.Batch, error) {
	if len(s.left) == 0 {
		return nil, io.EOF
	}
	b := fabricagent.NewBatch(s.left[0], nil)
	s.left = s.left[1:]
	return &b, nil
}

func (s *batches) Now() int64 { return 17 }

// TestTogether: frames are asked for while others come, and the source passes on what there is.
func TestTogether(t *testing.T) {
	all := frames(traffic.Small(40), 50_000)
	r := recorder.New(recorder.Options{Memory: 1 << 20})
	src := r.Source(&batches{left: slices.Collect(slices.Chunk(all, 256))})
	if c, ok := src.(interface{ Now() int64 }); !ok || c.Now() != 17 {
		t.Error("the clock of the source is hidden")
	}
	if _, ok := r.Source(struct{ fabricagent.Source }{}).(interface{ Now() int64 }); ok {
		t.Error("a source without a clock has one")
	}
	over := make(chan int)
	go func() {
		n := 0
		for {
			b, err := src.Next()
			if err != nil {
				over <- n
				return
			}
			n += len(b.Frames)
			b.Release()
		}
	}()
	for i := 0; ; i++ {
		f := &all[i*61%len(all)]
		sender, _ := ends(f)
		got := r.Around(about(f, sender), 20)
		if !slices.IsSorted(numbers(got)) || len(got) > 0 && !slices.Contains(numbers(got), f.Number) {
			t.Fatalf("around %d: %d", f.Number, numbers(got))
		}
		for k := range got {
			if was := all[got[k].Number-1]; string(was.Data[:len(got[k].Data)]) != string(got[k].Data) || was.Time != got[k].Time {
				t.Fatalf("frame %d has changed", got[k].Number)
			}
		}
		select {
		case n := <-over:
			if n != len(all) {
				t.Errorf("%d frames", n)
			}
			return
		default:
		}
	}
}

// TestAllocations: once its memory is full, keeping a frame allocates nothing.
func TestAllocations(t *testing.T) {
	all := frames(traffic.Small(100), 10_000)
	r := recorder.New(recorder.Options{Memory: 1 << 20})
	r.Add(all)
	if n := testing.AllocsPerRun(10, func() { r.Add(all) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkAdd is what keeping a frame costs.
func BenchmarkAdd(b *testing.B) {
	for name, shape := range map[string]traffic.Shape{"105B/QPs=64": traffic.Small(64), "105B/QPs=100000": traffic.Small(100_000), "881B/QPs=64": traffic.Large(64)} {
		b.Run(name, func(b *testing.B) {
			all := frames(shape, 2560) // which the processor has at hand, as those that were just received
			r := recorder.New(recorder.Options{})
			for rest := all; b.Loop(); rest = rest[256:] {
				if len(rest) < 256 {
					rest = all
				}
				r.Add(rest[:256])
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/256, "ns/frame")
		})
	}
}

// BenchmarkAround is what asking for the frames around one costs, with as many connections as there may be.
func BenchmarkAround(b *testing.B) {
	for name, shape := range map[string]traffic.Shape{"QPs=2": traffic.Small(2), "QPs=100000": traffic.Small(100_000)} {
		b.Run(name, func(b *testing.B) {
			all := frames(shape, 500_000)
			r := recorder.New(recorder.Options{})
			r.Add(all)
			f := &all[len(all)-150_000]
			sender, _ := ends(f)
			for b.Loop() {
				if len(r.Around(about(f, sender), 32)) == 0 {
					b.Fatal("it is gone")
				}
			}
		})
	}
}
