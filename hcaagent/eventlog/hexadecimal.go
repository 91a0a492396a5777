package eventlog

import (
	"encoding/binary"
	"encoding/hex"
)

// octetsRoom is how much room is made at once for the bytes that digits are.
const octetsRoom = 1024

// decode decodes the digits of "head" or "data", and reports whether that is what they are. What they are is for whom the line is made an event of.
func (r *record) decode(k key, digits []byte) bool {
	n := hex.DecodedLen(len(digits))
	if r.room == nil || n > len(r.room) {
		r.room = make([]byte, max(n, octetsRoom))
	}
	list := r.room[:n:n]
	if !decodeHex(list, digits) {
		return false
	}
	r.room, r.decoded[decodedAt(k)] = r.room[n:], list
	return true
}

// octets are the bytes of "head" or "data".
func (r *record) octets(k key) ([]byte, error) {
	if b := r.decoded[decodedAt(k)]; b != nil {
		return b, nil
	}
	text := r.digits(k)
	b := make([]byte, hex.DecodedLen(len(text)))
	_, err := hex.Decode(b, text)
	return b, err
}

// decodedAt is where in decoded a field is.
func decodedAt(k key) int {
	if k == kHead {
		return 0
	}
	return 1
}

// decodeHex decodes hexadecimal digits, eight at a time. It reports false where something is none, or a digit is left.
func decodeHex(into, digits []byte) bool {
	for len(digits) >= 8 {
		x := binary.LittleEndian.Uint64(digits)
		letter := (x | 0x20*ones) ^ 0x60*ones       // of a to f 1 to 6
		number := ((x ^ zeros) + 0x76*ones) & highs // 0: it is one
		if x&highs != 0 || number&(letter+0x79*ones|^(letter+0x7f*ones)) != 0 {
			return false
		}
		x = x&(0x0f*ones) + 9*(x>>6&ones)
		x = (x<<4 | x>>8) & 0x00ff00ff00ff00ff
		x = (x | x>>8) & 0x0000ffff0000ffff
		binary.LittleEndian.PutUint32(into, uint32(x|x>>16))
		digits, into = digits[8:], into[4:]
	}
	_, err := hex.Decode(into, digits)
	return err == nil
}
