//! Jobs of ranks: each error has its place and its rule, and omitted values are filled in.

use crate::common;
use crate::common::{assert_tells, cluster_text, told};
use hostnet_config::{Code, Format, Length, Plan, WarmUp};
use serde_json::json;

/// Eight endpoints, a server, and a job of the endpoints.
const BASE: &str = "[host.e]\nkind = \"endpoint\"\ncount = 8\n[host.s]\npreset = \"cascade-lake-hostcc\"\n\
                    [job.j]\nkind = \"allreduce\"\nhosts = \"e\"\nbytes = \"1 MB\"\n[run]\nuntil = \"jobs\"\n";

fn resolved(overrides: &[&str]) -> Plan {
    cluster_text(BASE, Format::Toml, overrides).unwrap_or_else(|error| panic!("{error}"))
}

fn says(overrides: &[&str], wanted: &[&str]) {
    common::says(BASE, overrides, wanted);
}

#[test]
fn what_is_left_out_is_filled_in() {
    let plan = resolved(&[]);
    assert_eq!((plan.run.length, plan.run.warm_up), (Length::Jobs, WarmUp::Fixed { ps: 0 }));
    assert_eq!(plan.effective["run"]["duration_max"], "10 s");
    let job = &plan.effective["job"]["j"];
    assert_eq!(
        [&job["algorithm"], &job["iterations"], &job["transport"]],
        [&json!("ring"), &json!(1), &json!("dctcp")]
    );
    assert_eq!((plan.cluster.jobs[0].hosts.len(), plan.cluster.flows.len()), (8, 8));
    let again = cluster_text(&plan.effective.to_string(), Format::Json, &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again.hash, plan.hash);
    assert_ne!(resolved(&["job.j.bytes=2 MB"]).hash, plan.hash);
    let timed = resolved(&["run.duration=1 ms"]);
    assert_eq!(timed.run.length, Length::Duration { ps: 1_000_000_000 });
    assert!(timed.effective["run"].get("until").is_none());
}

#[test]
fn closed_forms_choose_for_hosts_with_one_port_only() {
    assert!(cluster_text(BASE, Format::Toml, &["job.j.algorithm=auto"]).is_ok());
    let two = ["job.j.algorithm=auto", "host.e.ports=2"];
    let error = cluster_text(BASE, Format::Toml, &two).map(|_| ()).expect_err("refused");
    assert_eq!((error.code, error.path.as_str()), (Code::NotSupported, "job.j.algorithm"));
}

#[test]
fn keys_of_jobs_are_checked() {
    says(&["job.j.hosts=ee"], &["[does-not-exist job.j.hosts]", "\"ee\"", "\"e\""]);
    says(&["job.j.kind=allreduse"], &["[unknown-name job.j.kind] \"allreduce\""]);
    says(&["job.j.byte=1 MB"], &["[unknown-key job.j.byte] \"bytes\""]);
    says(&["job.j.kind=barrier"], &["[no-effect job.j.kind] \"barrier\""]);
    says(&["job.j.algorithm=pairwise"], &["[not-supported job.j.algorithm]"]);
    says(&["job.j.problem=A"], &["[no-effect job.j.problem]"]);
    says(&["job.j.ranks=0"], &["[out-of-range job.j.ranks] 1"]);
    says(&["job.j.ranks=4", "job.j.ranks_per_host=2"], &["[conflicting-keys job.j.ranks]"]);
    says(&["job.j.transport=roce", "job.j.socket_rate=1 GB/s"], &["[no-effect job.j.socket_rate] \"roce\""]);
    says(
        &["job.j.transport=dcqcn", "job.j.compress=true", "host.e.compress={ratio=2.0}"],
        &["[not-supported job.j.compress] \"dcqcn\""],
    );
    says(&["job.j.transport=rocce"], &["[unknown-name job.j.transport] \"roce\""]);
    says(&["job.j.transport=roce", "network.mtu=200 B"], &["[does-not-fit network.mtu] 256 B"]);
    says(&["job.j.transport=dctp"], &["[unknown-name job.j.transport] \"dctcp\""]);
    says(&["job.k.kind=allgather", "job.k.hosts=e"], &["[missing-key job.k.bytes]"]);
    says(&["job.k.kind=allgather", "job.k.bytes=1 B"], &["[missing-key job.k.hosts]"]);
    let all_to_all = "job.j.kind=alltoall";
    says(&["job.j.ranks_per_host=1024", all_to_all], &["[too-many job.j] 1048576"]);
    let grid = ["job.k.hosts=e", "job.k.kind=npb-cg", "job.k.ranks_per_host=1024"];
    says(&grid, &["[too-many job.k.ranks_per_host] 2097152"]);
    let many = "host.e.count=17";
    says(&["job.j.ranks_per_host=1024", many], &["[too-many job.j.ranks_per_host]", "17408", "16384"]);
}

