//! `bellwether listen`: a receiver to try webhooks out with.

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::Context;
use clap::Args;
use http::StatusCode;
use notify::signature::Secret;
use serde_json::json;

use super::{Failure, print, say};
use crate::listen::{Checked, Receiver};
use crate::signals::Signals;
use crate::wiring;

#[derive(Args, Debug)]
pub(super) struct ListenArgs {
    /// The port of 127.0.0.1 to listen on; 0: any that is free
    #[arg(long, default_value_t = 9090)]
    port: u16,
    /// The webhook's secret, to verify deliveries with; also as BELLWETHER_LISTEN_SECRET
    #[arg(long)]
    secret: Option<String>,
    /// What to answer
    #[arg(long, default_value_t = 204, value_parser = clap::value_parser!(u16).range(200..600))]
    status: u16,
    /// Print each delivery as a JSON line
    #[arg(long)]
    json: bool,
    /// End after so many deliveries
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
}

/// Where the secret is looked for if it is not given: arguments can be seen by others.
const SECRET_VARIABLE: &str = "BELLWETHER_LISTEN_SECRET";

/// Listens until it is told to stop. It has failed if a signature was wrong.
pub(super) fn run(args: &ListenArgs) -> Result<(), Failure> {
    let secret = args.secret.clone().or_else(|| std::env::var(SECRET_VARIABLE).ok());
    let secret = secret.map(|text| Secret::from_user(&text)).transpose();
    let secret = secret.map_err(|error| Failure::Usage(format!("--secret {error}")))?;
    let status = StatusCode::from_u16(args.status).context("this is no status")?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start")?;
    runtime.block_on(listen(args, secret, status))
}

async fn listen(args: &ListenArgs, secret: Option<Secret>, status: StatusCode) -> Result<(), Failure> {
    let mut signals = Signals::listen().context("cannot listen to signals")?;
    let has_secret = secret.is_some();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, args.port));
    let mut receiver = Receiver::start(address, secret, status).await?;
    say!(
        "Listening on http://{} (Ctrl-C ends it). A service on this machine may call it with\n  \
         BELLWETHER_WEBHOOKS__ALLOW_PRIVATE_CIDRS=127.0.0.1",
        receiver.address()
    );
    if !has_secret {
        say!("Signatures are not verified: give --secret, or the variable {SECRET_VARIABLE}.");
    }
    let (mut received, mut wrong) = (0_u64, 0_u64);
    while args.count.is_none_or(|count| received < count) {
        let checked = tokio::select! {
            checked = receiver.next() => checked,
            _ = signals.next() => None,
        };
        let Some(checked) = checked else { break };
        received += 1;
        wrong += u64::from(checked.service.is_wrong() || checked.standard.is_wrong());
        print(&if args.json {
            json_line(&checked)
        } else {
            readable(&checked)
        })?;
    }
    receiver.stop();
    say!("{received} deliveries, {wrong} with a wrong signature");
    if wrong > 0 {
        return Err(Failure::Failed(anyhow::anyhow!(
            "{wrong} deliveries had a wrong signature"
        )));
    }
    Ok(())
}

fn readable(checked: &Checked) -> String {
    format!(
        "{}  {}\n    id                  {}\n    service's signature {}\n    webhook-signature   {}\n",
        wiring::timestamp(checked.at),
        checked.summary(),
        checked.id.as_deref().unwrap_or("-"),
        checked.service,
        checked.standard,
    )
}

fn json_line(checked: &Checked) -> String {
    let line = json!({
        "at": wiring::timestamp(checked.at),
        "id": checked.id,
        "signature": checked.service.to_string(),
        "webhook_signature": checked.standard.to_string(),
        "body": checked.body,
    });
    format!("{line}\n")
}
