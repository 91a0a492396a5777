package disturb

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// Bounds writes what is said of a conversation when one field of one datagram takes other values, or when one datagram, and all after it, come just so long
// after another. There is a line for each field, and for each two datagrams, where not all that is said stays the same: the values between which it changes.
func Bounds(name string, list []packet.Packet, judge func([]packet.Packet) []rule.Finding) string {
	var out strings.Builder
	usual := brief(judge(list))
	fmt.Fprintf(&out, "%s: %s\n", name, usual)
	for i := range list {
		var all []bitField
		if len(list[i].Payload) == mad.Size {
			all = slices.Compact(slices.Clone(fields(list[i].Payload)))
		}
		for _, f := range all {
			was := f.get(list[i].Payload)
			try := func(n uint64) string {
				other := slices.Clone(list)
				other[i].Payload = bytes.Clone(list[i].Payload)
				f.put(other[i].Payload, n)
				return brief(judge(other))
			}
			values := coarse(f.bits, was)
			if slices.ContainsFunc(values, func(n uint64) bool { return try(n) != usual }) {
				values = fine(f.bits, was)
			}
			line(&out, fmt.Sprintf("%s, %d %s, %s", name, i+1, kindOf(&list[i]), f.name), usual, values, func(n uint64) string { return fmt.Sprintf("0x%x", n) }, try)
		}
		for j := i + 1; j < min(len(list), i+5); j++ {
			try := func(n uint64) string {
				other := slices.Clone(list)
				by := list[i].Time + int64(n) - list[j].Time
				for k := j; k < len(list); k++ {
					other[k].Time += by
				}
				return brief(judge(other))
			}
			line(&out, fmt.Sprintf("%s, %d %s after %d %s", name, j+1, kindOf(&list[j]), i+1, kindOf(&list[i])), usual, waits, func(n uint64) string {
				return time.Duration(n).String()
			}, try)
		}
	}
	return out.String()
}

// line writes, where anything differs, what is said of values.
func line(out *strings.Builder, about, usual string, values []uint64, text func(uint64) string, try func(uint64) string) {
	var b strings.Builder
	last, from, to := "", uint64(0), uint64(0)
	flush := func() {
		switch {
		case last == "":
		case from == to:
			fmt.Fprintf(&b, " %s: %s;", text(from), last)
		default:
			fmt.Fprintf(&b, " %s to %s: %s;", text(from), text(to), last)
		}
	}
	differs := false
	for _, n := range values {
		said := try(n)
		differs = differs || said != usual
		if said != last {
			flush()
			last, from = said, n
		}
		to = n
	}
	if flush(); differs {
		fmt.Fprintf(out, "%s:%s\n", about, b.String())
	}
}

// waits are times between two datagrams: those that verifiers and protocols wait for, one nanosecond less and one more.
var waits = func() (list []uint64) {
	for _, d := range times[1:] {
		list = append(list, uint64(d))
	}
	list = append(list, 2)
	for _, code := range []int{14, 16, 20} {
		d := uint64(4096) << code
		list = append(list, d/2, d/8*7, d, d+d/4+1e6, 2*d, 2*d/8*7, 3*(d/8*7), 4*d/8*7, 4*d)
	}
	for _, d := range slices.Clone(list) {
		list = append(list, d-1, d+1)
	}
	slices.Sort(list)
	return slices.Compact(list)
}()

// coarse are a few values of a field, which tell whether it matters.
func coarse(bits int, was uint64) []uint64 {
	top := ^uint64(0) >> (64 - bits)
	return within(top, 0, 1, 2, top/2+1, top, top-1, was+1, was-1)
}

// fine are those that may be a bound.
func fine(bits int, was uint64) []uint64 {
	top := ^uint64(0) >> (64 - bits)
	if bits <= 5 {
		var list []uint64
		for n := range top + 1 {
			list = append(list, n)
		}
		return list
	}
	list := []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 19, 20, 21, 31, 32, 33, 34, 35, 36, 63, 64, 65, 72, 73, 127, 128, 129, 219, 220, 221, 255, 256, 0xBFFF, 0xC000, 0xFFFE, 0xFFFF, top / 2, top/2 + 1, top - 1, top, was - 1, was, was + 1}
	for i := range bits {
		if bits <= 8 || i%5 == 0 {
			list = append(list, was^1<<i)
		}
	}
	for i := 48; i < bits; i += 4 { // flags and scope of a GID
		for n := range uint64(16) {
			list = append(list, was&^(15<<i)|n<<i)
		}
	}
	return within(top, list...)
}

func within(top uint64, list ...uint64) []uint64 {
	list = slices.DeleteFunc(list, func(n uint64) bool { return n > top })
	slices.Sort(list)
	return slices.Compact(list)
}

// kindOf names a datagram.
func kindOf(p *packet.Packet) string {
	var h mad.Header
	if p.Opcode.Service() != packet.UD || mad.DecodeHeader(p.Payload, &h) != nil {
		return p.Opcode.String()
	}
	if h.Class == mad.ClassCM {
		return h.AttributeName()
	}
	return fmt.Sprintf("%v of %s", h.Method, h.AttributeName())
}

// brief names findings: rule, frame, class and accused.
func brief(list []rule.Finding) string {
	var said []string
	for _, f := range list {
		if f.Class != rule.Event {
			said = append(said, fmt.Sprintf("%v@%d%c%v", f.Rule, f.Frame, f.Class.String()[0], f.Accused.Addr))
		}
	}
	slices.Sort(said)
	if len(said) == 0 {
		return "well"
	}
	return strings.Join(said, " ")
}
