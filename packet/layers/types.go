package layers

import (
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"ibwitness/packet"
)

// firstLayerType is the first of the numbers that this package takes of those gopacket leaves to applications.
const firstLayerType = 1790

// The layer types.
var (
	LayerTypeLRH          = register(0, "LRH")
	LayerTypeGRH          = register(1, "GRH")
	LayerTypeRWH          = register(2, "RWH")
	LayerTypeBTH          = register(3, "BTH")
	LayerTypeRDETH        = register(4, "RDETH")
	LayerTypeDETH         = register(5, "DETH")
	LayerTypeXRCETH       = register(6, "XRCETH")
	LayerTypeFETH         = register(7, "FETH")
	LayerTypeRETH         = register(8, "RETH")
	LayerTypeAtomicETH    = register(9, "AtomicETH")
	LayerTypeAETH         = register(10, "AETH")
	LayerTypeAtomicAckETH = register(11, "AtomicAckETH")
	LayerTypeImmDt        = register(12, "ImmDt")
	LayerTypeIETH         = register(13, "IETH")
	LayerTypeCNP          = register(14, "CNP")
	LayerTypeICRC         = register(15, "ICRC")
	LayerTypeVCRC         = register(16, "VCRC")
)

const layerTypes = 17

// EtherTypeRoCEv1 is the EtherType of RoCEv1 (annex A16).
const EtherTypeRoCEv1 layers.EthernetType = 0x8915

// LinkTypeInfiniBand is the pcap link type of frames that begin with their LRH.
const LinkTypeInfiniBand layers.LinkType = 247

func register(n int, name string) gopacket.LayerType {
	t := gopacket.LayerType(firstLayerType + n)
	return gopacket.RegisterLayerType(int(t), gopacket.LayerTypeMetadata{Name: name, Decoder: start(t)})
}

// start decodes the first layer of ours in a packet.
func start(t gopacket.LayerType) gopacket.Decoder {
	return gopacket.DecodeFunc(func(data []byte, p gopacket.PacketBuilder) error {
		return (&chain{expect: t}).Decode(data, p)
	})
}

func init() {
	layers.RegisterUDPPortLayerType(packet.UDPPort, LayerTypeBTH)
	layers.EthernetTypeMetadata[EtherTypeRoCEv1] = layers.EnumMetadata{
		DecodeWith: start(LayerTypeGRH), Name: "RoCEv1", LayerType: LayerTypeGRH,
	}
	layers.LinkTypeMetadata[LinkTypeInfiniBand] = layers.EnumMetadata{
		DecodeWith: start(LayerTypeLRH), Name: "InfiniBand", LayerType: LayerTypeLRH,
	}
}
