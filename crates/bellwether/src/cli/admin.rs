//! `bellwether admin`: account administration. Except for the key rotation, it also works while the service runs.

use std::io::{self, BufRead};

use accounts::access::{ApiKeyParams, CreatedApiKey, NewAccount};
use alerts::Plan;
use anyhow::Context;
use clap::{Args, Subcommand};
use foundation::Scope;
use serde_json::{Value, json};
use service::Service;
use store::model::Account;

use super::rotate_key::{self, RotateKey};
use super::{CommandError, SettingsArgs, print, runtime, say};
use crate::settings::Settings;
use crate::wiring;

/// The environment variable that `--password -` reads before standard input.
const PASSWORD_ENV_VARIABLE: &str = "BELLWETHER_PASSWORD";

#[derive(Args, Debug)]
pub(super) struct AdminArgs {
    #[command(subcommand)]
    command: AdminCommand,
}

#[derive(Subcommand, Debug)]
enum AdminCommand {
    #[command(flatten)]
    Account(AccountCommand),
    /// Re-encrypt the database's secrets with a new key, while the service is stopped
    RotateKey(RotateKey),
}

/// Commands that create or change accounts.
#[derive(Subcommand, Debug)]
enum AccountCommand {
    /// Create an account
    CreateUser(CreateUser),
    /// Create an API key for an account; it is shown once
    CreateKey(CreateKey),
    /// Change the plan of an account
    SetPlan(SetPlan),
}

#[derive(Args, Debug)]
struct AccountArgs {
    /// The account's email address
    #[arg(long)]
    email: String,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsArgs,
}

#[derive(Args, Debug)]
struct CreateUser {
    #[command(flatten)]
    account_args: AccountArgs,
    /// The password, at least 8 characters; -: read it from the variable BELLWETHER_PASSWORD or a line of standard
    /// input
    #[arg(long, allow_hyphen_values = true)]
    password: String,
    /// The plan: basic, premium or early_bird
    #[arg(long, default_value = "basic", value_parser = plan)]
    plan: Plan,
    /// Make the account an operator of this service, who may push market data, for example
    #[arg(long)]
    operator: bool,
    /// Mark the email address as verified
    #[arg(long)]
    verified: bool,
}

#[derive(Args, Debug)]
struct CreateKey {
    #[command(flatten)]
    account_args: AccountArgs,
    /// The name of the key
    #[arg(long)]
    name: String,
    /// The scopes of the key, separated by commas; by default all except the operator scopes
    #[arg(long, value_delimiter = ',', value_parser = scope)]
    scopes: Vec<Scope>,
}

#[derive(Args, Debug)]
struct SetPlan {
    #[command(flatten)]
    account_args: AccountArgs,
    /// The new plan: basic, premium or early_bird
    #[arg(long, value_parser = plan)]
    plan: Plan,
}

fn plan(name: &str) -> Result<Plan, String> {
    Plan::from_name(name).ok_or_else(|| {
        let names: Vec<_> = Plan::ALL.iter().map(|plan| plan.name()).collect();
        format!("the plans are {}", names.join(", "))
    })
}

fn scope(name: &str) -> Result<Scope, String> {
    Scope::from_name(name.trim()).ok_or_else(|| {
        let names: Vec<_> = Scope::ALL.iter().map(|scope| scope.name()).collect();
        format!("the scopes are {}", names.join(", "))
    })
}

/// Runs the command.
pub(super) fn run(args: &AdminArgs) -> Result<(), CommandError> {
    let command = match &args.command {
        AdminCommand::Account(command) => command,
        AdminCommand::RotateKey(args) => return rotate_key::run(args),
    };
    let account_args = match command {
        AccountCommand::CreateUser(CreateUser { account_args, .. })
        | AccountCommand::CreateKey(CreateKey { account_args, .. })
        | AccountCommand::SetPlan(SetPlan { account_args, .. }) => account_args,
    };
    let settings = account_args.settings.load()?;
    let password = match command {
        AccountCommand::CreateUser(user) => read_password(&user.password)?,
        _ => String::new(),
    };
    let answer = runtime()?.block_on(run_account_command(&settings, command, password))?;
    print(&answer)
}

fn read_password(given: &str) -> Result<String, CommandError> {
    if given != "-" {
        return Ok(given.to_owned());
    }
    if let Some(password) = std::env::var(PASSWORD_ENV_VARIABLE)
        .ok()
        .filter(|password| !password.is_empty())
    {
        return Ok(password);
    }
    let mut line = String::new();
    io::stdin()
        .lock()
        .read_line(&mut line)
        .context("cannot read the password from standard input")?;
    match line.trim_end_matches(['\r', '\n']) {
        "" => Err(CommandError::Usage(format!(
            "--password - needs a password: set {PASSWORD_ENV_VARIABLE}, or write it as a line to standard input"
        ))),
        password => Ok(password.to_owned()),
    }
}

async fn run_account_command(
    settings: &Settings,
    command: &AccountCommand,
    password: String,
) -> anyhow::Result<String> {
    let ports = wiring::ports(settings).await?;
    let service = Service::without_evaluation(ports, wiring::service_settings(settings)?)?;
    let result = execute(&service, command, password).await;
    service.stop().await;
    result
}

async fn execute(service: &Service, command: &AccountCommand, password: String) -> anyhow::Result<String> {
    match command {
        AccountCommand::CreateUser(args) => {
            let user = NewAccount {
                email: args.account_args.email.clone(),
                password,
                plan: args.plan,
                is_operator: args.operator,
                is_verified: args.verified,
            };
            Ok(show_account(
                &service.accounts.create_account(user).await?,
                args.account_args.json,
            ))
        }
        AccountCommand::SetPlan(args) => {
            let account = service.accounts.set_plan(&args.account_args.email, args.plan).await?;
            Ok(show_account(&account, args.account_args.json))
        }
        AccountCommand::CreateKey(args) => {
            let scopes = match args.scopes.as_slice() {
                [] => Scope::PUBLIC.to_vec(),
                scopes => scopes.to_vec(),
            };
            let name = args.name.clone();
            let created = service
                .accounts
                .create_api_key_for_email(&args.account_args.email, ApiKeyParams { name, scopes })
                .await?;
            Ok(show_key(&created, args.account_args.json))
        }
    }
}

fn show_account(account: &Account, as_json: bool) -> String {
    if as_json {
        let shown = json!({
            "id": account.id.0.to_string(),
            "email": account.email,
            "plan": account.plan.name(),
            "is_operator": account.is_operator,
            "is_verified": account.is_verified,
            "created_at": wiring::format_timestamp(account.created_at),
        });
        return line(&shown);
    }
    format!(
        "{}: plan {}, account {}\n",
        account.email,
        account.plan.name(),
        account.id.0
    )
}

fn show_key(created: &CreatedApiKey, as_json: bool) -> String {
    let CreatedApiKey { key, secret, tier } = created;
    if as_json {
        return line(&json!({
            "id": key.id.0.to_string(),
            "name": key.name,
            "key_prefix": key.prefix,
            "scopes": key.scopes,
            "rate_limit_tier": tier.name(),
            "created_at": wiring::format_timestamp(key.created_at),
            "api_key": secret,
        }));
    }
    // Only the key goes to standard output, so that a script can read it from there.
    let scopes = key.scopes.join(", ");
    say!(
        "The API key {:?}, for {scopes}. It is shown only once; keep it safe.",
        key.name
    );
    format!("{secret}\n")
}

fn line(value: &Value) -> String {
    format!("{value}\n")
}
