package agent

import (
	"iter"

	"ibwitness/internal/cache"
)

// surveyed lists the connections that are followed, by ids that stay theirs. It is for a moment in which no packet is verified, and what it
// yields is valid until the next only.
func (e *engine) surveyed() iter.Seq2[uint64, *Connection] {
	return func(yield func(uint64, *Connection) bool) {
		var k Connection
		var lines cache.Lines
		for at, s := range e.shards {
			n := s.t.pairs.n
			for i := range n {
				if ahead := i + lead; ahead < n {
					s.t.pairs.at(ahead).fetchShown(&lines)
				}
				c := s.t.pairs.at(i)
				if c.dead || c.Ends[0].Sums.Packets+c.Ends[1].Sums.Packets == 0 && c.learned != ByCM {
					continue
				}
				if c.serial == 0 {
					s.t.serials++
					c.serial = s.t.serials
				}
				c.show(&k)
				if !yield(c.serial*MaxWorkers+uint64(at), &k) {
					return
				}
			}
		}
	}
}
