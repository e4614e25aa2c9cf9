// SPDX-License-Identifier: Apache-2.0

package quicsender

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"testing"
	"time"

	"github.com/sagernet/quic-go"
	"github.com/sagernet/quic-go/congestion"
	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/nscc"
)

func loopback(t testing.TB) *nscc.Params {
	t.Helper()
	p, err := nscc.NewParams(nscc.Config{LinkRate: 1e9 / 8, BaseRTT: 2_000_000, MTU: 1500})
	require.NoError(t, err)
	return &p
}

// A watched Sender looks at what the connection asks it.
type watched struct {
	*Sender
	acks, over int
}

func (w *watched) OnPacketSent(t time.Time, inFlight congestion.ByteCount, n congestion.PacketNumber, size congestion.ByteCount, r bool) {
	// CanSend is asked before the size is known: the window holds but for one packet.
	if inFlight > w.GetCongestionWindow()+congestion.ByteCount(w.p.MTU()) {
		w.over++
	}
	w.Sender.OnPacketSent(t, inFlight, n, size, r)
}

func (w *watched) OnCongestionEventEx(f congestion.ByteCount, t time.Time, a []congestion.AckedPacketInfo, l []congestion.LostPacketInfo) {
	w.acks += len(a)
	w.Sender.OnCongestionEventEx(f, t, a, l)
}

// Eight megabytes over the loopback interface, with the window in charge once the
// handshake is over.
func TestSenderTransfer(t *testing.T) {
	server, err := quic.ListenAddr("127.0.0.1:0", serverTLS(t), nil)
	require.NoError(t, err)
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	want := bytes.Repeat([]byte("0123456789abcdef"), 8<<20/16)
	got := make(chan []byte, 1)
	go func() {
		defer close(got)
		conn, err := server.Accept(ctx)
		if err != nil {
			return
		}
		stream, err := conn.AcceptUniStream(ctx)
		if err != nil {
			return
		}
		all, _ := io.ReadAll(stream)
		got <- all
		_ = conn.CloseWithError(0, "")
	}()
	conn, err := quic.DialAddr(ctx, server.Addr().String(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"uetcc"}}, nil)
	require.NoError(t, err)
	s := &watched{Sender: New(loopback(t), time.Now())}
	conn.SetCongestionControl(s)
	stream, err := conn.OpenUniStreamSync(ctx)
	require.NoError(t, err)
	_, err = stream.Write(want)
	require.NoError(t, err)
	require.NoError(t, stream.Close())
	require.True(t, bytes.Equal(want, <-got))
	<-conn.Context().Done()
	require.Greater(t, s.acks, 8<<20/1500)
	require.Zero(t, s.over)
}

func serverTLS(t *testing.T) *tls.Config {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	require.NoError(t, err)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: private}}, NextProtos: []string{"uetcc"}}
}

// stats are round trips that a test has chosen.
type stats struct {
	congestion.RTTStatsProvider
	latest time.Duration
}

func (s *stats) LatestRTT() time.Duration { return s.latest }

// What the connection tells becomes the events of the window: the same as if they had been
// told to it.
func TestSenderEvents(t *testing.T) {
	p, began := loopback(t), time.Unix(1000, 0)
	s, rtt := New(p, began), &stats{latest: 3 * time.Millisecond}
	s.SetRTTStatsProvider(rtt)
	var w nscc.Window
	w.Init(p, 0, 0)

	for n := range 10 {
		require.True(t, s.CanSend(congestion.ByteCount(n*1400)))
		s.OnPacketSent(began, congestion.ByteCount(n*1400), congestion.PacketNumber(7+n), 1400, true)
		w.OnSend(1400)
	}
	s.OnPacketSent(began, 14000, 17, 50, false)
	require.Equal(t, w.Snapshot(), s.Window())

	// Packet 6 was sent before the window was there. A mark comes first, losses come twice.
	s.OnCongestionEvent(9, 0, 14000)
	s.OnCongestionEvent(8, 1400, 14000)
	s.OnCongestionEventEx(14000, began.Add(3*time.Millisecond),
		[]congestion.AckedPacketInfo{{PacketNumber: 6, BytesAcked: 1400}, {PacketNumber: 7, BytesAcked: 1400}, {PacketNumber: 9, BytesAcked: 1400}},
		[]congestion.LostPacketInfo{{PacketNumber: 8, BytesLost: 1400}})
	w.OnInferredLoss(p, 1400)
	w.OnACK(p, 3_000_000, nscc.Ack{Bytes: 2800, RTT: 3_000_000, ECN: true})
	require.Equal(t, w.Snapshot(), s.Window())

	// The mark was that of one acknowledgement.
	s.OnCongestionEventEx(9800, began.Add(4*time.Millisecond), []congestion.AckedPacketInfo{{PacketNumber: 10, BytesAcked: 1400}}, nil)
	w.OnACK(p, 4_000_000, nscc.Ack{Bytes: 1400, RTT: 3_000_000})
	require.Equal(t, w.Snapshot(), s.Window())
	require.Equal(t, congestion.ByteCount(w.Cwnd()), s.GetCongestionWindow())
	require.False(t, s.CanSend(s.GetCongestionWindow()))
}

// On a path that holds less than a packet the window still lets two go: a receiver keeps the
// acknowledgement of a lone one for 25 ms, and eight megabytes took minutes.
func TestSenderNeverWaitsForALonePacket(t *testing.T) {
	p, began := loopback(t), time.Unix(1000, 0)
	s := New(p, began)
	s.SetRTTStatsProvider(&stats{latest: 10 * time.Microsecond})
	for n := range congestion.PacketNumber(1000) {
		s.OnPacketSent(began, 1400, n, 1400, true)
		s.OnCongestionEventEx(1400, began.Add(time.Duration(n)*10*time.Microsecond),
			[]congestion.AckedPacketInfo{{PacketNumber: n, BytesAcked: 1400}}, nil)
	}
	require.Less(t, s.Window().Cwnd, 2*p.MTU())
	require.True(t, s.CanSend(1400))
	require.False(t, s.CanSend(2800))
}

// Losses that a timer finds come without an acknowledgement; of a packet whose data a probe
// time-out sends again, and of a lost probe of the path's MTU, nothing comes but less in flight.
func TestSenderLossesWithoutAcknowledgement(t *testing.T) {
	p, began := loopback(t), time.Unix(1000, 0)
	s := New(p, began)
	s.SetRTTStatsProvider(&stats{latest: 2 * time.Millisecond})
	for n := range 10 {
		s.OnPacketSent(began, congestion.ByteCount(n*1400), congestion.PacketNumber(n), 1400, true)
	}
	full := s.Window().Cwnd
	s.OnCongestionEvent(0, 1400, 14_000)
	require.EqualValues(t, 9*1400, s.Window().Inflight)
	require.EqualValues(t, full-1400, s.Window().Cwnd)

	s.OnCongestionEventEx(7*1400, began.Add(2*time.Millisecond), []congestion.AckedPacketInfo{{PacketNumber: 3, BytesAcked: 1400}},
		[]congestion.LostPacketInfo{{PacketNumber: 2, BytesLost: 1400}})
	require.EqualValues(t, 6*1400, s.Window().Inflight)
	require.GreaterOrEqual(t, s.Window().Cwnd, full-1400)
}
