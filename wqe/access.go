package wqe

// Access is a set of operations that a QP or a memory region permits its peer.
type Access uint8

// The operations.
const (
	RemoteWrite Access = 1 << iota
	RemoteRead
	RemoteAtomic
	RemoteFlush
	LocalWrite    // memory regions only
	BindWindow    // memory regions only: windows may be bound to it
	ZeroBased     // memory windows only: addresses count from the window's first byte on
	RemotePersist // a FLUSH for persistence; RemoteFlush is one for global visibility
)
