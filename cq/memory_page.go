package cq

import "slices"

// pages are the ranges of each page of memory that has any.
type pages struct {
	books  map[uint64]*book
	number uint64 // of the book that was opened last
	open   *book  // nil: none was
	free   *placed
}

// book is some pages in a row.
type book [pagesOfBook]page

// page is the ranges of a page of memory, in the order in which they were put there.
type page struct {
	first, last *placed
	settled     []*placed // those of messages that nothing more becomes known of
	told        []*placed // those of the consumer, in the order of their times
}

// placed is a range in the list of a page.
type placed struct {
	*stored
	on         *page
	prev, next *placed
	also       *placed // the same range on the next page
}

// has are the ranges of a page, nil: there are none.
func (m *pages) has(n uint64) *page {
	if b := m.books[n/pagesOfBook]; b != nil {
		return &b[n%pagesOfBook]
	}
	return nil
}

// at is a page, to be changed.
func (m *pages) at(n uint64) *page {
	if k := n / pagesOfBook; m.open == nil || m.number != k {
		if m.number, m.open = k, m.books[k]; m.open == nil {
			m.open = new(book)
			m.books[k] = m.open
		}
	}
	return &m.open[n%pagesOfBook]
}

// add adds a range at the end of a page.
func (m *pages) add(n uint64, p *stored) *placed {
	x := m.free
	if x == nil {
		x = new(placed)
	} else {
		m.free = x.next
	}
	on := m.at(n)
	*x = placed{stored: p, on: on, prev: on.last}
	if on.last == nil {
		on.first = x
	} else {
		on.last.next = x
	}
	on.last = x
	return x
}

// tell adds a range to those of the consumer.
func (on *page) tell(x *placed) {
	n := len(on.told)
	for n > 0 && on.told[n-1].to > x.to {
		n--
	}
	on.told = slices.Insert(on.told, n, x)
}

// remove takes a range off a page.
func (m *pages) remove(x *placed) {
	if x.prev == nil {
		x.on.first = x.next
	} else {
		x.prev.next = x.next
	}
	if x.next == nil {
		x.on.last = x.prev
	} else {
		x.next.prev = x.prev
	}
	*x = placed{next: m.free}
	m.free = x
}
