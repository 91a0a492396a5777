package eventlog

import (
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
	first  []*node           // what lines have begun with
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
	field  *field
	words  []seen // values that a string has had
	next   []*node
}

// seen is a word that has come at a place.
type seen struct {
	span  span // with the closing quote
	place uint64
	hits  uint64 // how often: those that come often are tried first
}

// word is a string that lines have as a value.
type word struct {
	text string
	meaning
	next []*node // where it is "ev": what has come after it
}

const (
	// mostNames is how many different strings are remembered.
	mostNames = 1024
	// mostNodes is how many places are, mostNext how many after one place, and mostWords how many strings at it.
	mostNodes = 4096
	mostNext  = 8
	mostWords = 32
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
	s.given, s.sge, s.at = [2]uint64{}, s.sge[:0], 0
	if len(s.words) > mostNames {
		s.words, s.first, s.nodes = s.words[:0], nil, 0
		clear(s.places)
	}
	s.load(text)
}

// scan reads a line, and reports whether it could.
func (s *scanner) scan(text []byte) bool {
	s.begin(text)
	places := &s.first
	for {
		n := s.known(*places)
		if n == nil {
			if n = s.place(places); n == nil {
				return false
			}
		}
		if s.text[s.at] == ' ' {
			s.space()
		}
		if f := n.field; f.kind != skipped && s.has(f.key) || !s.value(n) {
			return false
		}
		if places = &n.next; n.field.kind == ofText && n.field.key == kEv {
			places = &s.word(kEv).next
		}
		switch {
		case s.text[s.at] == ',': // nearly always
		case s.text[s.at] == '}' && s.at+1 == s.end:
			return true
		case s.peek(','):
		case s.take('}'):
			s.space()
			return s.at == s.end
		default:
			return false
		}
	}
}

// known passes over what has come before a value in an earlier line, and returns the place; nil: nothing of that comes here.
func (s *scanner) known(places []*node) *node {
	for _, n := range places {
		if s.comes(&n.before) {
			return n
		}
	}
	return nil
}

// place reads up to a value, and adds the place to those that are known here. It returns nil where that is nothing that the scanner takes.
func (s *scanner) place(places *[]*node) *node {
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
	n := &node{field: f}
	if before := s.text[from:s.at]; s.nodes < mostNodes && len(*places) < mostNext && !strings.ContainsAny(string(before), "\r\n") {
		s.nodes++
		n.before = newSpan(string(before))
		*places = append(*places, n)
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
