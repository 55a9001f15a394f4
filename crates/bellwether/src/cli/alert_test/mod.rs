//! `bellwether test`: plays the alerts of files over recorded market data and checks what the files expect of them.
//!
//! Each alert is played by the preview of the service: the same engine and the same state machine.

mod data;

use alert_files::{ObservedFirings, ValidAlert};
use alerts::engine::EngineConfig;
use alerts::request::ParseContext;
use alerts::{AlertScope, NewAlert};
use clap::Args;
use jiff::civil::Date;
use market::calendar::{new_york_date, new_york_time_zone};
use market::{Calendar, Symbol};
use serde_json::json;
use service::alerts::Preview;
use service::alerts::preview::{PreviewInput, PreviewPlan, run as play};
use sources::folder::MarketData;

use self::data::TestDataArgs;
use super::remote::file_options::FileArgs;
use super::remote::table::table;
use super::{CommandError, print, say};
use crate::replay::ReplayPeriod;

/// The index of the mean move after five sessions in an outcome.
const FIVE_SESSIONS: usize = 1;

#[derive(Args, Debug)]
pub(super) struct TestArgs {
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    data: TestDataArgs,
    /// The first day; earlier bars only warm up the indicators
    #[arg(long, value_name = "YYYY-MM-DD")]
    from: Option<Date>,
    /// The last day
    #[arg(long, value_name = "YYYY-MM-DD")]
    to: Option<Date>,
    /// The stock that outcomes are compared with
    #[arg(long, value_name = "SYMBOL", default_value = "SPY")]
    benchmark: Symbol,
    /// Print a JSON line for each alert
    #[arg(long)]
    json: bool,
}

/// The result of an alert.
struct TestResult<'a> {
    alert: &'a ValidAlert<'a>,
    played: Played,
    errors: Vec<String>,
}

/// An alert as it was played on all of its stocks.
#[derive(Default)]
struct Played {
    count: usize,
    /// The days of the firings.
    days: Vec<Date>,
    /// The first and the last day of the data.
    period: Option<(Date, Date)>,
    /// The first day on which all firings are known: a preview names the newest ones.
    known_from: Option<Date>,
    mean_pct: Option<f64>,
}

/// Plays all alerts, prints a table and the differences. Fails with exit code 1 if an expectation fails.
pub(super) fn run(args: &TestArgs) -> Result<(), CommandError> {
    if args.from.zip(args.to).is_some_and(|(from, to)| from > to) {
        return Err(CommandError::Usage("--from is after --to; swap them".to_owned()));
    }
    let files = args.files.read()?;
    let calendar = Calendar::nyse();
    let (data, period) = args.data.read(&files, args, &calendar)?;
    let context = ParseContext {
        // An alert counts as made when the period begins.
        now: period.start(),
        time_zone: &new_york_time_zone(),
        calendar: &calendar,
    };
    let alerts = files
        .validate_for_test(&context)
        .map_err(|errors| CommandError::Failed(errors.into()))?;
    let test = Test {
        data: &data,
        calendar: &calendar,
        period,
        benchmark: args.benchmark,
    };
    let results: Vec<TestResult<'_>> = alerts.iter().map(|alert| test.result(alert)).collect();
    print(&output(&results, args.json))?;
    let failed = results.iter().filter(|result| !result.errors.is_empty());
    let failed: Vec<&TestResult<'_>> = failed.collect();
    for result in &failed {
        let declared = result.alert.declared;
        for error in &result.errors {
            say!("{}", declared.error("expect", format!("{}: {error}", declared.name)));
        }
    }
    match failed.len() {
        0 => Ok(()),
        count => Err(CommandError::Failed(anyhow::anyhow!(
            "{count} of {} alerts do not do what the files expect",
            results.len()
        ))),
    }
}

/// The market data on which all alerts are played.
struct Test<'a> {
    data: &'a MarketData,
    calendar: &'a Calendar,
    period: ReplayPeriod,
    benchmark: Symbol,
}

