package privilege

import (
	"errors"
	"os/user"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/psx"
)

// none are the arguments of capset(2), which say that a thread may do nothing. They lie still.
var none struct {
	header unix.CapUserHeader
	data   [2]unix.CapUserData
}

// Drop becomes a user, by name or number, if one is named, and gives up all capabilities, of all threads and for good. What is open stays open.
func Drop(name string) error {
	if err := bound(); err != nil {
		return err
	}
	if name != "" {
		if err := become(name); err != nil {
			return err
		}
	}
	if _, _, e := psx.Syscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); e != 0 {
		return &Error{"refuse new privileges", e}
	}
	if _, _, e := psx.Syscall6(unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0, 0); e != 0 && e != unix.EINVAL {
		return &Error{"give up ambient capabilities", e}
	}
	none.header.Version = unix.LINUX_CAPABILITY_VERSION_3
	if _, _, e := psx.Syscall3(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&none.header)), uintptr(unsafe.Pointer(&none.data)), 0); e != 0 {
		return &Error{"give up capabilities", e}
	}
	return nil
}

// bound empties the bounding set of capabilities: no program that this one may start gets any. That takes the capability CAP_SETPCAP, which a service that
// is not root need not have.
func bound() error {
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		switch _, _, e := psx.Syscall6(unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, c, 0, 0, 0, 0); e {
		case 0:
		case unix.EPERM, unix.EINVAL: // or the kernel knows fewer
			return nil
		default:
			return &Error{"empty the bounding set of capabilities", e}
		}
	}
	return nil
}

func become(name string) error {
	doing := "become user " + name
	u, err := user.Lookup(name)
	if err != nil {
		if u, err = user.LookupId(name); err != nil {
			return &Error{doing, errors.New("there is no such user")}
		}
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return &Error{doing, err}
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return &Error{doing, err}
	}
	if uid == syscall.Geteuid() {
		return nil
	}
	if syscall.Geteuid() != 0 {
		return &Error{doing, errors.New("only root can: start the program as that user, with the capability CAP_NET_RAW")}
	}
	groups := []int{gid}
	if ids, err := u.GroupIds(); err == nil {
		for _, id := range ids {
			if n, err := strconv.Atoi(id); err == nil && n != gid {
				groups = append(groups, n)
			}
		}
	}
	for _, f := range []func() error{
		func() error { return syscall.Setgroups(groups) },
		func() error { return syscall.Setgid(gid) },
		func() error { return syscall.Setuid(uid) },
	} {
		if err := f(); err != nil {
			return &Error{doing, err}
		}
	}
	return nil
}
