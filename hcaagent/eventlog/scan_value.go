package eventlog

// value reads the value of a field. It reports false where that does not fit.
func (s *scanner) value(n *node) bool {
	switch f := n.field; f.kind {
	case ofNumber:
		return s.whole(f)
	case ofText:
		return s.string(n)
	case ofSegments:
		s.put(f.key, 0)
		return s.segments()
	case ofBytes:
		if !s.take('"') {
			return false
		}
		from := s.at
		text, ok := s.plain()
		s.put(f.key, uint64(from)<<32|uint64(from+len(text)))
		return ok
	case ofType:
		if s.text[s.at] == '"' {
			return s.string(n)
		}
		v, ok := s.number()
		s.put(f.key, 0)
		s.put(kWindowType, v)
		return ok && v <= f.most
	default:
		if s.take('"') {
			_, ok := s.plain()
			return ok
		}
		if s.text[s.at] == '-' {
			s.at++
		}
		_, ok := s.number()
		return ok
	}
}

// whole reads a whole number.
func (s *scanner) whole(f *field) bool {
	if s.text[s.at] == '-' {
		s.at++
		v, ok := s.number()
		s.put(f.key, -v)
		return ok && f.signed && v <= 1<<63
	}
	v, ok := s.number()
	s.put(f.key, v)
	return ok && v <= f.most
}

// string reads a string. It reports false where that is no plain one.
func (s *scanner) string(n *node) bool {
	if s.text[s.at] != '"' {
		return false
	}
	s.at++
	for i := range n.words {
		if x := &n.words[i]; s.comes(&x.span) {
			s.put(n.field.key, x.place)
			if x.hits++; i > 0 && x.hits > 2*n.words[i-1].hits {
				n.words[i-1], n.words[i] = n.words[i], n.words[i-1]
			}
			return true
		}
	}
	text, ok := s.plain()
	if !ok {
		return false
	}
	place := s.intern(string(text))
	if s.put(n.field.key, place); len(n.words) < mostWords {
		n.words = append(n.words, seen{span: newSpan(string(text) + `"`), place: place})
	}
	return true
}

// intern returns the place of a string among the words.
func (s *scanner) intern(text string) uint64 {
	place, ok := s.places[text]
	if !ok {
		place = uint64(len(s.words))
		s.words = append(s.words, &word{text: text, meaning: meaningOf(text)})
		s.places[text] = place
	}
	return place
}

// The spans of a segment.
var (
	segmentAddr   = newSpan(`{"addr":`)
	segmentLength = newSpan(`,"length":`)
	segmentLKey   = newSpan(`,"lkey":`)
)

// segments reads a list of segments.
func (s *scanner) segments() bool {
	if !s.take('[') {
		return false
	}
	if s.take(']') {
		return true
	}
	for {
		x, ok := s.usual()
		if !ok {
			if x, ok = s.segment(); !ok {
				return false
			}
		}
		s.sge = append(s.sge, x)
		if s.take(']') {
			return true
		}
		if !s.take(',') {
			return false
		}
	}
}

// usual reads a segment as most programs write it.
func (s *scanner) usual() (x segment, ok bool) {
	from := s.at
	var length, lkey uint64
	if s.comes(&segmentAddr) {
		if x.Addr, ok = s.number(); ok && s.comes(&segmentLength) {
			if length, ok = s.number(); ok && s.comes(&segmentLKey) {
				if lkey, ok = s.number(); ok && s.text[s.at] == '}' && length <= 1<<32-1 && lkey <= 1<<32-1 {
					s.at++
					x.Length, x.LKey = uint32(length), uint32(lkey)
					return x, true
				}
			}
		}
	}
	s.at = from
	return segment{}, false
}

// segment reads a segment.
func (s *scanner) segment() (x segment, ok bool) {
	var given [3]bool
	for mark := byte('{'); s.take(mark) && s.take('"'); mark = ',' {
		name, _ := s.plain()
		k := 0
		switch string(name) {
		case "addr":
		case "length":
			k = 1
		case "lkey":
			k = 2
		default:
			return x, false
		}
		if given[k] || !s.take(':') {
			return x, false
		}
		given[k] = true
		s.space()
		v, ok := s.number()
		if !ok || k > 0 && v > 1<<32-1 {
			return x, false
		}
		switch k {
		case 0:
			x.Addr = v
		case 1:
			x.Length = uint32(v)
		default:
			x.LKey = uint32(v)
		}
		if s.take('}') {
			return x, true
		}
	}
	return x, false
}
