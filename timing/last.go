package timing

import (
	"cmp"
	"slices"
	"time"
)

// Last is a host that sends its first data of a round late, or its first message where it has sent none: all others of its group have sent some by then, or half of them, and the others do when something has come to
// them, and nothing has been sent for long. A round goes on until each host has sent data, and then to the next time in which nothing is sent for long: such times before that, as where hosts begin one after the other, are within it.
type Last struct {
	Host        int
	Others      int           // other hosts of the group
	Begun       int           // of them, those that had sent by then, at least
	Count       int           // of rounds in which that was so
	Rounds      int           // of the group
	Least, Most time.Duration // for which nothing was sent then
	Sum         time.Duration
	Of          time.Duration // that the rounds took in all
	After       time.Duration // median of how much later it began than the last of those that had sent
	Spread      time.Duration // and of how much later that one began than the first
	From, To    int64         // when that first was so, and when the last round ended, nanoseconds since the Unix epoch
	Since       bool          // there were some rounds before, at the beginning, in which it was not, and it was in most since
	Opened      Opened
	Times       []LateStart   // each, in order
	Usual       time.Duration // how much later it began at most in the other rounds; negative: it was not the last
	Usually     int           // those rounds, as far as all hosts sent data in them
	Few         bool          // that it is the same host each time, or nearly, may be by chance
	Aside       int           // connections that carry so little beside the others that their messages begin no round of a host
	resumed     int           // of Count, in how many rounds a host that had begun went on by itself before
	Else        []Late        // other hosts for which all waited about as long, the one first for which longest
}

// Late is how often all waited for a host, and how long in all.
type Late struct {
	Host, Count int
	Sum         time.Duration
}

// LateStart is when a host began late, in nanoseconds since the Unix epoch, and by how much later than the last of those that had begun.
type LateStart struct {
	At    int64
	After time.Duration
}

// Opened is how many of the pauses between rounds, when all hosts had sent data, a host ended that are longer than each which another one did, from when it was last first on; Count 0: few. Whether others waited for it
// then is not known, as no other had sent anything.
type Opened struct {
	Count       int
	Least, Most time.Duration
}

const (
	lastHosts  = 3    // of a group
	lastBegun  = 2    // hosts that have sent before
	lastLeast  = 8    // rounds; fewer where it is hardly by chance that it is the same host in each
	lastChance = 1000 // by chance, one in so many
	lastSeldom = 20   // likewise, where it is told that it may be chance
	lastFew    = 2    // times as long as for the longest was waited for the host then
	lastMainly = 3    // times as long as for all others, then
	lastShare  = 40   // of the time of the group, one in so many
	lastOther  = 8    // of the time that was waited so, one in so many may be for other hosts
	lastOnce   = 4    // times as long as for the longest was waited for the host
	lastAlike  = 8    // shorter waits than one in so many of the longest do not count
	lastOwn    = 16   // rounds in which another host goes on without it, one for so many in which all waited for it, and
	lastOwnFew = 2    // how many at least, for nobody to wait
	lastSince  = 3    // rounds before in which it was not, from which on it is told since when it is
	pauseOver  = 4    // times as long as all shorter ones is a pause that divides others from those within them
)

// LastOf finds it, where there is one, among hosts of which each sends: else beside connections that carry little, as heartbeats.
func LastOf(hosts int, list []Link) (best Last, ok bool) {
	if best, ok = lastAmong(hosts, list, nil); ok && !best.Few {
		return best, true
	}
	if main, aside := withoutLittle(list); len(aside) > 0 {
		if l, found := lastAmong(hosts, main, aside); found && !l.Few {
			return l, true
		}
	}
	return best, ok
}

