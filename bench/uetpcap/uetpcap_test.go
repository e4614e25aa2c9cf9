// SPDX-License-Identifier: Apache-2.0

package uetpcap

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
	"github.com/uetcc/uetcc/ses"
)

// udpFrame is a RUD_REQ that writes 4096 bytes; v6 chooses the addresses.
func udpFrame(v6 bool) *frame.Frame {
	f := &frame.Frame{TOS: pds.TOS(8, pds.ECNECT0), DstMAC: [6]byte{2, 5: 2}, SrcMAC: [6]byte{2, 5: 1}}
	f.Src, f.Dst = [16]byte{10: 0xff, 11: 0xff, 12: 10, 15: 1}, [16]byte{10: 0xff, 11: 0xff, 12: 10, 15: 2}
	if v6 {
		f.Src[0], f.Dst[0] = 0xfd, 0xfd
	}
	f.Entropy, f.Type, f.Form = 0xbeef, pds.TypeRUDReq, pds.NextRequestStd
	f.Req = pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, PSN: 5, SPDCID: 1, DPDCID: 2}
	f.Request = ses.Request{Form: pds.NextRequestStd, Standard: ses.Standard{
		Common: ses.Common{Opcode: ses.OpcodeWrite, Flags: ses.FlagSOM | ses.FlagEOM}, RequestLength: 4096}}
	return f
}

// TestFramesAgainstGopacket lets another program judge every length, address and
// checksum that we write.
func TestFramesAgainstGopacket(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		for _, odd := range []int{0, 1, 4096, 4097} {
			f := udpFrame(v6)
			f.UDPSum = true
			data := bytes.Repeat([]byte{0xa5}, odd)
			wire := f.AppendTo(nil, data)
			p := gopacket.NewPacket(wire, layers.LayerTypeEthernet, gopacket.Default)
			require.Nil(t, p.ErrorLayer())
			u, ok := p.TransportLayer().(*layers.UDP)
			require.True(t, ok)
			require.Equal(t, layers.UDPPort(pds.UDPPort), u.DstPort)
			require.Equal(t, layers.UDPPort(0xbeef), u.SrcPort)
			require.Equal(t, wire[len(wire)-len(u.Payload):], u.Payload)
			require.Equal(t, f.SrcAddr().String(), p.NetworkLayer().NetworkFlow().Src().String())
			requireSameBytes(t, p, wire)
		}
	}
}

// requireSameBytes lets gopacket write the packet it has read, with lengths and
// checksums of its own, and compares.
func requireSameBytes(t *testing.T, p gopacket.Packet, wire []byte) {
	t.Helper()
	u := p.TransportLayer().(*layers.UDP)
	options := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}
	if u.Checksum == 0 { // allowed over IPv4
		require.IsType(t, &layers.IPv4{}, p.NetworkLayer())
		copyOf := bytes.Clone(wire)
		for i, l := range p.Layers() {
			if ip, ok := l.(*layers.IPv4); ok {
				b := gopacket.NewSerializeBuffer()
				require.NoError(t, ip.SerializeTo(b, gopacket.SerializeOptions{ComputeChecksums: true}))
				require.Equal(t, copyOf[14:34], b.Bytes(), i)
			}
		}
		return
	}
	require.NoError(t, u.SetNetworkLayerForChecksum(p.NetworkLayer()))
	b := gopacket.NewSerializeBuffer()
	require.NoError(t, gopacket.SerializeLayers(b, options, p.LinkLayer().(*layers.Ethernet), p.NetworkLayer().(*layers.IPv6), u,
		gopacket.Payload(u.Payload)))
	require.Equal(t, wire, b.Bytes())
}

func TestWriteThenPrint(t *testing.T) {
	var file, out bytes.Buffer
	w, err := NewWriter(&file)
	require.NoError(t, err)
	require.NoError(t, w.Write(1_000_000_007, udpFrame(false), 4096))
	f := udpFrame(true)
	f.Native, f.Req.SPDCID = true, 0
	require.NoError(t, w.Write(1_000_001_000, f, 0))
	require.ErrorIs(t, w.Write(0, f, 10_000), ErrPayload)

	n, err := Print(&out, &file, &frame.Parser{})
	require.NoError(t, err)
	require.Equal(t, Counts{All: 2, UET: 2, Illegal: 1}, n)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 2)
	require.Equal(t, "0.000000000 10.0.0.1 > 10.0.0.2 ev=48879 dscp=8 ECT(0) RUD_REQ psn=5 clear=5 spdc=1 dpdc=2 UET_HDR_REQUEST_STD | "+
		udpFrame(false).Request.String()+" | 4096 bytes", lines[0])
	require.Contains(t, lines[1], "0.000000993 fd00::")
	require.Contains(t, lines[1], "illegal: pds: illegal field: PDCID zero")
}

