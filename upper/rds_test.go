package upper

import "testing"

// rdsMessage is a header with its checksum, and n bytes of data.
func rdsMessage(sequence, ack uint64, length uint32, source, destination uint16, flags uint8, n int) []byte {
	b := padded(bytesOf(be, sequence, ack, length, source, destination, flags, uint8(3)), rdsHeaderSize)
	sum := uint32(0)
	for i := 0; i < len(b); i += 2 {
		sum += uint32(be.Uint16(b[i:]))
	}
	for sum > 0xFFFF {
		sum = sum>>16 + sum&0xFFFF
	}
	be.PutUint16(b[30:], ^uint16(sum))
	return padded(b, len(b)+n)
}

func TestRDS(t *testing.T) {
	k := &talk{TB: t}
	k.send(0, rdsMessage(1, 0, 8192, 0, 0, rdsBitmap, 4096))
	k.send(0, rdsMessage(1, 0, 8192, 0, 0, rdsBitmap, 4096))
	k.oldest("RDS congestion map, sequence number 1")
	k.send(1, rdsMessage(0, 1, 0, 0, 0, 0, 0))
	k.send(0, rdsMessage(2, 0, 300, 4000, 5000, 2, 300))
	k.send(0, rdsMessage(3, 0, 5000, 4000, 5000, 2, 4096))
	k.send(0, rdsMessage(3, 0, 5000, 4000, 5000, 2, 904))
	k.is("RDS", Counts{Begun: 3, Ended: 1, Open: 2})
	k.oldest("RDS datagram of 300 bytes, sequence number 2, port 4000 to port 5000")
	k.send(1, rdsMessage(1, 3, 1, 5000, 4000, 0, 1))
	k.is("RDS", Counts{Begun: 4, Ended: 3, Open: 1})
}

// TestRDSStrict: the checksum and the length agree.
func TestRDSStrict(t *testing.T) {
	wrong := rdsMessage(2, 0, 300, 4000, 5000, 2, 300)
	wrong[31] ^= 1
	for name, b := range map[string][]byte{"checksum": wrong, "length": rdsMessage(2, 0, 300, 4000, 5000, 2, 299), "zeros": make([]byte, 48)} {
		if p, fit := Recognize(&Message{Whole: true, Head: b, Length: len(b)}); fit != NoFit {
			t.Errorf("%s: %s", name, p.Name())
		}
	}
}

func FuzzRDS(f *testing.F) {
	fuzz(f, rds{}, rdsMessage(2, 0, 300, 4000, 5000, 2, 300), rdsMessage(0, 2, 0, 0, 0, 0, 0))
}
