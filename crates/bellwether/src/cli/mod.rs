//! The command line.
//!
//! Results go to standard output, everything said about them to standard error. Exit codes: 0 done, 1 failed, 2
//! wrong usage or wrong settings.

mod admin;
mod config;
mod demo;
mod listen;
mod replay;
mod rotate_key;
mod serve;
mod sources;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::settings::{Settings, SettingsError};

/// Says something on standard error. Nobody may be listening; that is no reason to fail.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($text)*);
    }};
}
use say;

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
    /// Make accounts and API keys, also while the service runs; rotate the key, while it does not
    Admin(admin::AdminArgs),
    /// Print the settings that hold in the end, secrets masked
    Config(config::ConfigArgs),
    /// Show the service at work on a simulated market; needs nothing
    Demo(demo::DemoArgs),
    /// Receive webhooks on this machine, verify and print them
    Listen(listen::ListenArgs),
    /// Replay recorded market data and print each firing as a JSON line
    Replay(replay::ReplayArgs),
    /// Try the providers of market data, and see for how much their plans are enough
    Sources(sources::SourcesArgs),
}

/// Where settings come from.
#[derive(Args, Debug)]
struct SettingsArgs {
    /// A file of settings; see bellwether.example.toml
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl SettingsArgs {
    fn load(&self) -> Result<Settings, Failure> {
        // A variable that is no text is none of ours.
        let variables = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
        let variables = variables.map(|(name, value)| (name, value.to_string_lossy().into_owned()));
        Ok(Settings::load(self.config.as_deref(), variables)?)
    }
}

/// Why a command did not do what it was told.
#[derive(Debug)]
enum Failure {
    /// It was called or set up wrongly.
    Usage(String),
    /// It failed.
    Failed(anyhow::Error),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

impl From<SettingsError> for Failure {
    fn from(error: SettingsError) -> Self {
        Self::Usage(error.to_string())
    }
}

/// Runs the program and answers its exit code.
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
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Usage(what)) => {
            for line in what.lines() {
                say!("error: {line}");
            }
            ExitCode::from(2)
        }
        Err(Failure::Failed(error)) => {
            say!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Prints a result. That nobody reads any further (`| head`) is no failure.
fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(anyhow::Error::new(error)
            .context("cannot write to standard output")
            .into()),
        _ => Ok(()),
    }
}
