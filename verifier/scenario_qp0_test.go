package verifier_test

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"ibwitness/mad"
)

// subnetManagement builds the bare subnet management packet of a line such as QP0_GETRESP attr=0x16 pkeys=0x8001/0x0002.
func subnetManagement(op string, f *fields) ([]byte, error) {
	method, ok := managementMethods[strings.TrimPrefix(op, "QP0_")]
	if !ok {
		return nil, fmt.Errorf("no method %s", op)
	}
	get := func(field string, otherwise uint64) uint64 {
		if n, ok := f.number(field); ok {
			return n
		}
		return otherwise
	}
	b := make([]byte, get("len", mad.Size))
	b[0], b[1], b[2], b[3] = 1, byte(get("class", 1)), 1, byte(method)
	binary.BigEndian.PutUint64(b[8:], get("tid", 1))
	binary.BigEndian.PutUint16(b[16:], uint16(get("attr", 0x11)))
	if w, ok := f.word("pkeys"); ok {
		for i, k := range strings.Split(w, "/") {
			n, err := strconv.ParseUint(k, 0, 16)
			if err != nil {
				return nil, err
			}
			binary.BigEndian.PutUint16(b[64+2*i:], uint16(n))
		}
	}
	return b, nil
}
