//! Tests that captures are read and written unchanged.

use hostnet_traffic::pcap::{from_reader, read, CapturedPacket, PcapError, Writer};
use proptest::prelude::*;

const ETHERNET: u32 = 1;
const RAW: u32 = 101;

/// Byte order, time resolution and link type of a classic capture file.
#[derive(Clone, Copy, Debug)]
struct Shape {
    big: bool,
    nano: bool,
    link: u32,
}

impl Shape {
    fn word(self, value: u32) -> [u8; 4] {
        if self.big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    }

    fn half(self, value: u16) -> [u8; 2] {
        if self.big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    }

    /// Writes a capture file of packets given as seconds, fraction, captured bytes and original length.
    fn file(self, packets: &[(u32, u32, Vec<u8>, u32)]) -> Vec<u8> {
        let magic = if self.nano { 0xa1b2_3c4d } else { 0xa1b2_c3d4 };
        let mut file = self.word(magic).to_vec();
        file.extend([self.half(2), self.half(4)].concat());
        file.extend([0; 8]);
        file.extend(self.word(65535));
        file.extend(self.word(self.link));
        for (seconds, fraction, data, whole) in packets {
            for part in [*seconds, *fraction, data.len() as u32, *whole] {
                file.extend(self.word(part));
            }
            file.extend(data);
        }
        file
    }
}

fn parse(file: &[u8]) -> Result<Vec<CapturedPacket>, PcapError> {
    from_reader(file)
}

fn shape() -> impl Strategy<Value = Shape> {
    (any::<bool>(), any::<bool>(), prop::sample::select(vec![ETHERNET, RAW])).prop_map(|(big, nano, link)| Shape {
        big,
        nano,
        link,
    })
}

/// First bytes of an IPv4 packet of a total length of `bytes`.
fn ipv4(bytes: u16) -> Vec<u8> {
    [&[0x45, 0][..], &bytes.to_be_bytes(), &[0; 16]].concat()
}

