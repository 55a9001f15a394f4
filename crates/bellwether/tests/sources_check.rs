//! `bellwether sources`: providers on loopback, asked by the real program.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

#[allow(dead_code, reason = "each test file uses its own part of it")]
#[path = "support/program.rs"]
mod program;
#[path = "support/providers.rs"]
mod providers;

use std::sync::Arc;

use bellwether::clock::SystemClock;
use bellwether::settings::{Settings, SourceKind};
use bellwether::wiring::service_settings;
use bellwether::wiring::sources::sources as wire;
use program::{Done, Setup};
use providers::{Fakes, KEY, places, start};
use sources::provider::Capability;

/// Two accounts and two that want none, all of them here.
fn set_up(fakes: &Fakes) -> Setup {
    let mut setup = Setup::new()
        .set("MARKET__SOURCE", "providers")
        .set("SOURCES__TIMEOUT", "5s")
        .set("SOURCES__ALPACA__KEY_ID", KEY)
        .set("SOURCES__ALPACA__SECRET", KEY)
        .set("SOURCES__ALPACA__STREAM_URL", &fakes.stream)
        .set("SOURCES__FINNHUB__KEY", KEY)
        .set("SOURCES__SEC__CONTACT", "Bellwether tests tests@example.com")
        .set("SOURCES__APEWISDOM__ENABLED", "true");
    for url in [
        "ALPACA__DATA_URL",
        "ALPACA__TRADING_URL",
        "FINNHUB__API_URL",
        "SEC__WWW_URL",
        "SEC__DATA_URL",
        "APEWISDOM__API_URL",
    ] {
        setup = setup.set(&format!("SOURCES__{url}"), &fakes.http);
    }
    // The primaries of the cheapest complete set, and one fallback.
    for (capability, names) in [
        ("CATALOG", "alpaca,sec"),
        ("QUOTES", "alpaca"),
        ("STREAM", "alpaca"),
        ("INSIDER_TRADES", "sec"),
    ] {
        setup = setup.set(&format!("SOURCES__{capability}"), names);
    }
    setup
}

async fn check(setup: Setup, more: &'static [&'static str]) -> Done {
    let args = [&["sources", "check", "--symbols", "AAPL"], more].concat();
    let done = tokio::task::spawn_blocking(move || {
        let done = setup.run(&args);
        let found = std::fs::read_dir(setup.path()).unwrap().count();
        assert_eq!(found, 0, "no database is touched");
        done
    });
    done.await.unwrap()
}

/// The cells of each row: capability, provider, role, latency, records and the rest.
fn rows(table: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| {
        line.split("  ")
            .map(str::trim)
            .filter(|cell| !cell.is_empty())
            .map(str::to_owned)
            .collect()
    };
    table.lines().skip(1).map(cells).collect()
}

