package cq

// pages are the ranges of each page of memory that has any.
type pages struct {
	books  map[uint64]*book
	number uint64 // of the book that was opened last
	open   *book  // nil: none was
}

// book is the ranges of some pages in a row.
type book [pagesOfBook][]*stored

// has are the ranges of a page.
func (m *pages) has(page uint64) []*stored {
	if b := m.books[page/pagesOfBook]; b != nil {
		return b[page%pagesOfBook]
	}
	return nil
}

// at is where the ranges of a page are, to be changed.
func (m *pages) at(page uint64) *[]*stored {
	if n := page / pagesOfBook; m.open == nil || m.number != n {
		if m.number, m.open = n, m.books[n]; m.open == nil {
			m.open = new(book)
			m.books[n] = m.open
		}
	}
	return &m.open[page%pagesOfBook]
}
