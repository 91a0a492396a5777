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
