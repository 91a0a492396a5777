package mad

import "encoding/binary"

// NVMeQueue is which queue of its controller a host of NVMe over RDMA asks for.
type NVMeQueue struct {
	ID       uint16 // 0 is the admin queue
	Receives uint16 // hrqsize: entries of the host's receive queue
	Sends    uint16 // hsqsize: entries of its send queue but one
	Known    bool
}

// Layout of the private data of a REQ of NVMe over RDMA, after the CMA header, little-endian (NVM Express RDMA Transport Specification 1.0).
const (
	nvmeFormat   = IPHeaderSize // record format: 0
	nvmeQueueID  = nvmeFormat + 2
	nvmeReceives = nvmeFormat + 4 // size of the host's receive queue
	nvmeSends    = nvmeFormat + 6 // and of its send queue
	nvmeSize     = nvmeFormat + 8
)

// NVMeQueue reads from the private data of a REQ which queue it asks for, if it is one of NVMe over RDMA.
func (m *REQ) NVMeQueue() (q NVMeQueue) {
	b, le := m.Private, binary.LittleEndian
	if protocol, _, ok := m.ServiceID.IP(); !ok || protocol != ProtocolTCP || len(b) < nvmeSize {
		return q
	}
	if le.Uint16(b[nvmeFormat:]) != 0 || le.Uint16(b[nvmeReceives:]) == 0 || le.Uint16(b[nvmeSends:]) == 0 {
		return q // another protocol, or cut
	}
	return NVMeQueue{le.Uint16(b[nvmeQueueID:]), le.Uint16(b[nvmeReceives:]), le.Uint16(b[nvmeSends:]), true}
}
