//! `bellwether apply`: makes the managed alerts of a server equal to those of files.

use std::io::{self, BufRead, IsTerminal};

use alert_files::{FileSet, Plan};
use anyhow::Context;
use clap::Args;
use client::{Client, ClientError};
use serde_json::json;

use super::super::{CommandError, print, say};
use super::connection::block_on;
use super::plan::{PlanningArgs, print_plan};
use super::planning::{self, FreshPlan};

/// How often a plan is made again if the alerts change meanwhile and the plan stays the same.
const MAX_ATTEMPTS: u32 = 5;

#[derive(Args, Debug)]
pub(in crate::cli) struct ApplyArgs {
    #[command(flatten)]
    planning: PlanningArgs,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
    /// Carry out more than 1,000 changes in several transactions. Each of them is carried out as a whole, but not all together
    #[arg(long)]
    in_parts: bool,
}

/// Plans, asks, and carries out the plan.
pub(super) fn run(args: &ApplyArgs) -> Result<(), CommandError> {
    let files = args.planning.files.read()?;
    let source = args.planning.source.name(&args.planning.files)?;
    let client = args.planning.connection.client()?;
    block_on(apply(args, &client, &source, &files))
}

async fn apply(args: &ApplyArgs, client: &Client, source: &str, files: &FileSet) -> Result<(), CommandError> {
    let prune = args.planning.prune;
    let mut fresh = planning::plan(client, source, files, prune).await?;
    let is_json = args.planning.json;
    print_plan(&fresh.plan, is_json)?;
    if fresh.plan.is_empty() {
        return Ok(());
    }
    if !fresh.plan.fits_one_batch() && !args.in_parts {
        let message = format!(
            "this plan has {} changes, and one transaction takes 1,000; repeat the command with --in-parts to carry it out in several \
             transactions, or put the alerts into files that you apply one after the other",
            fresh.plan.request_count()
        );
        return Err(CommandError::Usage(message));
    }
    if !args.yes {
        confirm()?;
    }
    let mut attempt = 1;
    loop {
        match send(client, &fresh).await {
            Ok(()) => break,
            Err(failed) if failed.parts_before == 0 && failed.error.is_conflict() && attempt < MAX_ATTEMPTS => {
                // A firing or a pause does not count, but a change by others does, unless the plan stays the same.
                let again = planning::plan(client, source, files, prune).await?;
                if again.plan.is_empty() {
                    say!("the same changes have been made meanwhile; nothing is left to do");
                    return Ok(());
                }
                if again.plan != fresh.plan || again.source_revision == fresh.source_revision {
                    return Err(failed.into());
                }
                fresh = again;
                attempt += 1;
            }
            Err(failed) => return Err(failed.into()),
        }
    }
    if is_json {
        return print(&format!(
            "{}\n",
            json!({"applied": true, "changes": fresh.plan.changes.len()})
        ));
    }
    print("applied\n")
}

/// A transaction that failed.
struct FailedPart {
    part: Plan,
    /// The number of transactions of the plan that were carried out before it.
    parts_before: usize,
    error: ClientError,
}

async fn send(client: &Client, fresh: &FreshPlan) -> Result<(), FailedPart> {
    let mut revision = fresh.source_revision;
    for (parts_before, part) in fresh.plan.parts().into_iter().enumerate() {
        match client.change_alerts(part.to_batch(revision)).await {
            Ok(changed) => revision = changed.source_revision.unwrap_or(revision),
            Err(error) => {
                return Err(FailedPart {
                    part,
                    parts_before,
                    error,
                });
            }
        }
    }
    Ok(())
}

fn confirm() -> Result<(), CommandError> {
    if !io::stdin().is_terminal() {
        let message = "standard input is no terminal to ask at; repeat the command with --yes";
        return Err(CommandError::Usage(message.to_owned()));
    }
    say!("Carry out these changes? Type yes:");
    let mut line = String::new();
    io::stdin()
        .lock()
        .read_line(&mut line)
        .context("cannot read the answer from standard input")?;
    match line.trim() {
        "yes" => Ok(()),
        _ => Err(CommandError::Failed(anyhow::anyhow!(
            "not confirmed; nothing was changed"
        ))),
    }
}

