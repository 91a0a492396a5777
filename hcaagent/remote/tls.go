package remote

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"net"
	"time"
)

// The two ends of a connection.
const (
	serverEnd = "server"
	clientEnd = "client"
)

// key derives the key of an end from the secret.
func (s Secret) key25519(end string) (ed25519.PrivateKey, error) {
	if len(s.key) < secretSize {
		return nil, errors.New("remote: there is no secret: make one with ibwitness dut --new-secret FILE")
	}
	seed, err := hkdf.Key(sha256.New, s.key, nil, "ibwitness dut 1 "+end, ed25519.SeedSize)
	if err != nil {
		return nil, err
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// config returns the TLS configuration of an end: it shows a certificate that it has signed itself, and takes only the one key that the other end has.
func (s Secret) config(own, other string) (*tls.Config, error) {
	key, err := s.key25519(own)
	if err != nil {
		return nil, err
	}
	peer, err := s.key25519(other)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		Certificates:           []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		ClientAuth:             tls.RequireAnyClientCert,
		InsecureSkipVerify:     true, // no authority signs: VerifyConnection knows the key
		SessionTicketsDisabled: true,
		VerifyConnection: func(c tls.ConnectionState) error {
			if len(c.PeerCertificates) != 1 || !peer.Public().(ed25519.PublicKey).Equal(c.PeerCertificates[0].PublicKey) {
				return ErrSecret
			}
			return nil
		},
	}, nil
}

// refused says what a failed handshake means: an end whose certificate the other refuses has another secret.
func refused(err error) error {
	if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "remote error" {
		return ErrSecret
	}
	return err
}
