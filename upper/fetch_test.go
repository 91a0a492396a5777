package upper

import "testing"

// TestUnfetched: of commands whose peer has to fetch their data by RDMA READ it is known of which it has asked for none, and of how many it has; not where a READ asks for memory that no command has named, what a command
// has named is not all known, or others were answered without a READ.
func TestUnfetched(t *testing.T) {
	write := func(xid, rkey, length uint32, addr uint64) []byte {
		return rpcCallOf(xid, programNFS, 3, 7, []segment{{rkey, length, addr}, {rkey + 1, 100, addr + 1<<20}}, []segment{{rkey + 2, 64, addr + 1<<24}})
	}
	for _, tt := range []struct {
		name    string
		do      func(k *talk)
		want    uint64 // bytes of the oldest
		waits   int
		fetched uint64
	}{
		{"none is asked for", func(*talk) {}, 2148, 2, 1},
		{"its first part is", func(k *talk) { k.t.Read(0x2000+1024, 0x20, 0, 0, 0) }, 0, 1, 2},
		{"another part is", func(k *talk) { k.t.Read(0x2000+1<<20, 0x21, 0, 0, 0) }, 0, 1, 1},
		{"that of the other is", func(k *talk) { k.t.Read(0x3000, 0x30, 0, 0, 0) }, 2148, 1, 2},
		{"what was asked for is once more", func(k *talk) { k.t.Read(0x1000, 0x10, 0, 0, 0) }, 2148, 2, 1},
		{"what it names to be written to is", func(k *talk) { k.t.Read(0x2000+1<<24, 0x22, 0, 0, 0) }, 2148, 2, 1},
		{"another R_Key is", func(k *talk) { k.t.Read(0x2000, 0x99, 0, 0, 0) }, 0, 0, 1},
		{"what comes after it is", func(k *talk) { k.t.Read(0x2000+2048, 0x20, 0, 0, 0) }, 0, 0, 1},
		{"others send from the same memory, and it is asked for", func(k *talk) {
			k.send(0, write(5, 0x20, 2048, 0x2000))
			k.t.Read(0x2000, 0x20, 0, 0, 0)
		}, 0, 1, 3},
		{"that of the other is answered all the same", func(k *talk) { k.send(1, rpcReplyOf(3, 0, uint32(0))) }, 0, 0, 1},
		{"that of the other fails", func(k *talk) { k.send(1, rpcReplyOf(3, 0, uint32(5))) }, 2148, 1, 1},
		{"that of the other is asked for, and answered", func(k *talk) {
			k.t.Read(0x3000+1<<20, 0x31, 0, 0, 0)
			k.send(1, rpcReplyOf(3, 0, uint32(0)))
		}, 2148, 1, 1},
		{"many more come, and are answered", func(k *talk) {
			for n := range uint32(mostRanges) {
				k.send(0, rpcCallOf(100+n, programNFS, 3, 6, nil, []segment{{0x1000 + n, 2048, 0x10000}}))
				k.send(1, rpcReplyOf(100+n, 0, uint32(0)))
			}
		}, 0, 0, 1},
	} {
		k := &talk{TB: t}
		k.send(0, rpcCallOf(9, programNFS, 3, 1, nil, nil))
		k.send(1, rpcReplyOf(9, 0, uint32(0)))
		k.send(0, write(1, 0x10, 2048, 0x1000))
		k.t.Read(0x1000, 0x10, 0, 0, 0)
		k.t.Read(0x1000+1<<20, 0x11, 0, 0, 0)
		k.send(1, rpcReplyOf(1, 0, uint32(0)))
		k.send(0, write(2, 0x20, 2048, 0x2000))
		k.send(0, write(3, 0x30, 2048, 0x3000))
		tt.do(k)
		c := k.t.Oldest()
		if got := k.t.Unfetched(c); got != tt.want || k.t.WaitUnfetched() != tt.waits || k.t.Fetched() != tt.fetched || k.name(c) != "NFS version 3 WRITE, XID 0x00000002" {
			t.Errorf("%s: %d bytes of %q, %d wait, %d were fetched", tt.name, got, k.name(c), k.t.WaitUnfetched(), k.t.Fetched())
		}
		unread := 0
		for i := range k.t.places {
			if k.t.places[i].unread() {
				unread++
			}
		}
		if unread != k.t.unread {
			t.Errorf("%s: %d places are unread, and %d are counted", tt.name, unread, k.t.unread)
		}
	}
}

