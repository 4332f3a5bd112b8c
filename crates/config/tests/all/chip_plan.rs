//! The configuration of a chip: presets, units, errors and their places.

use crate::common::{assert_tells, told};
use hostnet_chip::{Completion, Interleave, Mode, Pattern, Placement, Routing, Shape, Torus};
use hostnet_config::{
    chip_plan, chip_schema, chip_template, chips, is_chip, ChipPlan, Code, ConfigError, Format, Input,
};
use proptest::prelude::*;
use std::path::Path;

const CHIP: &str = "[chip]\npreset = \"scale-out-64\"\n";

fn resolve(text: &str, format: Format, overrides: &[String]) -> Result<ChipPlan, ConfigError> {
    chip_plan(&Input { text, format, file: "chip.toml", base_dir: Path::new("."), overrides })
}

fn set(overrides: &[&str]) -> Result<ChipPlan, ConfigError> {
    let overrides: Vec<String> = overrides.iter().map(|text| text.to_string()).collect();
    resolve(CHIP, Format::Toml, &overrides)
}

fn error(overrides: &[&str]) -> String {
    told(&set(overrides).expect_err("it is wrong"))
}

fn refused(cases: &[(&[&str], &str)]) {
    for (given, wanted) in cases {
        let message = error(given);
        assert_tells(&message, &[wanted]);
    }
}

#[test]
fn the_preset_is_the_chip_of_its_source() {
    let plan = set(&[]).expect("it is complete");
    let chip = &plan.chip;
    assert_eq!((chip.columns, chip.rows, plan.clock_hz), (8, 8, 2_000_000_000));
    assert_eq!((chip.router.hop_cycles(), chip.memory_cycles, chip.rack.hop_cycles, chip.rack.hops), (3, 100, 70, 1));
    assert_eq!((chip.cache.slice_lines, chip.cache.ways, chip.cache.bank_cycles), (4096, 16, 6));
    assert_eq!((chip.ni.entries, chip.ni.placement, chip.routing), (128, Placement::Split, Routing::CdrDirectory));
    assert_eq!((chip.workload.writes_percent, chip.workload.mode, chip.workload.lines), (0, Mode::Turns, 1));
    assert_eq!(chip.workload.cores, (0..64).collect::<Vec<_>>());
    assert_eq!((plan.windows.warm_up, plan.windows.window), (60_000, 6_000_000));
    assert_eq!(plan.name, "chip");
    assert_eq!(chips().collect::<Vec<_>>(), ["scale-out-64", "scale-out-64-nocout"]);
}

#[test]
fn a_noc_out_has_a_slice_in_every_llc_tile() {
    let plan = set(&["chip.preset=scale-out-64-nocout"]).expect("it is complete");
    let chip = &plan.chip;
    assert_eq!((chip.shape, chip.columns, chip.rows), (Shape::NocOut, 8, 8));
    assert_eq!((chip.cache.slice_lines, chip.workload.cores.len()), (8 * 4096, 64));
    let switched = set(&["noc.topology=noc-out"]).expect("the routing of the preset is that of a mesh");
    assert_eq!(&switched.chip, chip);
    let again = resolve(&switched.effective.to_string(), Format::Json, &[]).expect("it is complete");
    assert_eq!((&again.hash, &again.effective), (&switched.hash, &switched.effective));
    let wide = set(&["noc.topology=noc-out", "chip.columns=4", "chip.rows=10"]).unwrap().chip;
    assert_eq!((wide.cache.slice_lines, wide.workload.cores.len()), (16 * 4096, 40));
}

#[test]
fn a_torus_has_no_mirror() {
    let given = ["rack.kind=torus", "rack.size=[4, 3, 2]"];
    let plan = set(&given).expect("it is complete");
    assert_eq!(plan.torus, Some(Torus { sides: [4, 3, 2], pattern: Pattern::Uniform }));
    let shift = set(&[&given[..], &["rack.pattern=shift", "rack.hops=4"]].concat()).expect("it is complete");
    assert_eq!(shift.torus.map(|torus| torus.pattern), Some(Pattern::Shift));
    assert_eq!((set(&[]).unwrap().torus, shift.chip.rack.hops), (None, 4));
    assert_ne!(plan.hash, shift.hash);
    for one in [plan, shift] {
        let again = resolve(&one.effective.to_string(), Format::Json, &[]).expect("it is complete");
        assert_eq!((again.torus, again.hash, again.effective), (one.torus, one.hash, one.effective));
    }
}

#[test]
fn a_loaded_chip_has_shorter_windows() {
    for mode in ["sync", "async"] {
        assert_eq!(set(&[&format!("workload.mode={mode}")]).unwrap().windows.window, 30_000, "{mode}");
    }
    assert_eq!(set(&["workload.mode=async", "run.window=2 us"]).unwrap().windows.window, 4000);
}