/// First bytes of an Ethernet frame with VLAN tags.
fn ethernet(kind: u16, tags: usize, inner: &[u8]) -> Vec<u8> {
    let mut frame = vec![2; 12];
    frame.extend([0x81, 0x00, 0, 7].repeat(tags));
    frame.extend(kind.to_be_bytes());
    frame.extend(inner);
    frame
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_classic_file_of_either_byte_order_and_precision_gives_times_and_bytes(
        shape in shape(),
        gaps in prop::collection::vec((0u32..3, 0u32..1_000_000, 20u16..9000), 1..40),
    ) {
        let mut packets = Vec::new();
        let mut wanted = Vec::new();
        let scale = if shape.nano { 1_000 } else { 1_000_000 };
        let start = 1_700_000_000;
        let mut seconds = start;
        for (gap, fraction, bytes) in gaps {
            seconds += gap + 1;
            let data = if shape.link == RAW { ipv4(bytes) } else { ethernet(0x0800, 0, &ipv4(bytes)) };
            let whole = (u32::from(bytes) + if shape.link == RAW { 0 } else { 14 }).max(data.len() as u32);
            packets.push((seconds, fraction, data, whole));
            wanted.push(
                (u64::from(seconds - start) * 1_000_000_000_000 + u64::from(fraction) * scale, u32::from(bytes))
            );
        }
        let first = wanted[0].0;
        let found: Vec<(u64, u32)> =
            parse(&shape.file(&packets)).unwrap().into_iter().map(
                |packet| (packet.time_ps + first, packet.ip_bytes)
            ).collect();
        prop_assert_eq!(found, wanted);
    }

    #[test]
    fn a_file_that_is_cut_anywhere_is_an_error_or_a_shorter_file(
        shape in shape(),
        count in 1usize..6,
        cut in any::<prop::sample::Index>()
    ) {
        let packet = |at: usize| (at as u32, 0, ethernet(0x0800, 0, &ipv4(100)), 114);
        let whole = shape.file(&(0..count).map(packet).collect::<Vec<_>>());
        let length = cut.index(whole.len());
        let record = 16 + 34;
        match parse(&whole[..length]) {
            Ok(packets) => {
                prop_assert!(length >= 24 && (length - 24) % record == 0, "cut within a packet at {length}");
                prop_assert_eq!(packets.len(), (length - 24) / record);
            }
            Err(error) => {
                prop_assert!(length < 24 || (length - 24) % record != 0, "{length}: {error}");
                if length > 24 {
                    prop_assert_eq!(error.offset(), Some((24 + (length - 24) / record * record) as u64));
                }
            }
        }
    }

    #[test]
    fn what_was_written_is_read_back(
        snaplen in 40u32..300,
        frames in prop::collection::vec((0u64..1_000_000_000, 20u16..4000), 1..50),
    ) {
        let mut writer = Writer::new(Vec::new(), snaplen).unwrap();
        let mut time = 0;
        let mut wanted = Vec::new();
        for (gap, bytes) in frames {
            time += gap * 1000;
            let mut frame = ethernet(0x0800, 0, &ipv4(bytes));
            frame.resize(14 + usize::from(bytes), 0);
            writer.frame(time, &frame, frame.len() as u32).unwrap();
            wanted.push((time, u32::from(bytes)));
        }
        let file = writer.finish().unwrap();
        let first = wanted[0].0;
        let found: Vec<(u64, u32)> = parse(&file).unwrap().into_iter().map(
            |packet| (packet.time_ps + first, packet.ip_bytes)
        ).collect();
        let longest = wanted.len() * (16 + snaplen as usize) + 24;
        prop_assert!(file.len() <= longest);
        prop_assert_eq!(found, wanted);
    }

    #[test]
    fn no_bytes_are_a_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        start in 0usize..4,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
    ) {
        let shape = Shape { big: false, nano: true, link: ETHERNET };
        let good = [
            shape.file(&[(1, 0, ipv4(100), 114), (2, 0, ipv4(100), 114)]),
            pcapng(9, &[(0, ipv4(80), 94)]),
            Vec::new()
        ];
        let mut file = good[start.min(2)].clone();
        for (at, byte) in edits {
            if !file.is_empty() {
                let at = at.index(file.len());
                file[at] = byte;
            }
        }
        file.extend(bytes);
        if let Err(error) = parse(&file) {
            prop_assert!(!error.message().is_empty());
        }
    }
}

fn block(kind: u32, body: Vec<u8>) -> Vec<u8> {
    let length = (12 + body.len()) as u32;
    [&kind.to_le_bytes()[..], &length.to_le_bytes(), &body, &length.to_le_bytes()].concat()
}

/// Writes a pcapng file of Ethernet frames, with time stamps in 10^-`decimals` s, or in a power of two if the highest
/// bit is set.
fn pcapng(decimals: u8, packets: &[(u64, Vec<u8>, u32)]) -> Vec<u8> {
    let section = [&0x1a2b_3c4d_u32.to_le_bytes()[..], &[1, 0, 0, 0], &[0xff; 8]].concat();
    let interface = [&[1, 0, 0, 0, 0, 0, 4, 0][..], &[9, 0, 1, 0, decimals, 0, 0, 0], &[0; 4]].concat();
    let mut file = [block(0x0a0d_0d0a, section), block(1, interface)].concat();
    for (stamp, data, whole) in packets {
        let mut body = 0u32.to_le_bytes().to_vec();
        body.extend(((stamp >> 32) as u32).to_le_bytes());
        body.extend((*stamp as u32).to_le_bytes());
        body.extend((data.len() as u32).to_le_bytes());
        body.extend(whole.to_le_bytes());
        body.extend(data);
        body.resize(body.len().next_multiple_of(4), 0);
        file.extend(block(6, body));
    }
    file
}

