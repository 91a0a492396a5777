//go:build !libpcap

package live

import "errors"

// Libpcap says whether OpenLibpcap can open anything.
const Libpcap = false

// OpenLibpcap fails: it needs a program that was built with the tag libpcap.
func OpenLibpcap(Options) (Capture, error) {
	return nil, errors.New("live: this program was built without libpcap: build it with -tags libpcap, which needs cgo and libpcap's headers (Debian: libpcap-dev)")
}
