// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
)

// A door guards the way between a sweep and its workers.
type door struct {
	tokenFile string
	cert, key string // of the server
	ca        string // that workers believe, "": the machine's
	tls       bool
}

const tokenUsage = "file with a secret that the sweep and its workers share"

func (d *door) serverFlags(f *flag.FlagSet) {
	f.StringVar(&d.tokenFile, "token-file", "", "with -serve: "+tokenUsage)
	f.StringVar(&d.cert, "tls-cert", "", "with -serve: certificate (PEM); workers then need -tls")
	f.StringVar(&d.key, "tls-key", "", "with -serve: its key (PEM)")
}

func (d *door) workerFlags(f *flag.FlagSet) {
	f.StringVar(&d.tokenFile, "token-file", "", tokenUsage)
	f.BoolVar(&d.tls, "tls", false, "speak TLS")
	f.StringVar(&d.ca, "tls-ca", "", "believe the certificates (PEM) of this file instead of the machine's; implies -tls")
}

// checkServer refuses a door open to other machines.
func (d *door) checkServer(addr string) error {
	if addr == "" {
		if d.tokenFile+d.cert+d.key != "" {
			return errors.New("-token-file, -tls-cert and -tls-key need -serve")
		}
		return nil
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("-serve %q, want host:port or :port: %w", addr, err)
	}
	if (d.cert == "") != (d.key == "") {
		return errors.New("-tls-cert and -tls-key need each other")
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) && d.tokenFile == "" {
		return fmt.Errorf("-serve %s lets any machine in: give it and its workers a -token-file", addr)
	}
	return nil
}

// token is the secret, "" if unset.
func (d *door) token() (string, error) {
	if d.tokenFile == "" {
		return "", nil
	}
	b, err := os.ReadFile(d.tokenFile)
	if b = bytes.TrimSpace(b); err == nil && len(b) < 16 {
		err = fmt.Errorf("-token-file %s has %d characters, want at least 16", d.tokenFile, len(b))
	}
	return string(b), err
}

// serverTLS is nil without a certificate.
func (d *door) serverTLS() (*tls.Config, error) {
	if d.cert == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(d.cert, d.key)
	if err != nil {
		return nil, fmt.Errorf("-tls-cert %s -tls-key %s: %w", d.cert, d.key, err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13}, nil
}

// workerTLS is nil if the worker does not speak TLS.
func (d *door) workerTLS() (*tls.Config, error) {
	if !d.tls && d.ca == "" {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS13}
	if d.ca == "" {
		return c, nil
	}
	b, err := os.ReadFile(d.ca)
	if err != nil {
		return nil, err
	}
	c.RootCAs = x509.NewCertPool()
	if !c.RootCAs.AppendCertsFromPEM(b) {
		return nil, fmt.Errorf("-tls-ca %s has no certificate", d.ca)
	}
	return c, nil
}
