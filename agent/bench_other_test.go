//go:build !unix

package agent_test

func cpuTime() int64 { return 0 }