// TestToFetch: which commands have data that their peer has to fetch, and all of which is named.
func TestToFetch(t *testing.T) {
	write := smbdMessage(0, smb2WriteOf(8, 0x9000, 7, 4096))
	scsiWriteOf := func(set func(b []byte)) []byte {
		b := iserMessage(iserWrite, 0x66, 0x6000, 0, 0, scsi(scsiWrite, 0, 0x11, 0x2A)...)
		set(b)
		return b
	}
	login := []any{uint8(loginRequest | 0x40), uint8(0x87), uint16(0), uint32(0), uint64(1), uint32(0)}
	loggedIn := []any{uint8(loginRequest | isTarget), uint8(0x87), uint16(0), uint32(0), uint64(1), uint32(0)}
	nvme := [][]byte{nvmeConnect(0, 1), nvmeResponse(0, 0)}
	smb := [][]byte{smbdMessage(0, smb2Message(0, 0, 0, 0, 0, make([]byte, 36))), smbdMessage(0, smb2Message(0, 0, smb2IsReply, 0, 0, make([]byte, 64)))}
	iser := [][]byte{iserMessage(0, 0, 0, 0, 0, login...), iserMessage(0, 0, 0, 0, 0, loggedIn...)}
	for _, tt := range []struct {
		name    string
		before  [][]byte // a command, and the message that ends it
		command []byte
		cut     int // bytes that were not captured
		want    uint64
	}{
		{"NVMe Write", nvme, nvmeCommand(0x01, 18, 1, 0x1000, 7, 4096), 0, 4096},
		{"NVMe Write, before anything was answered", nvme[:1], nvmeCommand(0x01, 18, 1, 0x1000, 7, 4096), 0, 0},
		{"NVMe Read", nvme, nvmeRead(18, 1, 0x1000, 7, 4096), 0, 0},
		{"SMB2 WRITE", smb, write, 0, 4096},
		{"SMB2 WRITE of which a descriptor was cut", smb, write, 8, 0},
		{"SMB2 READ", smb, smbdMessage(0, smb2ReadOf(8, 0x9000, 7, 4096)), 0, 0},
		{"SCSI WRITE", iser, scsiWriteOf(func([]byte) {}), 0, 65536},
		{"SCSI WRITE with immediate data", iser, append(scsiWriteOf(func(b []byte) { b[iserHeaderSize+6] = 2 }), make([]byte, 512)...), 0, 0},
		{"SCSI WRITE before unsolicited data", iser, scsiWriteOf(func(b []byte) { b[iserHeaderSize+1] &^= finalBit }), 0, 0},
		{"SCSI READ", iser, iserMessage(iserRead, 0, 0, 0x77, 0x7000, scsi(scsiRead, 0, 0x11, 0x28)...), 0, 0},
	} {
		k := &talk{TB: t}
		for n, b := range tt.before {
			k.send(n, b)
		}
		k.take(&Message{Whole: true, Head: tt.command[:len(tt.command)-tt.cut], Length: len(tt.command)})
		if len(tt.before) == 1 {
			k.send(1, nvmeResponse(0, 0))
		}
		if c := k.t.Oldest(); c == nil {
			t.Errorf("%s: it did not begin", tt.name)
		} else if got := k.t.Unfetched(c); got != tt.want {
			t.Errorf("%s: %d bytes of %s", tt.name, got, k.name(c))
		}
	}
}

// TestHasData: of which commands the peer has asked for the data is known; not where it may have been that of another that names the same memory.
func TestHasData(t *testing.T) {
	write := func(xid, rkey uint32, addr uint64) []byte {
		return rpcCallOf(xid, programNFS, 3, 7, []segment{{rkey, 2048, addr}}, nil)
	}
	for name, tt := range map[string]struct {
		do   func(k *talk)
		want int
	}{
		"none":                 {func(*talk) {}, 0},
		"of one":               {func(k *talk) { k.t.Read(0x2000, 0x20, 2048, 0, 0) }, 1},
		"of both":              {func(k *talk) { k.t.Read(0x2000, 0x20, 2048, 0, 0); k.t.Read(0x3000, 0x30, 2048, 0, 0) }, 2},
		"another names it too": {func(k *talk) { k.send(0, write(4, 0x20, 0x2000)); k.t.Read(0x2000, 0x20, 2048, 0, 0) }, 0},
	} {
		k := &talk{TB: t}
		k.send(0, rpcCallOf(9, programNFS, 3, 1, nil, nil))
		k.send(1, rpcReplyOf(9, 0, uint32(0)))
		k.send(0, write(2, 0x20, 0x2000))
		k.send(0, write(3, 0x30, 0x3000))
		tt.do(k)
		if got := k.t.WaitFetched(); got != tt.want || k.t.HasData(k.t.Oldest()) != (tt.want > 0) || !k.t.StatusOnly(k.t.Oldest()) {
			t.Errorf("%s: %d", name, got)
		}
		if by, calls, frame := k.t.Calls(); by != 1 || calls == 0 || frame != 2 {
			t.Errorf("%s: %d, %d, %d", name, by, calls, frame)
		}
	}
}
