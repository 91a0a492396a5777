package incident

import (
	"fmt"
	"slices"

	"ibwitness/packet"
)

// borneOut takes those out of the silences of a host that only others show to be times in which it was cut off, where these do not: it announced
// itself after each of them, and at no other time; or it never did, and a loss shows that it sent something then, while all of its busy connections
// fell silent at once, for twice as long as it was ever idle.
func (t *teller) borneOut(a packet.Addr, list []cutOff, idle int64) []cutOff {
	at := t.announcedAt(a)
	var announced, alike []cutOff
	for n := range list {
		k := &list[n]
		if !k.weak || announcedAfter(at, list, n) != nil {
			announced = append(announced, *k)
		}
		if !k.weak || len(at) == 0 && k.on > 0 && k.together && k.Length() >= 2*idle {
			alike = append(alike, *k)
		}
	}
	if announcesAll(at, announced) {
		return announced
	}
	return alike
}

// announcesAll reports whether announcements came after each of some silences, and at no other time.
func announcesAll(at []announcement, list []cutOff) bool {
	backs := make([]int64, 0, len(list))
	for n := range list {
		if announcedAfter(at, list, n) == nil {
			return false
		}
		backs = append(backs, list[n].to)
	}
	return !slices.ContainsFunc(at, func(x announcement) bool { return !soonAfter(x.at, backs) })
}

// announcedAfter is the first announcement that came soon after a silence of a list, before another ended; nil: none did.
func announcedAfter(at []announcement, list []cutOff, n int) *announcement {
	k := slices.IndexFunc(at, func(x announcement) bool { return x.at >= list[n].to })
	if k < 0 || at[k].at-list[n].to > announcing || n+1 < len(list) && at[k].at >= list[n+1].to {
		return nil
	}
	return &at[k]
}

// announcement is a gratuitous ARP request.
type announcement struct {
	at    int64
	frame uint64
}

// announcedAt returns those of a host.
func (t *teller) announcedAt(a packet.Addr) (list []announcement) {
	for n := range t.run.Signs {
		if s := &t.run.Signs[n]; s.Host == a && gratuitous(s) {
			list = append(list, announcement{s.At, s.Frame})
		}
	}
	return list
}

// backWith tells that a host announced itself after each of several times in which it was cut off, and at no other.
func (t *teller) backWith(i *Incident, a packet.Addr, list []cutOff) {
	at := t.announcedAt(a)
	if len(list) < 2 || !announcesAll(at, list) {
		return
	}
	var frames []uint64
	for n := range list {
		frames = append(frames, announcedAfter(at, list, n).frame)
	}
	i.fact("back", fmt.Sprintf("%v sent a gratuitous ARP request after each of these times (%s), and at no other: as an interface does that comes up",
		a, framesOf(frames)))
	i.show(frames...)
}

// likewiseLost says after how many of the times only one queue pair shows that something was lost in them; "": after none.
func likewiseLost(list []cutOff) string {
	n := 0
	for k := range list {
		if list[k].weak && list[k].on > 0 {
			n++
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "; after another of them only one did"
	}
	return fmt.Sprintf("; after %s others only one did", number(uint64(n)))
}
