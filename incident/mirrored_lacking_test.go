package incident_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// lacking is a capture that lost so many frames in a row of every so many, after the first.
func lacking(list []fabricagent.Frame, n, every int) (out []fabricagent.Frame) {
	for i := range list {
		if i < every || i%every >= n {
			out = append(out, list[i])
		}
	}
	return out
}

// inOrder has frames of several in the order of their times.
func inOrder(lists ...[]fabricagent.Frame) []fabricagent.Frame {
	list := slices.Concat(lists...)
	slices.SortStableFunc(list, func(a, b fabricagent.Frame) int { return int(a.Time - b.Time) })
	return list
}

// TestMirroredLacking: of what mirrored ports show twice the capture may have lost one, also the first, so that the other comes after later packets, which is no reordering.
func TestMirroredLacking(t *testing.T) {
	const never, network = "so judged, there is no retransmission", "or the network between the two ports"
	const told, likely, order = "capture (proven): Packets between 10.0.0.1 and 10.0.0.2 are in the capture twice: of", "capture (likely): Packets between", "reordered ("
	const by = 900 * time.Nanosecond
	const loss = "errors: [{do: drop, from: a, op: request, nth: 300, where: after}]\n"
	reads := strings.Replace(often, "op: write", "op: read", 1)
	once := frames(t, strings.NewReplacer("10.0.0.1", "10.0.0.7", "10.0.0.2", "10.0.0.8").Replace(often))
	other := frames(t, strings.NewReplacer("10.0.0.1", "10.0.0.7", "10.0.0.2", "10.0.0.8").Replace(often+loss))
	for _, tt := range []struct {
		name      string
		list      []fabricagent.Frame
		want, not []string
	}{
		{"WRITEs", inOrder(lacking(copiedLater(frames(t, often), by), 3, 50), once), []string{told, "lacking", never, "of others, with the same IPv4 identifications.", "It is not whole, either: the capture or a mirror port lost at least "}, []string{order, "loss", network}},
		{"READs", inOrder(lacking(copiedLater(frames(t, reads), by), 3, 50), once), []string{told, "lacking", never}, []string{order, "loss", network}},
		{"the second port's are mixed", inOrder(lacking(mixedLater(frames(t, often), by), 3, 50), once), []string{told, "lacking"}, []string{order, "loss"}},
		{"a loss beside", inOrder(lacking(copiedLater(frames(t, often), by), 3, 50), other), []string{told, "lacking", network, "loss (proven)"}, []string{never}},
		{"not numbered", inOrder(lacking(copiedLater(unnumbered(frames(t, often)), by), 3, 50), once), []string{likely, "lacking"}, []string{order, "loss"}},
		{"overtaken, too", copiedLater(overtake(frames(t, often), 100, 50), by), []string{told, order}, []string{"lacking"}},
		{"one identification", inOrder(lacking(copiedLater(numberedAs(frames(t, often), 7), by), 3, 50), once), []string{likely, "lacking"}, []string{order, "loss"}},
		{"a loss", inOrder(copiedLater(frames(t, often+loss), by), once), []string{told, "loss (proven)", "in 1 round"}, []string{order, "lacking", never, "not whole"}},
		{"two taps", frames(t, strings.Replace(often+"taps: [a, b]\n", "repeat: 64", "repeat: 640", 1)), []string{"frames: 0"}, nil},
		{"only overtaken", overtake(frames(t, often), 100, 50), []string{order}, []string{"twice"}},
	} {
		contains(t, tt.name, toldOf(judged(t, tt.list, agent.Options{})), tt.want, tt.not)
	}
}

// TestMirroredHalf: where the capture lost one of the two of nearly half of the packets, and both of some, what comes late is no reordering as long as none of it came
// twice, also where the identifications wrap to 0; what came late twice is.
func TestMirroredHalf(t *testing.T) {
	const own, order, alone = "What looks retransmitted, missing or reordered between them comes of the capture, and not of the network.", "reordered (", "lacking: one of the two of"
	const by, seconds = 30 * time.Microsecond, " are most likely of packets of which the capture lost the first of the two"
	long := strings.Replace(often, "repeat: 64", "repeat: 256", 1)
	half := func(list []fabricagent.Frame, both int) (out []fabricagent.Frame) {
		for i, f := range list {
			if i < 500 || both == 0 || decoded(&list[i]).PSN%packet.PSN(both) > 0 || decoded(&list[i]).Opcode.Info().Response {
				out = append(out, f)
			}
		}
		return oneOfTwo(out, by, 2, 500, 1300)
	}
	for _, tt := range []struct {
		name      string
		list      []fabricagent.Frame
		want, not []string
	}{
		{"one of two", half(frames(t, long), 0), []string{"capture (proven): Packets between", own, alone, "so judged, there is no retransmission", "6 duplicate-request and 263 out-of-order" + seconds}, []string{order, "loss"}},
		{"both of some", half(frames(t, long), 16), []string{"capture (proven): Packets between", own, alone}, []string{order, "loss"}},
		{"numbers that wrap", half(numberedFrom(frames(t, long), 0xffff-900), 0), []string{"capture (proven): Packets between", own, alone}, []string{order, "loss"}},
		{"all have 0", copiedLater(numberedAs(frames(t, long), 0), by), []string{"capture (likely): Packets between"}, []string{own}},
		{"overtaken, too", half(overtake(frames(t, long), 100, 50), 0), []string{order}, []string{own, seconds}},
	} {
		contains(t, tt.name, toldOf(judged(t, tt.list, agent.Options{})), tt.want, tt.not)
	}
}

