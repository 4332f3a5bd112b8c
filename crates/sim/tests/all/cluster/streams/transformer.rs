//! Training of transformers, against closed forms, and as traces that are written and read again.

use super::took_ps;
use super::trace::{new_directory, together};
use crate::cluster::lab::plan;
use crate::common::laws::cases;
use hostnet_config::{chakra_traces, Plan, TraceReader};
use proptest::prelude::*;

/// Operations per second of an accelerator.
const PEAK: f64 = 1e12;

/// Model with 2 x 16 numbers per token, 48 in the feed-forward network, and 64 tokens per sequence.
const WIDTH: u64 = 16;
const FORWARD: u64 = 48;
const TOKENS: u64 = 64;

/// Returns the plan of a model on one host, where a byte is copied in 1 ps.
fn model(ranks: u64, keys: &str, more: &str) -> Plan {
    let (hosts, job) = together(ranks as usize, 0);
    plan(&format!(
        "{hosts}\n[job.j]\nkind = \"transformer\"\npeak = {PEAK}\n{job}\n{more}\n[job.j.model]\nwidth = {WIDTH}\n\
         feed_forward = {FORWARD}\nsequence = {TOKENS}\n{keys}\n[run]\nuntil = \"jobs\"\n"
    ))
}

/// Returns the operations of a forward pass of a sequence through a layer on one of `tp` ranks, which take as many ps.
fn layer_ops(tp: u64) -> u64 {
    TOKENS * (8 * WIDTH * WIDTH + 4 * TOKENS * WIDTH + 4 * WIDTH * FORWARD) / tp
}

/// Returns the bytes of the parameters of a layer on one of `tp` ranks.
fn layer_bytes(tp: u64) -> u64 {
    2 * (4 * WIDTH * WIDTH + 2 * WIDTH * FORWARD) / tp
}

/// Bytes of the activations of a sequence.
const ACTIVATIONS: u64 = 2 * TOKENS * WIDTH;

#[test]
fn a_rank_takes_three_forward_passes_per_layer_and_sequence() {
    // 24 t h^2 + 4 t s h with four times as many numbers in the feed-forward network (Narayanan et al., 2021).
    let text = "layers = 3\nbatch = 5\nmicrobatch = 1";
    assert_eq!(took_ps(&model(1, text, "")), 5 * 3 * 3 * layer_ops(1));
    // Weights of a layer, and 2 h + 4 h + 2 h + 2 f numbers per token, at 1 GB/s are slower than 1e12 operations.
    let moved = layer_bytes(1) + 2 * TOKENS * (8 * WIDTH + 2 * FORWARD);
    let update = 3 * (layer_bytes(1) / 2) * (24 + 4);
    let took = took_ps(&model(1, text, "memory_rate = \"1 GB/s\""));
    assert_eq!(took, (5 * 3 * 3 * moved + update) * 1000);
}

#[test]
fn pipelines_take_what_their_closed_forms_say() {
    for (stages, batch) in [(2, 4), (4, 8)] {
        let keys =
            |schedule| format!("layers = {}\nbatch = {batch}\npp = {stages}\nschedule = \"{schedule}\"", 2 * stages);
        let ideal = (batch + stages - 1) * 2 * 3 * layer_ops(1);
        let found = took_ps(&model(stages, &keys("gpipe"), ""));
        assert_eq!(found, ideal + 2 * (stages - 1) * ACTIVATIONS, "GPipe, {stages} stages");
        let found = took_ps(&model(stages, &keys("1f1b"), ""));
        let late = found - ideal;
        assert!(late <= 2 * (stages + batch) * ACTIVATIONS, "1F1B, {stages} stages: {late}");
    }
}

#[test]
fn ranks_that_share_matrices_sum_four_times_per_layer() {
    // A ring of two copies half a vector twice.
    let found = took_ps(&model(2, "layers = 3\nbatch = 5\ntp = 2", ""));
    assert_eq!(found, 5 * 3 * (3 * layer_ops(2) + 4 * ACTIVATIONS));
}

