//! Tokens that the router sends to the experts of each rank.

use super::shape::Model;

/// Returns the tokens that each rank of a group with experts gets from every rank of the group. Expert n of all gets
/// tokens in proportion to n to the power of minus `skew`; ranks have equal numbers of consecutive experts.
pub(super) fn tokens_of_ranks(model: &Model) -> Vec<u64> {
    let Some((experts, each)) = model.experts else { return Vec::new() };
    let weight = |expert: u32| f64::from(expert + 1).powf(-model.skew);
    let all: f64 = (0..experts).map(weight).sum();
    let sent = model.tokens().saturating_mul(u64::from(each));
    let of_rank = experts / model.ep;
    let mut before = 0.0;
    let mut begin = 0;
    let tokens = |rank: u32| {
        before += (rank * of_rank..(rank + 1) * of_rank).map(weight).sum::<f64>();
        // Rounds ends, not amounts, so that no token is lost; the last end is exact.
        let end = if rank + 1 == model.ep { sent } else { (sent as f64 * (before / all)).round() as u64 };
        let end = end.clamp(begin, sent);
        end - std::mem::replace(&mut begin, end)
    };
    (0..model.ep).map(tokens).collect()
}
