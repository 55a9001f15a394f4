//! `bellwether plan`: shows what `apply` would change.

use std::io::{self, IsTerminal};

use alert_files::{Plan, plan_as_json, plan_as_text};
use clap::Args;

use super::super::{CommandError, print};
use super::connection::{ConnectionArgs, block_on, variable};
use super::file_options::{FileArgs, SourceArgs};
use super::planning;

/// The exit code of a plan with changes.
const HAS_CHANGES: u8 = 3;

/// The options that `plan` and `apply` share.
#[derive(Args, Debug)]
pub(super) struct PlanningArgs {
    #[command(flatten)]
    pub(super) files: FileArgs,
    #[command(flatten)]
    pub(super) source: SourceArgs,
    /// Delete the alerts of this source that are in none of the files
    #[arg(long)]
    pub(super) prune: bool,
    /// Print the plan as JSON
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) connection: ConnectionArgs,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct PlanArgs {
    #[command(flatten)]
    planning: PlanningArgs,
}

/// Prints the plan.
pub(super) fn run(args: &PlanArgs) -> Result<(), CommandError> {
    let args = &args.planning;
    let files = args.files.read()?;
    let source = args.source.name(&args.files)?;
    let client = args.connection.client()?;
    let plan = block_on(planning::plan(&client, &source, &files, args.prune))?.plan;
    print_plan(&plan, args.json)?;
    match plan.is_empty() {
        true => Ok(()),
        false => Err(CommandError::ExitCode(HAS_CHANGES)),
    }
}

/// Prints a plan: for people with colours on a terminal, or as JSON.
pub(super) fn print_plan(plan: &Plan, is_json: bool) -> Result<(), CommandError> {
    if is_json {
        return print(&format!("{}\n", plan_as_json(plan)));
    }
    let is_coloured = io::stdout().is_terminal() && variable("NO_COLOR").is_none();
    print(&plan_as_text(plan, is_coloured))
}
