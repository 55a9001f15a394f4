//! The rules on recorded real data, which lies beside the project; where it does not, the test says that it was skipped.

use std::collections::BTreeSet;
use std::path::PathBuf;

use alerts::engine::{Dividend, Engine, Event, Settings};
use alerts::request::Context;
use alerts::{ConditionKind, Plan};
use analyst::{Intention, Subject, advise};
use jiff::tz::TimeZone;
use market::{Calendar, Symbol};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sources::folder::{self, MarketData};

use crate::support::{assert_sound, fired};

const DATES_PER_STOCK: usize = 50;

fn recorded() -> Option<MarketData> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/us500");
    if !path.exists() {
        eprintln!("skipped: there is no recorded data at {}", path.display());
        return None;
    }
    Some(folder::read(&path, &Calendar::nyse(), |_| {}).unwrap().0)
}

/// What came of the looks at one stock, or of all.
#[derive(Default)]
struct Tally {
    looks: usize,
    proposals: usize,
    kinds: BTreeSet<ConditionKind>,
}

#[test]
fn on_511_stocks_at_50_dates_each_every_alert_is_valid_ordered_around_the_price_and_still_to_come() {
    let Some(data) = recorded() else { return };
    let symbols: Vec<Symbol> = data.bars.keys().copied().collect();
    assert_eq!(symbols.len(), 511);
    let (left, right) = symbols.split_at(symbols.len() / 2);
    let look = |symbols: &[Symbol]| {
        let mut tally = Tally::default();
        symbols.iter().for_each(|&symbol| look_at(symbol, &data, &mut tally));
        tally
    };
    let (left, right) = std::thread::scope(|scope| {
        let other = scope.spawn(|| look(right));
        (look(left), other.join().unwrap())
    });
    let looks = left.looks + right.looks;
    assert_eq!(looks, 511 * DATES_PER_STOCK * 2);
    let kinds: Vec<_> = left.kinds.union(&right.kinds).map(|kind| kind.name()).collect();
    println!(
        "{looks} looks, {} alerts, of the kinds {kinds:?}",
        left.proposals + right.proposals
    );
    assert!(kinds.len() >= 9, "{kinds:?}");
}

/// Looks at a stock at the open of seeded random days, for a buyer and a seller, at the price of the open or still at
/// that of the last close; asks the engine whether anything fires at once.
fn look_at(symbol: Symbol, data: &MarketData, tally: &mut Tally) {
    let (calendar, time_zone) = (Calendar::nyse(), TimeZone::UTC);
    let bars = &data.bars[&symbol].daily;
    let seed = symbol
        .as_str()
        .bytes()
        .fold(7_u64, |seed, byte| seed * 31 + u64::from(byte));
    let mut chance = ChaCha8Rng::seed_from_u64(seed);
    let mut chosen = BTreeSet::new();
    while chosen.len() < DATES_PER_STOCK {
        chosen.insert(chance.random_range(0..bars.len()));
    }

    let mut engine = Engine::new(calendar.clone(), Settings::default());
    let rows = data.earnings.iter().filter(|row| row.symbol == symbol);
    let earnings: Vec<_> = rows.map(|row| row.date).collect();
    let rows = data.dividends.iter().filter(|row| row.symbol == symbol);
    let dividends: Vec<_> = rows
        .map(|row| Dividend {
            ex_date: row.ex_date,
            payment_date: row.payment_date,
            amount: row.amount,
        })
        .collect();
    let start = calendar.session(bars[0].date).unwrap().open;
    let mut out = Vec::new();
    let (dates, dividends) = (&earnings, &dividends);
    engine
        .process(Event::Earnings { symbol, dates }, start, &mut out)
        .unwrap();
    engine
        .process(Event::Dividends { symbol, dividends }, start, &mut out)
        .unwrap();

    for (day, &bar) in bars.iter().enumerate() {
        let session = calendar.session(bar.date).unwrap();
        if chosen.contains(&day) {
            let history = engine.history(symbol).cloned().unwrap_or_default();
            let last_close = history.last().map(|last| last.close).filter(|_| chance.random());
            let plan = *[Plan::Basic, Plan::Premium]
                .get(usize::from(chance.random_ratio(3, 4)))
                .unwrap();
            for &intention in Intention::ALL {
                let subject = Subject {
                    symbol,
                    intention,
                    price: last_close.unwrap_or(bar.open),
                    target_price: None,
                    history: &history,
                    session_volume: None,
                    earnings: &earnings,
                    dividends,
                    plan,
                    active_alerts: 0,
                    context: Context {
                        now: session.open,
                        time_zone: &time_zone,
                        calendar: &calendar,
                    },
                };
                let advice = advise(&subject);
                assert_sound(&subject, &advice);
                let at_once = fired(&mut engine, &subject, &advice.proposals);
                assert!(at_once.is_empty(), "{symbol} {}: {at_once:#?}", bar.date);
                tally.looks += 1;
                tally.proposals += advice.proposals.len();
                tally
                    .kinds
                    .extend(advice.proposals.iter().map(|proposal| proposal.alert.condition.kind()));
            }
        }
        engine
            .process(Event::Bar { symbol, bar }, session.close, &mut out)
            .unwrap();
    }
}