/// Two servers of eight cores, two endpoints, and a job of the servers.
const SERVERS: &str = "[host.n]\npreset = \"mcn-scaleup-8\"\ncount = 2\n[host.e]\nkind = \"endpoint\"\ncount = 2\n\
                       [job.j]\nkind = \"program\"\nhosts = \"n\"\nsteps = [{ instructions = 10 }]\n\
                       [run]\nuntil = \"jobs\"\n";

#[test]
fn ranks_at_servers_have_cores_of_their_own() {
    let says = |overrides: &[&str], wanted: &[&str]| common::says(SERVERS, overrides, wanted);
    let plan =
        cluster_text(SERVERS, Format::Toml, &["job.j.ranks_per_host=8"]).unwrap_or_else(|error| panic!("{error}"));
    let cores: Vec<u32> = plan.cluster.jobs[0].cores.iter().map(|seat| seat.core).collect();
    assert_eq!(cores, [0, 1, 2, 3, 4, 5, 6, 7].repeat(2));
    says(&["job.j.ranks_per_host=9"], &["[too-many-cores job.j.ranks_per_host] n-0"]);
    says(&["job.j.ranks_per_host=2", "job.j.cores=\"3\""], &["[too-many-cores job.j.cores]"]);
    says(&["job.j.cores=\"8\""], &["[does-not-exist job.j.cores]", "core 8", "0 to 7"]);
    let other = ["job.k.kind=barrier", "job.k.hosts=n"];
    says(&other, &["[core-taken job.k.hosts] core 0"]);
    let apart = cluster_text(SERVERS, Format::Toml, &[other[0], other[1], "job.k.cores=\"5\""]);
    assert!(apart.is_ok_and(|plan| plan.cluster.jobs[1].cores[1].core == 5));
    says(&["host.n.fidelity=burst"], &["[needs-line-fidelity host.n.fidelity]"]);
    says(&["host.n.cache.enabled=false"], &["[requires-key host.n.cache.enabled]"]);
    says(&["host.n.sockets=2"], &["[missing-key host.n.sockets]"]);
    says(&["host.n.memory.size=64 MiB"], &["[out-of-memory-space host.n.memory.size]"]);
}

#[test]
fn hosts_may_have_different_numbers_of_ranks() {
    let spread = |hosts: &str, ranks: &str| {
        let overrides = [format!("job.j.hosts={hosts}"), format!("job.j.ranks_per_host={ranks}")];
        cluster_text(SERVERS, Format::Toml, &overrides.each_ref().map(String::as_str))
    };
    let hosts = |hosts: &str, ranks: &str| {
        let plan = spread(hosts, ranks).unwrap_or_else(|error| panic!("{error}"));
        plan.cluster.jobs[0].hosts.clone()
    };
    assert_eq!(hosts("['n-1', 'n-0']", "[3, 1]"), [3, 3, 3, 2], "endpoints come before");
    assert_eq!(hosts("n", "[2]"), [2, 2, 3, 3]);
    let plan = spread("['n-0', 'n-1']", "[8, 4]").unwrap_or_else(|error| panic!("{error}"));
    let cores: Vec<u32> = plan.cluster.jobs[0].cores.iter().map(|seat| seat.core).collect();
    assert_eq!(cores, [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3]);
    assert_eq!(plan.effective["job"]["j"]["ranks_per_host"], json!([8, 4]));
    let says = |ranks: &str, wanted: &[&str]| {
        let error = told(&spread("['n-0', 'n-1']", ranks).map(|_| ()).expect_err("it is refused"));
        assert_tells(&error, wanted);
    };
    says("[8]", &["[wrong-count job.j.ranks_per_host]"]);
    says("[8, 0]", &["[out-of-range job.j.ranks_per_host[1]] 1 to 1024"]);
    says("[8, 9]", &["[too-many-cores job.j.ranks_per_host] \"n-1\""]);
    says("many", &["[wrong-type job.j.ranks_per_host] \"many\""]);
}

