//! NCAP and interrupt moderation of a NIC: valid documents and errors.

use crate::common::{assert_tells, told};
use hostnet_config::{resolve, Format, Input, Plan};
use hostnet_params::{HostKind, InterruptModerationParams, NcapParams, ServerParams};
use std::path::Path;

fn resolved(text: &str, format: Format) -> Result<Plan, String> {
    resolve(&Input { text, format, file: "test.toml", base_dir: Path::new("."), overrides: &[] })
        .map_err(|error| told(&error))
}

fn pair(more: &str) -> Result<Plan, String> {
    let text = format!(
        "[host.r]\npreset = \"cascade-lake-hostcc\"\n{more}\n[host.s]\nkind = \"endpoint\"\n[flow.f]\nkind = \"bulk\"\n\
         from = \"s\"\nto = \"r\"\n"
    );
    resolved(&text, Format::Toml)
}

fn of(plan: &Plan) -> &ServerParams {
    let HostKind::Server(server) = &plan.cluster.hosts[0].kind else { panic!("a server") };
    server
}

fn ncap(more: &str) -> NcapParams {
    let plan = pair(&format!("power = {{}}\n{more}")).unwrap_or_else(|error| panic!("{more}: {error}"));
    of(&plan).ncap.as_deref().cloned().expect("it tells")
}

fn says(more: &str, says: &str) {
    match pair(more) {
        Ok(_) => panic!("{more} is allowed, and it should say {says}"),
        Err(error) => assert_tells(&error, &[says]),
    }
}

#[test]
fn without_the_keys_nothing_changes() {
    let plan = pair("").expect("two hosts");
    let server = of(&plan);
    assert!(server.ncap.is_none() && server.moderation.is_none());
    assert_eq!(server.stack.as_ref().expect("a stack").receive_queues, None);
    let off = pair("power = {}\nnic.ncap.mode = \"off\"").expect("off");
    assert!(of(&off).ncap.is_none() && of(&off).moderation.is_none());
    assert_eq!(off.hash, pair("power = {}").expect("without").hash);
}

#[test]
fn what_is_not_said_is_what_was_published() {
    let found = ncap("nic.ncap = {}");
    let published = NcapParams {
        software: false,
        high_per_s: Some(35_000),
        low_per_s: 5_000,
        low_bits_per_s: 5_000_000,
        idle_ps: Some(500_000_000),
        steps: 5,
        low_ps: 1_000_000_000,
        period_ps: 50_000_000,
        templates: vec![*b"GE"],
        rearm_by_frequency: false,
        packet_ps: 0,
    };
    assert_eq!(found, published);
    let plan = pair("power = {}\nnic.ncap = {}").expect("two hosts");
    assert_eq!(of(&plan).moderation, Some(InterruptModerationParams { master_ps: 50_000_000, cause_ps: 0 }));
}

#[test]
fn what_is_said_holds() {
    let keys = "mode = \"software\", rht = \"inf\", rlt = \"0 /s\", tlt = \"8 Gbps\", cit = \"inf\", fcons = 1, \
                low = \"2 ms\", templates = [\"GE\", \"ge\"], rearm = \"frequency\"";
    let found = ncap(&format!("nic.ncap = {{ {keys} }}"));
    assert_eq!((found.high_per_s, found.low_per_s, found.idle_ps), (None, 0, None));
    assert_eq!((found.low_bits_per_s, found.steps, found.low_ps), (8_000_000_000, 1, 2_000_000_000));
    assert_eq!((found.period_ps, found.packet_ps), (1_000_000_000, 50_000));
    assert_eq!((found.templates.as_slice(), found.rearm_by_frequency), (&[*b"GE", *b"ge"][..], true));
    let own = ncap("nic.ncap = { mode = \"software\", timer = \"2 ms\", packet = \"80 ns\" }");
    assert_eq!((own.period_ps, own.packet_ps), (2_000_000_000, 80_000));
    assert_eq!(ncap("nic = { mitt = \"80 us\", ncap = {} }").period_ps, 80_000_000);
    let plan = pair("nic = { mitt = \"80 us\", icr = \"2 us\", queues = 3 }").expect("without power");
    assert_eq!(of(&plan).moderation, Some(InterruptModerationParams { master_ps: 80_000_000, cause_ps: 2_000_000 }));
    assert_eq!(of(&plan).stack.as_ref().expect("a stack").receive_queues, Some(3));
}

