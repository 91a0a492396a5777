package fabricagent

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	gzipMagic = "\x1f\x8b\x08"
	zstdMagic = "\x28\xb5\x2f\xfd"
	zstdSkip  = "\x2a\x4d\x18" // after a byte 0x50 to 0x5f: a frame without data, with which pzstd begins

	// maxLayers is how deep compression is undone: a compressed capture that was compressed once more.
	maxLayers = 2
	// maxWindow bounds the memory that a zstd frame may claim: zstd --long=29.
	maxWindow = 512 << 20
)

// decompress puts decompressors, as many as the content asks for, between the input's bytes and the reader.
func (in *input) decompress() error {
	for layer := 0; layer < maxLayers; layer++ {
		in.need(len(zstdMagic))
		head := in.buf[in.r:in.w]
		var src io.ReadCloser
		switch {
		case bytes.HasPrefix(head, []byte(gzipMagic)):
			z, err := gzip.NewReader(in.stream)
			if err != nil {
				return in.unpackError(err)
			}
			src = z
		case bytes.HasPrefix(head, []byte(zstdMagic)), len(head) > 3 && head[0]>>4 == 5 && string(head[1:4]) == zstdSkip:
			z, err := zstd.NewReader(in.stream, zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderConcurrency(1))
			if err != nil {
				return in.unpackError(err)
			}
			src = z.IOReadCloser()
		default:
			return nil
		}
		under := in.stream
		in.stream = newStream(src, in.chunk)
		in.packed = true
		in.closers = append(in.closers, func() error {
			_ = src.Close() // it repeats what Read has said
			under.close()
			return nil
		})
	}
	return nil
}

// unpackError is the error of a decompressor. A compressed file that ends too early is as good as any other that does.
func (in *input) unpackError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
		return in.fail(CutShort, 0, fmt.Errorf("the compressed data ends early: %w", io.ErrUnexpectedEOF))
	}
	return in.fail(Decompression, 0, err)
}
