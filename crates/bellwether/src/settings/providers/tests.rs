//! Tests of valid and invalid provider settings, and of the error messages.

use super::*;
use crate::settings::tests::{assert_rejected, with_file as load};
use crate::settings::{Settings, SourceKind};

const ALPACA: &str = "[sources.alpaca]\nkey_id = \"PKTEST\"\nsecret = \"open-sesame\"\n";

fn sources(text: &str) -> SourcesConfig {
    load(text).unwrap().sources
}

fn assert_same<T: std::fmt::Debug>(adapter: Option<T>, expected: T) {
    assert_eq!(format!("{adapter:?}"), format!("{:?}", Some(expected)));
}

fn names(asked: &[ProviderName]) -> Vec<&'static str> {
    asked.iter().map(|name| name.name()).collect()
}

#[test]
fn no_provider_is_set_up_by_default() {
    let sources = sources("");
    for &name in ProviderName::ALL {
        assert!(sources.tier(name).is_none(), "{name}");
    }
    for capability in Capability::ALL {
        assert_eq!(sources.providers_for(capability), [], "{capability}");
    }
}

#[test]
fn provider_with_only_a_key_has_the_free_plan() {
    let sources = sources(&format!(
        "{ALPACA}[sources.finnhub]\nkey = \"k\"\n[sources.massive]\nkey = \"k\"\n[sources.tiingo]\nkey = \"k\"\n\
         [sources.sec]\ncontact = \"a@example.com\"\n[sources.apewisdom]\nenabled = true\n"
    ));
    let key = || ProviderKey::new("k").unwrap();
    use ::sources::provider::{alpaca, apewisdom, finnhub, massive, sec, tiingo};
    assert_same(sources.alpaca.adapter(), alpaca::AlpacaConfig::free(key(), key()));
    assert_same(sources.finnhub.adapter(), finnhub::FinnhubConfig::free(key()));
    let massive = massive::MassiveConfig::new(key(), massive::MassivePlan::Basic);
    assert_same(sources.massive.adapter(), massive);
    assert_same(sources.tiingo.adapter(), tiingo::TiingoConfig::free(key()));
    assert_same(sources.sec.adapter(), sec::SecConfig::new("a@example.com"));
    assert_same(sources.apewisdom.adapter(), apewisdom::ApeWisdomConfig::default());
}

#[test]
fn all_providers_that_offer_a_capability_are_used_in_default_order() {
    let sources = sources(&format!(
        "{ALPACA}[sources.finnhub]\nkey = \"k\"\n[sources.massive]\nkey = \"k\"\n[sources.sec]\ncontact = \"a@example.com\"\n"
    ));
    for (capability, expected) in [
        (Capability::Catalog, vec!["alpaca", "massive", "finnhub", "sec"]),
        // Massive's free plan has no prices during the session.
        (Capability::Quotes, vec!["alpaca", "finnhub"]),
        (Capability::DailyBars, vec!["alpaca", "massive"]),
        (Capability::Fundamentals, vec!["finnhub", "massive"]),
        (Capability::InsiderTrades, vec!["sec", "finnhub"]),
        (Capability::Mentions, vec![]),
    ] {
        assert_eq!(names(&sources.providers_for(capability)), expected, "{capability}");
    }
}

#[test]
fn named_providers_are_used_in_order() {
    let sources = sources(&format!(
        "[sources]\nquotes = [\"finnhub\", \"alpaca\"]\nstream = \"none\"\n{ALPACA}[sources.finnhub]\nkey = \"k\"\n"
    ));
    assert_eq!(names(&sources.providers_for(Capability::Quotes)), ["finnhub", "alpaca"]);
    assert_eq!(sources.providers_for(Capability::Stream), []);
}

#[test]
fn variables_set_parts_of_a_section() {
    let settings = Settings::with_overrides(&[
        ("SOURCES__ALPACA__KEY_ID", "PKTEST"),
        ("SOURCES__ALPACA__SECRET", "open-sesame"),
        ("SOURCES__ALPACA__FEED", "sip"),
        ("SOURCES__ALPACA__STREAM_SYMBOLS", "5"),
        ("SOURCES__QUOTES", "alpaca"),
        ("SOURCES__NIGHTLY_AT", "18:30"),
        ("MARKET__SOURCE", "providers"),
    ])
    .unwrap();
    assert_eq!(settings.market.source, SourceKind::Providers);
    assert_eq!(names(&settings.sources.providers_for(Capability::Quotes)), ["alpaca"]);
    assert_eq!(settings.sources.alpaca.feed, AlpacaFeed::Sip);
    assert_eq!(settings.sources.alpaca.stream_symbols.map(NonZeroU32::get), Some(5));
    assert_eq!(settings.sources.nightly_at, jiff::civil::time(18, 30, 0, 0));
}