#[test]
fn what_is_written_out_is_the_same_configuration() {
    for more in ["nic = { mitt = \"80 us\", icr = \"2 us\", queues = 3 }", "power = {}\nnic.ncap.rht = \"inf\""] {
        let plan = pair(more).unwrap_or_else(|error| panic!("{error}"));
        let again = serde_json::to_string(&plan.effective).expect("JSON");
        assert!(!again.contains("coalesce"), "{again}");
        let same = resolved(&again, Format::Json).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(same.hash, plan.hash, "{more}");
    }
}

#[test]
fn bursts_for_cores_with_frequencies_of_their_own_are_told() {
    let told = |more: &str| {
        let plan = pair(more).unwrap_or_else(|error| panic!("{error}"));
        plan.ignored.iter().any(|text| text.contains("host.r: nic.ncap announces a burst for all cores"))
    };
    assert!(told("power.domain = \"core\"\nnic = { queues = 1, ncap = {} }"));
    assert!(told("power.domain = \"core\"\nnic = { queues = 2, ncap = {} }"));
    assert!(!told("power.domain = \"chip\"\nnic = { queues = 1, ncap = {} }"));
    assert!(!told("power.domain = \"core\"\nnic = { queues = 1 }"));
}

#[test]
fn what_is_wrong_is_said() {
    let told = |keys: &str, text: &str| says(&format!("power = {{}}\nnic.ncap = {{ {keys} }}"), text);
    says("nic.ncap = {}", "[requires-key host.r.nic.ncap] test.toml:3: ");
    told("rlt = \"40 k/s\"", "[wrong-order host.r.nic.ncap.rlt] 40 k/s | rht = 35");
    told("rht = \"4 k/s\"", "[wrong-order host.r.nic.ncap.rht] 5 k/s | rht = 4");
    told("rht = 35000", "[wrong-type host.r.nic.ncap.rht] 35000 | \"35 k/s\"");
    told("rht = \"never\"", "[bad-unit host.r.nic.ncap.rht] \"inf\"");
    told("fcons = 0", "[out-of-range host.r.nic.ncap.fcons] 1 to 64");
    told("mode = \"hardwar\"", "[unknown-name host.r.nic.ncap.mode] \"hardwar\" | \"hardware\"");
    told("templates = []", "[wrong-count host.r.nic.ncap.templates] 1 to 16");
    for (text, shown) in [("GET", "\\\"GET\\\""), ("G", "\\\"G\\\""), ("é", "\\\"é\\\"")] {
        let shown = shown.replace('\\', "");
        let wrong = format!("[malformed-value host.r.nic.ncap.templates[0]] {shown}");
        told(&format!("templates = [\"{text}\"]"), &wrong);
    }
    told("timer = \"1 ms\"", "[no-effect host.r.nic.ncap.timer] mode = \"software\"");
    told("packet = \"1 ns\"", "[no-effect host.r.nic.ncap.packet] mode = \"software\"");
    says("power = {}\nstack.poll = true\nnic.ncap = {}", "[conflicting-keys host.r.nic.ncap]");
}

#[test]
fn keys_of_interrupts_without_effect_are_refused() {
    says("nic.mitt = \"0 us\"", "[out-of-range host.r.nic.mitt] \"0 us\" | 1 us");
    says("nic.icr = \"1 us\"", "[no-effect host.r.nic.icr]");
    says("nic = { mitt = \"50 us\", coalesce = \"8 us\" }", "[no-effect host.r.nic.coalesce]");
    says("nic = { mitt = \"50 us\", coalesce_packets = 8 }", "[no-effect host.r.nic.coalesce_packets]");
    says("power = {}\nnic = { ncap = {}, coalesce = \"8 us\" }", "[no-effect host.r.nic.coalesce]");
    says("nic.queues = 0", "[out-of-range host.r.nic.queues] 1 to 64");
    says("nic.queues = 65", "[out-of-range host.r.nic.queues] 65 | 1 to 64");
    let own =
        pair("power = {}\nnic = { ncap = { mode = \"software\" }, coalesce = \"9 us\" }").expect("its own moderation");
    assert_eq!(of(&own).socket().nic.as_ref().expect("a NIC").coalesce_ps, 9_000_000);
}
