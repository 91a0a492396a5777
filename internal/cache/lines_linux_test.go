package cache

import (
	"syscall"
	"testing"
)

// TestFetchBytes: no bytes, and bytes that end where memory does, are fetched without a fault.
func TestFetchBytes(t *testing.T) {
	FetchBytes(nil)
	page, err := syscall.Mmap(-1, 0, syscall.Getpagesize(), syscall.PROT_READ, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 200 {
		FetchBytes(page[len(page)-n:])
	}
	if err := syscall.Munmap(page); err != nil {
		t.Error(err)
	}
}