#[test]
fn the_template_resolves_and_is_of_a_chip() {
    for chip in chips() {
        let text = chip_template(Some(chip)).expect("it is known");
        let plan = resolve(&text, Format::Toml, &[]).expect("it is right");
        assert_eq!(plan.hash, set(&[&format!("chip.preset={chip}")]).unwrap().hash);
        assert_eq!(text.contains("routing"), chip == "scale-out-64");
    }
    let text = chip_template(None).unwrap();
    assert_eq!(Ok(&text), chip_template(Some("scale-out-64")).as_ref());
    let fault = chip_template(Some("scale-out-46")).unwrap_err();
    assert!(fault.code == Code::UnknownName && fault.message.contains("\"scale-out-64\""), "{fault}");
    assert!(is_chip(&text, Format::Toml) && is_chip("{\"chip\": {}}", Format::Json));
    assert!(!is_chip("[host.a]\n", Format::Toml) && !is_chip("[chip", Format::Toml));
    assert_eq!(chip_schema()["title"], "hostnet chip configuration");
}

#[test]
fn times_are_whole_cycles_of_the_clock() {
    let plan = set(&["chip.clock=3 GHz", "memory.latency=50.1 ns", "rack.hop=35 ns"]).unwrap();
    assert_eq!((plan.chip.memory_cycles, plan.chip.rack.hop_cycles), (150, 105));
}

#[test]
fn words_are_what_they_say() {
    let given = ["ni.placement=numa", "ni.completion=acked", "noc.mc_interleave=row", "workload.op=write"];
    let chip = set(&given).unwrap().chip;
    assert_eq!((chip.ni.placement, chip.ni.completion), (Placement::Numa, Completion::Acked));
    assert_eq!((chip.interleave, chip.workload.writes_percent), (Interleave::Row, 100));
}

#[test]
fn controllers_links_homes_and_mixes_are_as_said() {
    let chip = set(&["chip.columns=12", "chip.rows=6", "coherence.home=hash", "coherence.llc=18 MiB"]).unwrap().chip;
    assert_eq!((chip.tiles(), chip.cache.slice_lines), (72, 4096));
    let north: Vec<_> = (0..8).map(|column| (column, 0)).collect();
    assert_eq!(set(&["noc.mc=north"]).unwrap().chip.memories, north);
    assert_eq!(set(&["noc.mc=1,2 7,7"]).unwrap().chip.memories, [(1, 2), (7, 7)]);
    let chip = set(&["noc.link=32 B", "workload.op=mixed", "workload.writes=30"]).unwrap().chip;
    assert_eq!((chip.flit_bytes, chip.workload.writes_percent), (32, 30));
}

#[test]
fn what_is_wrong_is_told_with_its_place_and_its_rule() {
    let cases: [(&[&str], &str); 34] = [
        (&["workload.op=mixed"], "[requires-key workload.op] \"mixed\""),
        (&["workload.writes=30"], "[no-effect workload.writes] \"mixed\""),
        (&["noc.link=2 B"], "[out-of-range noc.link]"),
        (&["noc.mc=up"], "[malformed-value noc.mc] \"up\""),
        (&["noc.mc=0,0 8,0"], "[does-not-exist noc.mc] 0 to 7"),
        (&["noc.mc=0,0 3,3 0,0"], "[does-not-exist noc.mc]"),
        (&["noc.mc=0,0 3,3", "noc.mc_interleave=row"], "[does-not-exist noc.mc]"),
        (&["noc.topology=noc-out", "noc.mc=east"], "[no-effect noc.mc]"),
        (&["coherence.home=hash", "chip.columns=12", "chip.rows=6"], "[not-a-multiple coherence.llc] 16777216 B"),
        (&["ni.placment=edge"], "[unknown-key ni.placment] \"placement\""),
        (&["chip.preset=scale-out-46"], "[unknown-name chip.preset] \"scale-out-64\""),
        (&["chip.preset=scale-out-64-nocut"], "[unknown-name chip.preset] \"scale-out-64-nocout\""),
        (&["noc.topology=torus"], "[unknown-name noc.topology] \"torus\""),
        (&["noc.topology=noc-out", "noc.routing=xy"], "[no-effect noc.routing]"),
        (&["chip.preset=scale-out-64-nocout", "noc.routing=cdr"], "[no-effect noc.routing]"),
        (&["chip.preset=scale-out-64-nocout", "noc.topology=mesh"], "[missing-key noc.routing]"),
        (&["noc.topology=noc-out", "chip.columns=6"], "[out-of-range chip.columns]"),
        (&["noc.topology=noc-out", "chip.columns=16"], "[too-few-slots chip.columns] 16"),
        (&["noc.topology=noc-out", "noc.vcs=2"], "[out-of-range noc.vcs] 10 | 12"),
        (&["noc.topology=noc-out", "chip.rows=7"], "[not-a-multiple chip.rows]"),
        (&["noc.topology=noc-out", "chip.rows=16"], "[out-of-range chip.rows] 128"),
        (&["noc.topology=noc-out", "workload.cores=64"], "[does-not-exist workload.cores] 64"),
        (
            &["noc.topology=noc-out", "chip.columns=2", "coherence.llc=1 GiB"],
            "[out-of-range coherence.llc] 1073741824 B | 536870912 B",
        ),
        (&["noc.routing=xyz"], "[unknown-name noc.routing] \"xyz\" | \"xy\""),
        (&["noc.routing=o1turn"], "[requires-key noc.routing]"),
        (&["rack.hops=13"], "[out-of-range rack.hops] 13 | 12"),
        (&["chip.columns=16"], "[out-of-range chip.columns] 16 | 128"),
        (&["chip.columns=6"], "[out-of-range chip.columns] 48"),
        (&["workload.size=100 B"], "[not-a-multiple workload.size]"),
        (&["workload.size=32 KiB"], "[out-of-range workload.size]"),
        (&["workload.cores=0-64"], "[does-not-exist workload.cores] 64"),
        (&["ni.wq.per_line=3"], "[not-a-multiple ni.wq.per_line]"),
        (&["coherence.llc=16 MB"], "[not-a-multiple coherence.llc] 16000000 B | 64"),
        (&["run.window=0 ns"], "[out-of-range run.window]"),
    ];
    refused(&cases);
    let missing = told(&resolve("[chip]\nclock = \"2 GHz\"\n", Format::Toml, &[]).unwrap_err());
    assert_tells(&missing, &["[missing-key chip.preset] scale-out-64"]);
    let placed = resolve("[chip]\npreset = \"scale-out-64\"\n[rack]\nhops = 99\n", Format::Toml, &[]).unwrap_err();
    assert_eq!((placed.line, placed.path.as_str()), (Some(4), "rack.hops"));
}

