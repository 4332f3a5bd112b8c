//! The buffers of a host, and how full they are.

use crate::row::{is_total, Fields, Row, ALL};

/// Credits in use out of a capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Usage {
    /// Mean number of credits in use.
    pub in_use: Option<f64>,
    /// Number of credits, if they are limited.
    pub capacity: Option<f64>,
}

impl Usage {
    /// Reads the usage of a row of the table `domains`.
    #[must_use]
    pub(crate) fn of(row: &Row) -> Self {
        Self { in_use: row.number("in_use_mean"), capacity: row.nonzero("capacity") }
    }

    /// Returns the mean share of the credits in use, 0 to 1; `None` without a capacity.
    #[must_use]
    pub(crate) fn share(&self) -> Option<f64> {
        Some((self.in_use? / self.capacity?).min(1.0))
    }
}

/// A single part that has a share of a pool, such as a core or a channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PoolPart {
    /// Number of the part among those of its kind.
    pub number: usize,
    /// Usage of its share of the pool.
    pub usage: Usage,
}

/// A buffer of the host: its usage as a whole, and that of each of its parts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CreditPool {
    /// Name, as in the table `domains`.
    pub name: String,
    /// Usage of the whole.
    pub whole: Usage,
    /// Parts in ascending order.
    pub parts: Vec<PoolPart>,
}

impl CreditPool {
    /// Returns the mean number of credits in use.
    #[must_use]
    pub(crate) fn in_use(&self) -> f64 {
        self.whole.in_use.unwrap_or_default()
    }
}

/// Returns the pools of a server from the totals of its domains, each with its parts among `rows`.
#[must_use]
pub(crate) fn read_pools<'a>(totals: &[&Row], rows: impl Iterator<Item = &'a Row> + Clone) -> Vec<CreditPool> {
    let totals = totals.iter().filter(|row| is_total(row));
    let pool = |total: &&Row| {
        let name = total.text("domain").to_owned();
        CreditPool { whole: Usage::of(total), parts: parts_of(&name, rows.clone()), name }
    };
    totals.map(pool).collect()
}

/// Returns the parts of a pool in ascending order.
fn parts_of<'a>(pool: &str, rows: impl Iterator<Item = &'a Row>) -> Vec<PoolPart> {
    let own = rows.filter(|row| row.text("domain") == pool && row.text("part") != ALL && row.text("workload") == ALL);
    let mut parts: Vec<PoolPart> =
        own.map(|row| PoolPart { number: part_number(row.text("part")), usage: Usage::of(row) }).collect();
    parts.sort_by_key(|part| part.number);
    parts
}

/// Returns the pools of a socket, summed over its parts among `rows`.
#[must_use]
pub(crate) fn sum_pools(rows: &[&Row]) -> Vec<CreditPool> {
    let mut pools: Vec<CreditPool> = Vec::new();
    for row in rows.iter().filter(|row| row.text("workload") == ALL) {
        let (name, usage) = (row.text("domain"), Usage::of(row));
        let index = pools.iter().position(|pool| pool.name == name).unwrap_or_else(|| {
            let whole = Usage { in_use: Some(0.0), capacity: None };
            pools.push(CreditPool { whole, parts: parts_of(name, rows.iter().copied()), name: name.to_owned() });
            pools.len() - 1
        });
        let whole = &mut pools[index].whole;
        whole.in_use = Some(whole.in_use.unwrap_or_default() + usage.in_use.unwrap_or_default());
        whole.capacity = usage.capacity.map_or(whole.capacity, |own| Some(whole.capacity.unwrap_or_default() + own));
    }
    pools
}

/// Returns the number in the name of a part: 3 for `core 3`; 0 without a number.
#[must_use]
pub(crate) fn part_number(part: &str) -> usize {
    part.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{json, Value};

    fn row(part: &str, in_use: f64, capacity: Option<u64>) -> Row {
        let row =
            json!({"domain": "RPQ", "part": part, "workload": "all", "in_use_mean": in_use, "capacity": capacity});
        let Value::Object(row) = row else { unreachable!("it is an object") };
        row
    }

    #[test]
    fn parts_are_in_numerical_order() {
        let rows = [row("channel 10", 1.0, Some(46)), row("channel 9", 2.0, Some(46)), row("channel 2", 3.0, Some(46))];
        let pools = read_pools(&[&row("all", 6.0, Some(138))], rows.iter());
        assert_eq!(pools[0].parts.iter().map(|part| part.number).collect::<Vec<_>>(), [2, 9, 10]);
        assert_eq!(pools[0].whole.share(), Some(6.0 / 138.0));
        let sums = sum_pools(&rows.iter().collect::<Vec<_>>());
        assert_eq!(sums[0].whole, pools[0].whole);
        assert_eq!(sums[0].parts, pools[0].parts);
    }

    #[test]
    fn a_share_needs_a_capacity_and_is_at_most_one() {
        assert_eq!(Usage::of(&row("all", 6.0, None)).share(), None);
        assert_eq!(Usage::of(&row("all", 6.0, Some(0))).share(), None);
        assert_eq!(Usage::of(&row("all", 6.0, Some(4))).share(), Some(1.0));
    }
}
