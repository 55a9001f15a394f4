//! The market data of a test: a folder, or the providers of the settings.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use alert_files::FileSet;
use alerts::request::ParseContext;
use anyhow::Context;
use clap::Args;
use clock::Clock;
use evaluation::market::completed_session;
use jiff::Span;
use jiff::civil::Date;
use market::calendar::{new_york, new_york_date, new_york_time_zone};
use market::{Calendar, Symbol};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use service::alerts::preview::{PreviewPlan, WARM_UP_DAYS};
use sources::folder::{self, MarketData};
use sources::history::{HistoryRequest, read_history};
use sources::provider::DateRange;

use super::super::{CommandError, SettingsArgs, runtime, say};
use super::{TestArgs, member, symbols};
use crate::clock::SystemClock;
use crate::replay::ReplayPeriod;
use crate::wiring::providers::build_providers;

/// The number of days that are played if `--from` is missing.
const DEFAULT_DAYS: i64 = 5 * 365;

/// The options that say where the data comes from: exactly one of the first two.
#[derive(Args, Debug)]
pub(super) struct TestDataArgs {
    /// The data folder: bars/*.csv[.gz], splits.csv, dividends.csv, earnings.csv, …
    #[arg(
        long,
        value_name = "DIR",
        required_unless_present = "provider",
        conflicts_with = "provider"
    )]
    data: Option<PathBuf>,
    /// Ask the market data providers of the settings for the history of the stocks, by default of five years. Each stock costs requests
    /// of your plan
    #[arg(long)]
    provider: bool,
    #[command(flatten)]
    settings: SettingsArgs,
}

impl TestDataArgs {
    /// Reads the data of all stocks that the alerts need, and returns it with the days that are played.
    pub(super) fn read(
        &self,
        files: &FileSet,
        args: &TestArgs,
        calendar: &Calendar,
    ) -> Result<(MarketData, ReplayPeriod), CommandError> {
        let Some(folder) = &self.data else {
            return self.read_from_providers(files, args, calendar);
        };
        let place = || folder.display().to_string();
        let (data, rejected) = folder::read(folder, calendar, |_| ()).with_context(place)?;
        if rejected.count > 0 {
            say!(
                "{} rows of the data are invalid and were left out; `bellwether replay` names them",
                rejected.count
            );
        }
        let period = ReplayPeriod::of(&data, args.from, args.to).with_context(place)?;
        Ok((data, period))
    }

    fn read_from_providers(
        &self,
        files: &FileSet,
        args: &TestArgs,
        calendar: &Calendar,
    ) -> Result<(MarketData, ReplayPeriod), CommandError> {
        let settings = self.settings.load()?;
        let mut generator =
            ChaCha20Rng::try_from_os_rng().context("the operating system provides no random numbers")?;
        let providers = build_providers(&settings, Arc::new(SystemClock), generator.next_u64())?;
        let now = SystemClock.now();
        let last = completed_session(calendar, now).context("no session has ended yet")?;
        let to = args.to.map_or(last, |to| to.min(last));
        let from = args.from.unwrap_or_else(|| days_before(to, DEFAULT_DAYS));
        if from > to {
            let message = format!("--from is after {to}, the last session that has ended; give an earlier day");
            return Err(CommandError::Usage(message));
        }
        let needs = HistoryNeeds::of(files, from, args.benchmark, calendar)?;
        let request = HistoryRequest {
            symbols: needs.symbols.into_iter().collect(),
            days: DateRange {
                from: days_before(from, WARM_UP_DAYS),
                to,
            },
            today: new_york_date(now),
            insiders: needs.insiders,
        };
        let history = runtime()?
            .block_on(read_history(&providers.router, &request))
            .context("`bellwether sources check` tests the providers (docs/data-sources.md)")?;
        for missing in &history.missing {
            say!("The data lacks {}: {missing}.", missing.capability);
        }
        for symbol in &history.unknown {
            say!("The provider does not know {symbol}.");
        }
        if history.invalid_rows > 0 {
            let count = history.invalid_rows;
            say!("{count} rows of the provider are invalid and were left out.");
        }
        Ok((history.data, ReplayPeriod { from, to }))
    }
}

fn days_before(day: Date, days: i64) -> Date {
    day.saturating_sub(Span::new().days(days))
}

/// The data that alerts need.
struct HistoryNeeds {
    symbols: BTreeSet<Symbol>,
    insiders: bool,
}

impl HistoryNeeds {
    fn of(files: &FileSet, from: Date, benchmark: Symbol, calendar: &Calendar) -> Result<Self, CommandError> {
        let context = ParseContext {
            now: new_york(from, 0, 0),
            time_zone: &new_york_time_zone(),
            calendar,
        };
        let alerts = files
            .validate_for_test(&context)
            .map_err(|errors| CommandError::Failed(errors.into()))?;
        let mut needs = Self {
            symbols: BTreeSet::from([benchmark]),
            insiders: false,
        };
        for alert in &alerts {
            for symbol in symbols(alert).unwrap_or_default() {
                let plan = PreviewPlan::of(member(&alert.alert, symbol));
                needs.symbols.extend(plan.symbols());
                needs.insiders |= plan.facts().insiders;
            }
        }
        Ok(needs)
    }
}
