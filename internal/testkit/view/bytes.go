package view

import (
	"bytes"

	"ibwitness/fabricagent"
)

// Snap cuts the frames.
func (v *View) Snap() {
	n := pick(v, 54, 64, 70, 96, 128, 128, 200, 256, 512)
	v.Say("cut to %d bytes", n)
	v.each(all, func(f *Frame) { f.Data = f.Data[:min(n, len(f.Data))] })
	for i := range v.Taps {
		v.Taps[i].SnapLen = uint32(n)
	}
}

// Damage has the network flip a bit of some frames, anywhere after the destination address of Ethernet.
func (v *View) Damage() {
	chance, n := pick(v, 0.005, 0.03, 0.1), 0
	v.Near = nil // after the tap or before it
	v.each(all, func(f *Frame) {
		if !v.is(chance) || len(f.Data) == 0 {
			return
		}
		n++
		f.Data = bytes.Clone(f.Data)
		bit := v.IntN(8 * len(f.Data))
		f.Data[bit/8] ^= 1 << (bit % 8)
	})
	v.Say("%d frames damaged", n)
}

// SnapDamaged has frames damaged and then cut, so that no ICRC tells.
func (v *View) SnapDamaged() {
	v.Damage()
	v.Snap()
}

// FCS leaves the frame check sequence, or padding, after the frames.
func (v *View) FCS() {
	n := pick(v, 4, 4, 18, 40)
	v.Say("%d bytes after each frame", n)
	v.each(func(f *Frame) bool { return f.Link == fabricagent.LinkEthernet }, func(f *Frame) {
		if int(f.Len) == len(f.Data) {
			tail := make([]byte, n)
			for i := range tail {
				tail[i] = byte(v.Uint32())
			}
			f.Data = append(bytes.Clone(f.Data), tail...)
		}
		f.Len += uint32(n)
	})
}
