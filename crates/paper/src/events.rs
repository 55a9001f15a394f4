//! Splits and dividends in the order in which they take effect.
//!
//! Each has its moment, and concerns whoever came in before it and did not leave before it:
//!
//! * A *split* takes effect when its day begins in New York. Prices of that day are in new shares, whatever the hour.
//! * A *dividend* belongs to whoever holds the stock when the session of the ex-date opens. Until then the price has the
//!   dividend in it. An ex-date on a closed day counts with the next session.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Date;
use market::calendar::new_york;
use market::records::{DividendRow, SplitRow};
use market::{Calendar, Decimal, SplitRatio, Symbol};

/// What happens to the holders of a stock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// One share becomes so many.
    Split(SplitRatio),
    /// So many dollars are paid for each share, in the shares of that day (a split of the same day comes first).
    Dividend(Decimal),
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Dated {
    moment: Timestamp,
    day: Date,
    event: Event,
}

/// The splits and dividends of some stocks, each stock's in the order of their moments.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Events {
    by_symbol: BTreeMap<Symbol, Vec<Dated>>,
}

impl Events {
    /// The events in some records. Of two splits of a stock on one day the last counts; dividends of one day add up;
    /// those whose amount is not known are left out.
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
                event: Event::Split(ratio),
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
                    event: Event::Dividend(amount),
                });
            }
        }
        for events in by_symbol.values_mut() {
            // Stable: where a market opens at midnight, the split stays before the dividend.
            events.sort_by_key(|dated| dated.moment);
        }
        Self { by_symbol }
    }

    fn all(&self, symbol: Symbol) -> &[Dated] {
        self.by_symbol.get(&symbol).map_or(&[], Vec::as_slice)
    }

    /// The events of a stock after one instant and up to another, in order: those that concern who came in at the one
    /// and left at the other.
    pub fn between(&self, symbol: Symbol, after: Timestamp, through: Timestamp) -> impl Iterator<Item = Event> {
        let events = self.all(symbol);
        let later = &events[events.partition_point(|dated| dated.moment <= after)..];
        let meant = later.iter().take_while(move |dated| dated.moment <= through);
        meant.map(|dated| dated.event)
    }

    /// The events of a stock that are in the close of the day `through` and not yet in the close of the day `after`.
    pub fn between_closes(&self, symbol: Symbol, after: Date, through: Date) -> impl Iterator<Item = Event> {
        let events = self.all(symbol);
        let later = &events[events.partition_point(|dated| dated.day <= after)..];
        let meant = later.iter().take_while(move |dated| dated.day <= through);
        meant.map(|dated| dated.event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn symbol() -> Symbol {
        "KO".parse().unwrap()
    }

    fn events(split: Date, ex_dates: &[Date]) -> Events {
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
        Events::new(&Calendar::nyse(), &[split], &dividends)
    }

    /// Whether someone held the stock long enough for (split, dividend).
    fn concerned(events: &Events, entry_at: Timestamp, exit_at: Timestamp) -> (bool, bool) {
        let seen: Vec<_> = events.between(symbol(), entry_at, exit_at).collect();
        let dividend = seen.iter().any(|event| matches!(event, Event::Dividend(_)));
        (seen.iter().any(|event| matches!(event, Event::Split(_))), dividend)
    }

    #[test]
    fn a_split_concerns_who_came_in_on_an_earlier_day_and_stays_into_its_day() {
        let day = date(2024, 3, 6);
        let events = events(day, &[]);
        let late = new_york(day, 23, 0);
        assert!(concerned(&events, new_york(date(2024, 3, 5), 23, 59), late).0);
        assert!(!concerned(&events, new_york(day, 0, 0), late).0);
        let early = new_york(date(2024, 3, 4), 12, 0);
        assert!(!concerned(&events, early, new_york(date(2024, 3, 5), 23, 59)).0);
        assert!(concerned(&events, early, new_york(day, 0, 0)).0);
    }

    #[test]
    fn a_dividend_concerns_who_holds_the_stock_when_the_ex_date_opens() {
        let day = date(2024, 3, 6);
        let events = events(date(2020, 1, 1), &[day]);
        let late = new_york(day, 23, 0);
        assert!(concerned(&events, new_york(day, 9, 29), late).1);
        assert!(!concerned(&events, new_york(day, 9, 30), late).1);
        let early = new_york(date(2024, 3, 4), 12, 0);
        assert!(!concerned(&events, early, new_york(day, 9, 29)).1);
        assert!(concerned(&events, early, new_york(day, 9, 30)).1);
    }

    #[test]
    fn an_ex_date_on_a_closed_day_counts_with_the_next_session() {
        let (friday, saturday, monday) = (date(2024, 3, 8), date(2024, 3, 9), date(2024, 3, 11));
        let events = events(date(2020, 1, 1), &[saturday]);
        assert!(concerned(&events, new_york(saturday, 12, 0), new_york(monday, 9, 30)).1);
        assert!(!concerned(&events, new_york(friday, 12, 0), new_york(saturday, 12, 0)).1);
        assert_eq!(events.between_closes(symbol(), friday, saturday).count(), 0);
        assert_eq!(events.between_closes(symbol(), friday, monday).count(), 1);
        assert_eq!(events.between_closes(symbol(), monday, date(2024, 3, 12)).count(), 0);
    }

    #[test]
    fn of_two_ratios_for_one_day_the_last_counts_and_dividends_of_one_day_add_up() {
        let day = date(2024, 3, 6);
        let row = |ratio: &str| SplitRow {
            symbol: symbol(),
            date: day,
            ratio: ratio.parse().unwrap(),
        };
        let both = Events::new(&Calendar::nyse(), &[row("2"), row("3")], &[]);
        let ratios: Vec<_> = both.between_closes(symbol(), date(2024, 3, 5), day).collect();
        assert_eq!(ratios, [Event::Split("3".parse().unwrap())]);
        let twice = events(date(2020, 1, 1), &[day, day]);
        assert_eq!(twice.between_closes(symbol(), date(2024, 3, 5), day).count(), 2);
    }

    #[test]
    fn a_split_of_the_ex_date_comes_before_the_dividend_also_where_the_market_opens_at_midnight() {
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
            let events = Events::new(&calendar, [&split], [&dividend]);
            let order: Vec<_> = events.between_closes(symbol(), date(2024, 3, 5), day).collect();
            assert!(matches!(order[..], [Event::Split(_), Event::Dividend(_)]));
        }
    }
}
