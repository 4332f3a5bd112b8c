//! Jobs of ranks: what is wrong with one is said with its place and its rule, and what is left out is filled in.

use crate::common;
use crate::common::{assert_tells, cluster_text, told};
use hostnet_config::{Format, Length, Plan, WarmUp};
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
fn keys_of_jobs_are_checked() {
    says(&["job.j.hosts=ee"], &["job.j.hosts: there is no host \"ee\"; did you mean \"e\"?"]);
    says(&["job.j.kind=allreduse"], &["job.j.kind", "did you mean \"allreduce\"?"]);
    says(&["job.j.byte=1 MB"], &["job.j.byte: unknown key; did you mean \"bytes\"?"]);
    says(&["job.j.kind=barrier"], &["job.j.kind", "only with collectives but \"barrier\""]);
    says(&["job.j.algorithm=pairwise"], &["job.j.algorithm", "does not do allreduce of 8 ranks"]);
    says(&["job.j.problem=A"], &["job.j.problem", "only with jobs of NPB"]);
    says(&["job.j.ranks=0"], &["job.j.ranks", "1"]);
    says(&["job.j.ranks=4", "job.j.ranks_per_host=2"], &["job.j.ranks", "give one of them"]);
    says(
        &["job.j.transport=roce", "job.j.socket_rate=1 GB/s"],
        &["job.j.socket_rate: has no effect over RoCE (\"roce\"): no core copies what NICs write"],
    );
    says(
        &["job.j.transport=dcqcn", "job.j.compress=true", "host.e.compress={ratio=2.0}"],
        &["job.j.compress: \"dcqcn\" is RoCE; engines of NICs know packets of TCP only"],
    );
    says(&["job.j.transport=rocce"], &["job.j.transport: there is no transport", "did you mean \"roce\"?"]);
    says(
        &["job.j.transport=roce", "network.mtu=200 B"],
        &["network.mtu", "no room for a RoCE packet with 256 B of data"],
    );
    says(&["job.j.transport=dctp"], &["did you mean \"dctcp\"?"]);
    says(&["job.k.kind=allgather", "job.k.hosts=e"], &["job.k.bytes: missing; give a size"]);
    says(&["job.k.kind=allgather", "job.k.bytes=1 B"], &["job.k.hosts", "missing"]);
    let all_to_all = "job.j.kind=alltoall";
    says(&["job.j.ranks_per_host=1024", all_to_all], &["job.j.ranks_per_host: more than 2097152 steps of all ranks"]);
    let many = "host.e.count=17";
    says(&["job.j.ranks_per_host=1024", many], &["17408 ranks at 17 hosts are more than 16384"]);
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
    says(
        &["job.j.ranks_per_host=9"],
        &["job.j.ranks_per_host", "n-0", "8 cores, and more ranks: a rank has a core of its"],
    );
    says(&["job.j.ranks_per_host=2", "job.j.cores=\"3\""], &["job.j.cores", "1 cores, and more ranks"]);
    says(&["job.j.cores=\"8\""], &["job.j.cores", "core 8 does not exist", "0 to 7"]);
    let other = ["job.k.kind=barrier", "job.k.hosts=n"];
    says(&other, &["job.k.cores", "core 0 of", "has a rank already"]);
    let apart = cluster_text(SERVERS, Format::Toml, &[other[0], other[1], "job.k.cores=\"5\""]);
    assert!(apart.is_ok_and(|plan| plan.cluster.jobs[1].cores[1].core == 5));
    says(&["host.n.fidelity=burst"], &["host.n.fidelity", "ranks need fidelity"]);
    says(&["host.n.cache.enabled=false"], &["host.n.cache.enabled", "has no caches; ranks need"]);
    says(&["host.n.sockets=2"], &["sockets"]);
    says(&["host.n.memory.size=64 MiB"], &["host.n.memory.size", "the memory of the ranks of jobs need"]);
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
    says("[8]", &["job.j.ranks_per_host", "1 counts; hosts has 2 entries, and each has one"]);
    says("[8, 0]", &["job.j.ranks_per_host[1]: 0 is out of range; 1 to 1024 is allowed"]);
    says("[8, 9]", &["job.j.ranks_per_host", "\"n-1\" has 8 cores, and more ranks"]);
    says("many", &["job.j.ranks_per_host: \"many\" is a string; a whole number or a list of numbers"]);
}

