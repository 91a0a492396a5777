package timing

import (
	"cmp"
	"slices"
	"time"
)

// Asked is how long SENDs and WRITEs of a host, on one connection, waited for the ACKs of another. Hosts are numbered from 0 on.
type Asked struct {
	From, To int
	*AckWaits
}

// LateAcks is a host whose ACKs come late on all connections, while those of every other host come soon.
type LateAcks struct {
	Host   int
	By     []int         // hosts that wait for them
	Since  int64         // nanoseconds since the Unix epoch; 0: all the time
	Usual  time.Duration // that they take since then, in the median
	Before time.Duration // and before; 0: there is no before
	Others time.Duration // that those of another host take since then in the median, at most
}

const (
	lateMessages = 8 // of a host to another at least
	lateAcks     = 100 * time.Microsecond
	lateTimes    = 10 // times as long as those of every other host
	lateHosts    = 3  // that are asked
	lateAskers   = 2
	lateMixed    = 10 // one in so many may take longer before, and less since
	lateLoad     = 4  // the bytes that such a host gets beyond those of the one that gets most of the others, one in so many
)

// askedWait is a wait of a host.
type askedWait struct {
	AckWait
	from  int
	every uint64
}

// LateAcksOf finds it among some hosts, where there is one. A host that gets more data than every other may just have more than its port carries.
func LateAcksOf(hosts int, list []Asked) (l LateAcks, ok bool) {
	to := make([][]askedWait, hosts)
	for _, a := range list {
		for _, w := range a.List {
			to[a.To] = append(to[a.To], askedWait{w, a.From, a.Every})
		}
	}
	for h := range to {
		slices.SortFunc(to[h], func(a, b askedWait) int { return cmp.Compare(a.At, b.At) })
	}
	slowest, medians, next, asked := slowestMedian(to)
	for h, list := range to {
		beside, most := asked, next
		if len(list) >= lateMessages {
			beside--
		}
		if h != slowest {
			most = medians[slowest]
		}
		if beside < lateHosts-1 {
			continue
		}
		if l, ok := lateAcksOf(to, h, max(lateTimes*most, lateAcks)); ok {
			return l, true
		}
	}
	return l, false
}

// slowestMedian finds the host whose ACKs take longest in the median, those medians, how long those of every other take at most, and how many hosts are asked.
func slowestMedian(to [][]askedWait) (slowest int, medians []time.Duration, next time.Duration, asked int) {
	medians = make([]time.Duration, len(to))
	for h, list := range to {
		if len(list) == 0 {
			continue
		}
		if medians[h] = medianWait(list); medians[h] > medians[slowest] {
			slowest = h
		}
		if len(list) >= lateMessages {
			asked++
		}
	}
	for h, m := range medians {
		if h != slowest {
			next = max(next, m)
		}
	}
	return slowest, medians, next, asked
}

// lateAcksOf is a host whose ACKs take so long at least.
func lateAcksOf(to [][]askedWait, host int, least time.Duration) (l LateAcks, ok bool) {
	l.Host = host
	cut, ok := since(to[host], least)
	if !ok {
		return l, false
	}
	late := to[host][cut:]
	if cut > 0 {
		l.Since, l.Before = late[0].At, medianWait(to[host][:cut])
	}
	bytes, soon, most, ok := others(to, host, l.Since)
	l.Others, l.Usual = most, medianWait(late)
	if !ok || l.Usual < lateTimes*most || bytesOf(late) > bytes+bytes/lateLoad {
		return l, false
	}
	by, ok := askers(late, least)
	if !ok {
		return l, false
	}
	both := 0 // that have ACKs of other hosts soon
	for _, from := range by {
		if x := of(soon, from); len(x) >= lateMessages && lateTimes*medianWait(x) <= l.Usual {
			both++
		}
	}
	l.By = by
	return l, both >= lateAskers
}

// others returns the most bytes that another host gets since a time, their waits, and the longest that ACKs of one take in the median; false: there are too few hosts that are asked.
func others(to [][]askedWait, host int, since int64) (bytes uint64, all []askedWait, most time.Duration, ok bool) {
	asked := 0
	for h, list := range to {
		i, _ := slices.BinarySearchFunc(list, since, func(w askedWait, at int64) int { return cmp.Compare(w.At, at) })
		if list = list[i:]; h == host || len(list) == 0 {
			continue
		}
		if len(list) >= lateMessages {
			asked++
		}
		all = append(all, list...)
		bytes, most = max(bytes, bytesOf(list)), max(most, medianWait(list))
	}
	return bytes, all, most, asked >= lateHosts-1
}

// since finds from which wait on nearly all are late, and before that nearly none; false: there is none.
func since(list []askedWait, least time.Duration) (cut int, ok bool) {
	misfits := 0
	for _, w := range list {
		if w.Took < least {
			misfits++
		}
	}
	fewest := misfits
	for i, w := range list {
		if w.Took < least {
			misfits--
		} else {
			misfits++
		}
		if misfits < fewest {
			cut, fewest = i+1, misfits
		}
	}
	late, before := 0, 0
	for i, w := range list {
		switch {
		case w.Took < least:
		case i < cut:
			before++
		default:
			late++
		}
	}
	n := len(list) - cut
	if n < lateAskers*lateMessages || (n-late)*lateMixed > n || before*lateMixed > cut || cut > 0 && cut < lateMessages {
		return cut, false
	}
	return cut, true
}

// askers lists the hosts that wait; false: one of them waits no longer than usual, or there are too few.
func askers(late []askedWait, least time.Duration) (by []int, ok bool) {
	many := 0
	for _, w := range late {
		if slices.Contains(by, w.from) {
			continue
		}
		list := of(late, w.from)
		if medianWait(list) < least {
			return nil, false
		}
		if by = append(by, w.from); len(list) >= lateMessages {
			many++
		}
	}
	return by, many >= lateAskers
}

func of(list []askedWait, from int) (out []askedWait) {
	for _, w := range list {
		if w.from == from {
			out = append(out, w)
		}
	}
	return out
}

func bytesOf(list []askedWait) (sum uint64) {
	for _, w := range list {
		sum += uint64(w.Bytes) * w.every
	}
	return sum
}

func medianWait(list []askedWait) time.Duration {
	took := make([]time.Duration, len(list))
	for i, w := range list {
		took[i] = w.Took
	}
	return median(took)
}
