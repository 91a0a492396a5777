//go:build verbs && cgo && linux

package verbs

// #include "shim.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"

	"ibwitness/packet"
	"ibwitness/wqe"
)

// gidOf is the union of a GID.
func gidOf(a packet.Addr) C.union_ibv_gid { return C.union_ibv_gid(a.Bytes()) }

// membership is a socket by which the network interface of the port is in a group of IP: RoCEv2 takes no packets of a group that the interface is not in.
type membership int

// AttachMulticast has a queue pair of UD receive what is sent to a group.
func (d *Device) AttachMulticast(ctx context.Context, handle wqe.QP, group packet.Addr) error {
	return d.withQP(ctx, handle, func(q *queuePair) error {
		if !d.roce {
			return fmt.Errorf("verbs: multicast on InfiniBand: a group is joined by subnet administration: %w", errors.ErrUnsupported)
		}
		if _, ok := q.groups[group]; ok {
			return nil
		}
		m, err := d.join(group)
		if err != nil {
			return err
		}
		raw := gidOf(group)
		if err := returned("ibv_attach_mcast", C.ibv_attach_mcast(q.qp, &raw, 0)); err != nil {
			return errors.Join(err, m.leave())
		}
		q.groups[group] = m
		return nil
	})
}

// DetachMulticast ends that.
func (d *Device) DetachMulticast(ctx context.Context, handle wqe.QP, group packet.Addr) error {
	return d.withQP(ctx, handle, func(q *queuePair) error {
		if err := returned("ibv_detach_mcast", q.detach(group)); err != nil {
			return err
		}
		m, ok := q.groups[group]
		delete(q.groups, group)
		if !ok {
			return nil
		}
		return m.leave()
	})
}

// detach takes a queue pair out of a group.
func (q *queuePair) detach(group packet.Addr) C.int {
	raw := gidOf(group)
	return C.ibv_detach_mcast(q.qp, &raw, 0)
}

// join brings the network interface into a group.
func (d *Device) join(group packet.Addr) (membership, error) {
	card, err := net.InterfaceByName(d.info.Interface)
	if err != nil {
		return -1, fmt.Errorf("verbs: the network interface of the port: %w", err)
	}
	raw, family := group.Bytes(), unix.AF_INET6
	if group.IsIPv4() {
		family = unix.AF_INET
	}
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("verbs: join %v: %w", group, err)
	}
	if group.IsIPv4() {
		err = unix.SetsockoptIPMreqn(fd, unix.IPPROTO_IP, unix.IP_ADD_MEMBERSHIP, &unix.IPMreqn{Multiaddr: [4]byte(raw[12:]), Ifindex: int32(card.Index)})
	} else {
		err = unix.SetsockoptIPv6Mreq(fd, unix.IPPROTO_IPV6, unix.IPV6_JOIN_GROUP, &unix.IPv6Mreq{Multiaddr: raw, Interface: uint32(card.Index)})
	}
	if err != nil {
		return -1, fmt.Errorf("verbs: join %v on %s: %w", group, card.Name, errors.Join(err, unix.Close(fd)))
	}
	return membership(fd), nil
}

// leave takes the network interface out of the group.
func (m membership) leave() error { return unix.Close(int(m)) }