#[test]
fn sums_of_gradients_hide_behind_the_backward_pass_but_for_the_last_layer() {
    let compute = 3 * 4 * 3 * layer_ops(1);
    let took = |zero| took_ps(&model(2, &format!("layers = 4\nbatch = 6\nzero = {zero}"), ""));
    let half = layer_bytes(1) / 2;
    assert_eq!(took(0), compute + 2 * half);
    // Each replica updates half of the parameters, and gathers the other half of each layer then.
    assert_eq!(took(1), compute + half + 4 * half);
    // Parts of gradients are summed up after each microbatch as well, hidden behind the next one.
    assert_eq!(took(2), compute + half + 4 * half);
    // Parameters are gathered before each layer: hidden but for the first.
    assert_eq!(took(3), compute + half + half);
}

#[test]
fn a_skewed_router_makes_a_straggler() {
    let keys = |skew| format!("layers = 2\nbatch = 8\nep = 4\nexperts = 4\nexperts_per_token = 1\nskew = {skew}");
    let [even, skewed] = [0.0, 1.0].map(|skew| took_ps(&model(4, &keys(skew), "")));
    // Attention, then 4 h f operations of each token at its expert; all tokens of four ranks meet there.
    let attention = TOKENS * (8 * WIDTH * WIDTH + 4 * TOKENS * WIDTH);
    let expert = |tokens: u64| 4 * tokens * 4 * WIDTH * FORWARD;
    // Experts get tokens as 1 : 1/2 : 1/3 : 1/4, of 64 tokens of each rank.
    let largest = (64.0 / (1.0 + 1.0 / 2.0 + 1.0 / 3.0 + 1.0 / 4.0_f64)).round() as u64;
    let compute = |tokens| 2 * 2 * 3 * (attention + expert(tokens));
    assert!(even >= compute(16) && skewed >= compute(largest), "{even} {skewed}");
    assert!((skewed - even).abs_diff(compute(largest) - compute(16)) < even / 20, "{even} {skewed}");
}

/// Model, its division, and its number of ranks.
fn models() -> impl Strategy<Value = (u64, String)> {
    let degrees = (1..=2_u64, 1..=3_u64, 1..=2_u64, prop::sample::select(vec![0.0, 0.7]), any::<bool>());
    let rest = (0..=3_u32, any::<bool>(), 1..=2_u64, 1..=2_u64);
    (degrees, rest).prop_map(|((tp, pp, ep, skew, experts), (zero, gpipe, twice, batches))| {
        let dp = ep * twice;
        let mut keys = format!(
            "layers = {}\nbatch = {}\ntp = {tp}\npp = {pp}\nschedule = \"{}\"",
            2 * pp,
            dp * batches,
            if gpipe { "gpipe" } else { "1f1b" }
        );
        if dp > 1 {
            keys += &format!("\nzero = {zero}");
        }
        if experts {
            keys += &format!("\nexperts = 4\nep = {ep}\nskew = {skew}");
        }
        (tp * pp * dp, keys)
    })
}

/// Returns the plan of the traces that a model is written as.
fn written(first: &Plan, ranks: u64, more: &str) -> Plan {
    let directory = new_directory();
    let written = chakra_traces(first, None, false, TraceReader::Chakra).expect("it can be written");
    for (rank, content) in written.traces.iter().enumerate() {
        std::fs::write(directory.join(format!("t.{rank}.et")), content).expect("it is written");
    }
    let (hosts, job) = together(ranks as usize, 0);
    let trace = directory.join("t").display().to_string();
    let again = plan(&format!(
        "{hosts}\n[job.j]\nkind = \"chakra\"\nalltoall = \"direct\"\npeak = {PEAK}\n{job}\n{more}\ntrace = {trace:?}\n\
         [run]\nuntil = \"jobs\"\n"
    ));
    std::fs::remove_dir_all(&directory).expect("it is removed");
    again
}

proptest! {
    #![proptest_config(cases(24))]

    /// Every legal division ends, takes at least as long as its computation, and as long as its traces.
    #[test]
    fn models_end_and_their_traces_take_as_long((ranks, keys) in models(), iterations in 1..=2_u32) {
        let first = model(ranks, &keys, &format!("iterations = {iterations}"));
        let took = took_ps(&first);
        // Every rank computes attention at least.
        prop_assert!(took >= 3 * TOKENS * 8 * WIDTH * WIDTH);
        let again = written(&first, ranks, "");
        prop_assert_eq!(took_ps(&again), took, "{}", keys);
    }
}
