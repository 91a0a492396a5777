package eventlog

import (
	"reflect"
	"strings"
)

// scanner reads the lines that a log nearly always has: one flat object whose fields are whole numbers and plain strings, and a list of segments. It allocates
// nothing; what it does not take is left to encoding/json, which has the last word on what is JSON. A line is valid until the next one is read.
type scanner struct {
	line   line
	fields map[string]*field
	first  *field // of the line before
	set    []*field
	names  map[string]string // strings that were read
	sge    []segment

	text []byte
	at   int
}

// field is a field of a line, and room for its value. One of the pointers into the line is set.
type field struct {
	key  string
	next *field // that came after it in an earlier line
	seen bool   // in this line
	list bool   // "sge"
	skip bool   // no event has it

	i64  **int64
	i    **int
	u64  **uint64
	u32  **uint32
	u16  **uint16
	u8   **uint8
	text **string
	name *string // "ev"

	i64s  int64
	is    int
	u64s  uint64
	u32s  uint32
	u16s  uint16
	u8s   uint8
	texts string
}

// mostNames is how many different strings are remembered.
const mostNames = 1024

func newScanner() *scanner {
	s := &scanner{fields: map[string]*field{}, names: map[string]string{}}
	l := reflect.ValueOf(&s.line).Elem()
	for i := range l.NumField() {
		key, _, _ := strings.Cut(l.Type().Field(i).Tag.Get("json"), ",")
		f := &field{key: key}
		switch p := l.Field(i).Addr().Interface().(type) {
		case **int64:
			f.i64 = p
		case **int:
			f.i = p
		case **uint64:
			f.u64 = p
		case **uint32:
			f.u32 = p
		case **uint16:
			f.u16 = p
		case **uint8:
			f.u8 = p
		case **string:
			f.text = p
		case *string:
			f.name = p
		case *[]segment:
			f.list = true
		default:
			continue // it is left to encoding/json
		}
		s.fields[key] = f
	}
	return s
}

// scan reads a line, and reports whether it could.
func (s *scanner) scan(text []byte) bool {
	for _, f := range s.set {
		s.reset(f)
	}
	s.set, s.text, s.at = s.set[:0], text, 0
	if !s.take('{') {
		return false
	}
	guess := &s.first
	for {
		if !s.take('"') {
			return false
		}
		f := *guess
		if f == nil || !s.is(f.key) {
			key, ok := s.plain()
			if !ok {
				return false
			}
			if f = s.fields[string(key)]; f == nil {
				if f = s.unknown(string(key)); f == nil {
					return false
				}
			}
			*guess = f
		}
		if f.seen && !f.skip {
			return false
		}
		f.seen = true
		s.set = append(s.set, f)
		if !s.take(':') || !s.value(f) {
			return false
		}
		switch {
		case s.take(','):
			guess = &f.next
		case s.take('}'):
			s.space()
			return s.at == len(s.text)
		default:
			return false
		}
	}
}

// unknown adds a field that no event has, and whose value is passed over. It returns nil where encoding/json takes the key for another one.
func (s *scanner) unknown(key string) *field {
	if len(s.fields) == mostNames {
		return nil
	}
	for known := range s.fields {
		if strings.EqualFold(known, key) {
			return nil
		}
	}
	l := reflect.TypeFor[line]()
	for i := range l.NumField() {
		if known, _, _ := strings.Cut(l.Field(i).Tag.Get("json"), ","); strings.EqualFold(known, key) {
			return nil
		}
	}
	f := &field{key: key, skip: true}
	s.fields[key] = f
	return f
}

// reset takes the value of a field back out of the line.
func (s *scanner) reset(f *field) {
	f.seen = false
	switch {
	case f.u32 != nil:
		*f.u32 = nil
	case f.u64 != nil:
		*f.u64 = nil
	case f.i64 != nil:
		*f.i64 = nil
	case f.i != nil:
		*f.i = nil
	case f.u8 != nil:
		*f.u8 = nil
	case f.u16 != nil:
		*f.u16 = nil
	case f.text != nil:
		*f.text = nil
	case f.list:
		s.line.SGE = nil
	case f.name != nil:
		*f.name = ""
	}
}

