package agent

import "ibwitness/qp"

// unheard reports whether nothing has answered a connection of which one direction was seen: no response came the other way that may be to it.
func (t *Transport) unheard(c *qp.Pair) bool {
	if c.Paired || t.hosts.used == 0 {
		return false
	}
	s := t.hosts.slot(c.Ends[1].Addr, c.Ends[0].Addr)
	return s.way == 0 || !t.hosts.list[(s.way-1)>>1].answered[(s.way-1)&1]
}

// open fills in which requests of a connection wait for an answer.
func (t *Transport) open(c *connection, k *Connection) {
	if !c.Reliable() || c.Closed || !c.Paired && !t.unheard(&c.Pair) {
		return
	}
	for e := range c.Ends {
		q := &c.Ends[e].SQ
		if n, oldest := q.Outstanding(); n > 0 && !c.Ends[1-e].RQ.Refused() {
			end := &k.Ends[e]
			end.Open, end.OpenSince, end.OpenFrame = n, q.AskedAt, q.LastFrame&^0xFFFFFFFF|uint64(oldest.Frame)
			if end.OpenFrame > q.LastFrame {
				end.OpenFrame -= 1 << 32
			}
		}
	}
}
