//! Tests that an independent parser reads frames as their packets describe.

use etherparse::{SlicedPacket, TcpOptionElement, TransportSlice};
use hostnet_kernel::Time;
use hostnet_model::params::{FlowParams, Traffic, Transport};
use hostnet_model::transport::roce::{Roce, RoceOperation};
use hostnet_model::transport::tcp::{SackBlock, Segment};
use hostnet_model::transport::udp::Datagram;
use hostnet_model::{Content, Ecn, Packet, PacketId};
use hostnet_sim::frames::{FrameEncoder, WINDOW_SHIFT};
use proptest::prelude::*;

fn flow() -> FlowParams {
    FlowParams {
        class: 0,
        from: 0,
        to: 1,
        from_core: 0,
        to_core: 0,
        transport: Transport::Raw,
        traffic: Traffic::Bulk { bytes: u64::MAX },
        start_ps: 0,
        deaf_ps: None,
        moves: Vec::new(),
        sendfile: None,
        via: Vec::new(),
        priority: 0,
        mtu_bytes: 4000,
        compress: [false; 2],
    }
}

fn packet(flow: u32, from: u16, content: Content, ip_bytes: u32) -> Packet {
    Packet {
        flow,
        from,
        to: 1 - from,
        ip_bytes,
        ecn: Ecn::Capable,
        priority: 3,
        corrupt: false,
        copy: false,
        queue: 0,
        order: 0,
        line: 0,
        content,
        next: PacketId::NONE,
    }
}

