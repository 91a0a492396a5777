package upper

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"time"
)

const (
	// mostTargets is how many targets a tracker counts.
	mostTargets = 16
	// LateAfter is how long a command takes that is late where others take far less, nanoseconds.
	LateAfter = int64(10 * time.Millisecond)
	// lateApart is how far apart times are at least in which commands were late, nanoseconds, and mostLateTimes how many of them are kept.
	lateApart     = int64(100 * time.Millisecond)
	mostLateTimes = 32
)

// Target is what commands work on, as a namespace, a LUN, a file or a file system, and how long they took that do.
type Target struct {
	Key      uint64
	Head     [16]byte // from which it is named
	Open     int      // that have begun and not ended
	Answered uint64
	Sum      int64 // nanoseconds, of those that were answered
	Longest  int64 // of them
	Newest   int64 // when the one of them began that began last, nanoseconds since the Unix epoch
	Late     Late
	begun    uint64
	second   second
}

// Late is how many commands took LateAfter or longer, and when.
type Late struct {
	Count  uint64
	Others uint64     // of other targets that began after one of them and ended before it: the most
	Times  []LateTime // in which some were open, the first ones, in order
	More   bool       // there were more
}

// LateTime is from when to when such commands were open, nanoseconds since the Unix epoch.
type LateTime struct{ From, To int64 }

// add counts a command that was answered just now.
func (l *Late) add(since, ended int64, others uint64) {
	l.Count++
	l.Others = max(l.Others, others)
	switch n := len(l.Times); {
	case n > 0 && since <= l.Times[n-1].To+lateApart:
		l.Times[n-1].From, l.Times[n-1].To = min(l.Times[n-1].From, since), ended
	case n == mostLateTimes:
		l.More = true
	default:
		l.Times = append(l.Times, LateTime{since, ended})
	}
}

// JoinLate joins times in which commands of several connections were late.
func JoinLate(list []LateTime) (joined []LateTime) {
	slices.SortFunc(list, func(a, b LateTime) int { return int(min(max(a.From-b.From, -1), 1)) })
	for _, x := range list {
		if n := len(joined); n > 0 && x.From <= joined[n-1].To+lateApart {
			joined[n-1].To = max(joined[n-1].To, x.To)
		} else {
			joined = append(joined, x)
		}
	}
	return joined
}

// On notes what a command that was begun last works on, by a key and what names it.
func (t *Tracker) On(c *Command, key uint64, head []byte) {
	for i := range t.targets {
		if k := &t.targets[i]; k.Key == key {
			k.begun++
			c.target, c.nthOn = uint8(i+1), uint16(k.begun)
			return
		}
	}
	if len(t.targets) == mostTargets {
		t.targetless = true
		return
	}
	k := Target{Key: key, begun: 1}
	copy(k.Head[:], head)
	t.targets = append(t.targets, k)
	c.target, c.nthOn = uint8(len(t.targets)), 1
}

// onTarget counts how long a command took, nanoseconds.
func (t *Tracker) onTarget(c *Command, took, ended int64) {
	others := uint64(0)
	if took >= LateAfter {
		others = t.othersOn(c)
		t.times.Late.add(c.Since, ended, others)
	}
	if c.target == 0 {
		return
	}
	k := &t.targets[c.target-1]
	k.Answered++
	k.Sum += took
	k.Longest, k.Newest = k.second.longer(k.Longest, took), max(k.Newest, c.Since)
	if took >= LateAfter {
		k.Late.add(c.Since, ended, others)
	}
}

// othersOn counts the commands that began after one and have ended, and work on something else. It is right where no more than 65535 on the same began meanwhile.
func (t *Tracker) othersOn(c *Command) uint64 {
	if c.target == 0 {
		return 0
	}
	others := t.counts.Begun - c.order
	others -= min(others, uint64(uint16(t.targets[c.target-1].begun)-c.nthOn))
	for i := range t.commands {
		if k := &t.commands[i]; k.state == open && k.order > c.order && k.target != c.target {
			others -= min(others, 1)
		}
	}
	return others
}

// Targets returns what the commands worked on; nil: there was more than is counted, or not all commands were followed.
func (t *Tracker) Targets() []Target {
	if t.targetless || t.forgot || t.counts.GivenUp > 0 || !t.protocol.Answered() {
		return nil
	}
	list := slices.Clone(t.targets)
	for i := range t.commands {
		if c := &t.commands[i]; c.state == open && !c.Waits && c.target > 0 {
			list[c.target-1].Open++
		}
	}
	return list
}

// TargetOf is the place among the targets of what a command works on; -1: it is not known.
func (t *Tracker) TargetOf(c *Command) int { return int(c.target) - 1 }

// TargetName names what commands work on.
func (t *Tracker) TargetName(k *Target) string {
	head := k.Head[:]
	switch t.decoder.(type) {
	case *nvmeDecoder:
		return fmt.Sprintf("namespace %d", k.Key)
	case *iserDecoder:
		return "LUN " + lun(k.Key)
	case *smbDecoder:
		return "file id " + hex.EncodeToString(head)
	}
	switch kind := uint8(k.Key >> 56); kind {
	case fsidUUID:
		return fmt.Sprintf("the file system of UUID %x-%x-%x-%x-%x", head[:4], head[4:6], head[6:8], head[8:10], head[10:])
	case fsidNumber:
		return fmt.Sprintf("the export of fsid=%d", binary.LittleEndian.Uint32(head))
	default:
		return "the file handle that begins with " + hex.EncodeToString(head)
	}
}

// How a file handle of the NFS server of Linux names its file system (fs/nfsd/nfsfh.h): the third byte says.
const (
	fsidNumber    = 1 // 4 bytes
	fsidUUID      = 6 // 16 bytes
	fsidUUIDInode = 7 // 8 bytes, which are the inode that is exported, then 16 bytes
	fsidNone      = 0xFF
)

// fileSystem returns by what the commands on a file system are known, from a file handle: of other servers than that of Linux the handle itself.
func fileSystem(handle []byte) (key uint64, head []byte) {
	if len(handle) == 0 {
		return 0, nil
	}
	kind, head := uint8(fsidNone), handle
	if handle[0] == 1 && len(handle) > 4 && handle[1] == 0 {
		switch at := handle[4:]; {
		case handle[2] == fsidNumber && len(at) >= 4:
			kind, head = fsidNumber, at[:4]
		case handle[2] == fsidUUID && len(at) >= 16:
			kind, head = fsidUUID, at[:16]
		case handle[2] == fsidUUIDInode && len(at) >= 24:
			kind, head = fsidUUID, at[8:24] // others of the file system name no inode
		}
	}
	return hashOf(head)&(1<<56-1) | uint64(kind)<<56, head
}

// hashOf is by which key what has a long name is known: FNV-1a of that.
func hashOf(name []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, b := range name {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h
}