#[test]
fn what_cores_execute_needs_cores() {
    let says = |overrides: &[&str], wanted: &[&str]| common::says(SERVERS, overrides, wanted);
    says(&["job.j.hosts=e"], &["job.j.hosts", "steps[0].instructions has an effect only at servers"]);
    let step = |text: &str| SERVERS.replace("{ instructions = 10 }", &format!("{{ {text} }}"));
    for (text, wanted) in [
        ("instructions = 10, compute = \"1 us\"", "time, or what a core executes"),
        ("gathers = 10", "gather_set"),
        ("gather_set = \"1 MB\"", "only with gathers"),
        ("working_set = \"1 MB\"", "only with reads or writes"),
        ("reads = \"63 B\"", "64 B"),
        ("read = \"64 B\"", "did you mean"),
    ] {
        common::says(&step(text), &[], &["job.j.steps[0]", wanted]);
    }
    says(&["job.j.ipc=0"], &["job.j.ipc"]);
    says(&["job.j.data=1 MB"], &["job.j.data", "archetypes"]);
    let archetype = SERVERS.replace("program", "streaming").replace("steps = [{ instructions = 10 }]", "");
    common::says(&archetype, &["job.j.hosts=e"], &["job.j.hosts", "endpoints have neither cores nor memory"]);
    common::says(BASE, &["job.j.ipc=2"], &["job.j.ipc", "only at servers"]);
    common::says(BASE, &["job.j.cores=\"2\""], &["job.j.cores", "only at servers"]);
}

