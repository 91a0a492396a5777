package timing

import (
	"slices"
	"time"
)

// Slowest is a host that takes long to answer what its peers send to it, while all others go on soon once they have what they wait for, so that these wait for it.
type Slowest struct {
	Host   int
	Peers  []int         // that it answers
	Usual  time.Duration // that it takes for that
	Most   time.Duration
	Long   int           // how often it took long, if it usually does not; 0: it does
	From   time.Duration // from how long on that is so
	Others time.Duration // at most that another host usually takes to go on after a message has come
	Hosts  int           // how many others there are
	Own    time.Duration // of the time below, until it went on after the newest message
	Busy   time.Duration // that messages took from host to host, each sent after the newest that its sender had, without the times in which none of them owed an answer
}

const (
	slowMessages = 32                     // that a host sends after it had one
	slowLeast    = 100 * time.Microsecond // that the slow host takes to answer
	slowTimes    = 8                      // as long as others take to go on
	slowOwnTimes = 2                      // as long that it takes itself after the newest message to it, which may be of another
	slowShare    = 2                      // of the time, one in so many
	slowHosts    = 3                      // that answer
	slowOften    = 3                      // times that the host took long, if it usually does not
)

// SlowestOf finds it, where there is one, among hosts of a ring or a chain: it sends data on, and answers that which comes. A host that only asks, or only answers, may have nothing to do.
func SlowestOf(hosts int, list []Link) (s Slowest, ok bool) {
	acks, all := acksOf(list), MessagesOf(list)
	together := idleOf(hosts, all, acks)
	answers, sends, took := make([]bool, hosts), make([]bool, hosts), make([][]time.Duration, hosts)
	for i := range acks {
		a := &acks[i]
		answers[a.from] = true
		sends[a.to], took[a.from] = true, append(took[a.from], a.took(together)...)
	}
	if !ringOf(acks) {
		return s, false
	}
	w := walkOf(hosts, all, together)
	own, busy := w.path()
	s.Host, s.Busy = slices.Index(own, slices.Max(own)), busy
	s.Own = own[s.Host]
	passes := 0 // hosts that do both
	for h := range hosts {
		if sends[h] && answers[h] {
			passes++
		}
	}
	if s.Own*slowShare < busy || !sends[s.Host] && passes < slowHosts-1 || len(took[s.Host]) < slowMessages {
		return s, false
	}
	s.Usual, s.Most = median(took[s.Host]), slices.Max(took[s.Host])
	for i := range acks {
		if a := &acks[i]; a.from == s.Host && !slices.Contains(s.Peers, a.to) {
			s.Peers = append(s.Peers, a.to)
		}
	}
	itself := time.Duration(0)
	for h := range hosts {
		switch goesOn := w.goesOn(h); {
		case len(goesOn) < slowMessages:
		case h == s.Host:
			itself = median(goesOn)
		default:
			s.Hosts++
			s.Others = max(s.Others, median(goesOn))
		}
	}
	if s.Hosts < slowHosts-1 {
		return s, false
	}
	if s.From = max(slowLeast, slowTimes*s.Others); s.Usual >= s.From {
		return s, itself >= slowOwnTimes*s.Others
	}
	s.From = max(s.From, time.Duration(LongSilence))
	for _, d := range took[s.Host] {
		if d >= s.From {
			s.Long++
		}
	}
	return s, s.Long >= slowOften
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}