#[test]
fn pcapng_has_the_precision_of_its_interface() {
    for (decimals, scale) in [(3, 1_000_000_000u64), (6, 1_000_000), (9, 1_000), (12, 1), (0x80 | 10, 976_562_500)] {
        let frame = ethernet(0x0800, 0, &ipv4(100));
        let packets = parse(&pcapng(decimals, &[(5, frame.clone(), 114), (7, frame, 114)])).unwrap();
        assert_eq!(packets.iter().map(|packet| packet.time_ps).collect::<Vec<_>>(), [0, 2 * scale]);
        assert!(packets.iter().all(|packet| packet.ip_bytes == 100));
    }
}

#[test]
fn the_length_of_a_packet_is_what_its_ip_header_says_or_what_follows_the_link_header() {
    let ipv6 = [&[0x60, 0, 0, 0][..], &60u16.to_be_bytes(), &[0; 34]].concat();
    let cases = [
        (ethernet(0x0800, 0, &ipv4(46)), 64, 46, "padding of a short frame does not count"),
        (ethernet(0x0800, 2, &ipv4(100)), 122, 100, "VLAN tags do not count"),
        (ethernet(0x86dd, 0, &ipv6), 114, 100, "IPv6"),
        (ethernet(0x0800, 0, &ipv4(0)), 3014, 3000, "a segment that was not cut has no length"),
        (ethernet(0x0800, 0, &[]), 1014, 1000, "nothing was captured but the link header"),
        (ethernet(0x0806, 0, &[0, 1]), 42, 28, "ARP is no IP"),
    ];
    for (data, whole, wanted, what) in cases {
        let shape = Shape { big: false, nano: false, link: ETHERNET };
        assert_eq!(parse(&shape.file(&[(0, 0, data, whole)])).unwrap()[0].ip_bytes, wanted, "{what}");
    }
}

#[test]
fn other_headers_of_links_do_not_count() {
    let sll = [&[0, 0, 0, 1, 0, 6][..], &[0; 8], &[0x08, 0x00]].concat();
    let sll2 = [&[0x08, 0x00][..], &[0; 18]].concat();
    let with_check_sequence = 0x2400_0000 | ETHERNET;
    let cases = [
        (113, sll),
        (276, sll2),
        (0, vec![2, 0, 0, 0]),
        (108, vec![0, 0, 0, 2]),
        (with_check_sequence, ethernet(0x0800, 0, &[])),
    ];
    for (link, header) in cases {
        let frame = [header, ipv4(100), vec![0; 80]].concat();
        let whole = frame.len() as u32;
        let found = parse(&Shape { big: false, nano: false, link }.file(&[(0, 0, frame, whole)])).unwrap();
        assert_eq!(found[0].ip_bytes, 100, "link type {link}");
    }
}

#[test]
fn blocks_without_a_time_or_of_an_old_kind_are_not_passed_over() {
    let file = pcapng(6, &[]);
    for (kind, wanted) in [(2, "a packet block of an obsolete kind"), (3, "a simple packet block has no time")] {
        let error = parse(&[&file[..], &block(kind, vec![0; 32])].concat()).unwrap_err().message();
        assert!(error.starts_with(&format!("at byte {}: {wanted}", file.len())), "{error}");
    }
    let error = parse(&pcapng(20, &[])).unwrap_err().message();
    assert!(error.contains("20"), "{error}");
}

#[test]
fn packets_come_in_the_order_of_time() {
    let shape = Shape { big: true, nano: false, link: RAW };
    let file = shape.file(&[(5, 0, ipv4(100), 100), (4, 0, ipv4(200), 200), (6, 0, ipv4(300), 300)]);
    let found: Vec<(u64, u32)> = parse(&file).unwrap().iter().map(|packet| (packet.time_ps, packet.ip_bytes)).collect();
    assert_eq!(found, [(0, 200), (1_000_000_000_000, 100), (2_000_000_000_000, 300)]);
}

