//! Static load of channels, computed without a simulation.

use crate::traffic::Destinations;
use crate::{Layout, NocError, Pattern, Port, Routes};

/// Channel load of an output: flits per cycle through the output when every terminal offers one flit per cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChannelLoad {
    /// Output, which leads to another router or to a terminal.
    pub output: Port,
    /// Flits on the output per flit that each terminal offers: the output saturates at an offered load of `1 / load`.
    pub load: f64,
}

/// Computes the load of every output for traffic of one class with a pattern, where all orders of the class are
/// equally frequent. An output that carries all flits of every terminal has a load equal to the number of terminals.
///
/// # Errors
/// Returns a [`NocError`] if the pattern does not fit the layout.
///
/// # Panics
/// Panics if there is no such class.
pub fn channel_load(
    layout: &Layout,
    routes: &Routes,
    pattern: &Pattern,
    class: u8,
) -> Result<Vec<ChannelLoad>, NocError> {
    let destinations = Destinations::new(pattern, layout)?;
    let ports = layout.ports_max();
    let downstream = layout.downstream();
    let mut loads = vec![0.0; downstream.len()];
    for source in 0..layout.terminals.len() as u16 {
        let to = destinations.of(source);
        let start = usize::from(layout.terminals[usize::from(source)].at.router);
        for &terminal in to {
            let groups = routes.groups_of(class, start, terminal);
            // Destinations and groups are drawn with equal probability.
            let share = 1.0 / (to.len() * groups.clone().count()) as f64;
            for group in groups {
                let mut at = start;
                loop {
                    let output = at * ports + usize::from(routes.hop(group, at, terminal).port);
                    loads[output] += share;
                    let Some(next) = downstream[output] else { break };
                    at = usize::from(next);
                }
            }
        }
    }
    let named = |(index, load): (usize, f64)| {
        let output = Port { router: (index / ports) as u16, port: (index % ports) as u8 };
        ChannelLoad { output, load }
    };
    Ok(loads.into_iter().enumerate().map(named).filter(|found| found.load > 0.0).collect())
}

/// Returns the output with the largest load, the first among equals.
#[must_use]
pub fn busiest(loads: &[ChannelLoad]) -> Option<ChannelLoad> {
    // 1e-12: sums of the same shares in another order differ by rounding; the first among equals must win.
    loads.iter().copied().reduce(|most, one| if one.load > most.load + 1e-12 { one } else { most })
}
