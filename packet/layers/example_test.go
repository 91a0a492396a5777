package layers_test

import (
	"encoding/hex"
	"fmt"

	"github.com/google/gopacket"
	gplayers "github.com/google/gopacket/layers"

	"ibwitness/packet/layers" // registers UDP port 4791; a blank import does
)

// An acknowledgement that Linux soft-RoCE sent.
const ack = "525400770001525400770002080045000030ff214000401126ff0a4d00020a4d0001" +
	"f2ca12b7001c00001100ffff00000051003597611f0000012fce7779"

func Example() {
	frame, err := hex.DecodeString(ack)
	if err != nil {
		panic(err)
	}
	p := gopacket.NewPacket(frame, gplayers.LayerTypeEthernet, gopacket.Default)
	for _, l := range p.Layers() {
		fmt.Println(l.LayerType())
	}
	bth := p.Layer(layers.LayerTypeBTH).(*layers.BTH)
	aeth := p.Layer(layers.LayerTypeAETH).(*layers.AETH)
	fmt.Println(bth.Opcode, bth.PSN, aeth.Syndrome, "MSN", aeth.MSN)
	// Output:
	// Ethernet
	// IPv4
	// UDP
	// BTH
	// AETH
	// ICRC
	// RC Acknowledge 0x359761 ACK MSN 1
}

func ExampleHeaders() {
	frame, err := hex.DecodeString(ack)
	if err != nil {
		panic(err)
	}
	var (
		eth gplayers.Ethernet
		ip4 gplayers.IPv4
		udp gplayers.UDP
		ib  layers.Headers
		pay gopacket.Payload
	)
	parser := gopacket.NewDecodingLayerParser(gplayers.LayerTypeEthernet, &eth, &ip4, &udp, &pay)
	ib.Link(parser)
	var found []gopacket.LayerType
	if err := parser.DecodeLayers(frame, &found); err != nil {
		panic(err)
	}
	fmt.Println(found)
	fmt.Printf("QP %#x PSN %v\n", ib.BTH.DestQP, ib.BTH.PSN)
	// Output:
	// [Ethernet IPv4 UDP BTH AETH ICRC]
	// QP 0x51 PSN 0x359761
}
