//! `bellwether listen`: a webhook receiver for trying things out.

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::Context;
use clap::Args;
use http::StatusCode;
use notify::signature::SigningSecret;
use serde_json::json;

use super::{CommandError, print, runtime, say};
use crate::listen::{ReceivedDelivery, WebhookReceiver};
use crate::signals::ShutdownSignals;
use crate::wiring;

#[derive(Args, Debug)]
pub(super) struct ListenArgs {
    /// The port of 127.0.0.1 to listen on; 0: any free port
    #[arg(long, default_value_t = 9090)]
    port: u16,
    /// The webhook's secret for verifying deliveries; can also be set as BELLWETHER_LISTEN_SECRET
    #[arg(long)]
    secret: Option<String>,
    /// The HTTP status of the responses
    #[arg(long, default_value_t = 204, value_parser = clap::value_parser!(u16).range(200..600))]
    status: u16,
    /// Print each delivery as a JSON line
    #[arg(long)]
    json: bool,
    /// Stop after this number of deliveries
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
}

/// The environment variable with the secret. Command line arguments are visible to other users of the machine.
const SECRET_ENV_VARIABLE: &str = "BELLWETHER_LISTEN_SECRET";

/// Listens until a shutdown signal or the last delivery. Fails if a secret is given and a delivery cannot be verified
/// with it.
pub(super) fn run(args: &ListenArgs) -> Result<(), CommandError> {
    let secret = args.secret.clone().or_else(|| std::env::var(SECRET_ENV_VARIABLE).ok());
    let secret = secret.map(|text| SigningSecret::from_user(&text)).transpose();
    let secret = secret.map_err(|error| CommandError::Usage(format!("--secret {error}")))?;
    let status = StatusCode::from_u16(args.status).context("this is not an HTTP status")?;
    runtime()?.block_on(listen(args, secret, status))
}

async fn listen(args: &ListenArgs, secret: Option<SigningSecret>, status: StatusCode) -> Result<(), CommandError> {
    let mut signals = ShutdownSignals::listen().context("cannot listen for signals")?;
    let has_secret = secret.is_some();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, args.port));
    let mut receiver = WebhookReceiver::start(address, secret, status).await?;
    print_introduction(receiver.address(), has_secret);
    let (mut received, mut untrusted) = (0_u64, 0_u64);
    while args.count.is_none_or(|count| received < count) {
        let delivery = tokio::select! {
            delivery = receiver.next() => delivery,
            _ = signals.next() => None,
        };
        let Some(delivery) = delivery else { break };
        received += 1;
        untrusted += u64::from(has_secret && !delivery.is_trusted());
        print(&if args.json {
            json_line(&delivery)
        } else {
            readable_text(&delivery)
        })?;
    }
    receiver.stop();
    let verified = if has_secret { received - untrusted } else { 0 };
    say!("Received: {received}, signatures verified: {verified}");
    if untrusted > 0 {
        return Err(CommandError::Failed(anyhow::anyhow!(
            "{untrusted} of {received} deliveries cannot be trusted: they are not signed, or not with this secret"
        )));
    }
    Ok(())
}

/// Prints how to create a webhook that leads to this receiver.
fn print_introduction(address: SocketAddr, has_secret: bool) {
    say!(
        "Listening on http://{address} (stop with Ctrl-C).

A service on this machine sends deliveries here if it was started with
BELLWETHER_WEBHOOKS__ALLOW_PRIVATE_CIDRS=127.0.0.1 (as the demo is) and an account has a webhook with this URL:

  curl -s \"$API/webhooks\" -H \"X-API-Key: $KEY\" -H 'Content-Type: application/json' \\
    -d '{{\"url\": \"http://{address}/\", \"events\": [\"alert.triggered\"]}}'
"
    );
    if !has_secret {
        say!(
            "Signatures are not verified: give the webhook's secret with --secret, or in the variable {SECRET_ENV_VARIABLE}.\n"
        );
    }
}

fn readable_text(delivery: &ReceivedDelivery) -> String {
    format!(
        "{}  {}\n    id                   {}\n    X-Service-Signature  {}\n    webhook-signature    {}\n    body                 {}\n",
        wiring::format_timestamp(delivery.at),
        delivery.summary(),
        delivery.id.as_deref().unwrap_or("-"),
        delivery.service,
        delivery.standard,
        delivery.text,
    )
}

fn json_line(delivery: &ReceivedDelivery) -> String {
    let line = json!({
        "at": wiring::format_timestamp(delivery.at),
        "id": delivery.id,
        "signature": delivery.service.to_string(),
        "webhook_signature": delivery.standard.to_string(),
        "body": delivery.body,
    });
    format!("{line}\n")
}