#[test]
fn what_cores_execute_needs_cores() {
    let says = |overrides: &[&str], wanted: &[&str]| common::says(SERVERS, overrides, wanted);
    says(&["job.j.hosts=e"], &["[wrong-host-kind job.j.hosts]"]);
    let step = |text: &str| SERVERS.replace("{ instructions = 10 }", &format!("{{ {text} }}"));
    for (text, wanted) in [
        ("instructions = 10, compute = \"1 us\"", "[conflicting-keys job.j.steps[0].compute]"),
        ("gathers = 10", "[missing-key job.j.steps[0].gather_set]"),
        ("gather_set = \"1 MB\"", "[no-effect job.j.steps[0].gather_set]"),
        ("working_set = \"1 MB\"", "[no-effect job.j.steps[0].working_set]"),
        ("reads = \"63 B\"", "[out-of-range job.j.steps[0].reads] 64 B"),
        ("read = \"64 B\"", "[unknown-key job.j.steps[0].read] \"reads\""),
    ] {
        common::says(&step(text), &[], &[wanted]);
    }
    says(&["job.j.ipc=0"], &["[out-of-range job.j.ipc]"]);
    says(&["job.j.data=1 MB"], &["[no-effect job.j.data]"]);
    let archetype = SERVERS.replace("program", "streaming").replace("steps = [{ instructions = 10 }]", "");
    common::says(&archetype, &["job.j.hosts=e"], &["[wrong-host-kind job.j.hosts]"]);
    common::says(BASE, &["job.j.ipc=2"], &["[no-effect job.j.ipc]"]);
    common::says(BASE, &["job.j.cores=\"2\""], &["[no-effect job.j.cores]"]);
}

#[test]
fn collectives_are_of_any_number_of_ranks() {
    let ways = [
        ("allreduce", ["ring", "recursive-doubling", "halving-doubling", "tree", "aggregator"].as_slice()),
        ("allreduce", &["double-binary-tree", "direct"]),
        ("allgather", &["ring", "direct"]),
        ("reducescatter", &["ring", "direct"]),
        ("alltoall", &["pairwise", "direct"]),
        ("broadcast", &["tree", "ring"]),
        ("barrier", &["recursive-doubling", "tree"]),
    ];
    for (kind, algorithms) in ways {
        let base = BASE.replace("allreduce", kind);
        let base = if kind == "barrier" { base.replace("bytes = \"1 MB\"", "") } else { base };
        for (algorithm, ranks) in algorithms.iter().flat_map(|&algorithm| (1..=17).map(move |ranks| (algorithm, ranks)))
        {
            let ranks = format!("job.j.ranks={ranks}");
            let found = cluster_text(&base, Format::Toml, &[&format!("job.j.algorithm={algorithm}"), &ranks]);
            found.map(|_| ()).unwrap_or_else(|error| panic!("{kind}, {algorithm}, {ranks}: {error}"));
        }
    }
    for ranks in [1, 2, 3, 7, 8, 9, 15] {
        resolved(&["job.j.algorithm=hierarchical", "job.j.group=3", &format!("job.j.ranks={ranks}")]);
    }
    for ranks in [1, 2, 4, 8, 16] {
        resolved(&["job.j.kind=allgather", "job.j.algorithm=recursive-doubling", &format!("job.j.ranks={ranks}")]);
    }
    let three = ["job.j.kind=allgather", "job.j.algorithm=recursive-doubling", "job.j.ranks=3"];
    says(&three, &["[not-supported job.j.algorithm]"]);
}

#[test]
fn algorithms_are_those_of_their_kind() {
    let halves = "job.j.algorithm=halving-doubling";
    says(
        &["job.j.kind=allgather", halves],
        &["[not-supported job.j.algorithm]", "ring, recursive-doubling, direct, auto"],
    );
    says(&["job.j.kind=broadcast", "job.j.algorithm=direct"], &["[not-supported job.j.algorithm]", "tree, ring, auto"]);
    says(&["job.j.algorithm=duble-binary-tree"], &["[unknown-name job.j.algorithm] \"double-binary-tree\""]);
    says(&["job.j.kind=reducescatter", halves, "job.j.ranks=6"], &["[not-supported job.j.algorithm] 6"]);
    resolved(&["job.j.kind=reducescatter", halves]);
    for algorithm in ["direct", "double-binary-tree"] {
        let algorithm = format!("job.j.algorithm={algorithm}");
        says(&[&algorithm, "job.j.socket_rate=1 GB/s"], &["[not-supported job.j.algorithm] \"ring\""]);
        resolved(&[&algorithm, "job.j.ranks_per_host=3", "job.j.bucket=10 kB", "job.j.sum=1 GB/s"]);
    }
}

