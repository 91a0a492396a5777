package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
)

// client is a host that has connections with a server, and what it gets of that.
type client struct {
	addr        packet.Addr
	connections []*agent.Connection
	first, last timing.Took // frames of it
	rates       []float64   // commands that were answered, or bytes, by part of the time
	took        []time.Duration
}

// shared is a server, some of whose clients got less or more as others began or ended.
type shared struct {
	timing.Shared
	server   packet.Addr
	clients  []client
	rates    timing.Rates
	commands bool // the rates are of these
	start    int64
	width    int64
}

// shares tells, where nothing was lost, marked or paused, of clients of a server that got less once others began, or more once others had ended,
// while the server gave as much in all; or of a server that answers all of them later from a time on.
func (t *text) shares() (list []string) {
	if len(t.res.Paused) > 0 {
		return nil
	}
	var hosts hostNumbers
	var of [][]*agent.Connection
	for _, c := range t.measured() {
		if !c.Service.Reliable() {
			continue
		}
		for k := range c.Ends {
			n := hosts.of(c.Ends[k].Addr)
			if n == len(of) {
				of = append(of, nil)
			}
			of[n] = append(of[n], c)
		}
	}
	for n, server := range hosts.list {
		s := shared{server: server, commands: true}
		if !undisturbed(of[n]) || !s.gather(of[n]) {
			continue
		}
		switch {
		case s.divided():
			list = append(list, s.told(t.res.First))
		case s.slowed():
			list = append(list, t.slowedOf(&s))
		default:
			continue
		}
		if s.commands {
			t.shared = append(t.shared, s)
		}
	}
	return list
}

// undisturbed reports whether nothing was lost, marked or refused on some connections.
func undisturbed(list []*agent.Connection) bool {
	return !slices.ContainsFunc(list, func(c *agent.Connection) bool {
		for k := range c.Ends {
			if e := &c.Ends[k]; e.Trouble != nil || e.Retransmissions > 0 || e.NAKs > 0 || c.Timing.Ends[k].Marked > 0 {
				return true
			}
		}
		return false
	})
}

// gather finds what the clients of a server got over time, and reports whether it has several.
func (s *shared) gather(list []*agent.Connection) bool {
	numbers, end := hostNumbers{}, int64(0)
	for _, c := range list {
		k := 0
		if c.Ends[0].Addr == s.server {
			k = 1
		}
		if c.Ends[1-k].Addr != s.server || c.Ends[k].Addr == s.server {
			continue
		}
		n := numbers.of(c.Ends[k].Addr)
		if n == len(s.clients) {
			s.clients = append(s.clients, client{addr: c.Ends[k].Addr})
		}
		x := &s.clients[n]
		x.connections = append(x.connections, c)
		x.was(&c.Timing.Ends[k].Active)
		s.commands = s.commands && commanded(c) && c.Timing.Commands != nil
	}
	if len(s.clients) < 2 {
		return false
	}
	for _, x := range s.seriesOfAll() {
		if x.Width == 0 {
			continue
		}
		s.width = max(s.width, x.Width)
		if s.start == 0 || x.Start < s.start {
			s.start = x.Start
		}
		end = max(end, x.End())
	}
	if s.width == 0 {
		return false
	}
	s.start += s.width - s.start%s.width // the first part may be cut, and the last
	parts := int((end-1)/s.width - s.start/s.width)
	if parts <= 0 {
		return false
	}
	for n := range s.clients {
		s.clients[n].count(s, parts)
		s.rates = append(s.rates, s.clients[n].rates)
	}
	return true
}

// divided reports whether clients got less or more as others began or ended.
func (s *shared) divided() (ok bool) {
	if s.Shared, ok = s.rates.Shared(); !ok || !s.commands || s.Ended {
		return ok
	}
	before, after := s.took(s.Changed) // else they have fewer outstanding
	return float64(after) >= 1.3*float64(before)
}

// was notes from when until when a host sent something.
func (x *client) was(a *timing.Activity) {
	if a.First != 0 && (x.first.At == 0 || a.First < x.first.At) {
		x.first = timing.Took{At: a.First, Frame: a.Frames[0]}
	}
	if a.Last > x.last.At {
		x.last = timing.Took{At: a.Last, Frame: a.Frames[1]}
	}
}

func (s *shared) seriesOfAll() (list []*timing.Series) {
	for n := range s.clients {
		list = append(list, s.clients[n].series(s.commands)...)
	}
	return list
}

