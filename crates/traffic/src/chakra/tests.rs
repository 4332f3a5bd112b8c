//! Tests that files are read as they are written, and that written files can be read.

use super::messages::{Attribute, BoolList, Inputs, Metadata, RawNode};
use super::*;
use proptest::prelude::*;

fn attribute(name: &str) -> Attribute {
    Attribute { name: name.as_bytes().to_vec(), ..Attribute::default() }
}

fn number(name: &str, value: u64) -> Attribute {
    Attribute { uint64: Some(value), ..attribute(name) }
}

fn text(name: &str, value: &str) -> Attribute {
    Attribute { text: Some(value.as_bytes().to_vec()), ..attribute(name) }
}

fn node(id: u64, kind: i32, after: &[u64], attr: &[(&str, u64)]) -> RawNode {
    let attr = attr.iter().map(|(name, value)| number(name, *value)).collect();
    RawNode { id, kind, data_deps: after.to_vec(), duration_micros: 7, attr, ..RawNode::default() }
}

fn file(nodes: &[RawNode]) -> Vec<u8> {
    let mut bytes = Metadata { version: "0.0.4".to_owned() }.encode_length_delimited_to_vec();
    nodes.iter().for_each(|node| bytes.extend(node.encode_length_delimited_to_vec()));
    bytes
}

fn found(nodes: &[RawNode]) -> Trace {
    read_from(&file(nodes)[..]).expect("it is right")
}

fn acts(nodes: &[RawNode]) -> Vec<NodeAction> {
    found(nodes).nodes.iter().map(|node| node.act).collect()
}

fn fault(bytes: &[u8]) -> String {
    read_from(bytes).expect_err("it is wrong").to_string()
}

fn of_one(node: RawNode) -> String {
    fault(&file(&[node]))
}

#[test]
fn nodes_are_what_the_messages_say() {
    let nodes = [
        node(10, 4, &[], &[]),
        node(11, 7, &[10, 10], &[("comm_type", 0), ("comm_size", 1000)]),
        node(12, 5, &[11], &[("comm_dst", 3), ("comm_size", 5), ("comm_tag", 9)]),
        node(13, 6, &[10, 11], &[("comm_src", 2), ("comm_size", 6)]),
        node(5, 1, &[13], &[]),
        node(6, 7, &[], &[("comm_type", 9)]),
        node(7, 0, &[], &[]),
        node(8, 7, &[], &[("comm_type", 8), ("comm_size", 3)]),
    ];
    let collective = |kind, bytes| NodeAction::Collective { kind, bytes, group: 0 };
    let expected = [
        NodeAction::Compute(7 * PS_PER_US),
        collective(Collective::AllReduce, 1000),
        NodeAction::Send { to: 3, bytes: 5, tag: 9 },
        NodeAction::Receive { from: 2, bytes: 6, tag: 0 },
        NodeAction::Nothing,
        collective(Collective::Barrier, 1),
        NodeAction::Nothing,
        collective(Collective::ReduceScatterBlock, 3),
    ];
    assert_eq!(acts(&nodes), expected);
    let trace = found(&nodes);
    assert_eq!((&trace.nodes[1].after[..], &trace.nodes[3].after[..]), (&[0][..], &[0, 1][..]));
    assert_eq!(trace.groups, [""]);
}

#[test]
fn computing_is_of_the_accelerator_or_the_processor_and_may_have_no_duration() {
    let mut nodes = [
        node(1, 4, &[], &[("is_cpu_op", 1), ("num_ops", 5)]),
        node(2, 4, &[], &[("is_cpu_op", 0), ("num_ops", 5)]),
        node(3, 4, &[], &[("num_ops", 5), ("tensor_size", 6)]),
        node(4, 2, &[], &[("tensor_size", 6)]),
        node(5, 4, &[], &[("is_cpu_op", 1), ("num_ops", 5)]),
        node(6, 4, &[], &[]),
        node(7, 4, &[], &[("num_ops", 0), ("tensor_size", 0)]),
    ];
    nodes[2..].iter_mut().for_each(|node| node.duration_micros = 0);
    let work = |ops, bytes| NodeAction::Work { ops, bytes };
    let (host, device) = (NodeAction::Host(7 * PS_PER_US), NodeAction::Compute(7 * PS_PER_US));
    let expected =
        [host, device, work(5, 6), work(0, 6), NodeAction::Nothing, NodeAction::Nothing, NodeAction::Nothing];
    assert_eq!(acts(&nodes), expected);
    let truth = |truth| Attribute { truth: Some(truth), ..attribute("is_cpu_op") };
    let of = |truth| acts(&[RawNode { attr: vec![truth], ..node(1, 4, &[], &[]) }])[0];
    assert_eq!([of(truth(true)), of(truth(false))], [host, device]);
}