// lastAmong is LastOf with connections beside, at whose messages only a silence ends.
func lastAmong(hosts int, list, aside []Link) (best Last, ok bool) {
	group := Groups(hosts, list)
	for first := range hosts {
		var of []Link
		for i := range list {
			if group[list[i].Hosts[0]] == first {
				of = append(of, list[i])
			}
		}
		beside := slices.DeleteFunc(slices.Clone(aside), func(l Link) bool { return group[l.Hosts[0]] != first && group[l.Hosts[1]] != first })
		l, found := lastOf(hosts, roundsOf(of, beside))
		l.Aside = len(beside)
		if found && (l.Few == best.Few && l.Sum > best.Sum || !ok || best.Few && !l.Few) {
			best, ok = l, true
		}
	}
	return best, ok
}

// Groups numbers hosts by the first of those that connections join.
func Groups(hosts int, list []Link) []int {
	group := make([]int, hosts)
	for h := range group {
		group[h] = h
	}
	for i := range list {
		a, b := group[list[i].Hosts[0]], group[list[i].Hosts[1]]
		for h := range group {
			if group[h] == max(a, b) {
				group[h] = min(a, b)
			}
		}
	}
	return group
}

// roundMessage is a message, or some without a pause between, and whether it is of data: not one of those, much smaller, by which the receiver of data answers it.
type roundMessage struct {
	Sent
	from  int
	to    int
	data  bool
	aside bool // it is of a connection that carries little
	count int
	way   int // of which connection, and which end of it
}

// came is when something of it has come at least: of some messages, when the first began.
func (m *roundMessage) came() int64 {
	if m.count > 1 {
		return m.Begin
	}
	return m.End
}

func roundsOf(list, aside []Link) (all []roundMessage) {
	for i, l := range slices.Concat(list, aside) {
		little := i >= len(list)
		for k := range l.Sent {
			for _, s := range l.Sent[k] {
				all = append(all, roundMessage{s, l.Hosts[k], l.Hosts[1-k], l.Bytes[k]*linkData > l.Bytes[1-k], little, 1, 2*i + k})
			}
			for _, r := range l.Runs[k] {
				s := Sent{Begin: r.Begin, End: r.End}
				all = append(all, roundMessage{s, l.Hosts[k], l.Hosts[1-k], l.Bytes[k]*linkData > l.Bytes[1-k], little, int(r.Count), 2*i + k})
			}
		}
	}
	inOrder(all, func(m *roundMessage) int64 { return m.Begin })
	return all
}

// lastOf finds the host among those of a group. Where pauses of two kinds divide its messages, as the steps of what goes on in rounds and these, the longer are between rounds if each host has sent as many data in them as
// the others, and if no less time was waited so.
func lastOf(hosts int, all []roundMessage) (l Last, ok bool) {
	r := roundsWalk{every: newHostSet(hosts), sends: newHostSet(hosts)}
	for i := range all {
		if all[i].aside {
			continue
		}
		if r.every.add(all[i].from); all[i].data {
			r.sends.add(all[i].from)
		}
	}
	if r.sends.n < lastHosts {
		return l, false
	}
	pauses := r.walk(all, LongSilence)
	l, ok = r.last(all)
	if least := longerPauses(pauses); least > 0 {
		r.walk(all, least)
		if m, found := r.last(all); found && (!ok || m.Host == l.Host && 10*m.Sum >= 9*l.Sum && (l.Few || !m.Few)) {
			return m, true
		}
	}
	return l, ok
}

// longerPauses is how long the pauses are at least that are longer than all others by far; 0: there are none, or few.
func longerPauses(pauses []int64) int64 {
	slices.Sort(pauses)
	for i := 1; i+lastLeast <= len(pauses); i++ {
		if pauses[i] >= pauseOver*pauses[i-1] {
			return pauses[i]
		}
	}
	return 0
}

// roundsWalk goes through the rounds of a group.
type roundsWalk struct {
	every, sends hostSet      // hosts that send anything, and data
	some, data   begun        // in this round
	pending      *pendingWait // nil: there is none
	of           [][]lastWait // by host
	rounds       int
	begins       [][]int64 // by round: when each host began to send data, where all that do had
	opened       []opening
	messages     []int // of data, by host
	resumed      bool  // a host that had begun in this round went on by itself after nothing was sent for long
	own          ownPace
}

