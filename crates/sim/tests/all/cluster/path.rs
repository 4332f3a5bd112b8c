//! Tests the critical path of a job: a faster version of the named resource shortens the job.

use crate::cluster::lab::plan;
use hostnet_sim::{Options, Report, Run};
use serde_json::Value;

fn run(text: &str) -> Report {
    let mut run = Run::new(&plan(text), Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    run.report()
}

fn took_us(report: &Report) -> f64 {
    report.summary["jobs"][0]["done_us"].as_f64().expect("it is done")
}

fn rows(report: &Report) -> &[Value] {
    report.summary["path"].as_array().expect("a table")
}

/// Returns a ring allreduce of four hosts, one of which differs from the other three.
fn ring(host: &str, odd: &str, job: &str) -> String {
    format!(
        "[host.h]\nkind = \"endpoint\"\ncount = 3\n{host}\n[host.odd]\nkind = \"endpoint\"\n{odd}\n\
         [network]\nrate = \"10 Gbps\"\nmtu = \"1500 B\"\nlatency = \"1 us\"\n\
         [transport.t]\nbase = \"reno\"\necn = false\ninitial_window = 10000\nreceive_buffer = \"64 MB\"\n\
         [job.j]\nkind = \"allreduce\"\nhosts = [\"h\", \"odd\"]\ntransport = \"t\"\niterations = 2\n{job}\n\
         [run]\nuntil = \"jobs\"\n"
    )
}

/// Returns the first row of the path of a job: its main limit, the place of this limit, and its share.
fn first(report: &Report) -> (String, String, f64) {
    let row = &rows(report)[0];
    let text = |name: &str| row[name].as_str().expect("a text").to_owned();
    (text("limit"), text("place"), row["share"].as_f64().expect("a share"))
}

/// Runs a ring before and after a resource is made faster, and returns the first report. Asserts that this resource
/// is named, and that the job becomes shorter by the share `shorter`.
fn helps(limit: &str, place: &str, before: &str, after: &str, shorter: f64) -> Report {
    let (report, faster) = (run(before), run(after));
    let (found, at, share) = first(&report);
    assert_eq!((found.as_str(), at.contains(place)), (limit, true), "{at}, {share}: {}", rows(&report)[0]);
    let gain = 1.0 - took_us(&faster) / took_us(&report);
    assert!(gain > shorter, "{limit} at {place}: {gain} shorter");
    assert!(share > shorter, "{limit} at {place}: {share} of the path");
    report
}

#[test]
fn the_slow_cable_of_one_host_is_found() {
    let odd = |rate: u32| ring("", "", &format!("bytes = \"8 MB\"\n[cable.odd]\nrate = \"{rate} Gbps\""));
    let report = helps("cable", "odd", &odd(2), &odd(4), 0.4);
    let job = &report.summary["jobs"][0];
    assert_eq!(job["path_host"], "odd");
    assert!(job["path_share"].as_f64() > Some(0.9), "{job}");
    // Another rank finishes last.
    assert_eq!(report.summary["limits"][0]["limit"], "cable");
}

#[test]
fn equal_hosts_have_equal_parts_of_the_path() {
    let report = run(&ring("", "", "bytes = \"8 MB\""));
    assert_eq!(first(&report).0, "cable");
    assert!(report.summary["jobs"][0]["path_share"].as_f64() < Some(0.76), "{}", report.summary["jobs"][0]);
}

#[test]
fn the_latency_of_small_messages_is_found() {
    let with = |us: u32| {
        let latency = format!("latency = \"{us} us\"");
        ring(&latency, &latency, "bytes = \"4 kB\"\niterations = 20").replace("iterations = 2\n", "")
    };
    let report = helps("latency", "", &with(20), &with(10), 0.4);
    assert_eq!(report.summary["limits"][0]["limit"], "latency", "{}", report.summary["limits"][0]);
}

#[test]
fn computing_is_found_beside_an_exchange_that_is_bound_by_cables() {
    let with = |ms: u32| ring("", "", &format!("bytes = \"8 MB\"\ncompute = \"{ms} ms\""));
    let report = helps("compute", "", &with(30), &with(15), 0.3);
    assert_eq!(report.summary["limits"][0]["limit"], "compute");
    // Each step has its own limit, and the cable was full while messages were in flight.
    let cable = rows(&report).iter().find(|row| row["limit"] == "cable").expect("the exchange is bound by a cable");
    assert!(cable["load"].as_f64() > Some(0.95), "{cable}");
    assert!(rows(&report).iter().all(|row| row["limit"] != "not known"), "{:?}", rows(&report));
}

#[test]
fn the_core_of_a_rank_that_copies_is_found() {
    let with = |gbps: u32| ring("", "", &format!("bytes = \"8 MB\"\nsocket_rate = \"{gbps} Gbps\""));
    helps("rank cores", "", &with(5), &with(10), 0.3);
}

#[test]
fn an_engine_is_found_that_works_only_while_messages_are_on_their_way() {
    let with = |mhz: u32| {
        let engine = format!("compress = {{ clock = \"{mhz} MHz\", ratio = 9 }}");
        ring(&engine, &engine, "bytes = \"8 MB\"\ncompute = \"10 ms\"\ncompress = true")
    };
    let report = run(&with(50));
    let row = rows(&report).iter().find(|row| row["does"] == "transfer").expect("a message");
    assert_eq!(row["limit"], "compression", "{row}");
    assert!(took_us(&run(&with(100))) < 0.8 * took_us(&report));
}

#[test]
fn a_switch_that_sums_up_is_found_behind_other_switches_over_tcp_and_roce() {
    let with = |transport: &str, gbps: u32| {
        let text = format!(
            "[host.h]\nkind = \"endpoint\"\ncount = 4\n\
             [network]\ntopology = \"leaf-spine\"\nleaves = 2\nrate = \"10 Gbps\"\nswitch.sum = \"{gbps} Gbps\"\n\
             [job.j]\nkind = \"allreduce\"\nalgorithm = \"in-network\"\nhosts = \"h\"\ntransport = \"{transport}\"\n\
             bytes = \"4 MB\"\ncompute = \"10 ms\"\niterations = 2\n[run]\nuntil = \"jobs\"\n"
        );
        run(&text)
    };
    for transport in ["dctcp", "roce"] {
        let (slow, quick) = (with(transport, 3), with(transport, 100));
        let transfer = |report: &Report| {
            let rows = rows(report).iter().find(|row| row["does"] == "transfer").expect("a message");
            rows["limit"].as_str().expect("a limit").to_owned()
        };
        assert_eq!([transfer(&slow), transfer(&quick)], ["switch sums", "cable"], "{transport}");
        assert!(took_us(&quick) < 0.75 * took_us(&slow), "{transport}");
        let all: f64 = rows(&slow).iter().map(|row| row["time_us"].as_f64().expect("a time")).sum();
        assert!((all - took_us(&slow)).abs() < 1e-3, "{transport}: the path is whole");
    }
}

#[test]
fn a_limit_behind_the_nic_of_one_server_is_found() {
    let with = |bad: &str| {
        run(&format!(
            "[host.good]\npreset = \"mcn-scaleup-8\"\ncount = 3\n\
             [host.bad]\npreset = \"mcn-scaleup-8\"\n[host.bad.iio]\n{bad}\n\
             [network]\nrate = \"40 Gbps\"\nlatency = \"1 us\"\nmtu = \"4200 B\"\n\
             [job.j]\nhosts = [\"good\", \"bad\"]\nkind = \"allreduce\"\nbytes = \"1 MB\"\ntransport = \"roce\"\n\
             [run]\nuntil = \"jobs\"\n"
        ))
    };
    let whole = took_us(&with("read_credits = 64"));
    // Reads are those of the sender; writes are those of the receiver, which drops packets with too few credits.
    for (key, few, more) in [("read_credits", 2, 4), ("write_credits", 1, 2)] {
        let [few, more] = [few, more].map(|credits| with(&format!("{key} = {credits}")));
        let limit = &few.summary["limits"][0];
        assert_eq!((&limit["limit"], &limit["place"]), (&"host network".into(), &"bad".into()), "{key}: {limit}");
        assert_eq!(few.summary["jobs"][0]["path_host"], "bad", "{key}");
        assert!(whole < took_us(&more) && took_us(&more) < 0.75 * took_us(&few), "{key}");
    }
}

#[test]
fn nothing_is_said_to_be_full_that_is_not() {
    // Windows of few packets: nothing is full, and no latency is that long.
    let text = ring("", "", "bytes = \"8 MB\"").replace("receive_buffer = \"64 MB\"", "receive_buffer = \"8 kB\"");
    let report = run(&text);
    assert!(rows(&report).iter().all(|row| row["limit"] == "not known"), "{:?}", rows(&report));
}

#[test]
fn an_accelerator_that_works_all_the_time_binds_however_much_is_exchanged_meanwhile() {
    let training = |backward: u32, rate: u32| {
        format!(
            "[host.h]\nkind = \"endpoint\"\ncount = 4\n[network]\nrate = \"{rate} Gbps\"\nmtu = \"9000 B\"\n\
             [job.j]\nkind = \"allreduce\"\nhosts = \"h\"\nbytes = \"50 MB\"\nbucket = \"1 MB\"\n\
             compute = {{ backward = \"{backward} ms\" }}\n[run]\nuntil = \"jobs\"\n"
        )
    };
    // Cables alone take 7 ms.
    helps("compute", "h-", &training(16, 100), &training(12, 100), 0.15);
    let with_wider = took_us(&run(&training(16, 200))) / took_us(&run(&training(16, 100)));
    assert!(with_wider > 0.98, "{with_wider}");
    // If the cables take longer, they are the limit, not the beginning of the pass.
    helps("cable", "h-", &training(1, 100), &training(1, 200), 0.3);
}

#[test]
fn of_jobs_with_more_steps_than_are_kept_the_path_is_of_their_end() {
    // The steps that ranks keep end at different times: what some sent is no longer kept when others received it.
    for (hosts, algorithm, iterations) in [(5, "aggregator", 1100), (3, "tree", 9000), (5, "recursive-doubling", 4000)]
    {
        let report = run(&format!(
            "[host.h]\nkind = \"endpoint\"\ncount = {hosts}\n[job.j]\nkind = \"allreduce\"\nhosts = \"h\"\n\
             bytes = \"1 kB\"\nalgorithm = \"{algorithm}\"\niterations = {iterations}\n[run]\nuntil = \"jobs\"\n"
        ));
        let time: f64 = rows(&report).iter().map(|row| row["time_us"].as_f64().expect("a time")).sum();
        let part = time / took_us(&report);
        assert!(part > 0.1 && part < 1.0, "{algorithm}: {part}");
    }
}

#[test]
fn of_several_places_the_one_with_the_most_time_is_named() {
    let slow = |host: u32, rate: u32| {
        format!(
            "[host.h]\nkind = \"endpoint\"\ncount = 6\n[network]\nrate = \"40 Gbps\"\nmtu = \"4096 B\"\n\
             [cable.h-{host}]\nrate = \"{rate} Gbps\"\n[job.j]\nkind = \"alltoall\"\nhosts = \"h\"\n\
             bytes = \"4 MB\"\niterations = 3\n[run]\nuntil = \"jobs\"\n"
        )
    };
    for host in 0..6 {
        let (before, after) = (run(&slow(host, 20)), run(&slow(host, 40)));
        let limit = &before.summary["limits"][0];
        assert_eq!(limit["limit"], "cable");
        assert!(limit["place"].as_str().expect("a place").contains(&format!("h-{host}")), "{host}: {limit}");
        assert!(took_us(&after) < 0.8 * took_us(&before));
    }
}
