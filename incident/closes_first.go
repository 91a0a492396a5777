package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
)

// closesToAll says that a host closed TCP connections with several others at once with fin, and who of these closed one first; to are the others. first says that none of them had before: its program ended,
// and no path failed.
func (t *teller) closesToAll(fin *agent.Sign) (said string, first bool) {
	list := t.closesAtOnce(fin)
	if len(list) < 2 {
		return "", false
	}
	group, begin, end := []packet.Addr{fin.Host}, list[0], list[0]
	for _, s := range list {
		group = append(group, s.To)
		if s.At < begin.At {
			begin = s
		}
		if s.At > end.At {
			end = s
		}
	}
	said = fmt.Sprintf("%v closed TCP connections with %s within %s, FIN in frames %d to %d", fin.Host, sorted(group[1:]), span(max(end.At-begin.At, 1000)), begin.Frame, end.Frame)
	o := t.closesWithin(group, begin.At-closesWith)
	switch {
	case o == nil:
		return said + "; the others closed none of theirs with it or each other", true
	case o.At < begin.At:
		return said + fmt.Sprintf("; %v had closed one with %v before, in frame %d", o.Host, o.To, o.Frame), false
	}
	return said + fmt.Sprintf("; of the others the first to close one with it or another of them was %v, %s later, in frame %d", o.Host, span(o.At-begin.At), o.Frame), true
}

// closesWithin returns the first FIN or RST since a time by which a host of a group but the first closes a TCP connection with another of it that is open; nil: none.
func (t *teller) closesWithin(group []packet.Addr, since int64) *agent.Sign {
	var closed []*agent.Sign
	for n := range t.run.Signs {
		s := &t.run.Signs[n]
		if !s.By.Closes() || !slices.Contains(group, s.Host) || !slices.Contains(group, s.To) {
			continue
		}
		if slices.ContainsFunc(closed, func(o *agent.Sign) bool { return s.Follows(o) }) {
			continue
		}
		if closed = append(closed, s); s.Host != group[0] && s.At >= since {
			return s
		}
	}
	return nil
}