// The trailer of a packet of which the capture has a part is not there to be checked; that
// of a whole one is.
func TestPrintCutPacketsThatEndInACRC(t *testing.T) {
	var file, out bytes.Buffer
	w, err := NewWriter(&file)
	require.NoError(t, err)
	require.NoError(t, w.Write(0, udpFrame(false), 4096+pds.CRCLen))
	require.NoError(t, w.Write(0, udpFrame(false), 8+pds.CRCLen))
	n, err := Print(&out, &file, &frame.Parser{CRC: true})
	require.NoError(t, err)
	require.Equal(t, Counts{All: 2, UET: 1, Malformed: 1}, n)
	require.Contains(t, out.String(), " | 4096 bytes\n")
	require.Contains(t, out.String(), pds.ErrCRC.Error())
}

// A capture of a peer that writes CRCs: a read request that asks for a part of its message
// was illegal ("payload_length exceeds the packet", 48 of 377 packets of a recording), since
// its CRC counted as data.
func TestPrintKnowsACRCWithoutBeingTold(t *testing.T) {
	for _, little := range []bool{false, true} {
		f := udpFrame(false)
		f.CRC, f.LittleCRC = true, little
		f.Request.Opcode, f.Request.Flags, f.Request.PayloadLength = ses.OpcodeRead, 0, 1024
		var file, out bytes.Buffer
		w, err := NewWriter(&file)
		require.NoError(t, err)
		require.NoError(t, w.Write(0, f, 0))
		kept := bytes.Clone(file.Bytes())
		n, err := Print(&out, &file, &frame.Parser{})
		require.NoError(t, err)
		require.Equal(t, Counts{All: 1, UET: 1}, n, "%s", out.String())
		n, err = Print(&out, bytes.NewReader(kept), &frame.Parser{CRC: true, LittleCRC: !little})
		require.NoError(t, err)
		require.Equal(t, Counts{All: 1, Malformed: 1}, n, "who says which gets that: %s", out.String())
	}
}

func TestWriteTrimmed(t *testing.T) {
	ps := &frame.Parser{DSCPs: pds.DSCPs{Trimmable: 8, Trimmed: 16, TrimmedLastHop: 18, Control: 46}}
	for _, v6 := range []bool{false, true} {
		for _, native := range []bool{false, true} {
			var file, out bytes.Buffer
			w, err := NewWriter(&file)
			require.NoError(t, err)
			f := udpFrame(v6)
			f.UDPSum = true
			f.Trimmed, f.Native, f.TOS = pds.NackTrimmed, native, pds.TOS(16, pds.ECNECT0)
			require.NoError(t, w.Write(0, f, 4096))
			p := gopacket.NewPacket(file.Bytes()[40:], layers.LayerTypeEthernet, gopacket.Default)
			if ip, ok := p.NetworkLayer().(*layers.IPv4); ok {
				b := gopacket.NewSerializeBuffer()
				require.NoError(t, ip.SerializeTo(b, gopacket.SerializeOptions{ComputeChecksums: true}))
				require.Equal(t, file.Bytes()[54:74], b.Bytes(), "checksum")
			}
			n, err := Print(&out, &file, ps)
			require.NoError(t, err)
			require.Equal(t, Counts{All: 1, UET: 1}, n)
			require.Contains(t, out.String(), "trimmed RUD_REQ psn=5")
		}
	}
}

