package remote

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
)

// Secret is what both ends must have.
type Secret struct{ key []byte }

// secretSize is how many random bytes a secret has at least.
const secretSize = 32

// ErrSecret says that the other end has another secret.
var ErrSecret = errors.New("remote: the other end has another secret: copy the secret file of one machine to the other")

// NewSecret makes a secret by chance.
func NewSecret() Secret {
	key := make([]byte, secretSize)
	_, _ = rand.Read(key) // never fails
	return Secret{key}
}

// WriteFile writes the secret into a new file that only its owner can read: one line of base64.
func (s Secret) WriteFile(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("remote: secret: %w: give the name of a new file", err)
	}
	_, err = fmt.Fprintln(f, base64.StdEncoding.EncodeToString(s.key))
	return errors.Join(err, f.Close())
}

// ReadSecret reads the file of a secret. It refuses one that others than its owner can read.
func ReadSecret(path string) (Secret, error) {
	f, err := os.Open(path)
	if err != nil {
		return Secret{}, fmt.Errorf("remote: secret: %w: make it with ibwitness dut --new-secret FILE", err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return Secret{}, fmt.Errorf("remote: secret: %w", err)
	case !info.Mode().IsRegular():
		return Secret{}, fmt.Errorf("remote: secret: %s is no regular file", path)
	case info.Mode().Perm()&0o077 != 0:
		return Secret{}, fmt.Errorf("remote: secret: others can read %s: chmod 600 it, and make another secret if they may have done so", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, 1<<12))
	if err != nil {
		return Secret{}, fmt.Errorf("remote: secret: %w", err)
	}
	key, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(text)))
	if err != nil || len(key) < secretSize {
		return Secret{}, fmt.Errorf("remote: secret: %s does not hold %d bytes of base64: make it with ibwitness dut --new-secret FILE", path, secretSize)
	}
	return Secret{key}, nil
}
