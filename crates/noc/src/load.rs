//! How full channels will be, before anything is simulated.

use crate::traffic::Destinations;
use crate::{Layout, NocError, Pattern, Port, Routes};

/// Flits on an output per flit that every terminal offers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChannelLoad {
    /// The output; it leads to another router or to a terminal.
    pub output: Port,
    /// Flits on it per flit that each terminal offers: at offered load `1 / load` it is full.
    pub load: f64,
}

/// The load of every output under traffic of a class by a pattern, every order of the class alike. A flit through an
/// output that each terminal sends with the same rate counts once for every terminal.
///
/// # Errors
/// When the pattern does not fit the layout.
///
/// # Panics
/// If there is no such class.
pub fn channel_load(
    layout: &Layout,
    routes: &Routes,
    pattern: &Pattern,
    class: u8,
) -> Result<Vec<ChannelLoad>, NocError> {
    let destinations = Destinations::new(pattern, layout)?;
    let ports = layout.most_ports();
    let far = layout.far();
    let (first, count) = routes.of_class[usize::from(class)];
    let mut loads = vec![0.0; far.len()];
    for source in 0..layout.terminals.len() as u16 {
        let to = destinations.of(source);
        let share = 1.0 / (to.len() as f64 * f64::from(count));
        for &terminal in to {
            for group in first..first + count {
                let mut at = usize::from(layout.terminals[usize::from(source)].at.router);
                loop {
                    let output = at * ports + usize::from(routes.hop(group, at, terminal).port);
                    loads[output] += share;
                    let Some(next) = far[output] else { break };
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

/// The fullest of some outputs, the first of equals.
#[must_use]
pub fn busiest(loads: &[ChannelLoad]) -> Option<ChannelLoad> {
    loads.iter().copied().reduce(|most, one| if one.load > most.load + 1e-12 { one } else { most })
}
