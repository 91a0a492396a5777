package soft

// recent is where the last queue pairs and regions that packets named are found without the maps that have all of them. It is emptied with each one that is
// destroyed or replaced.
type recent struct {
	qps   [16]*queuePair // by the low bits of their numbers
	keys  [16]*region    // by the low bits of the index of their keys
	index [16]uint32
}

// queuePair returns the queue pair with a number, or nil.
func (h *HCA) queuePair(number uint32) *queuePair {
	at := &h.recent.qps[number%16]
	if q := *at; q != nil && q.num == number {
		return q
	}
	q := h.qps[number]
	*at = q
	return q
}

// keyed returns the region that a key names by its index, or nil: whether the key opens it is another question.
func (h *HCA) keyed(key uint32) *region {
	index := key >> 8
	i := index % 16
	if r := h.recent.keys[i]; r != nil && h.recent.index[i] == index {
		return r
	}
	r := h.keys[index]
	h.recent.keys[i], h.recent.index[i] = r, index
	return r
}