// series is what was answered of the commands of a client, or what each end of its connections sent.
func (x *client) series(commands bool) (list []*timing.Series) {
	for _, c := range x.connections {
		if commands {
			list = append(list, &c.Timing.Commands.Series)
		} else {
			list = append(list, &c.Timing.Ends[0].Series, &c.Timing.Ends[1].Series)
		}
	}
	return list
}

// count counts it by part of the time.
func (x *client) count(s *shared, parts int) {
	x.rates, x.took = make([]float64, parts), make([]time.Duration, parts)
	for _, r := range x.series(s.commands) {
		for i := range r.Slots {
			k := (r.Start + int64(i)*r.Width - s.start) / s.width
			if r.Start+int64(i)*r.Width < s.start || k >= int64(parts) {
				continue
			}
			if o := &r.Slots[i]; s.commands {
				x.rates[k] += float64(o.Messages)
				x.took[k] += o.Took
			} else {
				x.rates[k] += float64(o.Bytes)
			}
		}
	}
}

// sum is what some clients got a second, before and after; nil: all.
func (s *shared) sum(of []int) (before, after float64) {
	for c := range s.clients {
		if of == nil || slices.Contains(of, c) {
			was, is := s.rates.Around(&s.Shared, c)
			before, after = before+was, after+is
		}
	}
	second := time.Duration(s.width).Seconds()
	return before / second, after / second
}

// took is how long a command of some clients took in the mean, before and after.
func (s *shared) took(of []int) (before, after time.Duration) {
	var n [2]float64
	for _, c := range of {
		for k := s.From; k < s.To; k++ {
			x := &s.clients[c]
			switch {
			case k < s.At:
				before, n[0] = before+x.took[k], n[0]+x.rates[k]
			case k > s.At:
				after, n[1] = after+x.took[k], n[1]+x.rates[k]
			}
		}
	}
	return time.Duration(float64(before) / max(n[0], 1)), time.Duration(float64(after) / max(n[1], 1))
}

// told says who got less or more, when and as what began or ended.
func (s *shared) told(first int64) string {
	did, had, fell := "began", "gets", "fell to"
	if s.Ended {
		did, had, fell = "ended", "had", "rose to"
	}
	at, frame := s.moment()
	was, now := s.sum(s.Changed)
	all, allNow := s.sum(nil)
	others, get := s.sum(s.Others)
	whole := allNow
	if s.Ended {
		whole = all
	}
	get = max(get, others)
	out := fmt.Sprintf("Shared: when %s %s, at %s%s, %s %s %.0f %% of the %s that %v gave %s before (%s, then %s), "+
		"though it gives as much in all (%s, then %s): %s %s %.0f %% of that.",
		s.names(s.Others), did, offset(at, first), frame, s.names(s.Changed), fell, 100*now/was, s.unit(), s.server, them(s.Changed),
		s.rate(was), s.rate(now), s.rate(all), s.rate(allNow),
		s.names(s.Others), had, 100*get/cmp.Or(whole, 1))
	if s.commands {
		took, then := s.took(s.Changed)
		theirs, theirsThen := s.took(s.Others)
		out += fmt.Sprintf(" A command of %s took %s in the mean, then %s, with about %.0f outstanding in all, and one of %s %s, with about %.0f.",
			s.names(s.Changed), span(took), span(then), now*then.Seconds(),
			s.names(s.Others), span(max(theirs, theirsThen)), get*max(theirs, theirsThen).Seconds())
	}
	return out + fmt.Sprintf(" No packet was lost or marked there, and no pause was seen: likely they share what %v can do, or a link to it.", s.server)
}

// moment is when it was, and in which frame, where that is known.
func (s *shared) moment() (at int64, frame string) {
	for _, c := range s.Others {
		x := &s.clients[c]
		f := x.first
		if s.Ended {
			f = x.last
		}
		part := int((f.At - s.start) / s.width)
		if part >= s.At-1 && part <= s.At && (at == 0 || f.At < at) {
			at, frame = f.At, fmt.Sprintf(" (frame %d)", f.Frame)
		}
	}
	if at == 0 {
		return s.start + int64(s.At)*s.width, ""
	}
	return at, frame
}

func (s *shared) names(of []int) string {
	var list []packet.Addr
	for _, c := range of {
		list = append(list, s.clients[c].addr)
	}
	return someHosts(list)
}

func them(list []int) string {
	if len(list) == 1 {
		return "it"
	}
	return "them"
}

// unit is what the rates are of.
func (s *shared) unit() string {
	if s.commands {
		return "answers to commands"
	}
	return "payload"
}

// rate writes what clients got in a second.
func (s *shared) rate(n float64) string {
	if s.commands {
		return number(uint64(n+0.5)) + " a second"
	}
	return bitRate(uint64(n), time.Second)
}
