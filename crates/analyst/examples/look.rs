//! Prints the rules' advice for a stock on a day of recorded data.
//!
//! ```sh
//! cargo run --release -p analyst --example look -- FOLDER AAPL 2024-03-08
//! ```
//!
//! The rules see the open of that day and nothing after its first price.

use std::error::Error;
use std::path::PathBuf;

use alerts::Plan;
use alerts::engine::Dividend;
use alerts::request::ParseContext;
use analyst::{AnalysisSubject, Intention, advise};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use market::{Calendar, History, Symbol};
use sources::folder;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, symbol, date] = arguments.as_slice() else {
        return Err("usage: look FOLDER SYMBOL DATE".into());
    };
    let (symbol, date): (Symbol, Date) = (symbol.parse()?, date.parse()?);
    let calendar = Calendar::nyse();
    let (data, _) = folder::read(&PathBuf::from(folder), &calendar, |_| {})?;
    let bars = &data
        .bars
        .get(&symbol)
        .ok_or("the folder has no bars of this symbol")?
        .daily;
    let today = bars
        .iter()
        .find(|bar| bar.date == date)
        .ok_or("the folder has no bar of this day")?;
    let session = calendar.session(date).ok_or("the exchange was closed")?;
    let mut history = History::default();
    for &bar in bars.iter().filter(|bar| bar.date < date) {
        history.record(bar)?;
    }
    let earnings: Vec<_> = data
        .earnings
        .iter()
        .filter(|row| row.symbol == symbol)
        .map(|row| row.date)
        .collect();
    let dividends: Vec<_> = data
        .dividends
        .iter()
        .filter(|row| row.symbol == symbol)
        .map(|row| Dividend {
            ex_date: row.ex_date,
            payment_date: row.payment_date,
            amount: row.amount,
        })
        .collect();
    for &intention in Intention::ALL {
        let advice = advise(&AnalysisSubject {
            symbol,
            intention,
            price: today.open,
            target_price: None,
            history: &history,
            session_volume: None,
            earnings: &earnings,
            dividends: &dividends,
            plan: Plan::Premium,
            active_alerts: 0,
            context: ParseContext {
                now: session.open,
                time_zone: &TimeZone::UTC,
                calendar: &calendar,
            },
        });
        println!("To {intention} {symbol}: {}", advice.summary);
        for proposal in &advice.proposals {
            let threshold = proposal
                .body
                .get("threshold")
                .map_or(String::new(), |value| format!(" {value}"));
            let condition = proposal.alert.condition.kind();
            println!("- {}, {condition}{threshold}: {}", proposal.role, proposal.rationale);
        }
        println!();
    }
    Ok(())
}
