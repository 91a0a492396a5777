package scenario

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"

	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// view is how a capture shows a run: what the taps saw, after what the capture itself did to it.
type view struct {
	*chance
	about   []string
	taps    []fabricagent.Tap
	frames  []fabricagent.Frame
	near    []packet.Addr
	several bool  // taps
	hidden  bool  // what the capture says it lost, it says at its end
	tick    int64 // in which its clock counts
}

// The taps of a run whose views are taken, by index.
const (
	tapA = iota
	tapMiddle
	tapB
	allTaps
)

// newView takes one tap, or several of them in one file, by chance.
func newView(c *chance, run *recording) *view {
	v := &view{chance: c, taps: slices.Clone(run.taps), tick: 1}
	keep := pick(c, []int{tapA}, []int{tapMiddle}, []int{tapB}, []int{tapA}, []int{tapB}, []int{tapA, tapB}, []int{tapA, tapMiddle, tapB})
	v.several = len(keep) > 1
	for _, k := range keep {
		v.say("tap %d", k)
		if !run.near[k].IsZero() && c.is(0.7) {
			v.say("near")
			v.near = append(v.near, run.near[k])
		}
	}
	for _, f := range run.frames {
		if slices.Contains(keep, int(f.Tap)) {
			v.frames = append(v.frames, f)
		}
	}
	return v
}

func (v *view) say(format string, args ...any) {
	v.about = append(v.about, fmt.Sprintf(format, args...))
}

// change does to a view what captures do, one or several of the changes there are.
func (v *view) change() {
	changes := []func(){v.offsets, v.mirrored, v.shiftedWay, v.coarse, v.loses, v.oneWay, v.begins, v.ends, v.snap, v.wrap}
	n := 1 + v.IntN(2)
	for _, i := range v.Perm(len(changes))[:n] {
		changes[i]()
	}
	slices.SortStableFunc(v.frames, func(a, b fabricagent.Frame) int { return cmp.Compare(a.Time, b.Time) })
	for i := range v.frames {
		v.frames[i].Number = uint64(i + 1)
		v.frames[i].Time -= v.frames[i].Time % v.tick
	}
}

// sentByA reports which end sent a frame.
func sentByA(f *fabricagent.Frame) bool { return f.Data[11] == 1 }

// offsets gives each tap a clock of its own.
func (v *view) offsets() {
	var by [allTaps]int64
	most := pick(v.chance, int64(500), 5_000, 100_000, 2_000_000, 300_000_000)
	for i := range by {
		by[i] = v.Int64N(2*most) - most
	}
	v.say("clocks off by %v", by)
	for i := range v.frames {
		v.frames[i].Time += by[v.frames[i].Tap]
	}
}

// mirrored has each frame stand there twice, as where a switch mirrors two ports of the path: all, or those of one direction.
func (v *view) mirrored() {
	v.near = nil // docs/verdicts.md: what the verifier still takes for a packet sent twice
	behind := pick(v.chance, int64(0), 300, 2_000, 20_000)
	jitter := pick(v.chance, int64(1), 100, 5_000)
	ways := pick(v.chance, "a", "b", "ab", "ab", "ab")
	v.say("each frame of %s twice, %d+%dns", ways, behind, jitter)
	for _, f := range slices.Clone(v.frames) {
		if strings.Contains(ways, map[bool]string{true: "a", false: "b"}[sentByA(&f)]) {
			f.Time += behind + v.Int64N(jitter)
			v.frames = append(v.frames, f)
		}
	}
}

// shiftedWay has the directions recorded apart, one of them late.
func (v *view) shiftedWay() {
	by, a := v.Int64N(pick(v.chance, int64(1000), 20_000, 250_000)), v.is(0.5)
	v.near = nil // where one is late it does not show which of two packets an end saw first
	v.say("frames of a (%t) are late by %d", a, by)
	for i := range v.frames {
		if sentByA(&v.frames[i]) == a {
			v.frames[i].Time += by
		}
	}
}

// coarse has a clock that does not count nanoseconds.
func (v *view) coarse() {
	tick := pick(v.chance, int64(1000), 1000, 10_000, 1_000_000)
	v.say("a clock of %d ns", tick)
	v.tick = tick
}