// numberedFrom has each host count its frames from a number on.
func numberedFrom(list []fabricagent.Frame, id uint16) []fabricagent.Frame {
	counts := map[packet.Addr]uint16{}
	for i := range list {
		changed(&list[i], func(p *packet.Packet) { p.IPID = id + counts[p.Src]; counts[p.Src]++ })
	}
	return list
}

// mixedLater is a capture of two mirrored ports, the second of which shows frames so much later, and of every three the first after the others.
func mixedLater(list []fabricagent.Frame, by time.Duration) []fabricagent.Frame {
	seconds := slices.Clone(list)
	for i := range list {
		if seconds[i].Time += int64(by); i%3 == 0 && i+2 < len(list) {
			seconds[i].Time = list[i+2].Time + int64(by) + 1
		}
	}
	return inOrder(list, seconds)
}

// oneOfTwo is a capture of two mirrored ports, the second of which shows frames so much later. Of the requests among some of them it
// lost the second of one of every so many, and the first of the others.
func oneOfTwo(list []fabricagent.Frame, by time.Duration, every packet.PSN, from, to int) []fabricagent.Frame {
	var firsts, seconds []fabricagent.Frame
	for i := range list {
		again := list[i]
		again.Time += int64(by)
		if p := decoded(&list[i]); i < from || i >= to || p.Opcode.Info().Response {
			firsts, seconds = append(firsts, list[i]), append(seconds, again)
		} else if p.PSN%every == 0 {
			firsts = append(firsts, list[i])
		} else {
			seconds = append(seconds, again)
		}
	}
	return inOrder(firsts, seconds)
}

// retransmitted is how many requests a run has taken for retransmitted ones.
func retransmitted(r *agent.Result) (n uint64) {
	for i := range r.Connections {
		for k := range r.Connections[i].Ends {
			n += uint64(r.Connections[i].Ends[k].Retransmissions)
		}
	}
	return n
}

// TestMirroredSecondOnly: of what two mirrored ports show, a second that comes after later packets, as the capture lost the first, is
// no retransmission where IPv4 identifications show that it left before these. What was retransmitted is, also where the capture lost the first of the two.
func TestMirroredSecondOnly(t *testing.T) {
	const by = 30 * time.Microsecond
	const loss = "errors: [{do: drop, from: a, op: request, nth: 300, where: after}]\n"
	whole, lost := frames(t, often), frames(t, often+loss)
	again := retransmitted(judged(t, lost, agent.Options{}))
	for _, every := range []packet.PSN{4, 20} {
		for _, tt := range []struct {
			name string
			list []fabricagent.Frame
			want uint64
		}{
			{"one of two", oneOfTwo(whole, by, every, 200, 500), 0},
			{"a loss", oneOfTwo(lost, by, every, 0, 0), again},
			{"both", oneOfTwo(lost, by, every, 200, 500), again},
		} {
			if got := retransmitted(judged(t, tt.list, agent.Options{})); got != tt.want {
				t.Errorf("%s, one of %d: %d retransmissions, not %d", tt.name, every, got, tt.want)
			}
		}
	}
}

// numberedAs gives each frame one IPv4 identification.
func numberedAs(list []fabricagent.Frame, id uint16) []fabricagent.Frame {
	for i := range list {
		changed(&list[i], func(p *packet.Packet) { p.IPID = id })
	}
	return list
}

// overtake has every so many frames change places with the next, after some, where both are sent by one host.
func overtake(list []fabricagent.Frame, after, every int) []fabricagent.Frame {
	for i := after; i+1 < len(list); i += every {
		a, b := decoded(&list[i]), decoded(&list[i+1])
		if a.Src == b.Src && a.PSN.Before(b.PSN) && a.Opcode != packet.Opcode(packet.Acknowledge) {
			list[i].Time, list[i+1].Time = list[i+1].Time, list[i].Time
			list[i], list[i+1] = list[i+1], list[i]
		}
	}
	return list
}