#[test]
fn whole_numbers_of_every_type_are_numbers() {
    let all = [
        Attribute { double: Some(3.0), ..attribute("comm_size") },
        Attribute { float: Some(3.0), ..attribute("comm_size") },
        Attribute { int32: Some(3), ..attribute("comm_size") },
        Attribute { int64: Some(3), ..attribute("comm_size") },
        Attribute { uint32: Some(3), ..attribute("comm_size") },
        Attribute { uint64: Some(3), ..attribute("comm_size") },
        Attribute { sint32: Some(3), ..attribute("comm_size") },
        Attribute { sint64: Some(3), ..attribute("comm_size") },
        Attribute { fixed32: Some(3), ..attribute("comm_size") },
        Attribute { fixed64: Some(3), ..attribute("comm_size") },
        Attribute { sfixed32: Some(3), ..attribute("comm_size") },
        Attribute { sfixed64: Some(3), ..attribute("comm_size") },
    ];
    for size in all {
        let sent = RawNode { attr: vec![number("comm_dst", 1), size.clone()], ..node(1, 5, &[], &[]) };
        assert_eq!(acts(&[sent]), [NodeAction::Send { to: 1, bytes: 3, tag: 0 }], "{size:?}");
    }
    for value in [0.5, -1.0, f64::NAN, f64::INFINITY, 1e300] {
        let size = Attribute { double: Some(value), ..attribute("comm_size") };
        let fault = of_one(RawNode { attr: vec![number("comm_dst", 1), size], ..node(1, 5, &[], &[]) });
        assert!(fault.starts_with("node 1: attribute comm_size is"), "{fault}");
    }
}

#[test]
fn groups_have_names_and_their_ranks_stand_in_what_pytorch_says_of_them() {
    let sum = |id, name: Attribute| {
        let attr = vec![number("comm_type", 0), number("comm_size", 8), name];
        RawNode { attr, ..node(id, 7, &[], &[]) }
    };
    let values = r#"['[{"pg_name": "0", "pg_desc": "default_pg", "ranks": []}, {"pg_name": "7", "ranks": [2, 0]}]']"#;
    let inputs = Some(Inputs { values: values.as_bytes().to_vec() });
    let described = RawNode { name: b"## process_group:init ##".to_vec(), inputs, ..node(9, 1, &[], &[]) };
    let trace = found(&[sum(1, text("pg_name", "7")), described.clone(), sum(2, number("pg_name", 12))]);
    assert_eq!(trace.groups, ["7", "12"]);
    assert_eq!(trace.members, BTreeMap::from([("0".to_owned(), vec![]), ("7".to_owned(), vec![2, 0])]));
    let axes =
        |values: &[bool]| Attribute { truths: Some(BoolList { values: values.to_vec() }), ..attribute("involved_dim") };
    assert_eq!(found(&[sum(1, axes(&[true, true]))]).groups, [""]);
    assert!(of_one(sum(1, axes(&[true, false]))).contains("node 1: attribute involved_dim"));
    let mut both = sum(1, axes(&[true, false]));
    both.attr.push(text("pg_name", "3"));
    assert_eq!(found(&[both]).groups, ["3"]);
    assert!(of_one(sum(1, text("pg_name", &"x".repeat(129)))).contains("128 bytes"));
    for wrong in [r#"[{"pg_name": 0}]"#, r#"[{"pg_name": "0", "ranks": [1, -2]}]"#, r#"[{"pg_name": "0"}]"#] {
        let inputs = Some(Inputs { values: wrong.as_bytes().to_vec() });
        let fault = of_one(RawNode { inputs, ..described.clone() });
        assert!(fault.starts_with("node 9: "), "{fault}");
    }
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let one = node(10, 4, &[], &[]);
    let whole = file(std::slice::from_ref(&one));
    assert_eq!(fault(&[]), "is empty");
    assert_eq!(fault(&whole[..whole.len() - 1]), format!("at byte {}: the file ends amid a message", whole.len() - 1));
    let longer = fault(&[&whole[..], &[0xff]].concat());
    assert_eq!(longer, format!("at byte {}: the file ends amid a message", whole.len() + 1));
    assert!(fault(&[&whole[..], &[0xff; 11]].concat()).contains("10 bytes"));
    assert!(fault(&[&whole[..], &[0xff, 0xff, 0xff, 0x7f]].concat()).contains("1048576 B"));
    assert!(fault(&[&whole[..], &[2, 8]].concat()).contains("the file ends amid a message"));
    assert!(fault(&[&whole[..], &[1, 8]].concat()).contains("no Node"));
    assert!(fault(&node(10, 4, &[], &[]).encode_length_delimited_to_vec()).contains("0.0.4"));
    assert!(fault(&file(&[one.clone(), one])).contains("node 10"));
    assert!(of_one(node(1, 4, &[2], &[])).starts_with("node 1: waits for node 2"));
    assert!(of_one(node(1, 8, &[], &[])).starts_with("node 1: type 8 "));
    assert_eq!(of_one(node(1, 7, &[], &[])), "node 1: attribute comm_type is missing");
    assert!(of_one(node(1, 7, &[], &[("comm_type", 10)])).contains("comm_type 10 "));
    assert!(of_one(node(1, 5, &[], &[("comm_dst", 1), ("comm_size", u64::MAX)])).contains("out of range"));
    let named = RawNode { attr: vec![text("comm_type", "0")], ..node(1, 7, &[], &[]) };
    assert!(of_one(named).contains("no whole number"));
    assert!(of_one(RawNode { duration_micros: u64::MAX, ..node(1, 4, &[], &[]) }).contains("1000000000"));
}

