use super::*;
use crate::provider::ProviderKey;
use crate::provider::{alpaca, apewisdom, finnhub, massive, sec, tiingo};

fn key() -> ProviderKey {
    ProviderKey::new("key").unwrap()
}

fn plan_of(tier: &Tier) -> CapacityEstimate {
    estimate_capacity(tier, 10_000, PollingConfig::default())
}

/// The number of requests in a round, the seconds between rounds, and whether the plan suffices.
fn quotes(tier: &Tier) -> Option<(u64, u64, bool)> {
    let plan = plan_of(tier);
    plan.capability(Capability::Quotes)
        .map(|line| (line.requests, line.round.as_secs(), line.fits))
}

#[test]
fn alpaca_free_plan_serves_ten_thousand_symbols() {
    // 20 requests of 500 symbols; polling may use 180 requests a minute.
    assert_eq!(
        quotes(&alpaca::AlpacaConfig::free(key(), key()).tier()),
        Some((20, 60, true))
    );
}

#[test]
fn finnhub_takes_three_hours_for_ten_thousand_symbols() {
    // Polling may use 54 requests a minute: 10,000 ÷ 54 minutes.
    let tier = finnhub::FinnhubConfig::free(key()).tier();
    assert_eq!(quotes(&tier), Some((10_000, 11_112, false)));
    let stream = plan_of(&tier).capability(Capability::Stream).cloned().unwrap();
    assert_eq!((stream.symbols, stream.fits), (50, false));
}

#[test]
fn massive_free_plan_has_daily_bars_in_one_request_but_no_quotes() {
    let tier = massive::MassiveConfig::new(key(), massive::MassivePlan::Basic).tier();
    let plan = plan_of(&tier);
    assert_eq!(plan.capability(Capability::Quotes), None);
    let bars = plan.capability(Capability::DailyBars).unwrap();
    assert_eq!((bars.requests, bars.round.as_secs(), bars.fits), (1, 12, true));
    let text = plan.to_string();
    assert!(!text.contains("quotes") && !text.contains("stream"), "{text}");
}

#[test]
fn massive_delayed_plan_has_all_quotes_in_one_request() {
    let tier = massive::MassiveConfig::new(key(), massive::MassivePlan::Delayed).tier();
    let plan = plan_of(&tier);
    let line = plan.capability(Capability::Quotes).unwrap();
    assert_eq!((line.requests, line.oldest.as_secs(), line.fits), (1, 960, true));
}

#[test]
fn tiingo_is_limited_by_its_quotas() {
    // 100 requests a round. Polling may use 900 a day, all of them within the session: 9 rounds of 43 minutes. Polling may
    // use 45 an hour, which makes a round take 2 hours and 13 minutes.
    assert_eq!(
        quotes(&tiingo::TiingoConfig::free(key()).tier()),
        Some((100, 8_000, false))
    );
}

#[test]
fn providers_without_quotes_have_no_estimate_for_quotes() {
    for (tier, capability) in [
        (sec::SecConfig::tier(), Capability::InsiderTrades),
        (apewisdom::ApeWisdomConfig::tier(), Capability::Mentions),
    ] {
        let plan = plan_of(&tier);
        assert_eq!(plan.capability(Capability::Quotes), None);
        assert!(plan.capability(capability).unwrap().fits, "{plan}");
    }
}

#[test]
fn capacity_limit_is_exact() {
    let tier = finnhub::FinnhubConfig::free(key()).tier();
    let fits = |symbols| {
        estimate_capacity(&tier, symbols, PollingConfig::default())
            .capability(Capability::Quotes)
            .unwrap()
            .fits
    };
    assert!(fits(54) && !fits(55));
}

#[test]
fn estimate_is_displayed_as_a_table() {
    let text = plan_of(&finnhub::FinnhubConfig::free(key()).tier()).to_string();
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

#[test]
fn quotas_of_a_day_are_shared_with_extended_hours() {
    let tier = |has_extended_hours| Tier {
        provider: "test",
        plan: "test",
        offers: vec![CapabilityOffer {
            capability: Capability::Quotes,
            scope: RequestScope::Symbols(1),
            delay: Duration::ZERO,
            has_extended_hours,
        }],
        request_limits: vec![RequestLimit {
            requests: 1_000,
            window: Duration::from_secs(86_400),
        }],
    };
    let seconds = |has_extended_hours, extended_symbols| {
        let polling = PollingConfig {
            share_percent: 100,
            extended_symbols,
            ..PollingConfig::default()
        };
        let plan = estimate_capacity(&tier(has_extended_hours), 10, polling);
        plan.capability(Capability::Quotes).unwrap().round.as_secs()
    };
    // 10 symbols in 390 minutes, and some of them in 570 more.
    assert_eq!(seconds(true, 0), 234);
    assert_eq!(seconds(true, 5), 234 + 171);
    assert_eq!(seconds(true, 10), 234 + 342);
    assert_eq!(seconds(true, 11), 234 + 342, "only polled symbols");
    assert_eq!(seconds(false, 10), 234);
}
