//! Connected components of a network.

use hostnet_params::CableEnd;

/// Returns the connected components of each host, as sorted numbers. A host with several cables is in one component if
/// it `forwards` packets between them, otherwise in that of each cable.
pub(super) fn islands(hosts: usize, switches: usize, cables: &[[CableEnd; 2]], forwards: bool) -> Vec<Vec<usize>> {
    let count = hosts + switches;
    let number = |end: CableEnd, port: usize| match end {
        CableEnd::Host(at) if forwards => usize::from(at),
        CableEnd::Host(_) => count + port,
        CableEnd::Switch(at) => hosts + usize::from(at),
    };
    let mut parents: Vec<usize> = (0..count + 2 * cables.len()).collect();
    let mut ports = vec![Vec::new(); hosts];
    for (cable, ends) in cables.iter().enumerate() {
        let numbers = [0, 1].map(|end: usize| number(ends[end], 2 * cable + end));
        let [one, other] = numbers.map(|number| root(&mut parents, number));
        parents[one] = other;
        for (end, number) in ends.iter().zip(numbers) {
            if let CableEnd::Host(host) = end {
                ports[usize::from(*host)].push(number);
            }
        }
    }
    let islands = ports.into_iter().map(|ports| {
        let mut roots: Vec<usize> = ports.into_iter().map(|port| root(&mut parents, port)).collect();
        roots.sort_unstable();
        roots.dedup();
        roots
    });
    islands.collect()
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
