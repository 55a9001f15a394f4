//! `bellwether sources`: whether the providers of market data answer, and what their plans are enough for.

use std::sync::Arc;

use anyhow::Context;
use clap::{Args, Subcommand};
use market::Symbol;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use sources::Clock;
use sources::combine::{self, CheckRow, Checked, check_table};
use sources::provider::Capability;

use super::{Failure, SettingsArgs, print, say};
use crate::clock::SystemClock;
use crate::settings::{ProviderName, Settings, SourceKind};
use crate::wiring::sources::Sources;
use crate::wiring::sources::sources as wire;

#[derive(Args, Debug)]
pub(super) struct SourcesArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Ask every provider once for all it is set for, and print how long it took and how fresh the answer is; exit code 1 if a
    /// primary fails
    Check(CheckArgs),
    /// Print for how many symbols the providers' plans are enough, and how old a quote gets
    Plan(PlanArgs),
}

#[derive(Args, Debug)]
struct CheckArgs {
    /// The symbols to ask about, parted by commas; few, because it costs requests
    #[arg(long, value_delimiter = ',', default_value = "AAPL,MSFT", value_parser = symbol)]
    symbols: Vec<Symbol>,
    #[command(flatten)]
    settings: SettingsArgs,
}

#[derive(Args, Debug)]
struct PlanArgs {
    /// How many symbols somebody watches: only those are asked for
    #[arg(long, value_name = "N")]
    symbols: usize,
    #[command(flatten)]
    settings: SettingsArgs,
}

fn symbol(text: &str) -> Result<Symbol, String> {
    let text = text.trim();
    text.parse()
        .map_err(|_| format!("{text:?} is no symbol; write it like AAPL or BRK.B"))
}

/// Does what `args` say. No database is touched.
pub(super) fn run(args: &SourcesArgs) -> Result<(), Failure> {
    match &args.command {
        Command::Check(args) => check(args),
        Command::Plan(args) => plan(args),
    }
}

/// Who is asked, as the settings say. That they are not switched on yet is said, and no reason not to try them.
fn wired(args: &SettingsArgs) -> Result<(Settings, Sources), Failure> {
    let settings = args.load()?;
    match &args.config {
        Some(path) => say!("Settings: {}, and the environment's.", path.display()),
        None => say!("Settings: the environment's alone; --config names a file."),
    }
    let mut generator = ChaCha20Rng::try_from_os_rng().context("the operating system gives no random numbers")?;
    let sources = wire(&settings, Arc::new(SystemClock), generator.next_u64())?;
    if sources.providers.is_empty() {
        let switches = ProviderName::ALL.map(|name| format!("{name}: set {}", name.switch()));
        return Err(Failure::Usage(format!(
            "no provider is set up (docs/data-sources.md)\n{}",
            switches.join("\n")
        )));
    }
    if settings.market.source != SourceKind::Providers {
        say!("market.source is not \"providers\", so the service does not ask them yet.");
    }
    Ok((settings, sources))
}

fn check(args: &CheckArgs) -> Result<(), Failure> {
    let (settings, sources) = wired(&args.settings)?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start")?;
    let benchmark = settings.market.benchmark;
    let checked = combine::check(&sources.combination, &args.symbols, benchmark, &sources.setup);
    let rows = runtime.block_on(checked);
    print(&check_table(&rows, Clock::now(&SystemClock)))?;
    for capability in nobody(&sources) {
        say!("Nobody is asked for {capability}.");
    }
    let primaries = || rows.iter().filter(|row| row.rank == 0);
    let failed: Vec<_> = primaries().filter(|row| has_failed(row)).map(told).collect();
    if failed.is_empty() {
        return Ok(());
    }
    Err(Failure::Failed(anyhow::anyhow!(
        "{} of {} primaries failed: {}",
        failed.len(),
        primaries().count(),
        failed.join(", ")
    )))
}

const fn has_failed(row: &CheckRow) -> bool {
    !matches!(row.outcome, Checked::Answered { .. })
}

fn told(row: &CheckRow) -> String {
    format!("{} of {}", row.capability, row.provider)
}

/// What nobody is asked for: the alerts that need it are blind.
fn nobody(sources: &Sources) -> impl Iterator<Item = Capability> {
    let asked = sources.combination.capabilities();
    Capability::ALL
        .into_iter()
        .filter(move |&capability| !asked.has(capability))
}

fn plan(args: &PlanArgs) -> Result<(), Failure> {
    let (_, sources) = wired(&args.settings)?;
    let plans: Vec<_> = sources
        .providers
        .iter()
        .filter_map(|provider| {
            let mut tier = provider.tier().clone();
            // What it offers and is not asked for costs nothing.
            tier.offers.retain(|offer| {
                let mut asked = sources.combination.providers(offer.capability);
                asked.any(|asked| Arc::ptr_eq(asked, provider))
            });
            (!tier.offers.is_empty()).then(|| combine::plan(&tier, args.symbols, sources.polling).to_string())
        })
        .collect();
    print(&plans.join("\n"))
}
