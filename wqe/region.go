package wqe

// Region is a memory region or window, with its keys.
type Region struct {
	PD         PD
	MR         MR // number of a region, or MW of a window, as BIND_MW names it; 0: not known
	MW         MW
	VA         uint64
	Length     uint64
	LKey, RKey uint32
	Access     Access
	Window     int // type of a memory window: 1 or 2; 0: a region
}
