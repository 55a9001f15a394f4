//! The commands that use a server over its public API, on this machine or elsewhere.

mod alerts;
mod apply;
mod connection;
mod credentials;
mod export;
pub(super) mod file_options;
mod import;
mod login;
mod plan;
mod planning;
mod schema;
pub(super) mod table;
mod watch;

use clap::Subcommand;

use super::CommandError;

/// A command that uses a server.
#[derive(Subcommand, Debug)]
pub(super) enum RemoteCommand {
    /// Store the address of a server and an API key for the other commands
    Login(login::LoginArgs),
    /// List, show, create, explain, preview, pause and delete alerts
    Alerts(alerts::AlertsArgs),
    /// Show what `apply` would change. Exit code 0: nothing, 3: something
    Plan(plan::PlanArgs),
    /// Make the managed alerts of the server equal to those of the files, in one transaction
    Apply(apply::ApplyArgs),
    /// Print the alerts of the server as a file of alerts
    Export(export::ExportArgs),
    /// Create the alerts of a file that this or another program wrote, and report each of them
    Import(import::ImportArgs),
    /// Print firings as they come
    Watch(watch::WatchArgs),
    /// Print the JSON Schema of files of alerts
    Schema,
}

/// Runs a command.
pub(super) fn run(command: &RemoteCommand) -> Result<(), CommandError> {
    match command {
        RemoteCommand::Login(args) => login::run(args),
        RemoteCommand::Alerts(args) => alerts::run(args),
        RemoteCommand::Plan(args) => plan::run(args),
        RemoteCommand::Apply(args) => apply::run(args),
        RemoteCommand::Export(args) => export::run(args),
        RemoteCommand::Import(args) => import::run(args),
        RemoteCommand::Watch(args) => watch::run(args),
        RemoteCommand::Schema => schema::run(),
    }
}
