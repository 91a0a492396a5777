package web

import (
	"container/list"

	"ibwitness/internal/view/report"
)

// entry is a finding that is kept, and represents those that it was folded with.
type entry struct {
	*report.Entry
	ids       []uint64 // its own, and those of the entries that were merged into it
	text      string   // what is searched; made when it is needed
	row, told *list.Element
}

// store keeps so many entries of a kind.
type store struct {
	rows  list.List // in the order of their IDs
	told  list.List // in the order in which they were last told of
	most  int
	first bool // the first are kept and not those that were last told of
	left  uint64
}

// add takes a new entry. It returns the one that is not kept any more for it.
func (s *store) add(rows map[uint64]*entry, e *entry) (gone *entry) {
	if s.rows.Len() == s.most {
		s.left++
		if s.first {
			return e
		}
		gone = entryOf(s.told.Front())
		s.drop(rows, gone)
	}
	e.row, e.told = s.rows.PushBack(e), s.told.PushBack(e)
	rows[e.ID] = e
	return gone
}

func (s *store) drop(rows map[uint64]*entry, e *entry) {
	s.rows.Remove(e.row)
	s.told.Remove(e.told)
	for _, id := range e.ids {
		delete(rows, id)
	}
}

// again notes that an entry was told of once more.
func (s *store) again(e *entry) { s.told.MoveToBack(e.told) }

// merge lists an entry no more: another represents it.
func (s *store) merge(rows map[uint64]*entry, from, into uint64) {
	e, other := rows[from], rows[into]
	s.drop(rows, e)
	other.ids = append(other.ids, from)
	rows[from] = other
}

// end is where the list begins: with the oldest, or the newest.
func (s *store) end(newest bool) *list.Element {
	if newest {
		return s.rows.Back()
	}
	return s.rows.Front()
}

func entryOf(at *list.Element) *entry { return at.Value.(*entry) }