// opening is that a host sent first after a pause between rounds.
type opening struct {
	lastWait
	host int
}

// lastWait is that all waited for a host.
type lastWait struct {
	silence time.Duration
	at      int64 // since when, nanoseconds since the Unix epoch
	round   int   // counted from 1 on
	begun   int   // other hosts that had sent something
	after   time.Duration
	spread  time.Duration
	resumed bool // a host that had begun went on by itself before, after nothing was sent for long
}

// walk finds who was last in each round, where rounds are apart by so many nanoseconds at least, and returns how long each time was in which nothing was sent for long. Where that is longer than LongSilence, each host has
// sent as many data in a round.
func (r *roundsWalk) walk(all []roundMessage, apart int64) (pauses []int64) {
	hosts, until := len(r.every.sent), int64(0)
	quiet := int64(0)            // since when nothing is sent on connections that carry little either
	counts := make([]int, hosts) // in this round
	r.some, r.data, r.pending, r.resumed = newBegun(hosts), newBegun(hosts), nil, false
	r.of, r.rounds, r.begins, r.opened = make([][]lastWait, hosts), 1, nil, nil
	r.messages = make([]int, hosts)
	r.own = newOwnPace(hosts)
	for i := range all {
		m := &all[i]
		if m.aside {
			quiet = max(quiet, m.End)
			continue
		}
		silence := m.Begin - until
		quiet = max(quiet, until)
		if until > 0 && silence >= LongSilence {
			pauses = append(pauses, silence)
			r.opens(r.data.n == r.sends.n, opening{lastWait{silence: time.Duration(silence), at: until, round: r.rounds}, m.from})
		}
		switch full := r.data.n == r.sends.n; {
		case until == 0 || silence < LongSilence, full && silence < apart:
		case full && apart > LongSilence && !r.balanced(counts):
		case full:
			r.rounds++
			r.begins = append(r.begins, slices.Clone(r.data.at))
			r.data.clear()
			r.some.clear()
			r.pending, r.resumed = nil, false
			clear(counts)
		case m.Begin-quiet >= LongSilence:
			r.waits(m, lastWait{silence: time.Duration(m.Begin - quiet), at: quiet, round: r.rounds, resumed: r.resumed})
			r.resumed = r.resumed || r.some.sent[m.from]
		default:
			r.pending = nil
		}
		until = max(until, m.End)
		r.follows(m)
		r.own.take(m, r.rounds, r.data.n < r.sends.n)
		if r.some.begins(m); m.data {
			r.data.begins(m)
			counts[m.from] += m.count
			r.messages[m.from] += m.count
		}
	}
	if r.data.n == r.sends.n {
		r.begins = append(r.begins, r.data.at)
	}
	return pauses
}

// balanced reports whether each host that sends data has sent as many messages of them.
func (r *roundsWalk) balanced(counts []int) bool {
	most := slices.Max(counts)
	for h, n := range counts {
		if r.sends.sent[h] && n != most {
			return false
		}
	}
	return true
}

// last is the host for which all waited longest.
func (r *roundsWalk) last(all []roundMessage) (l Last, ok bool) {
	sum := time.Duration(0)
	for h, list := range r.of {
		own := Last{Host: h}
		for _, w := range list {
			own.Sum, own.Most = own.Sum+w.silence, max(own.Most, w.silence)
		}
		if sum += own.Sum; own.Sum > l.Sum {
			l = own
		}
	}
	others := sum - l.Sum
	l.waited(r.of[l.Host], r.rounds)
	l.elsewhere(r.of)
	l.lateness(r.of[l.Host])
	l.usual(r)
	l.Opened = r.openedBy(l.Host, l.From)
	l.Others, l.Rounds, l.To = r.sends.n-1, r.rounds, all[len(all)-1].End
	l.Of = time.Duration(l.To - all[0].Begin)
	l.Few = l.Count < lastLeast && !l.sameHost(lastChance) || l.Most*lastOnce > l.Sum || others*lastOther > l.Sum
	if 2*l.resumed > l.Count && 2*r.messages[l.Host] <= slices.Max(r.messages) { // others go on without it
		return l, false
	}
	if n := r.own.rounds; n >= lastOwnFew && n*lastOwn >= l.Count {
		return l, false
	}
	return l, (!l.Few || l.seldom() && others*lastMainly <= l.Sum) && l.Sum*lastShare >= l.Of
}