#[test]
fn collectives_are_of_any_number_of_ranks() {
    let ways = [
        ("allreduce", ["ring", "recursive-doubling", "tree", "aggregator"].as_slice()),
        ("allgather", &["ring"]),
        ("alltoall", &["pairwise"]),
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
    says(&three, &["does not do allgather of 3 ranks"]);
}

#[test]
fn benchmarks_run_on_the_ranks_that_they_know() {
    let npb = |kind: &'static str| vec!["job.k.hosts=e", kind];
    let with = |kind, more: &[&'static str]| [npb(kind), more.to_vec()].concat();
    says(
        &with("job.k.kind=npb-cg", &["job.k.ranks=6"]),
        &["job.k.ranks", "6 ranks; npb-cg needs a power of two up to 16384"],
    );
    says(
        &with("job.k.kind=npb-ft", &["job.k.ranks_per_host=16"]),
        &["128 ranks; npb-ft needs a power of two up to 64"],
    );
    says(&with("job.k.kind=npb-is", &["job.k.compute=1 us"]), &["job.k.compute", "only with jobs that are not of NPB"]);
    says(&with("job.k.kind=npb-mg", &["job.k.problem=X"]), &["job.k.problem"]);
    let plan = resolved(&with("job.k.kind=npb-ep", &["job.k.ranks=6", "job.k.problem=W"]));
    assert_eq!(plan.effective["job"]["k"]["problem"], "W");
    let ps: u64 = plan.cluster.jobs[1].blocks[0].steps[0].iter().map(|step| step.compute_ps).sum();
    assert_eq!(ps, ((1_u64 << 26) as f64 / 6.0 * 1000.0).round() as u64, "one operation each nanosecond");
}

#[test]
fn keys_of_training_are_checked() {
    let sums = |more: &[&str], wanted: &[&str]| says(more, wanted);
    let aggregator = "job.j.algorithm=aggregator";
    sums(&["job.j.algorithm=agregator"], &["job.j.algorithm", "did you mean \"aggregator\"?"]);
    sums(&["job.j.algorithm=in-network"], &["job.j.algorithm", "no switch sums up"]);
    sums(&[aggregator, "job.j.aggregator=ss"], &["job.j.aggregator: there is no host \"ss\"", "did you mean \"s\"?"]);
    sums(&[aggregator, "job.j.aggregator=e"], &["job.j.aggregator: \"e\" are 8 hosts; give one, such as \"e-0\""]);
    sums(&["job.j.aggregator=s"], &["job.j.aggregator", "only with algorithm = \"aggregator\""]);
    sums(&["job.j.group=2"], &["job.j.group", "only with algorithm = \"hierarchical\""]);
    sums(&["job.j.algorithm=hierarchical", "job.j.ranks=9"], &["job.j.ranks", "as many ranks each", "give group"]);
    sums(&["job.j.bucket=100 B"], &["job.j.bucket", "10000 buckets; there are 4096 at most"]);
    sums(&["job.j.sum=0"], &["job.j.sum"]);
    let gather = ["job.j.kind=allgather"];
    for key in ["job.j.sum=1 GB/s", "job.j.bucket=1 kB", "job.j.compute={forward = \"1 us\"}"] {
        sums(&[gather[0], key], &[&key[..7], "only with kind = \"allreduce\""]);
    }
    sums(&["job.j.compute={forwards = \"1 us\"}"], &["job.j.compute.forwards: unknown key; did you mean \"forward\"?"]);
    sums(&["job.j.compute={forward = \"1 u\"}"], &["job.j.compute.forward"]);
    let plan = resolved(&[aggregator, "job.j.aggregator=e-3", "job.j.compute={update = \"1 us\"}"]);
    assert_eq!((plan.cluster.jobs[0].hosts.len(), plan.cluster.jobs[0].hosts[8]), (9, 3));
    assert_eq!(plan.effective["job"]["j"]["compute"], json!({ "update": "1 us" }));
    assert_eq!(resolved(&["job.j.algorithm=hierarchical"]).effective["job"]["j"]["group"], 2);
}

#[test]
fn engines_of_nics_are_checked() {
    let marked = "job.j.compress=true";
    says(&[marked], &["job.j.compress", "\"e-0\" has no engine", "host.e.compress"]);
    let at_server = [marked, "job.j.hosts=s", "host.s.cache.enabled=true"];
    says(&at_server, &["job.j.compress", "has no engine", "host.s.nic.compress"]);
    let with = |more: &'static str| [marked, "host.e.compress.clock=1 GHz", more];
    says(&with("job.j.iterations=1"), &["host.e.compress.ratio", "missing; give how much data"]);
    says(&with("host.e.compress.ratio=17"), &["host.e.compress.ratio", "16"]);
    says(&with("host.e.compress.ratios=8"), &["host.e.compress.ratios: unknown key; did you mean \"ratio\"?"]);
    says(&with("host.e.compress.shares=[0.5, 0.5]"), &["host.e.compress.shares"]);
    says(&with("host.e.compress.shares=[0.5, 0.1, 0.1, 0.1]"), &["host.e.compress.shares: 0.8000 in all"]);
    says(&["host.s.compress.ratio=2"], &["host.s.compress", "only at an endpoint"]);
    says(&["host.e.nic.compress.ratio=2"], &["host.e.nic", "only at a server"]);
    let both = ["host.e.compress.ratio=2", "host.e.compress.shares=[1.0, 0.0, 0.0, 0.0]"];
    says(&both, &["host.e.compress.ratio and host.e.compress.shares say", "give one of them"]);
    let both = ["host.e.compress.ratio=2", "host.e.compress.gradients=g.npy", "host.e.compress.bound=10"];
    says(&both, &["host.e.compress.ratio and host.e.compress.gradients say", "give one of them"]);
    says(&with("host.e.compress.gradients=g.npy"), &["host.e.compress.gradients: needs bound, k of"]);
    let recorded = |more: &'static str| ["host.e.compress.gradients=g.npy", "host.e.compress.bound=10", more];
    says(
        &recorded("job.j.iterations=1"),
        &["host.e.compress.gradients: cannot read", "g.npy", "there is no such file"],
    );
    says(&recorded("host.e.compress.gradients=."), &["host.e.compress.gradients: cannot read", "not a file"]);
    says(&recorded("host.e.compress.bound=16"), &["host.e.compress.bound", "15"]);
    says(&recorded("host.e.compress.mode=near"), &["host.e.compress.mode", "did you mean \"nearest\"?"]);
    says(
        &["host.e.compress.ratio=2", "host.e.compress.bound=10"],
        &["host.e.compress.bound", "has an effect only with gradients"],
    );
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

/// A program of the endpoints.
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
        ("", "job.j.steps: missing"),
        (
            "{ rank = 0, from = 1, receive = \"1 B\" }",
            "rank 0 waits for ever in its step 1 (step): it receives 1 B from rank 1",
        ),
        ("{ rank = 0, to = 1, send = \"1 B\" }", "rank 1 does not receive 1 B that rank 0 sends it"),
        (
            "{ rank = 0, to = 9, send = \"1 B\" }",
            "job.j.steps[0].to: there is no rank 9; the job has 8, counted from 0",
        ),
        ("{ rank = 2, to = 2, send = \"1 B\" }", "rank 2 sends to itself"),
        ("{ to = 8, send = \"1 B\" }", "8 ranks further among 8 is the rank itself"),
        ("{ rank = 0, send = \"1 B\" }", "job.j.steps[0].to: missing; send needs it"),
        ("{ rank = 0, to = 1 }", "job.j.steps[0].send: missing; to needs it"),
        ("{ rank = 0, too = 1 }", "job.j.steps[0].too: unknown key; did you mean \"to\"?"),
    ];
    for (steps, wanted) in wanted {
        let found = program(steps);
        assert!(found.contains(wanted), "{wanted:?} is not in: {found}");
    }
    // Each waits for the other before it sends.
    let steps = [(0, 1), (1, 0)].map(|(rank, other)| {
        format!(
            "{{ rank = {rank}, name = \"get\", from = {other}, receive = \"1 B\" }}, \
             {{ rank = {rank}, to = {other}, send = \"1 B\" }}"
        )
    });
    let found = program(&steps.join(", "));
    assert!(found.contains("rank 0 waits for ever in its step 1 (get)"), "{found}");
}

#[test]
fn a_run_until_its_jobs_are_done_needs_jobs_and_has_no_other_length() {
    let text = "[host.a]\nkind = \"endpoint\"\n[host.b]\nkind = \"endpoint\"\n";
    let error = cluster_text(text, Format::Toml, &["run.until=jobs"]).map(|_| ()).expect_err("there is no job");
    assert_tells(&told(&error), &["run.until: there are no jobs"]);
    let both = |key: &str| {
        let text = format!("{BASE}{key}\n");
        cluster_text(&text, Format::Toml, &[]).map(|_| ()).expect_err("not both").to_string()
    };
    for key in ["duration = \"1 ms\"", "precision = 0.1", "warmup = \"1 ms\""] {
        let error = both(key);
        assert_tells(&error, &["a run until its jobs are done is measured from its start"]);
    }
    says(&["run.until=job"], &["run.until", "did you mean \"jobs\"?"]);
}
