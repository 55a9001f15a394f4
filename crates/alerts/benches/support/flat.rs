//! The simple baseline: the levels of all alerts in one flat array, all of them compared at every observation.

use alerts::condition::Side;

use super::market::Level;

/// The levels, grouped by stock.
pub(crate) struct Flat {
    levels: Vec<i64>,
    /// The start of each stock's levels above, and of its levels below.
    starts: Vec<(usize, usize)>,
}

impl Flat {
    pub(crate) fn new(stocks: usize, levels: &[Level]) -> Self {
        let mut sides = vec![(Vec::new(), Vec::new()); stocks];
        for level in levels {
            let (above, below) = &mut sides[level.stock as usize];
            match level.side {
                Side::Above => above.push(level.price),
                Side::Below => below.push(level.price),
            }
        }
        let mut flat = Self {
            levels: Vec::with_capacity(levels.len()),
            starts: Vec::with_capacity(stocks + 1),
        };
        for (above, below) in sides {
            let start = flat.levels.len();
            flat.levels.extend(above);
            flat.starts.push((start, flat.levels.len()));
            flat.levels.extend(below);
        }
        flat.starts.push((flat.levels.len(), flat.levels.len()));
        flat
    }

    /// Counts the alerts that the prices reach.
    pub(crate) fn scan(&self, prices: &[i64]) -> usize {
        let mut reached = 0;
        for (bounds, &price) in self.starts.windows(2).zip(prices) {
            let (above, below, end) = (bounds[0].0, bounds[0].1, bounds[1].0);
            let count = |levels: &[i64], hit: fn(i64, i64) -> bool| {
                levels
                    .iter()
                    .map(|&level| usize::from(hit(price, level)))
                    .sum::<usize>()
            };
            reached += count(&self.levels[above..below], |price, level| price >= level);
            reached += count(&self.levels[below..end], |price, level| price <= level);
        }
        reached
    }

    /// Returns the highest level below and the lowest above for each stock: the data of the cheapest possible check.
    pub(crate) fn bands(&self) -> Vec<(i64, i64)> {
        self.starts
            .windows(2)
            .map(|bounds| {
                let (above, below, end) = (bounds[0].0, bounds[0].1, bounds[1].0);
                let lowest = self.levels[above..below].iter().copied().min();
                let highest = self.levels[below..end].iter().copied().max();
                (highest.unwrap_or(i64::MIN), lowest.unwrap_or(i64::MAX))
            })
            .collect()
    }
}
