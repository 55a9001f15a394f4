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

/// Listens until it is told to stop. It has failed if there is a secret and something came that it does not verify.
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
    introduce(receiver.address(), has_secret);
    let (mut received, mut doubtful) = (0_u64, 0_u64);
    while args.count.is_none_or(|count| received < count) {
        let checked = tokio::select! {
            checked = receiver.next() => checked,
            _ = signals.next() => None,
        };
        let Some(checked) = checked else { break };
        received += 1;
        doubtful += u64::from(has_secret && !checked.is_trusted());
        print(&if args.json {
            json_line(&checked)
        } else {
            readable(&checked)
        })?;
    }
    receiver.stop();
    let verified = if has_secret { received - doubtful } else { 0 };
    say!("Received: {received}, signatures verified: {verified}");
    if doubtful > 0 {
        return Err(Failure::Failed(anyhow::anyhow!(
            "{doubtful} of {received} deliveries are not to be trusted: not signed, or not with this secret"
        )));
    }
    Ok(())
}

/// What it takes to get something to look at.
fn introduce(address: SocketAddr, has_secret: bool) {
    say!(
        "Listening on http://{address} (Ctrl-C ends it).

A service on this machine calls it if it was started with BELLWETHER_WEBHOOKS__ALLOW_PRIVATE_CIDRS=127.0.0.1, as the
demo is, and an account has a webhook that leads here:

  curl -s \"$API/webhooks\" -H \"X-API-Key: $KEY\" -H 'Content-Type: application/json' \\
    -d '{{\"url\": \"http://{address}/\", \"events\": [\"alert.triggered\"]}}'
"
    );
    if !has_secret {
        say!(
            "Signatures are not verified: give the webhook's secret by --secret, or by the variable {SECRET_VARIABLE}.\n"
        );
    }
}

fn readable(checked: &Checked) -> String {
    format!(
        "{}  {}\n    id                   {}\n    X-Service-Signature  {}\n    webhook-signature    {}\n    body                 {}\n",
        wiring::timestamp(checked.at),
        checked.summary(),
        checked.id.as_deref().unwrap_or("-"),
        checked.service,
        checked.standard,
        checked.text,
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
