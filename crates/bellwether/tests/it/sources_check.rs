//! Tests of `bellwether sources`: the real program with fake providers on loopback.

#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use crate::support::program;
use crate::support::providers;

use std::sync::Arc;

use bellwether::clock::SystemClock;
use bellwether::settings::{Settings, SourceKind};
use bellwether::wiring::providers::build_providers;
use bellwether::wiring::service_settings;
use program::{CommandOutput, TestSetup};
use providers::{FakeProviders, KEY, responses, start};
use sources::provider::Capability;

/// Settings with two accounts and two providers without an account, all of them fakes.
fn set_up(fakes: &FakeProviders) -> TestSetup {
    let mut setup = TestSetup::new()
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
    // The primaries of the cheapest complete configuration, and one fallback.
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

async fn check(setup: TestSetup, more: &'static [&'static str]) -> CommandOutput {
    let args = [&["sources", "check", "--symbols", "AAPL"], more].concat();
    let done = tokio::task::spawn_blocking(move || {
        let done = setup.run(&args);
        let found = std::fs::read_dir(setup.path()).unwrap().count();
        assert_eq!(found, 0, "no database is touched");
        done
    });
    done.await.unwrap()
}

/// Splits a table into the cells of each row: capability, provider, role, latency, records and the rest.
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
async fn check_shows_latency_and_age_of_each_capability() {
    let fakes = start(responses()).await;
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
async fn failing_primary_is_shown_with_the_fix_and_exits_with_1() {
    let fakes = start(responses()).await;
    let wrong_key = set_up(&fakes).set("SOURCES__FINNHUB__KEY", "pk-wrong");
    let done = check(wrong_key, &[]).await;
    assert_eq!(done.code, Some(1), "{}{}", done.stdout, done.stderr);
    let rows = rows(&done.stdout);
    for capability in ["fundamentals", "earnings"] {
        assert_eq!(
            row(&rows, capability, "finnhub").last().unwrap(),
            "finnhub rejected the API key; check the key, and that it belongs to the right environment"
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
async fn failing_fallback_is_shown_and_exits_with_0() {
    let mut responses = responses();
    responses.remove("/files/company_tickers.json");
    let fakes = start(responses).await;
    let done = check(set_up(&fakes).set("SOURCES__INSIDER_TRADES", "none"), &[]).await;
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let rows = rows(&done.stdout);
    assert!(
        row(&rows, "catalog", "sec")
            .last()
            .unwrap()
            .contains("has no such resource")
    );
    assert!(
        done.stderr.contains("No provider is set for insider_trades."),
        "{}",
        done.stderr
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn unreachable_stream_fails() {
    let fakes = start(responses()).await;
    let unreachable = set_up(&fakes)
        .set("SOURCES__ALPACA__STREAM_URL", "ws://127.0.0.1:1")
        .set("SOURCES__TIMEOUT", "1s");
    let done = check(unreachable, &[]).await;
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
async fn stream_with_wrong_key_fails() {
    let fakes = start(responses()).await;
    let done = check(set_up(&fakes).set("SOURCES__ALPACA__SECRET", "pk-wrong"), &[]).await;
    assert_eq!(done.code, Some(1), "{}", done.stdout);
    let rows = rows(&done.stdout);
    let result = row(&rows, "stream", "alpaca").last().unwrap();
    assert!(result.starts_with("alpaca rejected the API key"), "{result}");
}

#[test]
fn missing_providers_are_reported_with_the_fix() {
    for command in [&["sources", "check"][..], &["sources", "plan", "--symbols", "5"]] {
        let done = TestSetup::new().run(command);
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
fn settings_file_is_named() {
    let setup = TestSetup::new().set("SOURCES__FINNHUB__KEY", KEY);
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
fn plan_lists_only_used_capabilities() {
    let setup = TestSetup::new()
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
fn rejects_invalid_symbols() {
    let done = TestSetup::new().run(&["sources", "check", "--symbols", "AAPL,S&P 500"]);
    assert_eq!(done.code, Some(2));
    assert!(
        done.stderr.contains("\"S&P 500\" is not a valid symbol"),
        "{}",
        done.stderr
    );
}

/// Returns the first code block of a language after a line of the documentation.
fn block(begins_behind: &str, language: &str) -> &'static str {
    let document = include_str!("../../../../docs/data-sources.md");
    let (_, behind) = document.split_once(begins_behind).unwrap();
    let (_, block) = behind.split_once(&format!("```{language}\n")).unwrap();
    block.split_once("```").unwrap().0
}

const CHEAPEST: &str = "\n## The cheapest complete set\n";

#[tokio::test]
async fn documented_cheapest_configuration_is_complete() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bellwether.toml");
    std::fs::write(&path, block(CHEAPEST, "toml")).unwrap();
    let settings = Settings::load(Some(&path), []).unwrap();
    assert_eq!(settings.market.source, SourceKind::Providers);
    let sources = build_providers(&settings, Arc::new(SystemClock), 7).unwrap();
    for capability in Capability::ALL {
        let asked: Vec<_> = sources.router.providers(capability).map(|asked| asked.name()).collect();
        let named: Vec<_> = settings
            .sources
            .providers_for(capability)
            .iter()
            .map(|name| name.name())
            .collect();
        assert!(!asked.is_empty() && asked == named, "{capability}: {asked:?}");
    }
    assert_eq!(service_settings(&settings).unwrap().evaluation.missing_feeds, []);
    // All plans are free.
    let plans: Vec<_> = sources.providers.iter().map(|provider| provider.tier().plan).collect();
    assert_eq!(plans, ["Basic", "free", "public", "public"]);
}

#[test]
fn documented_plan_output_matches_the_program() {
    let setup = TestSetup::new();
    std::fs::write(setup.path().join("bellwether.toml"), block(CHEAPEST, "toml")).unwrap();
    let (command, printed) = block("With the configuration below:\n", "").split_once('\n').unwrap();
    let args: Vec<_> = command.strip_prefix("$ bellwether ").unwrap().split(' ').collect();
    let done = setup.run(&args);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert_eq!(done.stdout, printed);
}
