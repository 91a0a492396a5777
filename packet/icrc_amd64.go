package packet

import "golang.org/x/sys/cpu"

// direct says that icrcIPv4 works on this processor.
var direct = cpu.X86.HasPCLMULQDQ && cpu.X86.HasAVX

// wide says that it may take four blocks at a time, of packets that are long enough.
var wide = cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VPCLMULQDQ

// icrcIPv4 is Checker.masked, from state afterOnes, for IPv4 without options, UDP and BTH, which n includes.
//
//go:noescape
func icrcIPv4(data *byte, n int) uint32
