//! Connected components of a network.

use hostnet_params::CableEnd;

/// Returns the connected component of each host, as a number.
pub(super) fn islands(hosts: usize, switches: usize, cables: &[[CableEnd; 2]]) -> Vec<usize> {
    let number = |end: CableEnd| match end {
        CableEnd::Host(at) => usize::from(at),
        CableEnd::Switch(at) => hosts + usize::from(at),
    };
    let mut parents: Vec<usize> = (0..hosts + switches).collect();
    for ends in cables {
        let [one, other] = ends.map(|end| root(&mut parents, number(end)));
        parents[one] = other;
    }
    (0..hosts).map(|host| root(&mut parents, host)).collect()
}

/// Returns the root of the union-find tree of `at` in `parents`.
pub(super) fn root(parents: &mut [usize], mut at: usize) -> usize {
    while parents[at] != at {
        // Path halving keeps the chains short.
        parents[at] = parents[parents[at]];
        at = parents[at];
    }
    at
}
