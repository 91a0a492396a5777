package cm

import "fmt"

// MaxExchanges is how many exchanges are kept.
const MaxExchanges = maxExchanges

// Consistent says what is wrong with the tables, if anything is.
func (v *Verifier) Consistent() error {
	n, prev := 0, int32(-1)
	for i := v.oldest; i >= 0; i = v.slots[i].next {
		x := &v.slots[i]
		if x.prev != prev || v.byID[x.key] != i || n > len(v.slots) {
			return fmt.Errorf("slot %d in the list: %+v", i, x)
		}
		prev = i
		n++
	}
	if n != v.n || n != len(v.byID) || n > maxExchanges || v.newest != prev {
		return fmt.Errorf("%d exchanges in the list, %d counted, %d by their IDs", n, v.n, len(v.byID))
	}
	for i := v.free; i >= 0; i = v.slots[i].next {
		if n++; n > len(v.slots) {
			break
		}
	}
	if n != len(v.slots) {
		return fmt.Errorf("%d slots, %d of them in use or free", len(v.slots), n)
	}
	if n > maxExchanges+1 {
		return fmt.Errorf("%d slots for %d exchanges: those that are free are not used", n, maxExchanges)
	}
	for k, i := range v.byTID {
		if x := &v.slots[i]; x.tid != k.tid || x.key.active != k.active {
			return fmt.Errorf("transaction %+v is that of %+v", k, x)
		}
	}
	for k, i := range v.byService {
		if x := &v.slots[i]; x.asks() != k {
			return fmt.Errorf("service %+v is asked for in %+v", k, x)
		}
	}
	for k, ref := range v.byQP {
		if x := &v.slots[ref>>1]; x.qp(int(ref&1)) != k {
			return fmt.Errorf("QP %+v is that of %+v", k, x)
		}
	}
	for k, ref := range v.byEnd {
		x, side := &v.slots[ref>>1], int(ref&1)
		if x.addr(side) != k.active || x.dreq[side].tid != k.tid && x.dreq[side].before != k.tid && x.lap.tid != k.tid {
			return fmt.Errorf("%+v is not sent in %+v", k, x)
		}
	}
	return nil
}
