use super::*;
use crate::provider::Key;
use crate::provider::{alpaca, apewisdom, finnhub, massive, sec, tiingo};

fn key() -> Key {
    Key::new("key").unwrap()
}

fn plan_of(tier: &Tier) -> Plan {
    plan(tier, 10_000, Polling::default())
}

/// Requests a round, seconds from one to the next, whether that fits.
fn quotes(tier: &Tier) -> Option<(u64, u64, bool)> {
    let plan = plan_of(tier);
    plan.line(Capability::Quotes)
        .map(|line| (line.requests, line.round.as_secs(), line.fits))
}

#[test]
fn ten_thousand_symbols_fit_into_the_free_plan_of_alpaca() {
    // 20 requests of 500 symbols; 180 a minute are ours.
    assert_eq!(quotes(&alpaca::Config::free(key(), key()).tier()), Some((20, 60, true)));
}

#[test]
fn finnhub_asks_one_by_one_so_ten_thousand_take_three_hours() {
    // 54 a minute are ours: 10,000 ÷ 54 minutes.
    let tier = finnhub::Config::free(key()).tier();
    assert_eq!(quotes(&tier), Some((10_000, 11_112, false)));
    let stream = plan_of(&tier).line(Capability::Stream).cloned().unwrap();
    assert_eq!((stream.symbols, stream.fits), (50, false));
}

#[test]
fn the_free_plan_of_massive_has_no_quotes_but_a_day_of_all_stocks_in_one_request() {
    let tier = massive::Config::new(key(), massive::Plan::Basic).tier();
    let plan = plan_of(&tier);
    assert_eq!(plan.line(Capability::Quotes), None);
    let bars = plan.line(Capability::DailyBars).unwrap();
    assert_eq!((bars.requests, bars.round.as_secs(), bars.fits), (1, 12, true));
    let text = plan.to_string();
    assert!(!text.contains("quotes") && !text.contains("stream"), "{text}");
}

#[test]
fn a_paid_plan_of_massive_has_all_quotes_in_one_request_a_quarter_of_an_hour_old() {
    let tier = massive::Config::new(key(), massive::Plan::Delayed).tier();
    let plan = plan_of(&tier);
    let line = plan.line(Capability::Quotes).unwrap();
    assert_eq!((line.requests, line.oldest.as_secs(), line.fits), (1, 960, true));
}

#[test]
fn tiingo_has_batches_but_its_day_is_used_up() {
    // 100 requests a round. 900 a day are ours, and the session is all of the day that counts: 9 rounds of 43 minutes; but of 45
    // an hour, a round takes 2 hours and 13 minutes.
    assert_eq!(quotes(&tiingo::Config::free(key()).tier()), Some((100, 8_000, false)));
}

#[test]
fn who_has_no_quotes_says_so_and_what_they_have_fits() {
    for (tier, capability) in [
        (sec::Config::tier(), Capability::InsiderTrades),
        (apewisdom::Config::tier(), Capability::Mentions),
    ] {
        let plan = plan_of(&tier);
        assert_eq!(plan.line(Capability::Quotes), None);
        assert!(plan.line(capability).unwrap().fits, "{plan}");
    }
}

#[test]
fn few_symbols_fit_where_many_do_not() {
    let tier = finnhub::Config::free(key()).tier();
    let fits = |symbols| {
        plan(&tier, symbols, Polling::default())
            .line(Capability::Quotes)
            .unwrap()
            .fits
    };
    assert!(fits(54) && !fits(55));
}

#[test]
fn a_plan_prints_as_a_table() {
    let text = plan_of(&finnhub::Config::free(key()).tier()).to_string();
    assert_eq!(
        text,
        "finnhub (free): 10000 symbols, requests at most 60 in 60 s, 30 in 1 s\n\
         capability      requests  a round takes  oldest datum\n\
         catalog                1            1 s           1 s  fits\n\
         quotes             10000          3.1 h         3.1 h  does not fit into 60 s\n\
         stream                 -              -           0 s  50 of 10000 symbols; poll the others\n\
         fundamentals       10000          2.8 h         2.8 h  does not fit into an hour\n\
         earnings               1            1 s           1 s  fits\n\
         insider_trades     10000          2.8 h         2.8 h  does not fit into an hour\n"
    );
}
