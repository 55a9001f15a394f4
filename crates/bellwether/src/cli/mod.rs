//! The command line.
//!
//! Results go to standard output, messages to standard error. Exit codes: 0 success, 1 failure, 2 wrong usage or
//! invalid settings, 3 a plan with changes.

mod admin;
mod alert_test;
mod config;
mod demo;
mod listen;
mod manual;
mod remote;
mod replay;
mod rotate_key;
mod serve;
mod sources;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Parser, Subcommand};
use tokio::runtime::Runtime;

use crate::logging;
use crate::metering::Metering;
use crate::settings::{CommandLineOption, Settings, SettingsError};
use crate::terminal::{self, say};

/// Bellwether watches the stock market for your conditions and tells you when they are met, and why.
#[derive(Parser, Debug)]
#[command(version, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Run the service
    Serve(serve::ServeArgs),
    /// Create accounts and API keys, also while the service runs; rotate the key while it is stopped
    Admin(admin::AdminArgs),
    /// Print the effective settings, with secrets masked
    Config(config::ConfigArgs),
    /// Run the service on a simulated market, without any preparation
    Demo(demo::DemoArgs),
    /// Receive webhooks on this machine, verify and print them
    Listen(listen::ListenArgs),
    /// Replay recorded market data and print each firing as a JSON line
    Replay(replay::ReplayArgs),
    /// Check the providers of market data, and see what their plans are enough for
    Sources(sources::SourcesArgs),
    /// Play the alerts of files over recorded market data, and check what the files expect. Exit code 1 if an expectation fails
    Test(alert_test::TestArgs),
    #[command(flatten)]
    Remote(remote::RemoteCommand),
    /// Print the completions of a shell
    Completions(manual::CompletionsArgs),
    /// Write the manual pages into a folder
    Man(manual::ManArgs),
}

/// The command line arguments for loading settings.
#[derive(Args, Debug)]
struct SettingsArgs {
    /// The settings file; see bellwether.example.toml
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl SettingsArgs {
    fn load(&self) -> Result<Settings, CommandError> {
        self.load_with(&[])
    }

    /// Loads the settings. The options override them.
    fn load_with(&self, options: &[CommandLineOption<'_>]) -> Result<Settings, CommandError> {
        // A variable whose name is not valid Unicode cannot be a setting.
        let variables = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
        let variables = variables.map(|(name, value)| (name, value.to_string_lossy().into_owned()));
        Ok(Settings::load_with_options(self.config.as_deref(), variables, options)?)
    }
}

/// Starts the log, the metrics and the runtime, and runs the service.
fn run_service<F>(settings: &Settings, service: impl FnOnce(Metering) -> F) -> Result<(), CommandError>
where
    F: Future<Output = anyhow::Result<()>>,
{
    // Initialized outside of the runtime, because the trace exporter has its own thread and HTTP client.
    let logging = logging::init(&settings.log, &settings.telemetry).context("cannot start")?;
    let metering = Metering::install().context("cannot start")?;
    let runtime = runtime()?;
    runtime.spawn(logging.repeated_lines().run());
    Ok(runtime.block_on(service(metering))?)
}

fn runtime() -> anyhow::Result<Runtime> {
    Runtime::new().context("cannot start")
}

/// The reasons why a command fails.
#[derive(Debug)]
enum CommandError {
    /// Wrong usage or invalid settings; exit code 2.
    Usage(String),
    /// Any other failure; exit code 1.
    Failed(anyhow::Error),
    /// An exit code that is a result.
    ExitCode(u8),
}

impl From<anyhow::Error> for CommandError {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

impl From<SettingsError> for CommandError {
    fn from(error: SettingsError) -> Self {
        Self::Usage(error.to_string())
    }
}

/// Runs the program and returns its exit code.
#[must_use]
pub fn run(cli: Cli) -> ExitCode {
    let result = match cli.command {
        Command::Serve(args) => serve::run(&args),
        Command::Admin(args) => admin::run(&args),
        Command::Config(args) => config::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Listen(args) => listen::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Sources(args) => sources::run(&args),
        Command::Test(args) => alert_test::run(&args),
        Command::Remote(command) => remote::run(&command),
        Command::Completions(args) => manual::print_completions(&args),
        Command::Man(args) => manual::write_pages(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(CommandError::Usage(message)) => {
            for line in message.lines() {
                say!("error: {line}");
            }
            ExitCode::from(2)
        }
        Err(CommandError::ExitCode(code)) => ExitCode::from(code),
        Err(CommandError::Failed(error)) => {
            say!("error: {}", in_one_line(&error));
            ExitCode::FAILURE
        }
    }
}

/// An error with its causes. Many errors contain the text of their cause, which is not repeated.
fn in_one_line(error: &anyhow::Error) -> String {
    let causes = error.chain().map(ToString::to_string);
    causes
        .reduce(|line, cause| {
            if line.contains(&cause) {
                line
            } else {
                format!("{line}: {cause}")
            }
        })
        .unwrap_or_default()
}

fn print(text: &str) -> Result<(), CommandError> {
    Ok(terminal::print(text).context("cannot write to standard output")?)
}
