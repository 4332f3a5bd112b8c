//! Keys of the training of transformers.

use crate::common;
use hostnet_config::{chakra_traces, Code, ConfigError, Format, Plan, TraceReader};

/// Returns the configuration of a model on `ranks` endpoints.
fn text(ranks: u32, job: &str, model: &str) -> String {
    format!(
        "[host.e]\nkind = \"endpoint\"\ncount = {ranks}\n[job.j]\nhosts = \"e\"\nkind = \"transformer\"\n{job}\n\
         [job.j.model]\n{model}\n[run]\nuntil = \"jobs\"\n"
    )
}

const MODEL: &str = "layers = 8\nwidth = 64\nsequence = 32\nbatch = 24\n";

fn plan(ranks: u32, model: &str) -> Plan {
    common::plan(&text(ranks, "peak = 1e12", &format!("{MODEL}{model}")), &[])
}

fn error(text: &str) -> ConfigError {
    common::cluster_text(text, Format::Toml, &[]).map(|_| ()).expect_err(text)
}

#[test]
fn replicas_are_as_many_as_there_are_ranks_for() {
    for (ranks, model, dp) in [(1, "", 1), (12, "", 12), (12, "tp = 2", 6), (24, "tp = 2\npp = 2", 6)] {
        let keys = &plan(ranks, model).effective["job"]["j"]["model"];
        assert_eq!(keys["dp"].as_u64(), Some(dp), "{ranks} ranks, {model}");
        assert_eq!(keys["feed_forward"].as_u64(), Some(256));
    }
}

#[test]
fn keys_that_do_not_fit_together_are_refused() {
    let cases = [
        (4, "peak = 1e12", "dp = 3", Code::WrongCount, "job.j.model.dp"),
        (4, "peak = 1e12", "tp = 3", Code::WrongCount, "job.j.model.tp"),
        (3, "peak = 1e12", "pp = 3", Code::NotAMultiple, "job.j.model.layers"),
        (3, "peak = 1e12", "tp = 3", Code::NotAMultiple, "job.j.model.width"),
        (5, "peak = 1e12", "", Code::NotAMultiple, "job.j.model.batch"),
        (2, "peak = 1e12", "microbatch = 5", Code::NotAMultiple, "job.j.model.batch"),
        (2, "peak = 1e12", "ep = 2", Code::NoEffect, "job.j.model.ep"),
        (2, "peak = 1e12", "skew = 1.0", Code::NoEffect, "job.j.model.skew"),
        (2, "peak = 1e12", "experts = 4\nep = 3", Code::NotAMultiple, "job.j.model.ep"),
        (3, "peak = 1e12", "experts = 4\nep = 3", Code::NotAMultiple, "job.j.model.experts"),
        (2, "peak = 1e12", "experts = 4\nexperts_per_token = 5", Code::OutOfRange, "job.j.model.experts_per_token"),
        (1, "peak = 1e12", "zero = 1", Code::NoEffect, "job.j.model.zero"),
        (2, "peak = 1e12", "zero = 4", Code::OutOfRange, "job.j.model.zero"),
        (2, "peak = 1e12\nalltoall = \"pairwise\"", "", Code::NoEffect, "job.j.alltoall"),
        (2, "peak = 1e12\nalltoall = \"direct\"", "experts = 4\nskew = 0.5", Code::NoEffect, "job.j.alltoall"),
        (1, "", "", Code::MissingKey, "job.j.peak"),
        (1, "peak = 1e12\nbytes = \"1 MB\"", "", Code::NoEffect, "job.j.bytes"),
        (1, "peak = 1e12\ntrace = \"t\"", "", Code::NoEffect, "job.j.trace"),
        (1, "peak = 1e12\nalgorithm = \"pairwise\"", "", Code::NotSupported, "job.j.algorithm"),
    ];
    for (ranks, job, model, code, key) in cases {
        let error = error(&text(ranks, job, &format!("{MODEL}{model}")));
        assert_eq!(error.code, code, "{job} {model}: {error}");
        assert!(common::told(&error).contains(key), "{job} {model}: {error}");
    }
}

#[test]
fn even_routers_have_all_to_alls() {
    for (model, expected) in [("", None), ("experts = 4\nep = 2", Some("direct")), ("experts = 4\nskew = 0.5", None)] {
        let job = &plan(2, model).effective["job"]["j"];
        assert_eq!(job["alltoall"].as_str(), expected, "{model}");
        assert_eq!(common::plan_json(&plan(2, model).effective.to_string(), &[]).hash, plan(2, model).hash);
    }
}

#[test]
fn models_beyond_all_limits_are_refused() {
    let huge = "layers = 1\nwidth = 1048576\nsequence = 16777216\nbatch = 1048576\nmicrobatch = 1048576\n";
    let many = "layers = 4096\nwidth = 1\nsequence = 1\nbatch = 1048576\n";
    for (model, code) in [(huge, Code::OutOfRange), (many, Code::TooMany)] {
        assert_eq!(error(&text(1, "peak = 1e12", model)).code, code, "{model}");
    }
}

#[test]
fn astra_sim_gets_durations_and_a_file_of_groups() {
    let first = plan(8, "tp = 2\npp = 2");
    let of = |reader| chakra_traces(&first, None, false, reader).expect("it can be written");
    let (chakra, astra) = (of(TraceReader::Chakra), of(TraceReader::AstraSim));
    // Pairs that share matrices, and pairs of replicas of each half of a stage.
    assert_eq!(astra.groups.len(), 4 + 4);
    assert_eq!(chakra.groups, astra.groups);
    assert!(astra.groups.values().all(|ranks| ranks.len() == 2));
    let holds = |trace: &[u8], text: &str| trace.windows(text.len()).any(|part| part == text.as_bytes());
    for (chakra, astra) in chakra.traces.iter().zip(&astra.traces) {
        assert_eq!([chakra, astra].map(|trace| holds(trace, "num_ops")), [true, false]);
        assert_eq!([chakra, astra].map(|trace| holds(trace, "process_group:init")), [true, false]);
    }
}

#[test]
fn sums_of_a_model_may_have_chunks() {
    let of = |algorithm| text(4, &format!("peak = 1e12\nchunk = \"1 KiB\"\n{algorithm}"), MODEL);
    for algorithm in ["", "algorithm = \"ring\"", "algorithm = \"double-binary-tree\""] {
        common::plan(&of(algorithm), &[]);
    }
    assert_eq!(error(&of("algorithm = \"tree\"")).code, Code::NoEffect);
}
