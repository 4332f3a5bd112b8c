//! The picture of the host: its labels for each server, the lengths of its bars, and the cards of the domains.

use crate::runs::{between, domain_row, read_run, widths, Example};
use hostnet_report::picture_section;
use serde_json::{json, Value};

fn lanes(picture: &str) -> Vec<&str> {
    between(picture, "class=\"lane stroke-", "\"")
}

fn of_domains(domains: &[&'static str]) -> Example {
    Example { domains: domains.to_vec(), ..Example::default() }
}

#[test]
fn all_hops_and_domains_are_drawn() {
    let picture = Example::default().picture();
    let labels = ["8 cores", "4 drives", "PCIe 3.0 x16", "18 slices", "2 channels", "DDR4-2933, 32 banks each"];
    let counts = ["48.0 of 96", "126 of 252", "46.0 of 92", "41.0 of 82", "128 of 256", "512 of 1,024", "25.0\u{a0}%"];
    for text in labels.iter().chain(&counts) {
        assert!(picture.contains(text), "{text}");
    }
    assert_eq!(lanes(&picture), ["a binding", "b", "c", "d"]);
    assert!(!picture.contains("not used"));
}

#[test]
fn bars_are_filled_in_proportion() {
    for share in [0.0, 0.01, 0.5, 1.0, 1.5] {
        let picture = Example { share, ..of_domains(&["CHA TOR"]) }.picture();
        let (tracks, fills) = (widths(&picture, "track"), widths(&picture, "fill-n"));
        let longest = tracks.iter().copied().fold(0.0, f64::max);
        let busy = 0.25 * tracks.last().expect("the bus has a bar");
        let wanted: Vec<f64> =
            [share.min(1.0) * longest].into_iter().filter(|&width| width > 0.0).chain([busy]).collect();
        assert_eq!(fills.len(), wanted.len());
        assert!(fills.iter().zip(wanted).all(|(fill, wanted)| (fill - wanted).abs() < 0.06), "{share}: {fills:?}");
    }
}

#[test]
fn what_a_run_does_not_use_is_there_without_numbers() {
    let stream = of_domains(&["C2M-Read", "LFB", "CHA TOR", "RPQ", "WPQ"]).picture();
    assert_eq!(lanes(&stream), ["a binding"]);
    assert_eq!(stream.matches("not used").count(), 4);
    assert_eq!(stream.matches("class=\"hop idle\"").count(), 3);
    let storage = of_domains(&["P2M-Read", "PCIe non-posted", "CHA TOR", "RPQ", "WPQ"]).picture();
    assert_eq!(lanes(&storage), ["d"]);
    assert_eq!(storage.matches("class=\"hop idle\"").count(), 1);
}

#[test]
fn a_lane_stops_at_the_hops_of_its_domain() {
    let picture = Example::default().picture();
    let stops: Vec<f64> =
        between(&picture, "<circle cx=\"11\" cy=\"", "\"").into_iter().filter_map(|y| y.parse().ok()).take(4).collect();
    assert!(stops.windows(2).all(|pair| pair[0] < pair[1]), "{stops:?}");
    let counts = ["C2M-Read", "C2M-Write", "P2M-Write", "P2M-Read"]
        .map(|domain| picture.matches(&format!("{domain} passes here")).count());
    assert_eq!(counts, [4, 2, 3, 4]);
}

#[test]
fn the_domain_that_limits_is_emphasised() {
    let cases: [(&str, &[&str], &[&str]); 5] = [
        ("C2M-Write", &["b"], &["a"]),
        ("P2M-Write", &["c"], &["c"]),
        ("PCIe posted", &[], &["c"]),
        ("PCIe non-posted", &[], &["d"]),
        ("offered load", &[], &[]),
    ];
    for (limited_by, lane, frame) in cases {
        let picture = Example { limited_by, ..Example::default() }.picture();
        let bound: Vec<&str> = lanes(&picture).into_iter().filter_map(|lane| lane.strip_suffix(" binding")).collect();
        assert_eq!(bound, lane, "{limited_by}");
        assert_eq!(between(&picture, "class=\"binds stroke-", "\""), frame, "{limited_by}");
    }
}

#[test]
fn the_picture_has_a_description() {
    let picture = Example { limited_by: "P2M-Write", ..Example::default() }.picture();
    let words = between(&picture, "<desc>", "</desc>")[0];
    for text in ["P2M-Write 46.0 of 92", "P2M-Write passes P2M-Write, CHA TOR, WPQ", "P2M-Write limits stream"] {
        assert!(words.contains(text), "{text}");
    }
    assert!(picture.contains("role=\"img\""));
}

#[test]
fn many_channels_become_one_tile() {
    assert!(Example { channels: 9, ..Example::default() }.picture().contains(">x 9<"));
    let few = Example { channels: 8, ..Example::default() }.picture();
    assert!(!few.contains(">x 8<"));
    assert_eq!(few.matches("class=\"bank\"").count(), 8);
}

#[test]
fn without_a_configuration_counts_are_left_out() {
    let run = json!({"summary": {"domains": [domain_row("C2M-Read", "all", 46.1, 72.0)]}});
    let picture = picture_section(&read_run(&run)).expect("there is a pool").to_string();
    for text in [">Cores<", ">Drives<", ">PCIe<", ">CHA<", ">Memory controllers<", ">DRAM<", "46.1 of 72"] {
        assert!(picture.contains(text), "{text}");
    }
    assert!(picture_section(&read_run(&json!({}))).is_none());
}

#[test]
fn a_card_says_who_holds_the_credits() {
    let mut rows = vec![domain_row("C2M-Read", "all", 60.0, 96.0)];
    for (workload, in_use) in [("small", 20.0), ("large", 40.0)] {
        let mut row = domain_row("C2M-Read", "all", in_use, 96.0);
        row["workload"] = workload.into();
        rows.push(row);
    }
    let picture = Example { summary: json!({"domains": rows}), ..Example::default() }.picture();
    assert!(picture.contains("Held by large 40.0 and small 20.0"));
    assert!(picture.contains("60.0 credits × 64 B / 100 ns ≈ 38.4 GB/s"));
}

#[test]
fn a_card_has_the_pool_of_a_workload_that_uses_some_parts() {
    let binding = |credits: f64| {
        let pool = json!({"domain": "C2M-Read", "credits": credits, "in_use": 34.9, "full_share": 0.5});
        json!({"binding": [{"workload": "s", "kind": "stream", "pools": [pool]}]})
    };
    let some = Example { summary: binding(36.0), ..Example::default() }.picture();
    assert!(some.contains("<dt>LFB of s</dt><dd>34.9 of 36</dd>"));
    let all = Example { summary: binding(96.0), ..Example::default() }.picture();
    assert!(!all.contains("LFB of s"));
}

#[test]
fn two_sockets_have_a_picture_each() {
    let rows: Vec<Value> = [("LFB", "core 0"), ("LFB", "core 8"), ("CHA TOR", "cha 1"), ("C2M-Read", "core 8")]
        .into_iter()
        .map(|(domain, part)| domain_row(domain, part, 6.0, 12.0))
        .collect();
    let run = json!({
        "summary": {
            "domains": [domain_row("LFB", "all", 12.0, 24.0), domain_row("C2M-Read", "all", 6.0, 12.0)],
            "upi": [
                {"from": 0, "to": 1, "busy_share": 0.5, "gb_per_s": 1.0, "line_gb_per_s": 0.5},
                {"from": 1, "to": 0, "busy_share": 0.0, "gb_per_s": 0.0, "line_gb_per_s": 0.0},
            ],
            "llc": {"sockets": [{"mib": 2.0, "core_mib": 1.0, "io_mib": 0.0, "lookups": 4, "misses": 1}]},
        },
        "manifest": {"config": {"server": {"sockets": 2}, "core": {"count": 8}}},
        "domains": rows,
    });
    let section = picture_section(&read_run(&run)).expect("there are pools").to_string();
    let pictures: Vec<&str> = section.split("<h3>Socket ").skip(1).collect();
    assert_eq!(pictures.len(), 2);
    assert!(pictures[0].contains("LLC: cores 1.00") && pictures[0].contains("cores miss the LLC 25.0\u{a0}%"));
    assert!(pictures[1].contains("LLC not simulated") && pictures[1].contains("core 8, LFB in use: 50.0\u{a0}%"));
    assert!(pictures[1].contains("C2M-Read passes LFB, CHA TOR.") && !pictures[0].contains("C2M-Read passes"));
    for (picture, words) in pictures.iter().zip(["to socket 1", "from socket 0"]) {
        let share = between(picture, &format!(">{words}</text>"), "</text>")[0];
        assert!(share.ends_with("50.0\u{a0}%"), "{share}");
    }
}