// loses has the capture lose bursts, of both directions or of one.
func (v *view) loses() {
	ways, gone := pick(v.chance, "a", "b", "ab", "ab"), 0
	chance := pick(v.chance, 0.002, 0.02, 0.1)
	left := 0
	v.frames = slices.DeleteFunc(v.frames, func(f fabricagent.Frame) bool {
		if left == 0 && v.is(chance) {
			left = 1 + v.IntN(pick(v.chance, 1, 3, 30))
		}
		if left == 0 || !strings.Contains(ways, map[bool]string{true: "a", false: "b"}[sentByA(&f)]) {
			return false
		}
		left--
		gone++
		return true
	})
	v.say("%d of %s lost", gone, ways)
	v.lossy(gone)
}

// lossy says that the capture lost something, or has it not say so at a place unknown.
func (v *view) lossy(n int) {
	if n == 0 {
		return
	}
	if v.is(0.5) {
		v.near = nil
		return
	}
	v.hidden = v.is(0.5)
	v.say("told, at the end %t", v.hidden)
	for i := range v.taps {
		v.taps[i].Dropped = uint64(n)
	}
}

// oneWay leaves the frames of one end.
func (v *view) oneWay() {
	a := v.is(0.5)
	v.say("only those of a (%t)", a)
	v.near = nil
	v.frames = slices.DeleteFunc(v.frames, func(f fabricagent.Frame) bool { return sentByA(&f) != a })
}

// oneTap has the place of several taps be unknown: a part of what they show need not tell that they saw the same.
func (v *view) oneTap() {
	if v.several {
		v.near = nil
	}
}

// begins has the capture begin in the midst of everything.
func (v *view) begins() {
	v.oneTap()
	if n := len(v.frames); n > 0 {
		k := v.IntN(n)
		v.say("without the first %d of %d", k, n)
		v.frames = v.frames[k:]
	}
}

// ends has it end there.
func (v *view) ends() {
	v.oneTap()
	if n := len(v.frames); n > 0 {
		k := v.IntN(n)
		v.say("the first %d of %d", k, n)
		v.frames = v.frames[:k]
	}
}

// snap cuts the frames.
func (v *view) snap() {
	n := pick(v.chance, 54, 64, 70, 96, 128, 128, 200, 256, 512)
	v.say("cut to %d bytes", n)
	for i := range v.frames {
		f := &v.frames[i]
		f.Data = f.Data[:min(n, len(f.Data))]
	}
	for i := range v.taps {
		v.taps[i].SnapLen = uint32(n)
	}
}

// wrap has the frames tagged or tunnelled.
func (v *view) wrap() {
	how := pick(v.chance, "VLAN", "two VLANs", "VXLAN", "one direction in a VLAN")
	v.say("in %s", how)
	vlan := func(b []byte) []byte { return slices.Concat(b[:12], []byte{0x81, 0x00, 0x60, 0x05}, b[12:]) }
	for i := range v.frames {
		f := &v.frames[i]
		was := len(f.Data)
		switch {
		case how == "VXLAN":
			f.Data = vxlan(f.Data, int(f.Len))
		case how == "two VLANs":
			f.Data = vlan(vlan(f.Data))
		case how == "VLAN" || sentByA(f):
			f.Data = vlan(f.Data)
		}
		f.Len += uint32(len(f.Data) - was)
	}
}

// vxlan puts a frame of n bytes, of which there may be fewer, into a tunnel.
func vxlan(b []byte, n int) []byte {
	h := make([]byte, 14+20+8+8)
	copy(h, b[:12])
	h[12], h[14], h[22], h[23] = 0x08, 0x45, 64, 17
	ip, udp := h[14:], h[34:]
	binary.BigEndian.PutUint16(ip[2:], uint16(36+n))
	copy(ip[12:], []byte{192, 168, 0, 1, 192, 168, 0, 2})
	binary.BigEndian.PutUint16(udp[0:], 50000)
	binary.BigEndian.PutUint16(udp[2:], 4789)
	binary.BigEndian.PutUint16(udp[4:], uint16(16+n))
	h[42], h[46] = 0x08, 1
	return append(h, b...)
}

// Next returns the next frames, for an agent.
func (v *view) Next() (*fabricagent.Batch, error) {
	n := min(len(v.frames), fabricagent.BatchSize)
	if n == 0 {
		return nil, io.EOF
	}
	b := &fabricagent.Batch{Frames: slices.Clone(v.frames[:n])}
	v.frames = v.frames[n:]
	return b, nil
}

// Taps returns the taps.
func (v *view) Taps() []fabricagent.Tap {
	list := slices.Clone(v.taps)
	if v.hidden && len(v.frames) > 0 {
		for i := range list {
			list[i].Dropped = 0
		}
	}
	return list
}

// Progress returns that nothing is known of it.
func (v *view) Progress() (done, total int64) { return 0, 0 }

// Close does nothing.
func (v *view) Close() error { return nil }
