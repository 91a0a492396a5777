package connection

import (
	"iter"
	"slices"

	"ibwitness/hcaagent/passive"
	"ibwitness/qp"
)

// Mark decides which connections leave: those that have been idle since idle, where the capture has missed something also those that this
// may have been of, as they are better learned again, and of the others the longest idle ones beyond most, or where memory is short half of them.
func (t *Table) Mark(now, idle int64, most int, missed, short bool) {
	alive := t.markIdle(now, idle, missed)
	keep := most / 2 // so that this is seldom done
	switch {
	case short && alive > 0:
		keep = min(keep, alive/2)
	case alive <= most:
		return
	}
	t.markOldest(alive, keep)
}

// markIdle has the connections leave that have been idle since idle, or may have lost what the capture has missed, and counts the others.
func (t *Table) markIdle(now, idle int64, missed bool) (alive int) {
	for i := range t.pairs.n {
		c := t.pairs.at(i)
		if c.Dead() {
			continue
		}
		f := t.pairs.follow(i)
		if sum := c.Ends[0].Packets() + c.Ends[1].Packets(); sum != f.counted {
			f.counted, f.active = sum, now
		} else if f.active == 0 {
			f.active = now // known only from CM
		}
		if c.Leave(f.active <= idle || missed && c.Lossy); !c.Leaving() {
			alive++
		}
	}
	return alive
}

// Left lists the connections that leave, with when Mark found them to have sent something last.
func (t *Table) Left() iter.Seq2[*Connection, int64] {
	return func(yield func(*Connection, int64) bool) {
		for i := range t.pairs.n {
			if c := t.pairs.at(i); !c.Dead() && c.Leaving() && !yield(c, t.pairs.follow(i).active) {
				return
			}
		}
	}
}

// markOldest has, of the connections that stay, of which there are alive, all but keep leave: the longest idle ones.
func (t *Table) markOldest(alive, keep int) {
	ages := make([]int64, 0, alive)
	for i := range t.pairs.n {
		if c := t.pairs.at(i); !c.Dead() && !c.Leaving() {
			ages = append(ages, t.pairs.follow(i).active)
		}
	}
	slices.Sort(ages)
	limit := ages[len(ages)-1-keep]
	for i := range t.pairs.n {
		if c := t.pairs.at(i); !c.Dead() && !c.Leaving() && t.pairs.follow(i).active <= limit && alive > keep {
			c.Leave(true)
			alive--
		}
	}
}

// Forget drops the connections that leave, and all that is kept of them. What was judged stays.
func (t *Table) Forget() {
	t.admission.forget(&t.pairs)
	old, oldHosts := t.pairs, t.hosts
	t.pairs, t.hosts, t.Lossy = pairs{}, hosts{}, false
	moved := make([]uint32, old.n) // the new index plus one of each connection that stays
	for i := range old.n {
		if c := old.at(i); !c.Dead() && !c.Leaving() {
			t.pairs.list = append(t.pairs.list, c)
			t.pairs.n++
			if int(i) < len(old.followed) {
				t.pairs.followed = append(t.pairs.followed, old.followed[i])
			}
			moved[i] = t.pairs.n
		}
	}
	t.admission.renumber(moved)
	index := func(i uint32) uint32 { // i and the result are an index plus one
		if i == 0 {
			return 0
		}
		return moved[i-1]
	}
	for _, c := range t.pairs.list {
		c.renumber(index)
	}
	t.moveFlows(moved, oldHosts)
	t.keepHosts(oldHosts, index)
}

// renumber has a connection name others by their new index plus one, which index gives by the old one plus one; 0: it is gone.
func (c *Connection) renumber(index func(uint32) uint32) {
	if c.Beside == nil {
		return
	}
	d := c.doubted()
	d.rival, d.astray = index(d.rival), index(d.astray)
	if way := d.rightful; way != 0 {
		if k := index((way-1)>>1 + 1); k > 0 {
			d.rightful = ((k-1)<<1 | (way-1)&1) + 1
		} else {
			d.rightful, d.misdirected = 0, nil
		}
	}
}