#[test]
fn who_called_a_node_may_be_left_out() {
    let called = RawNode { ctrl_deps: vec![3, 1], ..node(2, 4, &[], &[]) };
    assert_eq!(found(&[node(1, 4, &[], &[]), called]).nodes[1].after, [0]);
}

#[test]
fn what_is_written_is_read_again() {
    let acts = [
        NodeAction::Host(3 * PS_PER_US),
        NodeAction::Compute(DURATION_MAX_PS),
        NodeAction::Work { ops: 1 << 40, bytes: 7 },
        NodeAction::Send { to: 1, bytes: 5, tag: 77 },
        NodeAction::Receive { from: 2, bytes: 1 << 40, tag: (1 << 31) - 1 },
        NodeAction::Collective { kind: Collective::Scatter, bytes: 64, group: 0 },
        NodeAction::Nothing,
    ];
    let mut scribe = TraceWriter::new(0, TraceReader::Chakra);
    let mut last = Vec::new();
    for act in acts {
        last = vec![scribe.node("a name", act, &last)];
    }
    assert_eq!(scribe.nodes(), 7);
    let content = scribe.finish();
    let trace = read_from(&content[..]).expect("it is right");
    assert_eq!(trace.nodes.iter().map(|node| node.act).collect::<Vec<_>>(), acts);
    assert_eq!(trace.nodes[6].after, [5]);
}

#[test]
fn compressed_files_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("t.0.et");
    let mut encoder =
        flate2::write::GzEncoder::new(std::fs::File::create(&place).expect("a file"), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, &file(&[node(1, 4, &[], &[])])).expect("it is written");
    encoder.finish().expect("it is written");
    assert_eq!(read(&place).expect("it is right").nodes.len(), 1);
}

proptest! {
    #[test]
    fn no_file_is_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..99), at: prop::sample::Index) {
        let _ = read_from(&bytes[..]);
        let values = br#"['[{"pg_name": "1", "ranks": [0, 1]}]']"#.to_vec();
        let described = RawNode {
            name: b"process_group:init".to_vec(),
            inputs: Some(Inputs { values }),
            ..node(3, 1, &[], &[])
        };
        let mut sum = node(2, 7, &[1], &[("comm_type", 0), ("comm_size", 9)]);
        sum.attr.push(text("pg_name", "1"));
        let mut whole = file(&[node(1, 4, &[], &[]), sum, described]);
        let at = at.index(whole.len());
        whole.splice(at..(at + bytes.len()).min(whole.len()), bytes);
        let _ = read_from(&whole[..]);
    }
}

