package eventlog

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
)

// fields is a line of a log as it is written, field by field: through encoding/json a line takes longer than to simulate what it tells of.
type fields []byte

// begin begins an object.
func (f *fields) begin() { *f = append(*f, '{') }

// end ends it.
func (f *fields) end() { *f = append(*f, '}') }

func (f *fields) name(s string) {
	b := *f
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	*f = append(append(append(b, '"'), s...), '"', ':')
}

// number adds a field.
func (f *fields) number(name string, v uint64) {
	f.name(name)
	*f = strconv.AppendUint(*f, v, 10)
}

// signed adds a field that may be negative.
func (f *fields) signed(name string, v int64) {
	f.name(name)
	*f = strconv.AppendInt(*f, v, 10)
}

// some adds a field that is not 0.
func (f *fields) some(name string, v uint64) {
	if v != 0 {
		f.number(name, v)
	}
}

// flag adds a field of 1, where it is set.
func (f *fields) flag(name string, set bool) {
	if set {
		f.number(name, 1)
	}
}

// text adds a string.
func (f *fields) text(name, s string) {
	f.name(name)
	if strings.ContainsFunc(s, escaped) {
		quoted, _ := json.Marshal(s) // there is no error of a string
		*f = append(*f, quoted...)
		return
	}
	*f = append(append(append(*f, '"'), s...), '"')
}

// escaped reports whether encoding/json writes r as something else in a string, or may.
func escaped(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`"\<>&`, r) }

// digits adds bytes as hexadecimal digits.
func (f *fields) digits(name string, v []byte) {
	f.name(name)
	*f = append(hex.AppendEncode(append(*f, '"'), v), '"')
}
