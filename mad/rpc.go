package mad

import "encoding/binary"

// Layout of the private data of RPC over RDMA version 1 (RFC 8797, 4): after the CMA header in a REQ, by itself in a REP.
const (
	rpcMagic    = 0xF6AB0E18
	rpcVersion  = 4
	rpcReceives = 7 // (n + 1) · 1024 bytes
	rpcSize     = 8
)

// RPCReceives is how many KiB the receives are long that the active side announces for RPC over RDMA; 0: it announces none.
func (m *REQ) RPCReceives() uint16 {
	if _, _, ok := m.ServiceID.IP(); !ok || len(m.Private) < IPHeaderSize {
		return 0
	}
	return rpcReceivesOf(m.Private[IPHeaderSize:])
}

// RPCReceives is how many KiB the receives are long that the passive side announces for RPC over RDMA; 0: it announces none.
func (m *REP) RPCReceives() uint16 { return rpcReceivesOf(m.Private) }

func rpcReceivesOf(b []byte) uint16 {
	if len(b) < rpcSize || binary.BigEndian.Uint32(b) != rpcMagic || b[rpcVersion] != 1 {
		return 0
	}
	return uint16(b[rpcReceives]) + 1
}
