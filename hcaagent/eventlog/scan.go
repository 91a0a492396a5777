package eventlog

import (
	"encoding/binary"
	"reflect"
	"strings"
)

// scanner reads the lines that a log nearly always has: one flat object whose fields are whole numbers and plain strings, and a list of segments. It allocates
// nothing; what it does not take is left to encoding/json, which has the last word on what is JSON. A line is valid until the next one is read.
//
// The lines of a log resemble each other. What came before a value in an earlier line of the same event is expected again: see node.
type scanner struct {
	record
	fields map[string]*field
	places map[string]uint64 // of words, by their text
	first  *node             // the first of what lines have begun with
	nodes  int
	copied []byte // a line to which room was added

	at  int
	end int // of the line, where its newline is
}

// field is a field of a line.
type field struct {
	key    key
	kind   kind
	signed bool
	most   uint64 // the greatest value of a number
}

// kind is what the value of a field is.
type kind uint8

const (
	skipped kind = iota // no event has the field
	ofNumber
	ofText
	ofBytes    // a string that is another one each time
	ofType     // a number or a string
	ofSegments // "sge"
)

// node is a place in lines: what a value of a field comes after, and what has come after that.
type node struct {
	before span // from the value before it on
	field
	word  uint8 // of record.given, where its bit is
	bit   uint64
	words []seen       // values that a string has had
	tried [tries]uint8 // where in words, plus one, the newest one is of each hash
	next  *node        // the first of those that come after it
	other *node        // the next of those at its place
}

// seen is a word that has come at a place.
type seen struct {
	span  span // with its quotes
	place uint64
}

// word is a string that lines have as a value.
type word struct {
	text string
	meaning
	next *node // where it is "ev": the first of what has come after it
}

const (
	// mostNames is how many different strings are remembered.
	mostNames = 1024
	// mostNodes is how many places are, mostNext how many after one place, and mostWords how many strings at it.
	mostNodes = 4096
	mostNext  = 8
	mostWords = 32
	// tries is how many hashes strings of a place have.
	tries = 16
)

func newScanner() *scanner {
	s := &scanner{fields: map[string]*field{}, places: map[string]uint64{}}
	l := reflect.TypeFor[line]()
	for i := range l.NumField() {
		t := l.Field(i).Type
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		k := keyOf[tag(l.Field(i))]
		f := &field{key: k, kind: ofText}
		switch {
		case k == kHead || k == kData:
			f.kind = ofBytes
		case k == kType:
			f.kind, f.most = ofType, 1<<53
		case t.Kind() == reflect.Slice:
			f.kind = ofSegments
		case t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64:
			f.kind, f.signed, f.most = ofNumber, true, 1<<63-1
		case t.Kind() != reflect.String:
			f.kind, f.most = ofNumber, ^uint64(0)>>(64-t.Bits())
		}
		s.fields[keys[k]] = f
	}
	return s
}

// begin begins a line.
func (s *scanner) begin(text []byte) {
	s.given, s.sge, s.decoded, s.at = [2]uint64{}, s.sge[:0], [2][]byte{}, 0
	if len(s.words) > mostNames {
		s.words, s.first, s.nodes = s.words[:0], nil, 0
		clear(s.places)
	}
	s.load(text)
}

// scan reads a line, and reports whether it could.
func (s *scanner) scan(text []byte) bool {
	s.begin(text)
	for places := &s.first; ; {
		places = s.usual(places)
		if s.at > 0 {
			if s.text[s.at] == '}' && s.at+1 == s.end {
				return true // nearly always
			}
			if !s.peek(',') {
				if !s.take('}') {
					return false
				}
				s.space()
				return s.at == s.end
			}
		}
		n := s.known(*places)
		if n == nil {
			n = s.place(places)
		}
		if n == nil || !s.value(n) {
			return false
		}
		places = s.after(n)
	}
}