// sameHost reports whether it is by chance, as any of the group may be late at times, in less than one case in so many that it is the same host
// each time.
func (l *Last) sameHost(many int) bool {
	chance := 1
	for range l.Count - 1 {
		if chance *= l.Others + 1; chance >= many {
			return true
		}
	}
	return false
}

// seldom reports whether few waits tell of a host, none of which is most of them: when all of those are counted in which all waited for any
// host, it is seldom by chance that so many are for it.
func (l *Last) seldom() bool {
	if l.Most*lastFew > l.Sum || l.Count >= lastLeast {
		return false
	}
	ways, n := lastSeldom, l.Count // in which others may be among them
	for _, x := range l.Else {
		for k := range x.Count {
			ways = ways * (n + k + 1) / (k + 1)
		}
		n += x.Count
	}
	return 2*n <= l.Rounds && l.sameHost(ways) // else any may be last each time
}

// opens takes that a host sent first after a pause; full says that all had sent data before.
func (r *roundsWalk) opens(full bool, x opening) {
	if full {
		r.opened = append(r.opened, x)
	}
}

// openedBy is which of the pauses between rounds a host ended from a time on that are longer than all others.
func (r *roundsWalk) openedBy(host int, from int64) (o Opened) {
	others := time.Duration(0)
	for _, x := range r.opened {
		if x.host != host && x.at >= from {
			others = max(others, x.silence)
		}
	}
	for _, x := range r.opened {
		if x.host != host || x.at < from || x.silence <= others {
			continue
		}
		if o.Count++; o.Count == 1 {
			o.Least = x.silence
		}
		o.Least, o.Most = min(o.Least, x.silence), max(o.Most, x.silence)
	}
	if o.Count < lastLeast || others == 0 {
		return Opened{}
	}
	return o
}

// elsewhere takes for which other hosts all waited about as long.
func (l *Last) elsewhere(of [][]lastWait) {
	for h, list := range of {
		x := Late{Host: h}
		for _, w := range list {
			if h != l.Host && w.silence*lastAlike >= l.Most {
				x.Count, x.Sum = x.Count+1, x.Sum+w.silence
			}
		}
		if x.Count > 0 {
			l.Else = append(l.Else, x)
		}
	}
	slices.SortStableFunc(l.Else, func(a, b Late) int { return cmp.Compare(b.Sum, a.Sum) })
}

// hostSet is which hosts have sent something.
type hostSet struct {
	sent []bool
	n    int
}

func newHostSet(hosts int) hostSet { return hostSet{sent: make([]bool, hosts)} }

func (s *hostSet) add(host int) {
	if !s.sent[host] {
		s.sent[host] = true
		s.n++
	}
}

func (s *hostSet) clear() {
	clear(s.sent)
	s.n = 0
}

// butOne reports whether so many others have sent something, and a host has not.
func (s *hostSet) butOne(host, others int) bool { return s.n == others && !s.sent[host] }

// waited counts the waits for the host that are about as long as the longest, and not such as there are for any host that is last by chance.
func (l *Last) waited(list []lastWait, rounds int) {
	first := 0
	l.Sum = 0
	for _, w := range list {
		if w.silence*lastAlike < l.Most {
			continue
		}
		if l.Count == 0 {
			l.Least, l.From, first = w.silence, w.at, w.round
		}
		l.Count++
		if w.resumed {
			l.resumed++
		}
		l.Least, l.Sum = min(l.Least, w.silence), l.Sum+w.silence
	}
	l.Since = first > lastSince && 2*l.Count > rounds-first // not where it is so now and then
}
