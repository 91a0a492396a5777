package incident

import (
	"math"

	"ibwitness/agent"
)

// otherKind is from how many times as large messages on, on average, queue pairs are of another kind than others: bulk data beside small messages.
const otherKind = 8

// sizes is how large messages are on average, bytes, on the queue pair with the smallest and on that with the largest; zero: there is none.
type sizes struct{ least, most float64 }

// add takes the messages of end e of a connection; those of READs are what its peer sends for them.
func (s *sizes) add(c *agent.Connection, e *agent.End) {
	peer, bytes := &c.Ends[0], e.Bytes
	if peer == e {
		peer = &c.Ends[1]
	}
	if peer.Messages == 0 {
		bytes += peer.Bytes
	}
	s.merge(sizes{float64(max(bytes, 1)) / float64(max(e.Messages, 1)), float64(max(bytes, 1)) / float64(max(e.Messages, 1))})
}

func (s *sizes) merge(o sizes) {
	if s.most == 0 {
		*s = o
	} else if o.most > 0 {
		s.least, s.most = math.Min(s.least, o.least), math.Max(s.most, o.most)
	}
}

// unlike reports whether queue pairs that lost packets send messages of another size than those that lost none: that is what tells them apart then, as only bursts fill a queue, and not the path.
func (f *fates) unlike() bool {
	return f.lossyOf.most > 0 && f.steadyOf.most > 0 && f.lossyOf.least >= otherKind*f.steadyOf.most
}