fn row<'a>(rows: &'a [Vec<String>], capability: &str, provider: &str) -> &'a [String] {
    rows.iter()
        .find(|row| row[0] == capability && row[1] == provider)
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_capability_is_asked_once_and_shown_with_latency_and_freshness() {
    let fakes = start(places()).await;
    let done = check(set_up(&fakes), &[]).await;
    assert_eq!(done.code, Some(0), "{}{}", done.stdout, done.stderr);
    let head = done.stdout.lines().next().unwrap();
    let head: Vec<_> = head.split_whitespace().collect();
    assert_eq!(
        head,
        [
            "capability",
            "provider",
            "role",
            "latency",
            "records",
            "newest",
            "age",
            "result"
        ]
    );
    let rows = rows(&done.stdout);
    let asked: Vec<_> = rows
        .iter()
        .map(|row| format!("{} {} {}", row[0], row[1], row[2]))
        .collect();
    assert_eq!(
        asked,
        [
            "catalog alpaca primary",
            "catalog sec fallback 1",
            "quotes alpaca primary",
            "stream alpaca primary",
            "minute_bars alpaca primary",
            "daily_bars alpaca primary",
            "fundamentals finnhub primary",
            "earnings finnhub primary",
            "dividends alpaca primary",
            "splits alpaca primary",
            "insider_trades sec primary",
            "mentions apewisdom primary",
            "benchmark alpaca primary",
        ]
    );
    for row in &rows {
        assert!(row[3].ends_with(" ms"), "{row:?}");
        assert_eq!(row.last().map(String::as_str), Some("ok"), "{row:?}");
    }
    let quotes = row(&rows, "quotes", "alpaca");
    let age: f64 = quotes[6].strip_suffix(" s").unwrap().parse().unwrap();
    assert!(quotes[4] == "1" && (3.0..60.0).contains(&age), "{quotes:?}");
    for (capability, records) in [
        ("minute_bars", "3"),
        ("daily_bars", "2"),
        ("insider_trades", "1"),
        ("mentions", "1"),
    ] {
        let found = rows.iter().find(|row| row[0] == capability).unwrap();
        assert_eq!(found[4], records, "{found:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_primary_that_fails_is_shown_with_the_mend_and_ends_with_1() {
    let fakes = start(places()).await;
    let wrong_key = set_up(&fakes).set("SOURCES__FINNHUB__KEY", "pk-wrong");
    let done = check(wrong_key, &[]).await;
    assert_eq!(done.code, Some(1), "{}{}", done.stdout, done.stderr);
    let rows = rows(&done.stdout);
    for capability in ["fundamentals", "earnings"] {
        assert_eq!(
            row(&rows, capability, "finnhub").last().unwrap(),
            "finnhub does not take the key; check it, and that it is of the right environment"
        );
    }
    assert_eq!(row(&rows, "quotes", "alpaca").last().unwrap(), "ok");
    assert!(
        done.stderr
            .ends_with("error: 2 of 12 primaries failed: fundamentals of finnhub, earnings of finnhub\n"),
        "{}",
        done.stderr
    );
    assert!(!done.stdout.contains("pk-") && !done.stderr.contains("pk-"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fallback_that_fails_is_shown_and_no_failure() {
    let mut places = places();
    places.remove("/files/company_tickers.json");
    let fakes = start(places).await;
    let done = check(set_up(&fakes).set("SOURCES__INSIDER_TRADES", "none"), &[]).await;
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let rows = rows(&done.stdout);
    assert!(
        row(&rows, "catalog", "sec")
            .last()
            .unwrap()
            .contains("has nothing there")
    );
    assert!(
        done.stderr.contains("Nobody is asked for insider_trades."),
        "{}",
        done.stderr
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_nobody_answers_has_failed() {
    let fakes = start(places()).await;
    let nobody_there = set_up(&fakes)
        .set("SOURCES__ALPACA__STREAM_URL", "ws://127.0.0.1:1")
        .set("SOURCES__TIMEOUT", "1s");
    let done = check(nobody_there, &[]).await;
    assert_eq!(done.code, Some(1), "{}", done.stdout);
    let rows = rows(&done.stdout);
    assert_eq!(row(&rows, "stream", "alpaca").last().unwrap(), "not live in time");
    assert!(
        done.stderr.ends_with("1 of 12 primaries failed: stream of alpaca\n"),
        "{}",
        done.stderr
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_does_not_take_the_key_says_so() {
    let fakes = start(places()).await;
    let done = check(set_up(&fakes).set("SOURCES__ALPACA__SECRET", "pk-wrong"), &[]).await;
    assert_eq!(done.code, Some(1), "{}", done.stdout);
    let rows = rows(&done.stdout);
    let result = row(&rows, "stream", "alpaca").last().unwrap();
    assert!(result.starts_with("alpaca does not take the key"), "{result}");
}

#[test]
fn without_a_provider_it_is_said_how_to_set_one_up() {
    for command in [&["sources", "check"][..], &["sources", "plan", "--symbols", "5"]] {
        let done = Setup::new().run(command);
        assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""));
        assert!(done.stderr.contains("error: no provider is set up"), "{}", done.stderr);
        assert!(
            done.stderr.contains("error: sec: set sources.sec.contact"),
            "{}",
            done.stderr
        );
    }
}

#[test]
fn the_settings_that_hold_are_named() {
    let setup = Setup::new().set("SOURCES__FINNHUB__KEY", KEY);
    std::fs::write(setup.path().join("my.toml"), "[sources]\nquotes = [\"finnhub\"]\n").unwrap();
    let done = setup.run(&["sources", "plan", "--symbols", "5", "--config", "my.toml"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert_eq!(
        done.stderr,
        "Settings: my.toml, and the environment's.\n\
         market.source is not \"providers\", so the service does not ask them yet.\n"
    );
}

#[test]
fn a_plan_has_what_each_provider_is_asked_for_and_no_more() {
    let setup = Setup::new()
        .set("MARKET__SOURCE", "providers")
        .set("SOURCES__ALPACA__KEY_ID", KEY)
        .set("SOURCES__ALPACA__SECRET", KEY)
        .set("SOURCES__FINNHUB__KEY", KEY)
        .set("SOURCES__QUOTES", "alpaca")
        .set("SOURCES__STREAM", "alpaca")
        .set("SOURCES__CATALOG", "alpaca");
    let done = setup.run(&["sources", "plan", "--symbols", "10000"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let (alpaca, finnhub) = done.stdout.split_once("\n\n").unwrap();
    assert!(
        alpaca.starts_with("alpaca (Basic): 10000 symbols, requests at most 200 in 60 s\n"),
        "{alpaca}"
    );
    let line = |plan: &str, capability: &str| {
        let line = plan.lines().find(|line| line.starts_with(capability))?;
        Some(line.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    assert_eq!(line(alpaca, "quotes").as_deref(), Some("quotes 20 60 s 60 s fits"));
    assert_eq!(
        line(alpaca, "stream").as_deref(),
        Some("stream - - 0 s 30 of 10000 symbols; poll the others")
    );
    assert_eq!(line(finnhub, "quotes"), None);
    assert!(
        line(finnhub, "fundamentals")
            .unwrap()
            .ends_with("does not fit into an hour"),
        "{finnhub}"
    );
    let fewer = setup.run(&["sources", "plan", "--symbols", "300"]);
    let (_, finnhub) = fewer.stdout.split_once("\n\n").unwrap();
    assert!(line(finnhub, "fundamentals").unwrap().ends_with("fits"), "{finnhub}");
}

#[test]
fn a_symbol_that_is_none_is_refused() {
    let done = Setup::new().run(&["sources", "check", "--symbols", "AAPL,S&P 500"]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("\"S&P 500\" is no symbol"), "{}", done.stderr);
}

/// The first block of that language behind a line of the documentation.
fn block(begins_behind: &str, language: &str) -> &'static str {
    let document = include_str!("../../../docs/data-sources.md");
    let (_, behind) = document.split_once(begins_behind).unwrap();
    let (_, block) = behind.split_once(&format!("```{language}\n")).unwrap();
    block.split_once("```").unwrap().0
}

const CHEAPEST: &str = "\n## The cheapest complete set\n";

#[tokio::test]
async fn the_cheapest_complete_set_of_the_documentation_has_everything() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bellwether.toml");
    std::fs::write(&path, block(CHEAPEST, "toml")).unwrap();
    let settings = Settings::load(Some(&path), []).unwrap();
    assert_eq!(settings.market.source, SourceKind::Providers);
    let sources = wire(&settings, Arc::new(SystemClock), 7).unwrap();
    for capability in Capability::ALL {
        let asked: Vec<_> = sources
            .combination
            .providers(capability)
            .map(|asked| asked.name())
            .collect();
        let named: Vec<_> = settings
            .sources
            .asked(capability)
            .iter()
            .map(|name| name.name())
            .collect();
        assert!(!asked.is_empty() && asked == named, "{capability}: {asked:?}");
    }
    assert_eq!(service_settings(&settings).unwrap().missing_feeds, []);
    // Free: nobody is set up whose plan would cost something.
    let plans: Vec<_> = sources.providers.iter().map(|provider| provider.tier().plan).collect();
    assert_eq!(plans, ["Basic", "free", "public", "public"]);
}

#[test]
fn the_plan_of_the_documentation_is_what_the_program_prints() {
    let setup = Setup::new();
    std::fs::write(setup.path().join("bellwether.toml"), block(CHEAPEST, "toml")).unwrap();
    let (command, printed) = block("With the configuration below:\n", "").split_once('\n').unwrap();
    let args: Vec<_> = command.strip_prefix("$ bellwether ").unwrap().split(' ').collect();
    let done = setup.run(&args);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert_eq!(done.stdout, printed);
}
