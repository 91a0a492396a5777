//go:build verbs && cgo && linux

package verbs

// #include "shim.h"
import "C"

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"ibwitness/hcaagent/remote"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// describe reads what the device and its port are.
func (d *Device) describe(name string) error {
	var device C.struct_ibv_device_attr
	if err := returned("ibv_query_device", C.ibv_query_device(d.ctx, &device)); err != nil {
		return err
	}
	if d.port > uint8(device.phys_port_cnt) {
		return fmt.Errorf("verbs: %s has no port %d: its last is %d", name, d.port, device.phys_port_cnt)
	}
	var port C.struct_ibv_port_attr
	if err := returned("ibv_query_port", C.shim_query_port(d.ctx, C.uint8_t(d.port), &port)); err != nil {
		return err
	}
	d.limits = qp.Limits{
		MaxRdAtomic: uint8(min(device.max_qp_init_rd_atom, 255)), MaxDestRdAtomic: uint8(min(device.max_qp_rd_atom, 255)),
		PKeys: int(port.pkey_tbl_len), Ports: uint8(device.phys_port_cnt),
	}
	d.roce = port.link_layer == C.IBV_LINK_LAYER_ETHERNET
	d.info = remote.Info{
		Device: name, Port: d.port, Driver: driver(name), Firmware: C.GoString(&device.fw_ver[0]), State: C.GoString(C.ibv_port_state_str(uint32(port.state))),
		Active: port.state == C.IBV_PORT_ACTIVE, MTU: bytesOf(uint32(port.active_mtu)), LID: uint16(port.lid),
	}
	if err := d.readGIDs(int(port.gid_tbl_len)); err != nil {
		return err
	}
	d.info.Addr = own(d.gids, d.info.LID)
	if d.info.Addr.IsZero() {
		return fmt.Errorf("verbs: port %d of %s has no address: give its network interface one, or the port a LID", d.port, name)
	}
	return nil
}

// driver names the driver of a device, and its version where that has one of its own.
func driver(name string) string {
	of := filepath.Join("/sys/class/infiniband", name, "device/driver")
	to, err := os.Readlink(of)
	if err != nil { // it has no hardware
		if _, err := os.Stat(filepath.Join("/sys/class/infiniband", name, "parent")); err == nil {
			return "rdma_rxe"
		}
		return ""
	}
	version, _ := os.ReadFile(filepath.Join(of, "module/version"))
	return strings.TrimSpace(filepath.Base(to) + " " + string(version))
}

// bytesOf is an MTU in bytes, and mtuOf the other way.
func bytesOf(mtu uint32) uint32 {
	if mtu < C.IBV_MTU_256 || mtu > C.IBV_MTU_4096 {
		return 0
	}
	return 128 << mtu
}

func mtuOf(bytes uint32) uint32 {
	for mtu := uint32(C.IBV_MTU_256); mtu <= C.IBV_MTU_4096; mtu++ {
		if bytesOf(mtu) == bytes {
			return mtu
		}
	}
	return C.IBV_MTU_4096 + 1 // the driver refuses it
}

// readGIDs reads the port's table of GIDs.
func (d *Device) readGIDs(most int) error {
	if most <= 0 {
		return nil
	}
	list := make([]C.struct_ibv_gid_entry, most*max(int(d.limits.Ports), 1))
	n, err := C._ibv_query_gid_table(d.ctx, &list[0], C.size_t(len(list)), 0, C.sizeof_struct_ibv_gid_entry)
	if n < 0 {
		return failed("ibv_query_gid_table", err)
	}
	for i := range list[:n] {
		e := &list[i]
		if e.port_num != C.uint32_t(d.port) {
			continue
		}
		raw := *(*[16]byte)(unsafe.Pointer(&e.gid))
		g := gid{GID: remote.GID{Index: int(e.gid_index), GID: wqe.GID{Addr: packet.GIDAddr(raw[:]), RoCEv1: e.gid_type == C.IBV_GID_TYPE_ROCE_V1}}}
		if card, err := net.InterfaceByIndex(int(e.ndev_ifindex)); err == nil && e.ndev_ifindex != 0 {
			if d.info.Interface == "" {
				d.info.Interface = card.Name
				copy(d.info.MAC[:], card.HardwareAddr)
			}
			g.nets = networks(card)
		}
		d.gids = append(d.gids, g)
		d.info.GIDs = append(d.info.GIDs, g.GID)
	}
	return nil
}

// networks are those that a network interface is in.
func networks(card *net.Interface) (list []netip.Prefix) {
	addrs, _ := card.Addrs()
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			list = append(list, p.Masked())
		}
	}
	return list
}