#[test]
fn chunks_are_no_larger_than_messages() {
    says(&["job.j.chunk=0 B"], &["[out-of-range job.j.chunk]"]);
    // An eighth of the vector is sent at a time.
    resolved(&["job.j.chunk=125000 B"]);
    says(&["job.j.chunk=125001 B"], &["[out-of-range job.j.chunk]"]);
    says(&["job.j.chunk=1 B"], &["[too-many job.j.chunk]", "125000", "65536"]);
    says(&["job.j.chunk=100 kB", "job.j.bucket=500 kB"], &["[out-of-range job.j.chunk]"]);
    resolved(&["job.j.algorithm=double-binary-tree", "job.j.chunk=500 kB"]);
    says(&["job.j.algorithm=double-binary-tree", "job.j.chunk=501 kB"], &["[out-of-range job.j.chunk]"]);
    says(&["job.j.algorithm=tree", "job.j.chunk=10 kB"], &["[no-effect job.j.chunk]"]);
    says(&["job.j.kind=broadcast", "job.j.chunk=10 kB"], &["[no-effect job.j.chunk]"]);
    resolved(&["job.j.kind=broadcast", "job.j.algorithm=ring", "job.j.chunk=10 kB"]);
    says(&["job.j.blocking=true", "job.j.chunk=10 kB"], &["[conflicting-keys job.j.chunk]"]);
    assert_ne!(resolved(&["job.j.chunk=10 kB"]).hash, resolved(&["job.j.chunk=20 kB"]).hash);
}

#[test]
fn groups_of_rings_are_as_large_as_each_other() {
    let rings = "job.j.algorithm=2d-ring";
    says(&[rings, "job.j.group=3"], &["[not-a-multiple job.j.group]"]);
    let group = |more: &[&str]| resolved(&[&[rings], more].concat()).effective["job"]["j"]["group"].clone();
    assert_eq!(group(&[]), 2);
    assert_eq!(group(&["host.e.count=12"]), 3);
    assert_eq!(group(&["host.e.count=7"]), 1);
    assert_eq!(group(&["job.j.ranks_per_host=6"]), 6);
    let leaves = ["network.topology=leaf-spine", "network.leaves=3", "host.e.count=12", "job.j.hosts=[\"e\"]"];
    let of_leaf = group(&[&leaves[..], &["host.s.count=3"]].concat());
    assert!(of_leaf == 4 || of_leaf == 3, "{of_leaf}");
    assert_eq!(group(&["job.j.group=4"]), 4);
}

