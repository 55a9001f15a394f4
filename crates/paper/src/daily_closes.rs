//! A stock's daily closes and corporate actions.

use jiff::civil::Date;
use market::{Price, Symbol};

use crate::corporate_actions::CorporateActions;

/// The closes and corporate actions of a stock or a benchmark.
#[derive(Clone, Copy, Debug)]
pub struct PriceHistory<'a> {
    /// The stock.
    pub symbol: Symbol,
    /// Its closes as traded.
    pub closes: &'a DailyCloses,
    /// Its splits and dividends. A benchmark without dividends is compared by its price alone.
    pub actions: &'a CorporateActions,
}

/// A stock's daily closes as traded, per share of their day.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DailyCloses {
    days: Vec<(Date, Price)>,
}

impl FromIterator<(Date, Price)> for DailyCloses {
    /// Accepts closes in any order; of two closes of one day the last counts.
    fn from_iter<I: IntoIterator<Item = (Date, Price)>>(closes: I) -> Self {
        let mut days: Vec<(Date, Price)> = closes.into_iter().collect();
        days.sort_by_key(|(date, _)| *date);
        days.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                *kept = *later;
            }
            same
        });
        Self { days }
    }
}

impl DailyCloses {
    /// Adds closes; an added close replaces an existing one of the same day.
    #[must_use]
    pub fn with(self, more: impl IntoIterator<Item = (Date, Price)>) -> Self {
        self.days.into_iter().chain(more).collect()
    }

    /// Returns the close of a day.
    #[must_use]
    pub fn on(&self, date: Date) -> Option<Price> {
        let at = self.days.binary_search_by_key(&date, |(day, _)| *day).ok()?;
        Some(self.days[at].1)
    }

    /// Returns the last close on or before a day, with its date.
    #[must_use]
    pub fn at_or_before(&self, date: Date) -> Option<(Date, Price)> {
        let later = self.days.partition_point(|(day, _)| *day <= date);
        later.checked_sub(1).map(|at| self.days[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn day_without_a_close_uses_the_previous_close() {
        let price = |text: &str| text.parse::<Price>().unwrap();
        let (first, second) = (date(2024, 3, 4), date(2024, 3, 6));
        let closes: DailyCloses = [(second, price("7")), (first, price("5")), (first, price("6"))]
            .into_iter()
            .collect();
        assert_eq!(closes.on(first), Some(price("6")));
        assert_eq!(closes.on(date(2024, 3, 5)), None);
        assert_eq!(closes.at_or_before(date(2024, 3, 5)), Some((first, price("6"))));
        assert_eq!(closes.at_or_before(date(2024, 3, 9)), Some((second, price("7"))));
        assert_eq!(closes.at_or_before(date(2024, 3, 3)), None);
    }
}