#[test]
fn what_is_wrong_with_a_rack_is_told() {
    refused(&[
        (&["rack.kind=tree"], "[unknown-name rack.kind] \"tree\""),
        (&["rack.kind=torus"], "[missing-key rack.size]"),
        (&["rack.size=[2, 2]"], "[no-effect rack.size]"),
        (&["rack.pattern=shift"], "[no-effect rack.pattern]"),
        (&["rack.kind=torus", "rack.size=[2, 0, 2]"], "[out-of-range rack.size[1]]"),
        (&["rack.kind=torus", "rack.size=[]"], "[wrong-count rack.size]"),
        (&["rack.kind=torus", "rack.size=[2, 2, 2, 2]"], "[wrong-count rack.size]"),
        (&["rack.kind=torus", "rack.size=[1, 1]"], "[out-of-range rack.size] 2 to 512"),
        (&["rack.kind=torus", "rack.size=[9, 8, 8]"], "[out-of-range rack.size] 576 | 2 to 512"),
        (&["rack.kind=torus", "rack.size=[2]", "rack.hops=1"], "[no-effect rack.hops]"),
        (&["rack.kind=torus", "rack.size=[2]", "rack.diameter=2"], "[no-effect rack.diameter]"),
        (
            &["rack.kind=torus", "rack.size=[4, 3, 2]", "rack.pattern=distance", "rack.hops=5"],
            "[out-of-range rack.hops]",
        ),
        (&["rack.kind=torus", "rack.size=[8, 8, 8]", "coherence.llc=1 GiB"], "[too-large rack.size] 512 | 64 GiB"),
    ]);
}

#[test]
fn what_takes_servers_says_that_it_is_a_chip() {
    let input = Input { text: CHIP, format: Format::Toml, file: "a.toml", base_dir: Path::new("."), overrides: &[] };
    let message = told(&hostnet_config::resolve(&input).expect_err("it is no server"));
    assert_tells(&message, &["[wrong-kind chip] a.toml: "]);
}

#[test]
fn everything_but_the_name_is_in_the_hash() {
    let hash = |given: &[&str]| set(given).unwrap().hash;
    assert_eq!(hash(&[]), hash(&["run.name=other"]));
    for other in ["run.seed=2", "ni.rrpp_cycles=9", "chip.clock=1 GHz", "run.max=3", "workload.op=write"] {
        assert_ne!(hash(&[]), hash(&[other]), "{other}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_resolves_resolves_again_to_the_same(
        (columns, rows) in prop::sample::select(&[(2, 2), (4, 4), (8, 4), (2, 16), (8, 8)][..]),
        placement in prop::sample::select(&["edge", "per-tile", "split", "numa"][..]),
        mode in prop::sample::select(&["turns", "sync", "async"][..]),
        lines in 1_u64..=256,
        hops in 1_u32..=12,
        (in_flight, vcs, vc_flits) in (1_u32..=500, 1_u32..=2, 1_u32..=255),
        seed in any::<u64>(),
    ) {
        let given = [
            format!("chip.columns={columns}"),
            format!("chip.rows={rows}"),
            format!("ni.placement={placement}"),
            format!("ni.in_flight={in_flight}"),
            format!("noc.vcs={vcs}"),
            format!("noc.vc_flits={vc_flits}"),
            format!("workload.mode={mode}"),
            format!("workload.size={} B", 64 * lines),
            format!("rack.hops={hops}"),
            format!("run.seed={seed}"),
        ];
        let plan = resolve(CHIP, Format::Toml, &given).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let again = resolve(&plan.effective.to_string(), Format::Json, &[]).expect("it is complete");
        prop_assert_eq!(&again.hash, &plan.hash);
        prop_assert_eq!(&again.effective, &plan.effective);
        prop_assert_eq!(again.chip, plan.chip);
    }
}