impl Test<'_> {
    fn result<'a>(&self, alert: &'a ValidAlert<'a>) -> TestResult<'a> {
        let expect = &alert.declared.expect;
        let played = match symbols(alert) {
            Ok(symbols) => self.play(&alert.alert, &symbols),
            Err(message) => {
                return TestResult {
                    alert,
                    played: Played::default(),
                    errors: vec![message],
                };
            }
        };
        let errors = match played.period {
            _ if expect.is_empty() => Vec::new(),
            None => vec![format!(
                "there are no bars of its stocks from {} to {}; add them to the data, or remove `expect`",
                self.period.from, self.period.to
            )],
            Some((from, to)) => {
                let observed = ObservedFirings {
                    days: played.days.clone(),
                    count: played.count,
                    from,
                    to,
                };
                let errors = expect.check(&observed).into_iter().map(|error| error.to_string());
                let unknown = played
                    .known_from
                    .filter(|known| expect.first_day().is_some_and(|day| day < *known));
                let unknown = unknown.map(|known| {
                    format!("it fires so often that only firings from {known} are checked; give --from, or expect later days")
                });
                errors.chain(unknown).collect()
            }
        };
        TestResult { alert, played, errors }
    }

    fn play(&self, alert: &NewAlert, symbols: &[Symbol]) -> Played {
        let mut played = Played::default();
        for &symbol in symbols {
            let plan = PreviewPlan::of(member(alert, symbol));
            let preview = play(&PreviewInput {
                data: self.data.of(&plan.symbols()),
                benchmark_data: self.data.of(&[self.benchmark]),
                plan,
                from: self.period.from,
                to: self.period.to,
                benchmark: self.benchmark,
                calendar: self.calendar.clone(),
                config: EngineConfig::default(),
            });
            played.add(&preview, symbols.len() == 1);
        }
        played.days.sort_unstable();
        played
    }
}

/// Returns the stocks on which an alert is played.
fn symbols(alert: &ValidAlert<'_>) -> Result<Vec<Symbol>, String> {
    match &alert.scope {
        None => Ok(vec![alert.alert.symbol]),
        Some(AlertScope::Symbols(symbols)) => Ok(symbols.clone()),
        // Only an alert with expectations needs a result.
        Some(AlertScope::Watchlist(_)) if alert.declared.expect.is_empty() => Ok(Vec::new()),
        Some(AlertScope::Watchlist(_)) => {
            Err("a test has no watchlist; list the stocks in scope.symbols, or remove `expect`".to_owned())
        }
    }
}

/// Returns an alert on one of its stocks.
fn member(alert: &NewAlert, symbol: Symbol) -> NewAlert {
    NewAlert {
        symbol,
        ..alert.clone()
    }
}

impl Played {
    fn add(&mut self, preview: &Preview, is_only_stock: bool) {
        let days: Vec<Date> = preview.firings.iter().map(|firing| new_york_date(firing.at)).collect();
        self.count += preview.count;
        if preview.count > days.len() {
            self.known_from = self.known_from.max(days.first().copied());
        }
        self.days.extend(days);
        self.period = match (self.period, preview.coverage.days) {
            (Some(all), Some(own)) => Some((all.0.min(own.0), all.1.max(own.1))),
            (all, own) => all.or(own),
        };
        self.mean_pct = preview.outcome.mean_pct[FIVE_SESSIONS].filter(|_| is_only_stock);
    }

    fn per_year(&self) -> Option<f64> {
        let (from, to) = self.period?;
        let observed = ObservedFirings {
            days: Vec::new(),
            count: self.count,
            from,
            to,
        };
        Some(observed.per_year())
    }
}

fn output(results: &[TestResult<'_>], is_json: bool) -> String {
    if is_json {
        return results
            .iter()
            .map(|result| format!("{}\n", json_line(result)))
            .collect();
    }
    let rows: Vec<_> = results
        .iter()
        .map(|result| {
            let played = &result.played;
            let text = |number: Option<f64>| number.map(|number| format!("{number:.1}")).unwrap_or_default();
            let outcome = match (result.alert.declared.expect.is_empty(), result.errors.is_empty()) {
                (_, false) => "FAILED",
                (true, true) => "",
                (false, true) => "ok",
            };
            [
                result.alert.declared.name.clone(),
                played.count.to_string(),
                text(played.per_year()),
                played.days.last().map(ToString::to_string).unwrap_or_default(),
                text(played.mean_pct),
                outcome.to_owned(),
            ]
        })
        .collect();
    table(["alert", "firings", "a year", "last", "% after 5 sessions", ""], &rows)
}

fn json_line(result: &TestResult<'_>) -> serde_json::Value {
    let played = &result.played;
    json!({
        "name": result.alert.declared.name,
        "firings": played.count,
        "per_year": played.per_year(),
        "last": played.days.last(),
        "from": played.period.map(|(from, _)| from),
        "to": played.period.map(|(_, to)| to),
        "mean_pct_after_5_sessions": played.mean_pct,
        "passed": result.errors.is_empty(),
        "errors": result.errors,
    })
}
