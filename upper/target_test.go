package upper

import (
	"bytes"
	"slices"
	"testing"
	"time"
)

// TestFileSystem: handles of the server of Linux that name one file system are told to be of one, whether they name the inode that is exported or not; of other servers, each handle is told by itself.
func TestFileSystem(t *testing.T) {
	uuid := bytes.Repeat([]byte{0x5a}, 16)
	inode := slices.Concat([]byte{1, 0, fsidUUIDInode, 1, 9, 0, 0, 0, 0, 0, 0, 0}, uuid, []byte{7, 7, 7, 7})
	plain := slices.Concat([]byte{1, 0, fsidUUID, 1}, uuid, []byte{8, 8, 8, 8})
	number := []byte{1, 0, fsidNumber, 1, 5, 0, 0, 0, 6, 6}
	d := &Tracker{decoder: &rpcDecoder{}}
	for _, k := range []struct {
		name, want string
		handle     []byte
	}{
		{"UUID and inode", "the file system of UUID 5a5a5a5a-5a5a-5a5a-5a5a-5a5a5a5a5a5a", inode},
		{"UUID", "the file system of UUID 5a5a5a5a-5a5a-5a5a-5a5a-5a5a5a5a5a5a", plain},
		{"number", "the export of fsid=5", number},
		{"another server", "the file handle that begins with 43000000000000000000000000000000", []byte{0x43}},
		{"cut", "the file handle that begins with 01000701090000000000000000000000", inode[:8]},
	} {
		x := Target{}
		key, head := fileSystem(k.handle)
		x.Key = key
		copy(x.Head[:], head)
		if got := d.TargetName(&x); got != k.want {
			t.Errorf("%s: %s", k.name, got)
		}
	}
	if a, _ := fileSystem(inode); a == 0 {
		t.Error("no key")
	} else if b, _ := fileSystem(plain); a != b {
		t.Error("two keys")
	}
	if key, _ := fileSystem(nil); key != 0 {
		t.Error("of nothing")
	}
}

// TestTargetsOfNFS: calls are counted by the file system that their handle names, of version 3 and 4.
func TestTargetsOfNFS(t *testing.T) {
	k := &talk{TB: t}
	handle := func(b byte) []byte { return append([]byte{1, 0, fsidUUID, 1}, bytes.Repeat([]byte{b}, 16)...) }
	k.send(0, rpcCallOf(1, programNFS, 3, 21, nil, nil, uint32(20), handle(0x5a), uint64(0), uint32(0)))
	k.send(0, rpcCallOf(2, programNFS, 4, 1, nil, nil, uint32(0), uint32(0), uint32(2), uint32(opPutfh), uint32(20), handle(0x6b), uint32(9), uint32(0)))
	k.send(1, rpcReplyOf(2, 0, uint32(0)))
	k.send(0, rpcCallOf(3, programNFS, 3, 0, nil, nil)) // NULL has none
	list := k.t.Targets()
	if len(list) != 2 || list[0].Open != 1 || list[0].Answered != 0 || list[1].Open != 0 || list[1].Answered != 1 {
		t.Errorf("%+v", list)
	}
}

// TestTargetsOfSMB: commands are counted by the file id that they name, which of a related one is that before it.
func TestTargetsOfSMB(t *testing.T) {
	k := &talk{TB: t}
	file := func(b byte) []byte { return bytes.Repeat([]byte{b}, 16) }
	k.send(0, smbdMessage(0, smb2Message(smb2Read, 1, 0, 0, 0, make([]byte, 16), file(0x27), make([]byte, 16))))
	k.send(0, smbdMessage(0, smb2Message(smb2Write, 2, 0, 0, 0, make([]byte, 16), file(0x27), make([]byte, 16))))
	k.send(0, smbdMessage(0, smb2Message(smb2Flush, 3, 0, 0, 0, make([]byte, 8), file(0x77))))
	k.send(0, smbdMessage(0, smb2Message(smb2Flush, 4, 0, 0, 0, make([]byte, 8), file(0xFF))))
	k.send(0, smbdMessage(0, smb2Message(13, 5, 0, 0, 0, make([]byte, 40)))) // ECHO
	list := k.t.Targets()
	if len(list) != 2 || list[0].Open != 2 || list[1].Open != 1 || k.t.TargetName(&list[1]) != "file id 77777777777777777777777777777777" {
		t.Errorf("%+v", list)
	}
}

// TestTargetsOfISER: commands are counted by their LUN, but for those which a target answers without it.
func TestTargetsOfISER(t *testing.T) {
	k := &talk{TB: t}
	k.send(0, iserMessage(iserRead, 0, 0, 0x77, 0x7000, scsi(scsiRead, 0, 0x10, 0x28)...))
	k.send(0, iserMessage(iserRead, 0, 0, 0x78, 0x7000, scsi(scsiRead, 3<<48, 0x11, 0x28)...))
	k.send(0, iserMessage(iserRead, 0, 0, 0x79, 0x7000, scsi(scsiRead, 5<<48, 0x12, inquiry)...))
	list := k.t.Targets()
	if len(list) != 2 || k.t.TargetName(&list[0]) != "LUN 0" || k.t.TargetName(&list[1]) != "LUN 3" {
		t.Errorf("%+v", list)
	}
}

// TestFirstCalls: of a connection of RPC the XIDs and frames of the first calls are kept, and the XIDs of those that have no answer.
func TestFirstCalls(t *testing.T) {
	k := &talk{TB: t}
	for xid := range uint32(mostFirstCalls + 2) {
		k.send(0, rpcCallOf(xid+1, programNFS, 3, 0, nil, nil))
	}
	k.send(1, rpcReplyOf(2, 0, uint32(0)))
	first, open := k.t.FirstCalls()
	if len(first) != mostFirstCalls || first[2] != (FirstCall{XID: 3, Frame: 3}) || len(open) != mostFirstCalls || open[1] != 3 {
		t.Errorf("%+v, %v", first, open)
	}
}

// TestLate: commands that took long are counted, in one time as long as some were open, or were until shortly before.
func TestLate(t *testing.T) {
	ms := int64(time.Millisecond)
	var l Late
	for _, x := range [][2]int64{{0, 30}, {10, 40}, {120, 150}, {300, 320}, {290, 330}} {
		l.add(x[0]*ms, x[1]*ms, 2)
	}
	if want := []LateTime{{0, 150 * ms}, {290 * ms, 330 * ms}}; l.Count != 5 || l.Others != 2 || l.More || !slices.Equal(l.Times, want) {
		t.Errorf("%+v", l)
	}
	if got := JoinLate([]LateTime{{290 * ms, 330 * ms}, {0, 10 * ms}, {100 * ms, 200 * ms}, {320 * ms, 340 * ms}}); !slices.Equal(got, []LateTime{{0, 340 * ms}}) {
		t.Errorf("joined: %v", got)
	}
	for n := range int64(2 * mostLateTimes) {
		l.add(n*1000*ms+1000*ms, n*1000*ms+1020*ms, 0)
	}
	if len(l.Times) != mostLateTimes || !l.More {
		t.Errorf("%d times, more %v", len(l.Times), l.More)
	}
}
