//! Corporate actions: splits and dividends in the order in which they take effect.
//!
//! Each action has a moment. It affects holders who entered before it and did not exit before it:
//!
//! * A *split* takes effect when its day begins in New York. Prices of that day are per new share at any hour.
//! * A *dividend* belongs to the holder at the open of the session of the ex-date. Until then the price includes the
//!   dividend. An ex-date on a closed day counts with the next session.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Date;
use market::calendar::new_york;
use market::records::{DividendRow, SplitRow};
use market::{Calendar, Decimal, SplitRatio, Symbol};

/// A corporate action, from the view of a holder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CorporateAction {
    /// One share becomes this many shares.
    Split(SplitRatio),
    /// This many dollars are paid per share, in the shares of that day (a split of the same day comes first).
    Dividend(Decimal),
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Dated {
    moment: Timestamp,
    day: Date,
    action: CorporateAction,
}

/// The corporate actions of several stocks, each stock's in the order of their moments.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CorporateActions {
    by_symbol: BTreeMap<Symbol, Vec<Dated>>,
}

impl CorporateActions {
    /// Collects the actions from records. Of two splits of a stock on one day the last counts; dividends of one day
    /// add up; dividends of unknown amount are skipped.
    pub fn new<'a>(
        calendar: &Calendar,
        splits: impl IntoIterator<Item = &'a SplitRow>,
        dividends: impl IntoIterator<Item = &'a DividendRow>,
    ) -> Self {
        let mut by_symbol: BTreeMap<Symbol, Vec<Dated>> = BTreeMap::new();
        let splits: BTreeMap<_, _> = splits
            .into_iter()
            .map(|row| ((row.symbol, row.date), row.ratio))
            .collect();
        for ((symbol, day), ratio) in splits {
            by_symbol.entry(symbol).or_default().push(Dated {
                moment: new_york(day, 0, 0),
                day,
                action: CorporateAction::Split(ratio),
            });
        }
        for row in dividends {
            let session = calendar
                .session(row.ex_date)
                .or_else(|| calendar.next_session_after(row.ex_date));
            if let (Some(amount), Some(session)) = (row.amount, session) {
                by_symbol.entry(row.symbol).or_default().push(Dated {
                    moment: session.open,
                    day: session.date,
                    action: CorporateAction::Dividend(amount),
                });
            }
        }
        for actions in by_symbol.values_mut() {
            // The sort is stable: on a market that opens at midnight, the split stays before the dividend.
            actions.sort_by_key(|dated| dated.moment);
        }
        Self { by_symbol }
    }

    fn of(&self, symbol: Symbol) -> impl Iterator<Item = &Dated> {
        self.by_symbol.get(&symbol).into_iter().flatten()
    }

    /// Returns the actions of a stock after one instant and up to another, in order: those of a holder who entered at
    /// the first and exited at the second.
    pub fn between(
        &self,
        symbol: Symbol,
        after: Timestamp,
        through: Timestamp,
    ) -> impl Iterator<Item = CorporateAction> {
        self.of(symbol)
            .filter(move |dated| after < dated.moment && dated.moment <= through)
            .map(|dated| dated.action)
    }

    /// Returns the actions of a stock that are included in the close of the day `through` but not in the close of the
    /// day `after`.
    pub fn between_closes(&self, symbol: Symbol, after: Date, through: Date) -> impl Iterator<Item = CorporateAction> {
        self.of(symbol)
            .filter(move |dated| after < dated.day && dated.day <= through)
            .map(|dated| dated.action)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn symbol() -> Symbol {
        "KO".parse().unwrap()
    }

    fn actions(split: Date, ex_dates: &[Date]) -> CorporateActions {
        let split = SplitRow {
            symbol: symbol(),
            date: split,
            ratio: "2".parse().unwrap(),
        };
        let dividends: Vec<_> = ex_dates
            .iter()
            .map(|ex_date| DividendRow {
                symbol: symbol(),
                ex_date: *ex_date,
                payment_date: None,
                amount: Some("0.4".parse().unwrap()),
            })
            .collect();
        CorporateActions::new(&Calendar::nyse(), &[split], &dividends)
    }

    /// Whether a holder between the two instants gets the (split, dividend).
    fn concerned(actions: &CorporateActions, entry_at: Timestamp, exit_at: Timestamp) -> (bool, bool) {
        let seen: Vec<_> = actions.between(symbol(), entry_at, exit_at).collect();
        let dividend = seen.iter().any(|action| matches!(action, CorporateAction::Dividend(_)));
        (
            seen.iter().any(|action| matches!(action, CorporateAction::Split(_))),
            dividend,
        )
    }

    #[test]
    fn split_affects_holders_across_the_start_of_its_day() {
        let day = date(2024, 3, 6);
        let actions = actions(day, &[]);
        let late = new_york(day, 23, 0);
        assert!(concerned(&actions, new_york(date(2024, 3, 5), 23, 59), late).0);
        assert!(!concerned(&actions, new_york(day, 0, 0), late).0);
        let early = new_york(date(2024, 3, 4), 12, 0);
        assert!(!concerned(&actions, early, new_york(date(2024, 3, 5), 23, 59)).0);
        assert!(concerned(&actions, early, new_york(day, 0, 0)).0);
    }

    #[test]
    fn dividend_belongs_to_the_holder_at_the_open_of_the_ex_date() {
        let day = date(2024, 3, 6);
        let actions = actions(date(2020, 1, 1), &[day]);
        let late = new_york(day, 23, 0);
        assert!(concerned(&actions, new_york(day, 9, 29), late).1);
        assert!(!concerned(&actions, new_york(day, 9, 30), late).1);
        let early = new_york(date(2024, 3, 4), 12, 0);
        assert!(!concerned(&actions, early, new_york(day, 9, 29)).1);
        assert!(concerned(&actions, early, new_york(day, 9, 30)).1);
    }

    #[test]
    fn ex_date_on_a_closed_day_counts_with_the_next_session() {
        let (friday, saturday, monday) = (date(2024, 3, 8), date(2024, 3, 9), date(2024, 3, 11));
        let actions = actions(date(2020, 1, 1), &[saturday]);
        assert!(concerned(&actions, new_york(saturday, 12, 0), new_york(monday, 9, 30)).1);
        assert!(!concerned(&actions, new_york(friday, 12, 0), new_york(saturday, 12, 0)).1);
        assert_eq!(actions.between_closes(symbol(), friday, saturday).count(), 0);
        assert_eq!(actions.between_closes(symbol(), friday, monday).count(), 1);
        assert_eq!(actions.between_closes(symbol(), monday, date(2024, 3, 12)).count(), 0);
    }

    #[test]
    fn last_split_of_a_day_counts_and_dividends_add_up() {
        let day = date(2024, 3, 6);
        let row = |ratio: &str| SplitRow {
            symbol: symbol(),
            date: day,
            ratio: ratio.parse().unwrap(),
        };
        let both = CorporateActions::new(&Calendar::nyse(), &[row("2"), row("3")], &[]);
        let ratios: Vec<_> = both.between_closes(symbol(), date(2024, 3, 5), day).collect();
        assert_eq!(ratios, [CorporateAction::Split("3".parse().unwrap())]);
        let twice = actions(date(2020, 1, 1), &[day, day]);
        assert_eq!(twice.between_closes(symbol(), date(2024, 3, 5), day).count(), 2);
    }

    #[test]
    fn split_precedes_the_dividend_of_the_same_day() {
        let day = date(2024, 3, 6);
        let split = SplitRow {
            symbol: symbol(),
            date: day,
            ratio: "2".parse().unwrap(),
        };
        let dividend = DividendRow {
            symbol: symbol(),
            ex_date: day,
            payment_date: None,
            amount: Some("0.4".parse().unwrap()),
        };
        for calendar in [Calendar::nyse(), Calendar::nyse().always_open()] {
            let actions = CorporateActions::new(&calendar, [&split], [&dividend]);
            let order: Vec<_> = actions.between_closes(symbol(), date(2024, 3, 5), day).collect();
            assert!(matches!(
                order[..],
                [CorporateAction::Split(_), CorporateAction::Dividend(_)]
            ));
        }
    }
}