#[test]
fn what_is_no_capture_says_why_and_where() {
    let ieee80211 = Shape { big: false, nano: false, link: 105 }.file(&[]);
    let empty_frame = Shape { big: false, nano: false, link: ETHERNET }.file(&[(0, 0, vec![0; 14], 14)]);
    let huge = Shape { big: false, nano: false, link: ETHERNET }.file(&[]);
    let huge = [&huge[..], &[0; 8], &[0xff, 0xff, 0xff, 0x7f], &[0; 64]].concat();
    let cases = [
        (Vec::new(), "is empty"),
        (b"not a capture, though long enough for a header".to_vec(), "neither the beginning of a pcap file"),
        (ieee80211, "link type is 105"),
        (empty_frame, "at byte 24: a packet of 14 B"),
        (huge, "at byte 24: "),
    ];
    for (file, wanted) in cases {
        let error = parse(&file).unwrap_err().message();
        assert!(error.contains(wanted), "{error}, not {wanted}");
    }
}

#[test]
fn a_file_may_be_compressed_and_must_be_there() {
    let folder = tempfile::tempdir().unwrap();
    let file = Shape { big: false, nano: true, link: RAW }.file(&[(0, 5, ipv4(100), 100)]);
    let place = folder.path().join("trace.pcap.zst");
    std::fs::write(&place, zstd::encode_all(&file[..], 1).unwrap()).unwrap();
    assert_eq!(read(&place).unwrap(), [CapturedPacket { time_ps: 0, ip_bytes: 100, tcp_headers: None }]);
    assert!(read(&folder.path().join("none.pcap")).unwrap_err().message().contains("no such file"));
    assert!(read(folder.path()).unwrap_err().message().contains("not a file"));
}

/// An IPv6 header with its payload length and next header, followed by `more`.
fn ipv6(payload: u16, next: u8, more: &[u8]) -> Vec<u8> {
    [&[0x60, 0, 0, 0][..], &payload.to_be_bytes(), &[next, 64], &[0; 32], more].concat()
}

/// A TCP header of `words` 32-bit words.
fn tcp(words: u8) -> Vec<u8> {
    let mut header = vec![0; usize::from(words) * 4];
    header[12] = words << 4;
    header
}

#[test]
fn tcp_packets_are_known_with_their_headers_however_large_they_are() {
    let v4 = |length: u16, protocol: u8, fragment: u8, more: &[u8]| {
        [&[0x46, 0][..], &length.to_be_bytes(), &[0, 0, fragment, 0, 64, protocol, 0, 0], &[0; 12], more].concat()
    };
    let jumbo = [&[6, 0, 0xc2, 4, 0, 1, 0x38, 0x90][..], &tcp(8)].concat();
    for (what, ip, whole, expected) in [
        ("BIG TCP of IPv4", v4(0, 6, 0, &tcp(8)), 100_056, (100_056, Some(56))),
        ("IPv4 with a length", v4(2000, 6, 0, &tcp(5)), 2000, (2000, Some(44))),
        ("UDP", v4(2000, 17, 0, &tcp(5)), 2000, (2000, None)),
        ("a fragment", v4(2000, 6, 0x20, &tcp(5)), 2000, (2000, None)),
        ("BIG TCP of IPv6", ipv6(0, 6, &tcp(8)), 100_072, (100_072, Some(72))),
        ("a jumbogram", ipv6(0, 0, &jumbo), 80_080, (80_072, Some(72))),
        ("headers that were cut off", ipv6(0, 6, &[]), 80_040, (80_040, Some(60))),
        ("options of another kind", ipv6(0, 0, &[6, 1, 0, 0]), 80_040, (80_040, None)),
    ] {
        let shape = Shape { big: false, nano: false, link: RAW };
        let found = parse(&shape.file(&[(0, 0, ip, whole)])).unwrap()[0];
        assert_eq!((found.ip_bytes, found.tcp_headers), expected, "{what}");
    }
}
