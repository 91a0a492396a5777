package incident

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/packet"
)

// tellHalts tells of the silences of a host that was cut off, or restarted, while nobody sent it a request: of a restart first.
func (t *teller) tellHalts(a packet.Addr, list []cutOff) {
	told := max(slices.IndexFunc(list, func(k cutOff) bool { return k.begun != "" }), 0)
	i, h := t.tellAway(a, list), &list[told]
	if i.Connections = len(h.stopped); !h.certain {
		i.Certainty = Possible
	}
	var likewise []string
	for n := range list {
		if k := &list[n]; n != told {
			likewise = append(likewise, fmt.Sprintf("%s from %s on", span(k.length()), t.offset(k.from)))
		}
	}
	t.whatOfHalt(i, a, h)
	i.fact("likewise", enumerate(likewise))
	others := count(h.after-h.before-1, "frame")
	i.fact("silent", fmt.Sprintf("the capture holds nothing of it between frames %d and %d, and %s of others; nothing came to it on its connections",
		h.before, h.after, others))
	busy := count(uint64(len(h.stopped)), "connection")
	i.fact("stopped", fmt.Sprintf("%s of it that had been busy fell silent within %s", busy, span(max(h.spread, int64(time.Microsecond)))))
	t.afterHalt(i, h)
}

// whatOfHalt says what the identifications of a host show of its silence, and what fits that.
func (t *teller) whatOfHalt(i *Incident, a packet.Addr, h *cutOff) {
	while := fmt.Sprintf("on %s from %s to %s, while %s went on", allOf(h.open), t.offset(h.from), t.offset(h.to), someOf(h.went))
	if h.begun != "" {
		lasted := span(h.length())
		i.What = fmt.Sprintf("%v restarted: it was silent for %s %s, and its IPv4 identifications begin again after that.", a, lasted, while)
		i.fact("restart", h.begun)
		i.FitsWith = []string{startedAgain(a)}
		i.Next = []string{whyStopped(a)}
		return
	}
	unseen := count(h.unseen, "packet")
	i.What = fmt.Sprintf("%v was cut off for %s: it was silent %s, and went on sending: its IPv4 identifications lack %s.",
		a, span(h.length()), while, unseen)
	i.fact("sent", fmt.Sprintf("%s that the capture does not hold, new requests or retransmissions, as its IPv4 identifications in frames %d and %d "+
		"show", unseen, h.before, h.after))
	i.FitsWith = append(linksOf(a), "programs that were idle here, and packets that went where the tap does not see them")
	i.Next = []string{linkEventsOf(a, "that time")}
}

// afterHalt says how the connections of a host went on after it was silent.
func (t *teller) afterHalt(i *Incident, h *cutOff) {
	if h.by != "" {
		i.fact("back", "it was there again with "+t.back(&h.hostSilence))
	}
	if on := len(h.stopped) - len(h.lost); on > 0 {
		said := count(uint64(on), "connection") + " of these went on after it"
		if h.repeats > 0 {
			said += fmt.Sprintf(", %s of them with a retransmission of what had been sent before", number(uint64(h.repeats)))
		}
		i.fact("after", said)
	}
	if len(h.lost) == 0 {
		return
	}
	said := fmt.Sprintf("%s of these, which carry nothing after it", count(uint64(len(h.lost)), "connection"))
	if c := h.again; c != nil {
		i.show(c.FirstFrame)
		said += fmt.Sprintf("; the next connection began in frame %d, at %s", c.FirstFrame, t.offset(c.First))
	}
	i.fact("lost", said)
}

// allOf names all of some connections.
func allOf(n int) string {
	if n == 1 {
		return "its connection"
	}
	return fmt.Sprintf("all of its %d connections", n)
}

// startedAgain is what fits a host that restarted.
func startedAgain(a packet.Addr) string {
	return fmt.Sprintf("%v, or its adapter, that crashed, lost power or was reset, and started again", a)
}

// whyStopped is what to look at of one.
func whyStopped(a packet.Addr) string {
	return fmt.Sprintf("why %v stopped: its console, and its log of the time before (panic, power, watchdog)", a)
}