// moveFlows keeps the flows of the connections that stay. moved is their new index plus one, by the old one.
func (t *Table) moveFlows(moved []uint32, oldHosts hosts) {
	slots, changes := t.flows.slots, t.flows.changes
	stay := 0
	for i := range slots {
		if s := &slots[i]; s.key != 0 && moved[s.way>>1] > 0 {
			stay++
		}
	}
	t.flows = flows{changes: changes + 1}
	if stay > 0 {
		t.flows.resize(stay) // rather than by and by, where memory is short
	}
	t.routes, t.ahead, t.match = routes{}, pipeline{}, passive.Matcher{}
	for i := range slots {
		s := &slots[i]
		if s.key == 0 {
			continue
		}
		k := moved[s.way>>1]
		if k == 0 {
			continue
		}
		key := s.key - 1
		h := &oldHosts.list[key>>25]
		way := h.Way(int(key >> 24 & 1))
		host, dir := t.hosts.find(way[0], way[1])
		t.flows.put(flowKey(host, dir, uint32(key&0xffffff)), s.extra, (k-1)<<1|s.way&1)
		if c := t.pairs.at(k - 1); c.Reliable() && !c.Paired {
			t.hosts.list[host].waiting[dir]++
		}
	}
}

// keepHosts hands over what is kept of the hosts that still have connections. index is the new index plus one of a connection, by the old one plus one; 0: it is gone.
func (t *Table) keepHosts(oldHosts hosts, index func(uint32) uint32) {
	for i := range oldHosts.list {
		was := &oldHosts.list[i]
		if len(t.hosts.slots) == 0 || t.hosts.slot(was.a, was.b).way == 0 && t.hosts.slot(was.b, was.a).way == 0 {
			continue
		}
		n, _ := t.hosts.find(was.a, was.b)
		t.hosts.list[n].takeOver(was, index)
	}
	t.keepContexts(oldHosts, index)
	for q, way := range t.bound {
		if k := index(way>>1 + 1); k > 0 {
			t.bound[q] = (k-1)<<1 | way&1
		} else {
			delete(t.bound, q)
		}
	}
	used := map[*qp.Attr]bool{}
	for _, c := range t.pairs.list {
		used[c.Ends[0].Attr], used[c.Ends[1].Attr] = true, true
	}
	for k, f := range t.resolved {
		if !used[&f.Attr] && !k.peer.IsZero() { // what SIDR told; what an HCA agent reported holds for good
			delete(t.resolved, k)
		}
	}
}

// takeOver takes over what was kept of a pair of hosts, with the new indices of its connections.
func (h *Host) takeOver(was *Host, index func(uint32) uint32) {
	h.ICRC, h.VCRC, h.Marks = was.ICRC, was.VCRC, was.Marks
	for dir := range h.unpaired {
		for _, k := range was.unpaired[dir] {
			if k = index(k + 1); k > 0 {
				h.unpaired[dir] = append(h.unpaired[dir], k-1)
			}
		}
		for _, w := range was.connections[dir] {
			if k := index(w.way>>1 + 1); k > 0 {
				w.way = (k-1)<<1 | w.way&1
				h.connections[dir] = append(h.connections[dir], w)
			}
		}
	}
}

// keepContexts keeps the end-to-end contexts that wait for their peer.
func (t *Table) keepContexts(oldHosts hosts, index func(uint32) uint32) {
	unpaired := t.contexts
	t.contexts = nil
	for way, list := range unpaired {
		h := &oldHosts.list[way>>1]
		for _, k := range list {
			if k = index(k + 1); k > 0 {
				ends := h.Way(int(way & 1))
				host, dir := t.hosts.find(ends[0], ends[1])
				t.await(host, dir, k-1)
			}
		}
	}
}

// Rest notes when each connection last sent anything.
func (t *Table) Rest() {
	for i := range t.pairs.n {
		c := t.pairs.at(i)
		if c.Dead() {
			continue
		}
		f := t.pairs.follow(i)
		f.counted, f.active = c.Ends[0].Packets()+c.Ends[1].Packets(), c.FirstTime
		for k := range c.Ends {
			f.active = max(f.active, c.LastTime(k))
		}
	}
}