// TestPrintOthersFiles reads what other tools write: pcapng, raw IP, packets of
// other protocols, and broken ones.
func TestPrintOthersFiles(t *testing.T) {
	wire := udpFrame(false).AppendTo(nil, nil)
	arp := append(bytes.Repeat([]byte{1}, 12), 8, 6, 0, 0)
	cut := bytes.Clone(wire[:50])
	cut[17], cut[39] = 36, 16 // an IP packet that ends within the PDS header

	var file, out bytes.Buffer
	ng, err := pcapgo.NewNgWriter(&file, layers.LinkTypeEthernet)
	require.NoError(t, err)
	for _, b := range [][]byte{arp, wire, cut} {
		require.NoError(t, ng.WritePacket(gopacket.CaptureInfo{Timestamp: time.Unix(1, 0), CaptureLength: len(b), Length: len(b)}, b))
	}
	require.NoError(t, ng.Flush())
	n, err := Print(&out, &file, &frame.Parser{})
	require.NoError(t, err)
	require.Equal(t, Counts{All: 3, UET: 1, Malformed: 1}, n)
	require.Contains(t, out.String(), "malformed: "+pds.ErrTruncated.Error())

	file.Reset()
	raw := pcapgo.NewWriter(&file)
	require.NoError(t, raw.WriteFileHeader(65536, layers.LinkTypeRaw))
	require.NoError(t, raw.WritePacket(gopacket.CaptureInfo{CaptureLength: len(wire) - 14, Length: len(wire) - 14}, wire[14:]))
	n, err = Print(&out, &file, &frame.Parser{})
	require.NoError(t, err)
	require.Equal(t, 1, n.UET)
}

// A capture may keep less of a packet than its headers: what is missing is not zero.
func TestPrintCutHeaders(t *testing.T) {
	wire := udpFrame(false).AppendTo(nil, make([]byte, 1000))
	for kept := 14 + 20 + 8; kept <= len(wire); kept++ {
		var file, out bytes.Buffer
		w := pcapgo.NewWriter(&file)
		require.NoError(t, w.WriteFileHeader(96, layers.LinkTypeEthernet))
		require.NoError(t, w.WritePacket(gopacket.CaptureInfo{CaptureLength: kept, Length: len(wire)}, wire[:kept]))
		n, err := Print(&out, &file, &frame.Parser{})
		require.NoError(t, err)
		whole := kept >= len(wire)-1000
		require.Equal(t, whole, n.UET == 1, kept)
		require.Equal(t, !whole, n.Malformed == 1, kept)
		require.Equal(t, whole, strings.Contains(out.String(), " | 1000 bytes"), out.String())
	}
}

// Others' packets are counted, whatever is unusual about them.
func TestPrintOthersPackets(t *testing.T) {
	wire := udpFrame(false).AppendTo(nil, nil)
	igmp := bytes.Clone(wire)
	igmp[14], igmp[23] = 0x46, 2 // with router alert, as always
	part := bytes.Clone(wire)
	part[20], part[23] = 0x20, 6
	later := bytes.Clone(wire)
	later[21] = 1 // of any UDP datagram
	var file, out bytes.Buffer
	w := pcapgo.NewWriter(&file)
	require.NoError(t, w.WriteFileHeader(65536, layers.LinkTypeEthernet))
	for _, b := range [][]byte{igmp, part, later} {
		require.NoError(t, w.WritePacket(gopacket.CaptureInfo{CaptureLength: len(b), Length: len(b)}, b))
	}
	n, err := Print(&out, &file, &frame.Parser{})
	require.NoError(t, err)
	require.Equal(t, Counts{All: 3, Fragments: 1}, n)
	require.Empty(t, out.String())
}

func TestPrintErrors(t *testing.T) {
	_, err := Print(&bytes.Buffer{}, strings.NewReader(""), &frame.Parser{})
	require.Error(t, err)
	_, err = Print(&bytes.Buffer{}, strings.NewReader("not a capture file at all"), &frame.Parser{})
	require.Error(t, err)

	var file bytes.Buffer
	w := pcapgo.NewWriter(&file)
	require.NoError(t, w.WriteFileHeader(100, layers.LinkTypePPP))
	_, err = Print(&bytes.Buffer{}, &file, &frame.Parser{})
	require.ErrorIs(t, err, ErrLinkType)

	pw, err := NewWriter(&file)
	require.NoError(t, err)
	require.NoError(t, pw.Write(0, udpFrame(false), 0))
	cut := bytes.NewReader(file.Bytes()[24 : file.Len()-1])
	n, err := Print(&bytes.Buffer{}, cut, &frame.Parser{})
	require.Error(t, err)
	require.Zero(t, n.UET)
	_, err = NewWriter(failing{})
	require.Error(t, err)
}

// failing is a full disk.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }
