package gmp

// Open is the requests of one pair of ports that have no response when the capture ends, and should have had one.
type Open struct {
	Requests uint64
	Again    bool   // the oldest of them was repeated
	Since    int64  // when it was sent last
	Frame    uint64 // in which that was
	Tap      uint16
}

// Open returns the requests without a response, of each pair that has any, whose responders had their time, up to time end.
func (v *Verifier) Open(end int64) (all []Open) {
	for _, q := range v.list {
		var o Open
		for i := range q.table.ring {
			x := &q.table.ring[i]
			most := limit(defaultRespTime)
			if code := q.resp[x.key.class]; code != 0 {
				most = limit(code - 1)
			}
			if !x.asked || x.answered || end-x.time <= most {
				continue
			}
			if o.Requests == 0 || x.time < o.Since {
				o.Again, o.Since, o.Frame, o.Tap = x.repeats > 0, x.time, x.frame, x.tap
			}
			o.Requests++
		}
		if o.Requests > 0 {
			all = append(all, o)
		}
	}
	return all
}
