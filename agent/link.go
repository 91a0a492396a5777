package agent

import (
	"ibwitness/fabricagent"
	"ibwitness/link"
	"ibwitness/rule"
)

// ofLink marks findings of the verifier of a link: on a frame they come after those on its connection, whichever agent made them.
const ofLink = 1 << 30

// Link verifies what a tap of a link saw, of a data packet beside Packet. All of a link goes to one agent, in the order of time.
func (t *Transport) Link(e *link.Event) { t.onLinks().Event(e) }

// onLinks returns the verifier of links.
func (t *Transport) onLinks() *link.Verifier {
	if t.links == nil {
		t.links = link.NewVerifier()
		if t.changing {
			t.links.Rec.Follow()
		}
		if t.table.Lossy {
			t.links.Dropped()
		}
	}
	return t.links
}

// pauses verifies the frames of a batch, of the taps that are this agent's, where there are pause frames among them or before.
func (t *Transport) pauses(w *batch, me, shards int) {
	if me == 0 && (w.pause || len(w.frames) > 0 && t.paused.Looking(w.frames[0].Time)) {
		t.follow(w)
	}
	if !w.pause && (t.links == nil || len(w.frames) == 0 || !t.links.Pausing(w.frames[0].Time)) {
		return
	}
	for i := range w.frames {
		if f := &w.frames[i]; int(f.Tap)%shards == me {
			t.Ethernet(f, w.taps[f.Tap].Speed)
		}
	}
}

// follow follows the pause frames of a batch, of all taps, and who goes on after a pause: one agent does, so that it is the first ports that are
// followed, however many agents there are.
func (t *Transport) follow(w *batch) {
	var m link.Pause
	s := link.Sent{Packet: &t.sent}
	for i := range w.frames {
		switch f := &w.frames[i]; {
		case fabricagent.DecodePause(f, &m):
			t.paused.Take(&m, w.taps[f.Tap].Speed)
		case !t.paused.Looking(f.Time) || len(f.Data) < 12:
		case t.paused.Asked([6]byte(f.Data), f.Tap) && fabricagent.DecodeSent(f, &s):
			t.paused.Came(&s)
		case t.paused.Asked([6]byte(f.Data[6:]), f.Tap) && fabricagent.DecodeSent(f, &s):
			t.paused.Sends(&s)
		}
	}
}

// Ethernet verifies that a frame respects the pause frames of its link, or takes one of them; of other frames, beside Packet. speed is that of the
// link, in bit/s, or 0. All of a tap goes to one agent, in the order of time.
func (t *Transport) Ethernet(f *fabricagent.Frame, speed uint64) {
	var m link.Pause
	s := link.Sent{Packet: &t.sent}
	switch {
	case speed == 0:
	case fabricagent.DecodePause(f, &m):
		t.onLinks().Pause(&m, speed)
	case t.links != nil && t.links.Pausing(f.Time) && fabricagent.DecodeSent(f, &s):
		s.Near = t.table.Near(s.Src, s.SGID) && !(t.table.Several && t.table.Near(s.Dst, s.DGID)) // else it may be another tap that is near
		t.links.Sent(&s, speed)
	}
}

// takeLinks hands over what the verifier of links found before a time, and adds what it has counted since it was asked last.
func (t *Transport) takeLinks(before int64) []rule.Finding {
	if t.links == nil {
		return nil
	}
	list := t.links.Rec.Take(before)
	for i := range list {
		list[i].Seq |= ofLink
	}
	for i, c := range t.links.Rec.Cover {
		t.Rec.Cover[i].Add(c)
	}
	t.links.Rec.Cover = [rule.NumRules]rule.Count{}
	return list
}