fn segment() -> impl Strategy<Value = Segment> {
    let numbers = (any::<u64>(), any::<u64>(), 0u64..1 << 26, 0u32..9000);
    let sack = prop::collection::vec((any::<u32>(), 1u32..100_000), 0..=3);
    (numbers, sack, any::<bool>(), any::<bool>(), 0u64..1 << 60).prop_map(
        |((sequence, ack, window, bytes), sack, echo, reduced, sent)| {
            let mut blocks = [SackBlock::default(); 3];
            for (block, (start, length)) in blocks.iter_mut().zip(sack) {
                *block = SackBlock { start: start.into(), end: u64::from(start) + u64::from(length) };
            }
            Segment {
                sequence,
                ack,
                window,
                bytes,
                sack: blocks,
                echo,
                reduced,
                sent: Time::from_ps(sent),
                ..Segment::default()
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_segment_of_tcp_is_read_back_with_right_checksums(
        segment in segment(),
        number in 0u32..100_000,
        forward in any::<bool>()
    ) {
        let flows = vec![flow(); 100_000];
        let mut frames = FrameEncoder::new(&flows);
        let ip_bytes = segment.bytes + 52;
        let frame = frames.of(&packet(number, u16::from(!forward), Content::Tcp(segment), ip_bytes));
        let sliced = SlicedPacket::from_ethernet(frame).unwrap();
        let Some(etherparse::NetSlice::Ipv4(ip)) = &sliced.net else { panic!("no IPv4") };
        let header = ip.header().to_header();
        prop_assert_eq!(header.header_checksum, header.calc_header_checksum());
        prop_assert_eq!(usize::from(header.total_len), frame.len() - 14);
        prop_assert_eq!(header.ecn.value(), 2);
        let Some(TransportSlice::Tcp(tcp)) = &sliced.transport else { panic!("no TCP") };
        prop_assert_eq!(tcp.checksum(), tcp.calc_checksum_ipv4(header.source, header.destination).unwrap());
        prop_assert_eq!(tcp.payload().len(), segment.bytes as usize);
        prop_assert_eq!(tcp.sequence_number(), segment.sequence.wrapping_add(1) as u32);
        prop_assert_eq!(tcp.acknowledgment_number(), segment.ack.wrapping_add(1) as u32);
        prop_assert_eq!((tcp.ece(), tcp.cwr(), tcp.ack()), (segment.echo, segment.reduced, true));
        let shown = u64::from(tcp.window_size()) << WINDOW_SHIFT;
        prop_assert!(
            shown >= segment.window.min(65535 << WINDOW_SHIFT) && shown < segment.window + (1 << WINDOW_SHIFT)
        );
        let ports = (tcp.source_port(), tcp.destination_port());
        let initiator = if forward { ports } else { (ports.1, ports.0) };
        prop_assert_eq!(u32::from(initiator.0 - 10_000) + u32::from(initiator.1 - 5_001) * 50_000, number);
        let options: Vec<_> = tcp.options_iterator().map(Result::unwrap).collect();
        prop_assert!(options.iter().any(|option| matches!(option, TcpOptionElement::Timestamp(..))));
        let blocks = segment.sack.iter().filter(|block| block.end > block.start).count();
        let found = options.iter().find_map(|option| match option {
            TcpOptionElement::SelectiveAcknowledgement(_, rest) => Some(1 + rest.iter().flatten().count()),
            _ => None,
        });
        prop_assert_eq!(found.unwrap_or(0), blocks);
        prop_assert_eq!(header.total_len as u32, ip_bytes + if blocks > 0 { 4 + 8 * blocks as u32 } else { 0 });
    }

    #[test]
    fn a_datagram_is_read_back_with_right_checksums(
        number in 0u32..100_000,
        datagram in (1u32..=65_507, any::<u64>()).prop_map(|(bytes, number)| Datagram::new(bytes, number, Time::ZERO)),
        forward in any::<bool>(),
    ) {
        let flows = vec![flow(); 100_000];
        let mut frames = FrameEncoder::new(&flows);
        let of_udp = packet(number, u16::from(!forward), Content::Udp(datagram), datagram.ip_bytes());
        let frame = frames.of(&Packet { ecn: Ecn::NotCapable, ..of_udp });
        let sliced = SlicedPacket::from_ethernet(frame).unwrap();
        let Some(etherparse::NetSlice::Ipv4(ip)) = &sliced.net else { panic!("no IPv4") };
        let header = ip.header().to_header();
        prop_assert_eq!(header.header_checksum, header.calc_header_checksum());
        prop_assert_eq!(u32::from(header.total_len), datagram.ip_bytes());
        prop_assert_eq!(frame.len() as u32, 14 + datagram.ip_bytes());
        prop_assert_eq!(header.ecn.value(), 0);
        let Some(TransportSlice::Udp(udp)) = &sliced.transport else { panic!("no UDP") };
        let own = udp.to_header();
        let sum = own.calc_checksum_ipv4(&header, udp.payload()).unwrap();
        prop_assert_eq!(own.checksum, sum);
        prop_assert!(own.checksum != 0, "zero would say that there is none");
        prop_assert_eq!(udp.payload().len() as u32, datagram.bytes);
        let shown = datagram.number.to_be_bytes();
        let room = udp.payload().len().min(8);
        prop_assert_eq!(&udp.payload()[..room], &shown[..room]);
        let ports = (udp.source_port(), udp.destination_port());
        let initiator = if forward { ports } else { (ports.1, ports.0) };
        prop_assert_eq!(u32::from(initiator.0 - 10_000) + u32::from(initiator.1 - 5_001) * 50_000, number);
    }

    #[test]
    fn a_packet_of_roce_is_udp_with_a_base_transport_header(
        operation in prop::sample::select(vec![
            RoceOperation::Write, RoceOperation::ReadRequest, RoceOperation::ReadResponse, RoceOperation::Acknowledge,
            RoceOperation::OutOfOrder, RoceOperation::Congestion,
        ]),
        sequence in any::<u64>(),
        bytes in 0u32..=4096,
        last in any::<bool>(),
    ) {
        let flows = [flow()];
        let mut frames = FrameEncoder::new(&flows);
        let roce = Roce { operation, sequence, bytes, offset: 0, last };
        let frame = frames.of(&packet(0, 0, Content::Roce(roce), bytes + 44)).to_vec();
        let sliced = SlicedPacket::from_ethernet(&frame).unwrap();
        let Some(TransportSlice::Udp(udp)) = &sliced.transport else { panic!("no UDP") };
        prop_assert_eq!(udp.destination_port(), 4791);
        let header = udp.payload();
        prop_assert_eq!(u32::from_be_bytes([0, header[9], header[10], header[11]]), sequence as u32 & 0x00ff_ffff);
        prop_assert!(
            u32::from_be_bytes([0, header[5], header[6], header[7]]) > 1,
            "queue pairs 0 and 1 are for management"
        );
        let pad = u32::from(header[1] >> 4 & 3);
        if matches!(operation, RoceOperation::Write) {
            prop_assert_eq!(header.len() as u32, 12 + bytes + pad + 4);
        }
        prop_assert_eq!(header.len() % 4, 0);
        let again = frames.of(&packet(0, 0, Content::Roce(roce), bytes + 44)).to_vec();
        prop_assert_eq!(&again, &frame);
        let marked = frames.of(&Packet { ecn: Ecn::Marked, ..packet(0, 0, Content::Roce(roce), bytes + 44) }).to_vec();
        prop_assert_eq!(
            &marked[marked.len() - 4..],
            &frame[frame.len() - 4..],
            "a mark on the way leaves the checksum as it is"
        );
    }
}

#[test]
fn raw_packets_have_the_length_they_say() {
    let flows = [flow()];
    let mut frames = FrameEncoder::new(&flows);
    for bytes in [1, 20, 1500] {
        let frame = frames.of(&packet(0, 0, Content::Raw, bytes));
        assert_eq!(frame.len() as u32, 14 + bytes.max(20));
        assert!(SlicedPacket::from_ethernet(frame).is_ok());
    }
}