#[test]
fn calls_of_communications_on_the_processor_are_its_work() {
    let host = |kind, more: &[(&str, u64)]| node(1, kind, &[], &[&[("is_cpu_op", 1)], more].concat());
    for kind in [SEND, RECEIVE, COLLECTIVE] {
        assert_eq!(acts(&[host(kind, &[])]), [NodeAction::Host(7 * PS_PER_US)]);
    }
    let sum = host(COLLECTIVE, &[("comm_type", 0), ("comm_size", 8)]);
    assert_eq!(acts(&[sum]), [NodeAction::Collective { kind: Collective::AllReduce, bytes: 8, group: 0 }]);
    assert_eq!(of_one(host(COLLECTIVE, &[("comm_size", 8)])), "node 1: attribute comm_type is missing");
    assert_eq!(of_one(node(1, 7, &[], &[("is_cpu_op", 0)])), "node 1: attribute comm_type is missing");
}

/// A trace as written by chakra_jsonizer.
const JSON: &str = r###"{
  "attr": [{"name": "schema", "stringVal": "1.1.1-chakra.0.0.4"}]
}{
  "id": "3",
  "name": "## process_group:init ##",
  "type": "METADATA_NODE",
  "inputs": {"values": "['[{\"pg_name\": \"1\", \"ranks\": [1, 0]}]']", "shapes": "[]", "types": "[]"}
}{
  "id": "8",
  "name": "aten::mm",
  "type": "COMP_NODE",
  "ctrlDeps": ["3"],
  "startTimeMicros": "5",
  "durationMicros": "7",
  "attr": [{"name": "is_cpu_op", "boolVal": false}, {"name": "num_ops", "int64Val": "4096"}]
}{
  "id": "9",
  "type": "COMM_COLL_NODE",
  "dataDeps": ["8", "3"],
  "attr": [
    {"name": "is_cpu_op", "boolVal": false},
    {"name": "comm_type", "int64Val": "0"},
    {"name": "comm_size", "uint64Val": "1000"},
    {"name": "pg_name", "stringVal": "1"},
    {"name": "involved_dim", "boolList": {"values": [true, true]}}
  ]
}"###;

#[test]
fn json_says_what_the_messages_say() {
    let trace = read_from(JSON.as_bytes()).expect("it is right");
    let sum = NodeAction::Collective { kind: Collective::AllReduce, bytes: 1000, group: 0 };
    let expected =
        [(3, NodeAction::Nothing, vec![]), (8, NodeAction::Compute(7 * PS_PER_US), vec![0]), (9, sum, vec![0, 1])];
    let found: Vec<_> = trace.nodes.iter().map(|node| (node.id, node.act, node.after.clone())).collect();
    assert_eq!(found, expected);
    assert_eq!((trace.groups, &trace.members["1"][..]), (vec!["1".to_owned()], &[1, 0][..]));
    let snakes = JSON.replace("ctrlDeps", "ctrl_deps").replace("dataDeps", "data_deps").replace("}{", "}\n {");
    let snakes = snakes.replace("durationMicros", "duration_micros").replace("Val\"", "_val\"");
    assert_eq!(read_from(snakes.as_bytes()).map(|trace| trace.nodes), Ok(trace.nodes));
}

#[test]
fn json_that_is_no_trace_is_named_as_json() {
    for (text, part) in [
        (r#"{"workload_graph": [{"Id": 1}]}"#, "at byte 0: "),
        (r#"[{"id": "1"}]"#, "at byte 0: JSON "),
        (r#"{"id": "1"}"#, "at byte 0: JSON "),
        (r#"{}{"id": -1}"#, "at byte 2: id is -1"),
        (r#"{}{"id": 1}{"type": "COMP"}"#, "at byte 11: type \"COMP\""),
        (r#"{}{"attr": [{"name": "x", "boolVal": 3}]}"#, "at byte 2: attribute x: boolVal is 3"),
        (r#"{}{"ctrlDeps": 3}"#, "at byte 2: ctrlDeps"),
        (r#"{}{"id": 1"#, "at byte 2: "),
        (r#"{}{"id": 1} nonsense"#, "at byte 11: "),
        (r#"{}{"id": 1}{"id": 1}"#, "at byte 11: node 1 "),
    ] {
        let said = fault(text.as_bytes());
        assert!(said.starts_with(part), "{said}");
    }
    let endless = (&b"{}{\"name\": \""[..]).chain(std::io::repeat(b'x'));
    assert!(read_from(endless).unwrap_err().to_string().contains("8388608 B"));
}

#[test]
fn a_message_as_long_as_a_bracket_is_no_json() {
    let version = "x".repeat(usize::from(b'{') - 2);
    let bytes = Metadata { version }.encode_length_delimited_to_vec();
    assert_eq!(bytes[0], b'{');
    assert_eq!(read_from(&bytes[..]), Ok(Trace::default()));
}