// is passes over a key and its closing quote, where they come next.
func (s *scanner) is(key string) bool {
	end := s.at + len(key)
	if end >= len(s.text) || s.text[end] != '"' || string(s.text[s.at:end]) != key {
		return false
	}
	s.at = end + 1
	return true
}

// plain reads a string after its opening quote. It reports false where that is escaped, or not ASCII.
func (s *scanner) plain() ([]byte, bool) {
	for i := s.at; i < len(s.text); i++ {
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
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\t' || s.text[s.at] == '\n' || s.text[s.at] == '\r') {
		s.at++
	}
}

// take passes over a character, where that comes next.
func (s *scanner) take(c byte) bool {
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	s.space()
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

// value reads the value of a field into the line. It reports false where that does not fit.
func (s *scanner) value(f *field) bool {
	switch {
	case f.skip && s.take('"'):
		_, ok := s.plain()
		return ok
	case f.text != nil, f.name != nil:
		if !s.take('"') {
			return false
		}
		text, ok := s.plain()
		if !ok {
			return false
		}
		name := s.intern(text)
		if f.name != nil {
			*f.name = name
			return true
		}
		f.texts = name
		*f.text = &f.texts
		return true
	case f.list:
		return s.segments()
	}
	s.space()
	minus := s.at < len(s.text) && s.text[s.at] == '-'
	if minus {
		s.at++
	}
	n, ok := s.number()
	switch {
	case f.skip:
		return ok
	case !ok || minus && (f.i64 == nil && f.i == nil || n > 1<<63):
		return false
	case f.u32 != nil:
		f.u32s, *f.u32 = uint32(n), &f.u32s
		return n <= 1<<32-1
	case f.u64 != nil:
		f.u64s, *f.u64 = n, &f.u64s
		return true
	case f.u16 != nil:
		f.u16s, *f.u16 = uint16(n), &f.u16s
		return n <= 1<<16-1
	case f.u8 != nil:
		f.u8s, *f.u8 = uint8(n), &f.u8s
		return n <= 1<<8-1
	}
	i := int64(n)
	if minus {
		i = -i
	}
	if f.i64 != nil {
		f.i64s, *f.i64 = i, &f.i64s
	} else {
		f.is, *f.i = int(i), &f.is
	}
	return minus || n < 1<<63
}

// number reads the digits of a whole number.
func (s *scanner) number() (n uint64, ok bool) {
	begin := s.at
	for s.at < len(s.text) {
		d := uint64(s.text[s.at]) - '0'
		if d > 9 {
			break
		}
		if s.at-begin >= 19 && (n > (1<<64-1)/10 || n*10 > 1<<64-1-d) {
			return 0, false
		}
		n = n*10 + d
		s.at++
	}
	digits := s.at - begin
	return n, digits > 0 && (digits == 1 || s.text[begin] != '0')
}

// intern returns a string that stays.
func (s *scanner) intern(text []byte) string {
	name, ok := s.names[string(text)]
	if !ok {
		if len(s.names) == mostNames {
			clear(s.names)
		}
		name = string(text)
		s.names[name] = name
	}
	return name
}

// segments reads a list of segments.
func (s *scanner) segments() bool {
	s.sge = s.sge[:0]
	if !s.take('[') {
		return false
	}
	if s.take(']') {
		s.line.SGE = s.sge
		return true
	}
	for s.take('{') {
		x, ok := s.segment()
		if !ok {
			return false
		}
		s.sge = append(s.sge, x)
		if s.take(']') {
			s.line.SGE = s.sge
			return true
		}
		if !s.take(',') {
			return false
		}
	}
	return false
}

// segment reads a segment after its opening brace.
func (s *scanner) segment() (x segment, ok bool) {
	var given [3]bool
	for s.take('"') {
		k := 0
		switch {
		case s.is("addr"):
		case s.is("length"):
			k = 1
		case s.is("lkey"):
			k = 2
		default:
			return x, false
		}
		if given[k] || !s.take(':') {
			return x, false
		}
		given[k] = true
		s.space()
		n, ok := s.number()
		if !ok || k > 0 && n > 1<<32-1 {
			return x, false
		}
		switch k {
		case 0:
			x.Addr = n
		case 1:
			x.Length = uint32(n)
		default:
			x.LKey = uint32(n)
		}
		if s.take('}') {
			return x, true
		}
		if !s.take(',') {
			return x, false
		}
	}
	return x, false
}
