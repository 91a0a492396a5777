package timing

import (
	"slices"
	"time"
)

// Link is a connection of two hosts, which are numbered from 0 on: when the messages of each were sent, and how many bytes one has in the mean.
type Link struct {
	Hosts [2]int
	Sent  [2][]Sent
	Runs  [2][]Run // of messages after Sent
	Bytes [2]uint64
}

// Until drops the messages that ended later.
func (l *Link) Until(at int64) {
	for k, list := range l.Sent {
		if !slices.ContainsFunc(list, func(s Sent) bool { return s.End > at }) {
			continue
		}
		l.Sent[k] = slices.DeleteFunc(slices.Clone(list), func(s Sent) bool { return s.End > at })
	}
}

// UntilRuns is Until for messages and runs that begin later.
func (l *Link) UntilRuns(at int64) {
	for k := range l.Sent {
		l.Sent[k] = slices.DeleteFunc(slices.Clone(l.Sent[k]), func(s Sent) bool { return s.Begin > at })
		l.Runs[k] = slices.DeleteFunc(slices.Clone(l.Runs[k]), func(r Run) bool { return r.Begin > at })
	}
}

// MessagesOf lists the messages of some connections, in the order in which they began.
func MessagesOf(list []Link) (all []HostMessage) {
	for i := range list {
		l := &list[i]
		for k := range l.Sent {
			for _, s := range l.Sent[k] {
				all = append(all, HostMessage{s, l.Hosts[k], l.Hosts[1-k]})
			}
		}
	}
	inOrder(all, func(m *HostMessage) int64 { return m.Begin })
	return all
}

const (
	linkMessages = 32 // each way of a connection, so that it is known that its receiver answers each
	linkApart    = 8  // by how many the two ways differ at most, one in so many
	linkData     = 4  // times as many bytes a message of data has at least as what answers it
)

// acks are the messages by which a host answers the data that another sends to it on a connection, one for each, as to give back a buffer. It may have sent some before the first, as many as it was ahead at most.
type acks struct {
	from, to int // hosts: that answers, and that sends the data
	data     []Sent
	answers  []Sent
	ahead    int
}

// acksOf finds those of some connections.
func acksOf(list []Link) (all []acks) {
	for i := range list {
		l := &list[i]
		for data := range l.Hosts {
			a := acks{from: l.Hosts[1-data], to: l.Hosts[data], data: l.Sent[data], answers: l.Sent[1-data]}
			apart := len(a.data) - len(a.answers)
			if min(len(a.data), len(a.answers)) < linkMessages || max(apart, -apart)*linkApart > len(a.data) || l.Bytes[data] < linkData*max(l.Bytes[1-data], 1) {
				continue
			}
			a.ahead = -len(a.data)
			n := 0
			for i := range a.data {
				for n < len(a.answers) && a.answers[n].Begin < a.data[i].End {
					n++
				}
				a.ahead = max(a.ahead, n-i)
			}
			all = append(all, a)
		}
	}
	return all
}

// took is how long each of the data waited for its answer, without times in which all were idle.
func (a *acks) took(together idle) (list []time.Duration) {
	for i := max(0, -a.ahead); i < len(a.data) && i+a.ahead < len(a.answers); i++ {
		list = append(list, together.busy(a.data[i].End, a.answers[i+a.ahead].Begin))
	}
	return list
}

// IsRing reports whether some connections are those of a ring or a chain, as ringOf does.
func IsRing(list []Link) bool { return ringOf(acksOf(list)) }

// ringOf reports whether several hosts answer data, as in a ring or a chain.
func ringOf(all []acks) bool {
	var hosts []int
	for i := range all {
		if h := all[i].from; !slices.Contains(hosts, h) {
			hosts = append(hosts, h)
		}
	}
	return len(hosts) >= slowHosts
}