#[test]
fn variable_with_too_few_underscores_gets_the_right_name() {
    for wrong in [
        "SOURCES_ALPACA_KEY_ID",
        "SOURCES__ALPACA_KEY_ID",
        "SOURCES_ALPACA__KEY_ID",
    ] {
        let refused = Settings::with_overrides(&[(wrong, "PKTEST")]).unwrap_err().to_string();
        assert_eq!(
            refused,
            format!(
                "setting sources.alpaca.key_id (from the environment, BELLWETHER_{wrong}): the variable must be called \
                 BELLWETHER_SOURCES__ALPACA__KEY_ID"
            )
        );
    }
}

#[test]
fn rejects_unknown_setting_of_a_part_and_lists_known_ones() {
    assert_eq!(
        load("[sources.tiingo]\ntoken = \"k\"\n").unwrap_err(),
        "setting sources.tiingo.token (in bellwether.toml): there is no such setting; those of [sources.tiingo] are \
         api_url, key, requests_per_day, requests_per_hour"
    );
    let part = load("[sources.yahoo]\nkey = \"k\"\n").unwrap_err();
    assert!(
        part.contains("sections") && part.contains("sources, sources.alpaca, sources.apewisdom"),
        "{part}"
    );
}

#[test]
fn rejects_invalid_values_and_names_allowed_ones() {
    assert_rejected(
        r#"
        sources.quotes = ["yahoo"] | a list of alpaca, massive, tiingo
        sources.nightly_at = "late" | a time of day
        sources.alpaca.feed = "nyse" | "iex", "sip"
        sources.alpaca.secret = "two words" | without spaces
        sources.alpaca.data_url = "data" | like https://
        sources.alpaca.stream_url = "https://a" | like wss://
        sources.massive.plan = "free" | "basic", "starter"
        sources.sec.contact = "Example Ltd" | an email address
        "#,
    );
}

#[test]
fn named_provider_must_be_set_up() {
    for (name, capability, switch) in [
        ("alpaca", "quotes", "sources.alpaca.key_id and sources.alpaca.secret"),
        ("massive", "splits", "sources.massive.key"),
        ("tiingo", "quotes", "sources.tiingo.key"),
        ("finnhub", "earnings", "sources.finnhub.key"),
        (
            "sec",
            "insider_trades",
            "sources.sec.contact, for the SEC wants to know who asks",
        ),
        ("apewisdom", "mentions", "sources.apewisdom.enabled to true"),
    ] {
        assert_eq!(
            load(&format!("[sources]\n{capability} = [\"{name}\"]\n")).unwrap_err(),
            format!(
                "setting sources.{capability} (in bellwether.toml): names {name}, which is not set up: set {switch}; or \
                 name another"
            )
        );
    }
}

#[test]
fn named_provider_must_offer_the_capability() {
    let massive = |plan: &str| {
        load(&format!(
            "[sources]\nquotes = [\"massive\"]\n{ALPACA}[sources.massive]\nkey = \"k\"\nplan = \"{plan}\"\n"
        ))
    };
    assert_eq!(
        massive("basic").unwrap_err(),
        "setting sources.quotes (in bellwether.toml): names massive, which does not offer quotes on the plan Stocks Basic; \
         name one that does: alpaca"
    );
    assert!(massive("starter").is_ok());
    assert_eq!(
        load(&format!("[sources]\nmentions = [\"alpaca\"]\n{ALPACA}")).unwrap_err(),
        "setting sources.mentions (in bellwether.toml): names alpaca, which does not offer mentions on the plan Basic; \
         remove it: no configured provider offers it"
    );
    let delayed = load(&format!(
        "[sources]\nstream = [\"alpaca\"]\n{ALPACA}feed = \"delayed_sip\"\n"
    ))
    .unwrap_err();
    assert!(delayed.contains("does not offer stream on the plan Basic"), "{delayed}");
}

