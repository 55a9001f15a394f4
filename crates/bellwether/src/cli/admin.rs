//! `bellwether admin`: what the operator does for users, also while the service runs.

use std::io::{self, BufRead};

use alerts::Plan;
use anyhow::Context;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use service::access::{CreatedKey, NewKey, NewUser};
use service::{Scope, Service};
use store::model::Account;

use super::rotate_key::{self, RotateKey};
use super::{Failure, SettingsArgs, print, say};
use crate::settings::Settings;
use crate::wiring;

/// Where `--password -` looks before it reads standard input.
const PASSWORD_VARIABLE: &str = "BELLWETHER_PASSWORD";

#[derive(Args, Debug)]
pub(super) struct AdminArgs {
    #[command(subcommand)]
    command: AdminCommand,
}

#[derive(Subcommand, Debug)]
enum AdminCommand {
    #[command(flatten)]
    Account(Command),
    /// Seal the database's secrets with a new key, while the service is stopped
    RotateKey(RotateKey),
}

/// Commands that create or change accounts.
#[derive(Subcommand, Debug)]
enum Command {
    /// Make an account
    CreateUser(CreateUser),
    /// Make an API key for an account; it is shown once
    CreateKey(CreateKey),
    /// Put an account on another plan
    SetPlan(SetPlan),
}

#[derive(Args, Debug)]
struct Common {
    /// The account's address
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
    common: Common,
    /// Its password, 8 characters or more; -: from the variable BELLWETHER_PASSWORD, else a line of standard input
    #[arg(long, allow_hyphen_values = true)]
    password: String,
    /// What it may do: basic, premium or early_bird
    #[arg(long, default_value = "basic", value_parser = plan)]
    plan: Plan,
    /// Its owner operates this service: may push market data, for one
    #[arg(long)]
    operator: bool,
    /// The address is known to be the owner's
    #[arg(long)]
    verified: bool,
}

#[derive(Args, Debug)]
struct CreateKey {
    #[command(flatten)]
    common: Common,
    /// What the key is called
    #[arg(long)]
    name: String,
    /// What it may be used for, parted by commas; without it everything but the operators' own scopes
    #[arg(long, value_delimiter = ',', value_parser = scope)]
    scopes: Vec<Scope>,
}

#[derive(Args, Debug)]
struct SetPlan {
    #[command(flatten)]
    common: Common,
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

/// Does what `args` say.
pub(super) fn run(args: &AdminArgs) -> Result<(), Failure> {
    let command = match &args.command {
        AdminCommand::Account(command) => command,
        AdminCommand::RotateKey(args) => return rotate_key::run(args),
    };
    let common = match command {
        Command::CreateUser(CreateUser { common, .. })
        | Command::CreateKey(CreateKey { common, .. })
        | Command::SetPlan(SetPlan { common, .. }) => common,
    };
    let settings = common.settings.load()?;
    let password = match command {
        Command::CreateUser(user) => read_password(&user.password)?,
        _ => String::new(),
    };
    let runtime = tokio::runtime::Runtime::new().context("cannot start")?;
    let answer = runtime.block_on(administer(&settings, command, password))?;
    print(&answer)
}

fn read_password(given: &str) -> Result<String, Failure> {
    if given != "-" {
        return Ok(given.to_owned());
    }
    if let Some(password) = std::env::var(PASSWORD_VARIABLE)
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
        "" => Err(Failure::Usage(format!(
            "--password - needs a password: set {PASSWORD_VARIABLE}, or send it as a line to standard input"
        ))),
        password => Ok(password.to_owned()),
    }
}

async fn administer(settings: &Settings, command: &Command, password: String) -> anyhow::Result<String> {
    let ports = wiring::ports(settings).await?;
    let service = Service::without_evaluation(ports, wiring::service_settings(settings)?)?;
    let result = execute(&service, command, password).await;
    service.stop().await;
    result
}

async fn execute(service: &Service, command: &Command, password: String) -> anyhow::Result<String> {
    match command {
        Command::CreateUser(args) => {
            let user = NewUser {
                email: args.common.email.clone(),
                password,
                plan: args.plan,
                is_operator: args.operator,
                is_verified: args.verified,
            };
            Ok(show_account(
                &service.accounts.create_user(user).await?,
                args.common.json,
            ))
        }
        Command::SetPlan(args) => {
            let account = service.accounts.set_plan(&args.common.email, args.plan).await?;
            Ok(show_account(&account, args.common.json))
        }
        Command::CreateKey(args) => {
            let scopes = match args.scopes.as_slice() {
                [] => Scope::PUBLIC.to_vec(),
                scopes => scopes.to_vec(),
            };
            let name = args.name.clone();
            let created = service
                .accounts
                .create_key_for(&args.common.email, NewKey { name, scopes })
                .await?;
            Ok(show_key(&created, args.common.json))
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
            "created_at": wiring::timestamp(account.created_at),
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

fn show_key(created: &CreatedKey, as_json: bool) -> String {
    let CreatedKey { key, secret, tier } = created;
    if as_json {
        return line(&json!({
            "id": key.id.0.to_string(),
            "name": key.name,
            "key_prefix": key.prefix,
            "scopes": key.scopes,
            "rate_limit_tier": tier.name(),
            "created_at": wiring::timestamp(key.created_at),
            "api_key": secret,
        }));
    }
    // The key alone goes to standard output, so that a script can take it from there.
    let scopes = key.scopes.join(", ");
    say!(
        "The API key {:?}, for {scopes}. It is shown this once; keep it safe.",
        key.name
    );
    format!("{secret}\n")
}

fn line(value: &Value) -> String {
    format!("{value}\n")
}