#[test]
fn benchmarks_run_on_the_ranks_that_they_know() {
    let npb = |kind: &'static str| vec!["job.k.hosts=e", kind];
    let with = |kind, more: &[&'static str]| [npb(kind), more.to_vec()].concat();
    says(&with("job.k.kind=npb-cg", &["job.k.ranks=6"]), &["[not-a-multiple job.k.ranks] 16384"]);
    says(
        &with("job.k.kind=npb-ft", &["job.k.ranks_per_host=16"]),
        &["[not-a-multiple job.k.ranks_per_host]", "128", "64"],
    );
    says(&with("job.k.kind=npb-is", &["job.k.compute=1 us"]), &["[no-effect job.k.compute]"]);
    says(&with("job.k.kind=npb-mg", &["job.k.problem=X"]), &["[unknown-name job.k.problem]"]);
    let plan = resolved(&with("job.k.kind=npb-ep", &["job.k.ranks=6", "job.k.problem=W"]));
    assert_eq!(plan.effective["job"]["k"]["problem"], "W");
    let job = &plan.cluster.jobs[1];
    let ps: u64 = job.steps_of(&job.blocks[0], 0).map(|step| step.compute_ps).sum();
    assert_eq!(ps, ((1_u64 << 26) as f64 / 6.0 * 1000.0).round() as u64, "one operation each nanosecond");
}

#[test]
fn keys_of_training_are_checked() {
    let sums = |more: &[&str], wanted: &[&str]| says(more, wanted);
    let aggregator = "job.j.algorithm=aggregator";
    sums(&["job.j.algorithm=agregator"], &["[unknown-name job.j.algorithm] \"aggregator\""]);
    sums(&["job.j.algorithm=in-network"], &["[requires-key job.j.algorithm]"]);
    sums(&[aggregator, "job.j.aggregator=ss"], &["[does-not-exist job.j.aggregator]", "\"ss\"", "\"s\""]);
    sums(&[aggregator, "job.j.aggregator=e"], &["[wrong-count job.j.aggregator]", "\"e\"", "\"e-0\""]);
    sums(&["job.j.aggregator=s"], &["[no-effect job.j.aggregator] algorithm = \"aggregator\""]);
    sums(&["job.j.group=2"], &["[no-effect job.j.group] algorithm = \"hierarchical\""]);
    sums(&["job.j.blocking=true", "job.j.algorithm=tree"], &["[no-effect job.j.blocking] algorithm = \"ring\""]);
    sums(&["job.j.algorithm=hierarchical", "job.j.ranks=9"], &["[missing-key job.j.ranks]"]);
    sums(&["job.j.bucket=100 B"], &["[too-many job.j.bucket]", "10000", "4096"]);
    sums(&["job.j.sum=0"], &["[wrong-type job.j.sum]"]);
    let gather = ["job.j.kind=allgather"];
    for key in ["job.j.sum=1 GB/s", "job.j.bucket=1 kB", "job.j.compute={forward = \"1 us\"}"] {
        sums(&[gather[0], key], &[&key[..7], "only with kind = \"allreduce\""]);
    }
    sums(&["job.j.compute={forwards = \"1 us\"}"], &["[unknown-key job.j.compute.forwards] \"forward\""]);
    sums(&["job.j.compute={forward = \"1 u\"}"], &["[bad-unit job.j.compute.forward]"]);
    let plan = resolved(&[aggregator, "job.j.aggregator=e-3", "job.j.compute={update = \"1 us\"}"]);
    assert_eq!((plan.cluster.jobs[0].hosts.len(), plan.cluster.jobs[0].hosts[8]), (9, 3));
    assert_eq!(plan.effective["job"]["j"]["compute"], json!({ "update": "1 us" }));
    assert_eq!(resolved(&["job.j.algorithm=hierarchical"]).effective["job"]["j"]["group"], 2);
}

#[test]
fn engines_of_nics_are_checked() {
    let marked = "job.j.compress=true";
    says(&[marked], &["[requires-key job.j.compress] \"e-0\""]);
    let at_server = [marked, "job.j.hosts=s", "host.s.cache.enabled=true"];
    says(&at_server, &["[requires-key job.j.compress]"]);
    let with = |more: &'static str| [marked, "host.e.compress.clock=1 GHz", more];
    says(&with("job.j.iterations=1"), &["[missing-key host.e.compress.ratio]"]);
    says(&with("host.e.compress.ratio=17"), &["[out-of-range host.e.compress.ratio] 16"]);
    says(&with("host.e.compress.ratios=8"), &["[unknown-key host.e.compress.ratios] \"ratio\""]);
    says(&with("host.e.compress.shares=[0.5, 0.5]"), &["[wrong-count host.e.compress.shares]"]);
    says(&with("host.e.compress.shares=[0.5, 0.1, 0.1, 0.1]"), &["[bad-distribution host.e.compress.shares] 0.8000"]);
    says(&["host.s.compress.ratio=2"], &["[no-effect host.s.compress]"]);
    says(&["host.e.nic.compress.ratio=2"], &["[no-effect host.e.nic]"]);
    let both = ["host.e.compress.ratio=2", "host.e.compress.shares=[1.0, 0.0, 0.0, 0.0]"];
    says(&both, &["[conflicting-keys host.e.compress.ratio]"]);
    let both = ["host.e.compress.ratio=2", "host.e.compress.gradients=g.npy", "host.e.compress.bound=10"];
    says(&both, &["[conflicting-keys host.e.compress.ratio]"]);
    says(&with("host.e.compress.gradients=g.npy"), &["[requires-key host.e.compress.gradients]"]);
    let recorded = |more: &'static str| ["host.e.compress.gradients=g.npy", "host.e.compress.bound=10", more];
    says(&recorded("job.j.iterations=1"), &["[file-not-found host.e.compress.gradients]"]);
    says(&recorded("host.e.compress.gradients=."), &["[file-access host.e.compress.gradients]"]);
    says(&recorded("host.e.compress.bound=16"), &["[out-of-range host.e.compress.bound] 15"]);
    says(&recorded("host.e.compress.mode=near"), &["[unknown-name host.e.compress.mode] \"nearest\""]);
    says(&["host.e.compress.ratio=2", "host.e.compress.bound=10"], &["[no-effect host.e.compress.bound]"]);
    let plan = resolved(&[marked, "host.e.compress.ratio=8", "host.e.compress.width=512 bit"]);
    let engine = plan.cluster.hosts[0].compress.as_ref().expect("it has one");
    assert_eq!((engine.burst_bytes, engine.cycle_fs, engine.float_bits), (64, 10_000_000, 2 << 16));
    assert_eq!(plan.cluster.flows[0].mtu_bytes, 52 + 1344);
    assert!(plan.cluster.flows.iter().all(|flow| flow.compress == [true; 2]));
    let up = resolved(&[marked, "host.e.compress.ratio=8", "job.j.algorithm=aggregator"]);
    assert!(up.cluster.flows.iter().all(|flow| flow.compress == [false, true]), "rank 0 is at `from`");
    let again = cluster_text(&up.effective.to_string(), Format::Json, &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again.hash, up.hash);
}

/// Returns a program of the endpoints.
fn program(steps: &str) -> String {
    let base = BASE.replace("allreduce", "program").replace("bytes = \"1 MB\"", &format!("steps = [{steps}]"));
    match cluster_text(&base, Format::Toml, &[]) {
        Ok(_) => String::new(),
        Err(error) => told(&error),
    }
}

#[test]
fn programs_that_would_wait_for_ever_are_refused() {
    let ring = "{ to = 1, send = \"1 kB\", from = 1, receive = \"1 kB\" }";
    assert_eq!(program(ring), "");
    let wanted = [
        ("", "[missing-key job.j.steps]"),
        ("{ rank = 0, from = 1, receive = \"1 B\" }", "[deadlock job.j.steps] rank 0 | step 1 (step) | 1 B | rank 1"),
        ("{ rank = 0, to = 1, send = \"1 B\" }", "[deadlock job.j.steps] rank 1 | 1 B | rank 0"),
        ("{ rank = 0, to = 9, send = \"1 B\" }", "[does-not-exist job.j.steps[0].to] rank 9"),
        ("{ rank = 2, to = 2, send = \"1 B\" }", "[sends-in-circle job.j.steps[0].to] rank 2"),
        ("{ to = 8, send = \"1 B\" }", "[sends-in-circle job.j.steps[0].to]"),
        ("{ rank = 0, send = \"1 B\" }", "[missing-key job.j.steps[0].to]"),
        ("{ rank = 0, to = 1 }", "[missing-key job.j.steps[0].send]"),
        ("{ rank = 0, too = 1 }", "[unknown-key job.j.steps[0].too] \"to\""),
    ];
    for (steps, wanted) in wanted {
        assert_tells(&program(steps), &[wanted]);
    }
    // Each waits for the other before it sends.
    let steps = [(0, 1), (1, 0)].map(|(rank, other)| {
        format!(
            "{{ rank = {rank}, name = \"get\", from = {other}, receive = \"1 B\" }}, \
             {{ rank = {rank}, to = {other}, send = \"1 B\" }}"
        )
    });
    assert_tells(&program(&steps.join(", ")), &["[deadlock job.j.steps] rank 0 | step 1 (get)"]);
}

#[test]
fn a_run_until_its_jobs_are_done_needs_jobs_and_has_no_other_length() {
    let text = "[host.a]\nkind = \"endpoint\"\n[host.b]\nkind = \"endpoint\"\n";
    let error = cluster_text(text, Format::Toml, &["run.until=jobs"]).map(|_| ()).expect_err("there is no job");
    assert_tells(&told(&error), &["[nothing-to-do run.until]"]);
    let both = |key: &str| {
        let text = format!("{BASE}{key}\n");
        cluster_text(&text, Format::Toml, &[]).map(|_| ()).expect_err("not both")
    };
    for key in ["duration = \"1 ms\"", "precision = 0.1", "warmup = \"1 ms\""] {
        let name = key.split(' ').next().unwrap_or_default();
        assert_tells(&told(&both(key)), &[&format!("[conflicting-keys run.{name}] test.toml:12: ")]);
    }
    says(&["run.until=job"], &["[unknown-name run.until] \"jobs\""]);
}
