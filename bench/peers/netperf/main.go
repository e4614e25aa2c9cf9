// SPDX-License-Identifier: Apache-2.0

// Command netperf is uetperf's far and near end over QUIC and KCP, for uetperf -compare.
//
//	netperf -proto quic -listen 127.0.0.1:0
//	netperf -proto quic -connect 127.0.0.1:5000 -seconds 2 -json
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/big"
	"os"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/xtaci/kcp-go/v5"

	"github.com/uetcc/uetcc/bench/internal/stream"
)

func main() {
	proto := flag.String("proto", "quic", "quic or kcp")
	listen := flag.String("listen", "", "be the far end at this address")
	connect := flag.String("connect", "", "be the near end")
	seconds := flag.Float64("seconds", 2, "time to write for")
	message := flag.Int64("message", 1<<20, "bytes of a message")
	depth := flag.Int("depth", 4, "messages under way")
	ask := flag.Bool("ask", false, "request and answer")
	_ = flag.Bool("json", true, "always")
	flag.Parse()
	var err error
	switch {
	case *listen != "" && *proto == "quic":
		err = serveQUIC(*listen)
	case *listen != "":
		err = serveKCP(*listen)
	default:
		var s io.ReadWriter
		if s, err = map[string]func(string) (io.ReadWriter, error){"quic": dialQUIC, "kcp": dialKCP}[*proto](*connect); err == nil {
			j := stream.Job{Message: *message, Depth: *depth, Ask: *ask, Time: time.Duration(*seconds * 1e9)}
			var r stream.Result
			var moved atomic.Int64
			if r, err = stream.Drive(s, j, &moved, nil); err == nil {
				err = json.NewEncoder(os.Stdout).Encode(r.Summary(*proto))
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "netperf:", err)
		os.Exit(2)
	}
}

// certificate is a certificate signed by the process.
func certificate() (*tls.Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, NextProtos: []string{"netperf"}}, err
}

// window lets a stream have more under way than any message.
var window = &quic.Config{MaxStreamReceiveWindow: 64 << 20, InitialStreamReceiveWindow: 16 << 20, MaxConnectionReceiveWindow: 64 << 20,
	InitialConnectionReceiveWindow: 16 << 20}

func serveQUIC(at string) error {
	c, err := certificate()
	if err != nil {
		return err
	}
	l, err := quic.ListenAddr(at, c, window)
	if err != nil {
		return err
	}
	fmt.Println("listening at", l.Addr())
	for {
		conn, err := l.Accept(context.Background())
		if err != nil {
			return err
		}
		go func() {
			if s, err := conn.AcceptStream(context.Background()); err == nil {
				_ = stream.Serve(s)
			}
		}()
	}
}

func dialQUIC(to string) (io.ReadWriter, error) {
	c := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"netperf"}} // #nosec: the other end is a child of the same parent
	conn, err := quic.DialAddr(context.Background(), to, c, window)
	if err != nil {
		return nil, err
	}
	return conn.OpenStreamSync(context.Background())
}

// tune sets the options recommended by kcp-go's authors for speed: no delay, no congestion window,
// wide windows.
func tune(s *kcp.UDPSession) *kcp.UDPSession {
	s.SetStreamMode(true)
	s.SetNoDelay(1, 10, 2, 1)
	s.SetWindowSize(4096, 4096)
	s.SetMtu(1400)
	s.SetACKNoDelay(true)
	return s
}

func serveKCP(at string) error {
	l, err := kcp.ListenWithOptions(at, nil, 0, 0)
	if err != nil {
		return err
	}
	_ = l.SetReadBuffer(8 << 20)
	_ = l.SetWriteBuffer(8 << 20)
	fmt.Println("listening at", l.Addr())
	for {
		s, err := l.AcceptKCP()
		if err != nil {
			return err
		}
		go func() { _ = stream.Serve(tune(s)) }()
	}
}

func dialKCP(to string) (io.ReadWriter, error) {
	s, err := kcp.DialWithOptions(to, nil, 0, 0)
	if err != nil {
		return nil, err
	}
	_ = s.SetReadBuffer(8 << 20)
	_ = s.SetWriteBuffer(8 << 20)
	return tune(s), nil
}
