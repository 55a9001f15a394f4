//! `bellwether sources`: checks the market data providers and estimates the capacity of their plans.

use std::sync::Arc;

use anyhow::Context;
use clap::{Args, Subcommand};
use clock::Clock;
use market::Symbol;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use sources::provider::Capability;
use sources::routing::{self, CheckOutcome, ProviderCheck, check_table};

use super::{CommandError, SettingsArgs, print, runtime, say};
use crate::clock::SystemClock;
use crate::settings::{ProviderName, Settings, SourceKind};
use crate::wiring::providers::build_providers;
use evaluation::feed::ProviderSetup;

#[derive(Args, Debug)]
pub(super) struct SourcesArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Send one request to each provider for each of its capabilities, and print the latency and the age of the data;
    /// exit code 1 if a primary fails
    Check(CheckArgs),
    /// Print how many symbols the providers' plans are enough for, and how old a quote can be
    Plan(PlanArgs),
}

#[derive(Args, Debug)]
struct CheckArgs {
    /// The symbols to request, separated by commas; each symbol costs requests
    #[arg(long, value_delimiter = ',', default_value = "AAPL,MSFT", value_parser = symbol)]
    symbols: Vec<Symbol>,
    #[command(flatten)]
    settings: SettingsArgs,
}

#[derive(Args, Debug)]
struct PlanArgs {
    /// The number of watched symbols: only those are requested
    #[arg(long, value_name = "N")]
    symbols: usize,
    #[command(flatten)]
    settings: SettingsArgs,
}

fn symbol(text: &str) -> Result<Symbol, String> {
    let text = text.trim();
    text.parse()
        .map_err(|_| format!("{text:?} is not a valid symbol; write it like AAPL or BRK.B"))
}

/// Runs the command, without using the database.
pub(super) fn run(args: &SourcesArgs) -> Result<(), CommandError> {
    match &args.command {
        Command::Check(args) => check(args),
        Command::Plan(args) => plan(args),
    }
}

/// Loads the settings and builds the providers. If the service does not use them yet, a message says so.
fn load_providers(args: &SettingsArgs) -> Result<(Settings, ProviderSetup), CommandError> {
    let settings = args.load()?;
    match &args.config {
        Some(path) => say!("Settings: {}, and the environment's.", path.display()),
        None => say!("Settings: the environment's alone; --config names a file."),
    }
    let mut generator = ChaCha20Rng::try_from_os_rng().context("the operating system provides no random numbers")?;
    let sources = build_providers(&settings, Arc::new(SystemClock), generator.next_u64())?;
    if sources.providers.is_empty() {
        let names = ProviderName::ALL.iter();
        let switches: Vec<_> = names
            .map(|name| format!("{name}: set {}", name.required_settings()))
            .collect();
        return Err(CommandError::Usage(format!(
            "no provider is set up (docs/data-sources.md)\n{}",
            switches.join("\n")
        )));
    }
    if settings.market.source != SourceKind::Providers {
        say!("market.source is not \"providers\", so the service does not ask them yet.");
    }
    Ok((settings, sources))
}

fn check(args: &CheckArgs) -> Result<(), CommandError> {
    let (settings, sources) = load_providers(&args.settings)?;
    let benchmark = settings.market.benchmark;
    let checked = routing::check(&sources.router, &args.symbols, benchmark, &sources.setup);
    let rows = runtime()?.block_on(checked);
    print(&check_table(&rows, Clock::now(&SystemClock)))?;
    for capability in missing_capabilities(&sources) {
        say!("No provider is set for {capability}.");
    }
    let primaries = || rows.iter().filter(|row| row.rank == 0);
    let failed: Vec<_> = primaries().filter(|row| has_failed(row)).map(describe).collect();
    if failed.is_empty() {
        return Ok(());
    }
    Err(CommandError::Failed(anyhow::anyhow!(
        "{} of {} primaries failed: {}",
        failed.len(),
        primaries().count(),
        failed.join(", ")
    )))
}

const fn has_failed(row: &ProviderCheck) -> bool {
    !matches!(row.outcome, CheckOutcome::Answered { .. })
}

fn describe(row: &ProviderCheck) -> String {
    format!("{} of {}", row.capability, row.provider)
}

/// Returns the capabilities without a provider. Alerts that need them are blind.
fn missing_capabilities(sources: &ProviderSetup) -> impl Iterator<Item = Capability> {
    Capability::ALL
        .into_iter()
        .filter(|&capability| !sources.router.offers(capability))
}

fn plan(args: &PlanArgs) -> Result<(), CommandError> {
    let (_, sources) = load_providers(&args.settings)?;
    let plans: Vec<_> = sources
        .providers
        .iter()
        .filter_map(|provider| {
            let mut tier = provider.tier().clone();
            // A capability that is offered but not used costs nothing.
            tier.offers.retain(|offer| {
                let mut asked = sources.router.providers(offer.capability);
                asked.any(|asked| Arc::ptr_eq(asked, provider))
            });
            (!tier.offers.is_empty())
                .then(|| routing::estimate_capacity(&tier, args.symbols, sources.polling).to_string())
        })
        .collect();
    print(&plans.join("\n"))
}
