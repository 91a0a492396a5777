package incident

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/timing"
)

// episodeGap is for how long no packet is marked between two episodes of congestion at least, nanoseconds.
const episodeGap = int64(100 * time.Millisecond)

// episodesShown is of how many it is told when they were.
const episodesShown = 6

// filledPart is how much of the most that went in any window goes on average at least, while something is sent, for a link to be full.
const filledPart = 0.8

// episodes are the times in which packets to a receiver were marked again and again, from the first of these windows to the last.
func (b *burstsTo) episodes() (list [][2]int64) {
	for k, x := range b.totals() {
		if !x.marked {
			continue
		}
		from := b.at[k] * timing.BusyWidth
		if n := len(list) - 1; n >= 0 && from-list[n][1] < episodeGap {
			list[n][1] = from + timing.BusyWidth
		} else {
			list = append(list, [2]int64{from, from + timing.BusyWidth})
		}
	}
	return list
}

// mean is how many bytes a second went to a receiver in episodes, of the windows in which something did.
func (b *burstsTo) mean(episodes [][2]int64) float64 {
	sum, n := uint64(0), 0
	for k, x := range b.totals() {
		at := b.at[k] * timing.BusyWidth
		for _, e := range episodes {
			if at >= e[0] && at < e[1] {
				sum, n = sum+x.bytes, n+1
			}
		}
	}
	return perWindow(sum, n)
}

// inEpisodes tells of congestion when each of its episodes was, where they are several and most of the time between is free of it: from the first
// marked packet of each to the last, where all are kept, else by whole windows. marks is how many packets were marked.
func (t *teller) inEpisodes(i *Incident, b *burstsTo, marks uint64) {
	if b == nil || !t.timed() {
		return
	}
	list, all, sum, by := b.episodes(), int64(0), " in all", fmt.Sprintf(" (by whole %s: each may be shorter)", span(timing.BusyWidth))
	if exact := t.markedIn(i.Peer.Addr, list, marks); exact != nil {
		list, by = exact, ", from the first marked packet of each to its last"
	} else {
		sum = " in all at most"
	}
	for k := range list {
		e := &list[k]
		e[0], e[1] = max(e[0], i.Begin), min(e[1], i.End) // a window may begin before
		all += e[1] - e[0]
	}
	if len(list) < 2 || 2*all > i.End-i.Begin {
		return
	}
	var said []string
	for _, e := range list[:min(len(list), episodesShown)] {
		said = append(said, fmt.Sprintf("%s for %s", t.offset(e[0]), span(e[1]-e[0])))
	}
	if more := len(list) - len(said); more > 0 {
		said = append(said, fmt.Sprintf("%d more", more))
	}
	const met = "as having met congestion"
	i.What = strings.Replace(i.What, met, fmt.Sprintf("%s, in %d episodes of %s%s", met, len(list), span(all), sum), 1)
	i.fact("episodes", fmt.Sprintf("%d, with breaks between: %s%s", len(list), strings.Join(said, ", "), by))
}

// markedIn is from when to when packets to a receiver were marked in each of some episodes; nil: not all of these marks are kept.
func (t *teller) markedIn(to packet.Addr, episodes [][2]int64, marks uint64) [][2]int64 {
	list, n := make([][2]int64, len(episodes)), uint64(0)
	for k := range t.run.Findings {
		f := &t.run.Findings[k]
		if f.Rule != rule.EvCE || f.Peer.Addr != to {
			continue
		}
		at := slices.IndexFunc(episodes, func(e [2]int64) bool { return f.Time >= e[0] && f.Time < e[1] })
		if at < 0 {
			return nil
		}
		e := &list[at]
		if e[0] == 0 || f.Time < e[0] {
			e[0] = f.Time
		}
		e[1], n = max(e[1], f.Time), n+1
	}
	if n != marks || slices.ContainsFunc(list, func(e [2]int64) bool { return e[1] <= e[0] }) {
		return nil
	}
	return list
}
