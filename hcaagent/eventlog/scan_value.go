package eventlog

import (
	"bytes"
	"encoding/binary"
)

// value reads the value of a field. It reports false where that does not fit.
func (s *scanner) value(n *node) bool {
	if s.text[s.at] == ' ' {
		s.space()
	}
	if n.kind != skipped && s.has(n.key) {
		return false
	}
	switch n.kind {
	case ofNumber:
		return s.whole(n)
	case ofText:
		return s.string(n)
	case ofSegments:
		s.put(n.key, 0)
		return s.segments()
	case ofBytes:
		return s.hexadecimal(n.key)
	case ofType:
		if s.text[s.at] == '"' {
			return s.string(n)
		}
		v, ok := s.number()
		s.put(n.key, 0)
		s.put(kWindowType, v)
		return ok && v <= n.most
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
func (s *scanner) whole(n *node) bool {
	if s.text[s.at] == '-' {
		s.at++
		v, ok := s.number()
		s.put(n.key, -v)
		return ok && n.signed && v <= 1<<63
	}
	v, ok := s.number()
	s.put(n.key, v)
	return ok && v <= n.most
}

// hexadecimal reads a string of hexadecimal digits, and the bytes that they are.
func (s *scanner) hexadecimal(k key) bool {
	if !s.take('"') {
		return false
	}
	from := s.at
	if n := bytes.IndexByte(s.text[from:s.end], '"'); n >= 0 {
		if s.decode(k, s.text[from:from+n]) {
			s.put(k, uint64(from)<<32|uint64(from+n))
			s.at = from + n + 1
			return true
		}
	}
	text, ok := s.plain()
	s.put(k, uint64(from)<<32|uint64(from+len(text)))
	return ok
}

// string reads a string. It reports false where that is no plain one.
func (s *scanner) string(n *node) bool {
	if s.text[s.at] != '"' {
		return false
	}
	hash := hash(binary.LittleEndian.Uint64(s.text[s.at:]))
	for i := range n.words {
		if x := &n.words[i]; s.comes(&x.span) {
			s.put(n.key, x.place)
			n.tried[hash] = uint8(i + 1)
			return true
		}
	}
	s.at++
	text, ok := s.plain()
	if !ok {
		return false
	}
	place := s.intern(string(text))
	if s.put(n.key, place); len(n.words) < mostWords {
		n.words = append(n.words, seen{span: newSpan(`"` + string(text) + `"`), place: place})
		n.tried[hash] = uint8(len(n.words))
	}
	return true
}

// hash is a hash of what a string has of eight bytes, from its opening quote on.
func hash(text uint64) uint64 {
	x := (text ^ quotes) | 0xff
	quote := (x - ones) &^ x & highs
	return (text & (quote ^ (quote - 1))) * 0x9E3779B97F4A7C15 >> 60
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
		x, ok := s.usualSegment()
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

// usualSegment reads a segment as most programs write it.
func (s *scanner) usualSegment() (x segment, ok bool) {
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