impl FailedPart {
    /// Returns the effect of the command on the server.
    fn effect(&self) -> String {
        match self.parts_before {
            0 => "nothing was changed".to_owned(),
            1 => "only the transaction before it was carried out; repeat the command for the rest".to_owned(),
            before => {
                format!("only the {before} transactions before it were carried out; repeat the command for the rest")
            }
        }
    }
}

impl From<FailedPart> for CommandError {
    /// Names the places of refused alerts in the files.
    fn from(failed: FailedPart) -> Self {
        let effect = failed.effect();
        let Some(refusal) = failed.error.refusal() else {
            let error = anyhow::Error::from(failed.error);
            return Self::Failed(match failed.parts_before {
                // It is unknown whether the request was received.
                0 => error,
                _ => error.context(effect),
            });
        };
        let refused = refusal.refused_changes();
        if refused.is_empty() {
            return Self::Failed(anyhow::anyhow!("{refusal}; {effect}"));
        }
        let lines = refused.iter().map(|refused| {
            let change = failed.part.change_of_item(&refused.list, refused.index);
            let place = change.map(|change| {
                let place = change.place.clone().unwrap_or_else(|| failed.part.source.clone());
                format!("{place}: {}: ", change.name)
            });
            format!("\n{}{}", place.unwrap_or_default(), refused.message)
        });
        let lines: String = lines.collect();
        Self::Failed(anyhow::anyhow!(
            "the server refused {} of the changes, so {effect}:{lines}",
            refused.len()
        ))
    }
}

#[cfg(test)]
mod tests {
    use alert_files::{PlannedChange, PlannedKind};
    use client::RequestRefusal;

    use super::*;

    fn plan(creates: usize) -> Plan {
        let changes = (0..creates).map(|number| PlannedChange {
            name: format!("alert {number}"),
            stocks: "AAPL".to_owned(),
            place: Some(format!("alerts.yaml:{number}")),
            kind: PlannedKind::Create {
                body: json!({}),
                fields: Vec::new(),
            },
        });
        Plan {
            source: "team".to_owned(),
            changes: changes.collect(),
            unchanged: 0,
            kept: Vec::new(),
        }
    }

    /// Returns the message for a refusal of the first alert of a part.
    fn message(parts_before: usize) -> String {
        let refused =
            json!([{"list": "create", "index": 0, "status": 404, "code": "NOT_FOUND", "message": "no such stock"}]);
        let refusal = RequestRefusal {
            status: 404,
            code: "NOT_FOUND".to_owned(),
            message: "1 of the changes are refused".to_owned(),
            details: serde_json::Map::from_iter([("refused".to_owned(), refused)]),
            retry_after_s: None,
        };
        let failed = FailedPart {
            part: plan(1_001).parts().swap_remove(parts_before),
            parts_before,
            error: ClientError::Refused(Box::new(refusal)),
        };
        match CommandError::from(failed) {
            CommandError::Failed(error) => error.to_string(),
            _ => panic!("it is a failure"),
        }
    }

    #[test]
    fn refusal_of_the_first_transaction_says_that_nothing_was_changed() {
        assert_eq!(
            message(0),
            "the server refused 1 of the changes, so nothing was changed:\nalerts.yaml:0: alert 0: no such stock"
        );
    }

    #[test]
    fn refusal_of_a_later_transaction_says_what_was_changed_and_names_its_own_alert() {
        let message = message(1);
        assert!(
            message.contains("only the transaction before it was carried out"),
            "{message}"
        );
        assert!(
            message.ends_with("\nalerts.yaml:1000: alert 1000: no such stock"),
            "{message}"
        );
    }
}