#[test]
fn rejects_duplicate_providers() {
    assert_eq!(
        load(&format!("[sources]\nquotes = [\"alpaca\", \"alpaca\"]\n{ALPACA}")).unwrap_err(),
        "setting sources.quotes (in bellwether.toml): names alpaca twice; name it once"
    );
}

#[test]
fn rejects_incomplete_key_pair() {
    assert_eq!(
        load("[sources.alpaca]\nkey_id = \"PKTEST\"\n").unwrap_err(),
        "setting sources.alpaca.secret (by default): must be given with sources.alpaca.key_id"
    );
    assert_eq!(
        load("[sources.alpaca]\nsecret = \"open-sesame\"\n").unwrap_err(),
        "setting sources.alpaca.key_id (by default): must be given with sources.alpaca.secret"
    );
}

#[test]
fn providers_must_cover_prices_and_daily_bars() {
    let providers = |rest: &str| load(&format!("[market]\nsource = \"providers\"\n{rest}"));
    assert!(providers(ALPACA).is_ok());
    let none_set_up = providers("").unwrap_err();
    assert_eq!(none_set_up.lines().count(), 2, "{none_set_up}");
    // The free plan has prices, but no daily bars.
    let finnhub = providers("[sources.finnhub]\nkey = \"k\"\n").unwrap_err();
    assert!(
        finnhub.starts_with(
            "setting market.source (in bellwether.toml): is \"providers\", but no provider is set up for daily bars: set \
             sources.alpaca.key_id"
        ),
        "{finnhub}"
    );
    // The free plan has daily bars, but no prices during the session.
    let massive = providers("[sources.massive]\nkey = \"k\"\n").unwrap_err();
    assert!(
        massive.contains("no provider is set up for prices during the session") && massive.lines().count() == 1,
        "{massive}"
    );
    let none = format!("[sources]\nquotes = \"none\"\nstream = \"none\"\n{ALPACA}");
    assert!(providers(&none).is_err());
    assert!(providers(&none.replace("quotes = \"none\"", "quotes = \"all\"")).is_ok());
}

#[test]
fn rejects_contradictory_times() {
    let providers = |rest: &str| {
        load(&format!(
            "[market]\nsource = \"providers\"\n[sources]\n{rest}\n{ALPACA}"
        ))
    };
    for (text, key, expected_text) in [
        ("quota_share_percent = 101", "quota_share_percent", "at most 100"),
        (
            "late_after = \"16m\"\nquote_stale_after = \"15m\"",
            "late_after",
            "at most sources.quote_stale_after",
        ),
        ("nightly_at = \"09:30\"", "nightly_at", "not be within the session"),
        ("nightly_at = \"15:59\"", "nightly_at", "not be within the session"),
        (
            "poll_every = \"2m\"\nlate_after = \"2m\"",
            "late_after",
            "longer than sources.poll_every",
        ),
        ("late_after = \"15m\"", "late_after", "less than market.stale_after"),
    ] {
        let refused = providers(text).unwrap_err();
        let key = format!("setting sources.{key} (in bellwether.toml): must ");
        assert!(
            refused
                .lines()
                .any(|line| line.starts_with(&key) && line.contains(expected_text)),
            "{refused}"
        );
    }
    for valid in [
        "quota_share_percent = 100",
        "late_after = \"14m\"\nquote_stale_after = \"14m\"",
        "nightly_at = \"09:29\"",
        "nightly_at = \"16:00\"",
        "poll_every = \"119s\"",
        "late_after = \"899s\"",
    ] {
        assert!(providers(valid).is_ok(), "{valid}");
    }
}

#[test]
fn shown_keys_are_masked_and_settings_are_readable() {
    let settings = load(&format!(
        "[market]\nsource = \"providers\"\n[sources]\nquotes = [\"alpaca\"]\nmentions = \"none\"\n{ALPACA}\
         [sources.finnhub]\nkey = \"open-finnhub\"\n[sources.massive]\nkey = \"open-massive\"\n\
         [sources.tiingo]\nkey = \"open-tiingo\"\n"
    ))
    .unwrap();
    let shown = settings.to_toml();
    for text in [shown.clone(), format!("{settings:?}")] {
        assert!(!text.contains("open-") && !text.contains("PKTEST"), "{text}");
    }
    assert!(shown.contains("[sources.alpaca]"), "{shown}");
    assert_eq!(load(&shown).unwrap().to_toml(), shown);
}
