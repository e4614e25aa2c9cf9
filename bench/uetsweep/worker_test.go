// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

func writeFile(t *testing.T, name string, b []byte) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, b, 0o600))
	return path
}

// certificate is a key and a certificate for 127.0.0.1 that it has signed itself.
func certificate(t *testing.T) (cert, key string) {
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	c, err := x509.CreateCertificate(rand.Reader, about, about, secret.Public(), secret)
	require.NoError(t, err)
	k, err := x509.MarshalPKCS8PrivateKey(secret)
	require.NoError(t, err)
	block := func(kind string, b []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}) }
	return writeFile(t, "cert.pem", block("CERTIFICATE", c)), writeFile(t, "key.pem", block("PRIVATE KEY", k))
}

// Over TLS, with a token: who has another secret is told so, who has none of the certificates gets
// nowhere, who has both does the jobs.
func TestTokenAndTLS(t *testing.T) {
	addr, out := freePort(t), t.TempDir()
	cert, key := certificate(t)
	token, other := writeFile(t, "token", []byte("0123456789abcdef\n")), writeFile(t, "other", []byte("fedcba9876543210\n"))
	process(t, "", "run", "-out", out, "-uetsim", self(t), "-serve", addr, "-jobs", "0", "-matrix", workloads+"one.cm", "-seed", "1..3",
		"-token-file", token, "-tls-cert", cert, "-tls-key", key)
	worker := []string{"worker", "-join", addr, "-uetsim", self(t), "-jobs", "1", "-wait", "30s"}
	status, _, errs := uetsweep(append(worker, "-tls-ca", cert, "-token-file", other)...)
	require.Equal(t, 2, status)
	require.Contains(t, errs, "is it the same -token-file?")
	status, _, errs = uetsweep(append(worker, "-tls", "-token-file", token, "-wait", "100ms")...)
	require.Equal(t, 2, status)
	require.Contains(t, errs, "not to be reached for 100ms")
	require.Empty(t, seedsOf(t, out))
	status, _, errs = uetsweep(append(worker, "-tls-ca", cert, "-token-file", token)...)
	require.Zero(t, status, errs)
	require.Len(t, seedsOf(t, out), 3)
}

// A job that is given out again and again, since it ends whoever takes it, fails.
func TestPoisonedJob(t *testing.T) {
	addr, out := freePort(t), t.TempDir()
	host := process(t, "", "run", "-out", out, "-uetsim", self(t), "-serve", addr, "-jobs", "0", "-matrix", workloads+"one.cm", "-seed", "1")
	conn, err := nats.Connect(addr, nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond))
	require.NoError(t, err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	var queue jetstream.Consumer
	until(t, "the queue", func() bool { queue, err = js.Consumer(context.Background(), jobStream, jobConsumer); return err == nil })
	for range maxTries {
		some, err := queue.Fetch(1)
		require.NoError(t, err)
		for m := range some.Messages() {
			require.NoError(t, m.Nak())
		}
	}
	status, _, errs := uetsweep("worker", "-join", addr, "-uetsim", self(t), "-jobs", "1", "-wait", "30s")
	require.Zero(t, status, errs)
	require.Error(t, host.Wait())
	require.Equal(t, 1, host.ProcessState.ExitCode())
}

// What a worker takes from a server is checked: nothing but axes, files where they belong.
func TestJobsFromElsewhere(t *testing.T) {
	sum, err := fileSum(workloads + "one.cm")
	require.NoError(t, err)
	good := newJob("v", []string{"-cc=nscc", "-matrix=/../one.cm"}, map[string]string{"matrix": sum})
	require.NoError(t, good.check())
	require.Equal(t, []string{"-cc=nscc", "-matrix=at/" + sum + "/of-one.cm"}, good.withFiles(func(sum, base string) string {
		return filepath.Join("at", sum, base)
	}))
	for _, bad := range []job{
		newJob("v", []string{"-pcap=/etc/passwd"}, nil),
		newJob("v", []string{"decode"}, nil),
		newJob("v", []string{"-matrix=a.cm"}, nil),
		newJob("v", []string{"-matrix=a.cm"}, map[string]string{"matrix": "../.."}),
		{Key: good.Key, Version: "v", Args: []string{"-cc=none"}},
	} {
		require.Error(t, bad.check())
	}
}
