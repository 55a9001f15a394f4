//! The rules on years of market data.

use std::collections::BTreeSet;

use alerts::engine::{Dividend, Engine, EngineConfig, Event};
use alerts::request::ParseContext;
use alerts::{ConditionKind, Plan};
use analyst::{AnalysisSubject, Intention, advise};
use jiff::tz::TimeZone;
use market::{Calendar, Symbol};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sources::folder::{self, MarketData};

use crate::support::{assert_sound, fired};

const DATES_PER_STOCK: usize = 50;

/// Counts over the analyses of one stock or of all.
#[derive(Default)]
struct Tally {
    analyses: usize,
    proposals: usize,
    kinds: BTreeSet<ConditionKind>,
}

#[test]
fn advice_on_recorded_stocks_is_sound() {
    let source = testdata::TestMarketData::find();
    let (data, _) = folder::read(&source.path("us500"), &Calendar::nyse(), |_| {}).unwrap();
    let symbols: Vec<Symbol> = data.bars.keys().copied().collect();
    assert_eq!(symbols.len(), source.pick(511, 4));
    let (left, right) = symbols.split_at(symbols.len() / 2);
    let analyse = |symbols: &[Symbol]| {
        let mut tally = Tally::default();
        symbols
            .iter()
            .for_each(|&symbol| analyse_random_days(symbol, &data, &mut tally));
        tally
    };
    let (left, right) = std::thread::scope(|scope| {
        let other = scope.spawn(|| analyse(right));
        (analyse(left), other.join().unwrap())
    });
    let analyses = left.analyses + right.analyses;
    assert_eq!(analyses, symbols.len() * DATES_PER_STOCK * 2);
    let kinds: Vec<_> = left.kinds.union(&right.kinds).map(|kind| kind.name()).collect();
    println!(
        "{analyses} analyses, {} alerts, of the kinds {kinds:?}",
        left.proposals + right.proposals
    );
    assert!(kinds.len() >= source.pick(9, 8), "{kinds:?}");
}

/// Analyses a stock at the open of seeded random days, for a buyer and a seller, at the opening price or at the last
/// close; asks the engine whether anything fires at once.
fn analyse_random_days(symbol: Symbol, data: &MarketData, tally: &mut Tally) {
    let (calendar, time_zone) = (Calendar::nyse(), TimeZone::UTC);
    let bars = &data.bars[&symbol].daily;
    let seed = symbol
        .as_str()
        .bytes()
        .fold(7_u64, |seed, byte| seed * 31 + u64::from(byte));
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut chosen = BTreeSet::new();
    while chosen.len() < DATES_PER_STOCK {
        chosen.insert(rng.random_range(0..bars.len()));
    }

    let mut engine = Engine::new(calendar.clone(), EngineConfig::default());
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
            let last_close = history.last().map(|last| last.close).filter(|_| rng.random());
            let plan = *[Plan::Basic, Plan::Premium]
                .get(usize::from(rng.random_ratio(3, 4)))
                .unwrap();
            for &intention in Intention::ALL {
                let subject = AnalysisSubject {
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
                    context: ParseContext {
                        now: session.open,
                        time_zone: &time_zone,
                        calendar: &calendar,
                    },
                };
                let advice = advise(&subject);
                assert_sound(&subject, &advice);
                let at_once = fired(&mut engine, &subject, &advice.proposals);
                assert!(at_once.is_empty(), "{symbol} {}: {at_once:#?}", bar.date);
                tally.analyses += 1;
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
