package upper

import "testing"

// iserMessage is an iSER header with what names memory, and a basic header segment.
func iserMessage(flags uint8, writeKey uint32, writeAddr uint64, readKey uint32, readAddr uint64, bhs ...any) []byte {
	b := bytesOf(be, iserPDU|flags, uint8(0), uint16(0), writeKey, writeAddr, readKey, readAddr)
	return padded(append(b, bytesOf(be, bhs...)...), iserHeaderSize+bhsSize)
}

// scsi is the basic header segment of a SCSI command of 64 KiB.
func scsi(flags uint8, lun uint64, tag uint32, cdb uint8) []any {
	return []any{uint8(scsiCommand), finalBit | flags | 1, uint16(0), uint32(0), lun, tag, uint32(65536), uint32(1), uint32(1), cdb}
}

func scsiResponse(tag uint32, response, status uint8) []byte {
	return iserMessage(0, 0, 0, 0, 0, uint8(scsiCommand|isTarget), uint8(finalBit), response, status, uint32(0), uint64(0), tag)
}

func TestISER(t *testing.T) {
	k := &talk{TB: t}
	k.send(0, iserMessage(0, 0, 0, 0, 0, uint8(loginRequest|0x40), uint8(0x87), uint16(0), uint32(0), uint64(1), uint32(0)))
	k.send(1, iserMessage(0, 0, 0, 0, 0, uint8(loginRequest|isTarget), uint8(0x87), uint16(0), uint32(0), uint64(1), uint32(0)))
	k.send(0, iserMessage(iserRead, 0, 0, 0x77, 0x7000, scsi(scsiRead, 0, 0x10, 0x28)...))
	k.is("iSER", Counts{Begun: 2, Ended: 1, Open: 1})
	k.oldest("SCSI READ(10), initiator task tag 0x00000010, LUN 0")
	k.owns(0x8000, 0x77, 0x1000, "SCSI READ(10), initiator task tag 0x00000010, LUN 0")
	k.send(0, iserMessage(iserWrite, 0x88, 0x8000, 0, 0, scsi(scsiWrite, 1<<48, 0x11, 0x8A)...))
	k.owns(0x8000, 0x88, 0x1000, "SCSI WRITE(16), initiator task tag 0x00000011, LUN 1")
	k.send(1, scsiResponse(0x10, 0, 2))
	k.failed("SCSI READ(10), initiator task tag 0x00000010, LUN 0", "CHECK CONDITION")
	k.send(1, scsiResponse(0x11, 1, 0))
	k.failed("SCSI WRITE(16), initiator task tag 0x00000011, LUN 1", "iSCSI response 1")
	k.send(1, iserMessage(0, 0, 0, 0, 0, uint8(0x20), uint8(finalBit), uint16(0), uint32(0), uint64(0), uint32(noTag), uint32(5))) // a NOP-In that asks
	k.send(0, iserMessage(0, 0, 0, 0, 0, uint8(0x40), uint8(finalBit), uint16(0), uint32(0), uint64(0), uint32(noTag), uint32(5)))
	k.is("iSER", Counts{Begun: 3, Ended: 3, Failed: 2})
	k.send(0, iserMessage(0, 0, 0, 0, 0, uint8(0x46), uint8(finalBit), uint16(0), uint32(0), uint64(0), uint32(9)))
	k.oldest("iSCSI Logout Request, initiator task tag 0x00000009")
}

func TestLUN(t *testing.T) {
	for v, want := range map[uint64]string{0: "0", 5 << 48: "5", 0x4123 << 48: "291", 0xC101 << 48: "0xc101000000000000", 1: "0x0000000000000001"} {
		if got := lun(v); got != want {
			t.Errorf("0x%016x: %s", v, got)
		}
	}
}

// TestISERStrict: what is reserved is 0, and what names memory is there where the command needs it.
func TestISERStrict(t *testing.T) {
	for name, b := range map[string][]byte{
		"reserved":      append([]byte{iserPDU | iserRead, 1}, iserMessage(iserRead, 0, 0, 7, 7, scsi(scsiRead, 0, 1, 0x28)...)[2:]...),
		"no R":          iserMessage(0, 0, 0, 7, 7, scsi(scsiRead, 0, 1, 0x28)...),
		"direction":     iserMessage(iserWrite, 7, 7, 0, 0, scsi(scsiRead, 0, 1, 0x28)...),
		"PDU":           iserMessage(0, 0, 0, 0, 0, uint8(0x0F), uint8(finalBit)),
		"length":        append(iserMessage(iserRead, 0, 0, 7, 7, scsi(scsiRead, 0, 1, 0x28)...), 1),
		"memory of NOP": iserMessage(iserRead, 0, 0, 7, 7, uint8(0), uint8(finalBit)),
	} {
		if p, fit := Recognize(&Message{Whole: true, Head: b, Length: len(b)}); fit != NoFit {
			t.Errorf("%s: %s", name, p.Name())
		}
	}
}

func FuzzISER(f *testing.F) {
	fuzz(f, iser{}, iserMessage(iserRead, 0, 0, 0x77, 0x7000, scsi(scsiRead, 0, 0x10, 0x28)...), scsiResponse(0x10, 0, 2), iserMessage(0, 0, 0, 0, 0, uint8(0x46), uint8(finalBit)))
}