// usual reads fields as far as they are written as in an earlier line, and returns the places of what comes after them.
func (s *scanner) usual(places **node) **node {
	text, at := s.text, s.at
	for n := *places; n != nil; {
		t := (*[beyond]byte)(text[at:])
		if (binary.LittleEndian.Uint64(t[:8])^n.before.first)&n.before.mask|(binary.LittleEndian.Uint64(t[8:])^n.before.second)&n.before.mask2 != 0 ||
			n.before.rest != nil && !n.before.rest.in(text[at+beyond:]) {
			n = n.other
			continue
		}
		p := at + n.before.n
		if s.given[n.word&1]&n.bit != 0 {
			break
		}
		switch n.kind {
		case ofNumber:
			k, v := digits(binary.LittleEndian.Uint64(text[p:]))
			if k == 8 {
				more, w := digits(binary.LittleEndian.Uint64(text[p+8:]))
				k, v = k+more, v*powers[more]+w
				if more == 8 {
					more, w = digits(binary.LittleEndian.Uint64(text[p+16:]))
					k, v = k+more, v*powers[more]+w
				}
			}
			if k-1 > mostDigits-1 || v > n.most || k > 1 && text[p] == '0' {
				s.at = at
				return places
			}
			p += int(k)
			s.given[n.word&1] |= n.bit
			s.record.value[n.key] = v
			places = &n.next
		case ofText:
			w := n.seen(text[p:])
			if w == nil {
				s.at = at
				return places
			}
			p += w.span.n
			s.given[n.word&1] |= n.bit
			s.record.value[n.key] = w.place
			if places = &n.next; n.key == kEv {
				places = &s.words[w.place].next
			}
		case ofBytes, ofSegments:
			if s.at = p; !s.value(n) {
				s.at = at
				return places
			}
			p, places = s.at, &n.next
		default:
			s.at = at
			return places
		}
		at, n = p, *places
	}
	s.at = at
	return places
}

// mostDigits is how many digits a number has that certainly fits into 64 bits.
const mostDigits = 19

// seen returns the word that a string is, with its quotes, where it has come before and was the newest of those like it; else nil.
func (n *node) seen(text []byte) *seen {
	t := (*[beyond]byte)(text)
	first := binary.LittleEndian.Uint64(t[:8])
	i := n.tried[hash(first)]
	if i == 0 {
		return nil
	}
	w := &n.words[i-1]
	if (first^w.span.first)&w.span.mask|(binary.LittleEndian.Uint64(t[8:])^w.span.second)&w.span.mask2 != 0 || w.span.rest != nil && !w.span.rest.in(text[beyond:]) {
		return nil
	}
	return w
}

// after is where the places are of what comes after a value.
func (s *scanner) after(n *node) **node {
	if n.key == kEv && n.kind == ofText {
		return &s.word(kEv).next
	}
	return &n.next
}

// known passes over what has come before a value in an earlier line, and returns the place; nil: nothing of that comes here.
func (s *scanner) known(n *node) *node {
	for n != nil && !s.comes(&n.before) {
		n = n.other
	}
	return n
}

// place reads up to a value, and adds the place to those that are known here. It returns nil where that is nothing that the scanner takes.
func (s *scanner) place(places **node) *node {
	from := s.at
	mark := byte(',')
	if from == 0 {
		mark = '{'
	}
	if !s.take(mark) || !s.take('"') {
		return nil
	}
	name, ok := s.plain()
	if !ok {
		return nil
	}
	f := s.fields[string(name)]
	if f == nil {
		if f = s.unknown(string(name)); f == nil {
			return nil
		}
	}
	if !s.take(':') {
		return nil
	}
	s.space()
	n := &node{field: *f, word: uint8(f.key >> 6)}
	if f.kind != skipped {
		n.bit = 1 << (f.key & 63)
	}
	others := 0
	for ; *places != nil; places = &(*places).other {
		others++
	}
	if before := s.text[from:s.at]; s.nodes < mostNodes && others < mostNext && !strings.ContainsAny(string(before), "\r\n") {
		s.nodes++
		n.before = newSpan(string(before))
		*places = n
	}
	return n
}

// unknown adds a field that no event has, and whose value is passed over. It returns nil where encoding/json takes the key for another one.
func (s *scanner) unknown(name string) *field {
	if len(s.fields) == mostNames {
		return nil
	}
	for known := range s.fields {
		if strings.EqualFold(known, name) {
			return nil
		}
	}
	f := &field{}
	s.fields[name] = f
	return f
}

// plain reads a string after its opening quote. It reports false where that is escaped, or not ASCII.
func (s *scanner) plain() ([]byte, bool) {
	for i := s.at; i < s.end; i++ {
		switch c := s.text[i]; {
		case c == '"':
			text := s.text[s.at:i]
			s.at = i + 1
			return text, true
		case c < ' ' || c >= 0x7f || c == '\\':
			return nil, false
		}
	}
	return nil, false
}

func (s *scanner) space() {
	for s.at < s.end && (s.text[s.at] == ' ' || s.text[s.at] == '\t' || s.text[s.at] == '\n' || s.text[s.at] == '\r') {
		s.at++
	}
}

// take passes over a character, where that comes next.
func (s *scanner) take(c byte) bool {
	if !s.peek(c) {
		return false
	}
	s.at++
	return true
}

// peek passes over space, and reports whether a character comes next.
func (s *scanner) peek(c byte) bool {
	if s.text[s.at] != c {
		s.space()
	}
	return s.at < s.end && s.text[s.at] == c
}
