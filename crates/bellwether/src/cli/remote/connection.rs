//! The server that a command uses, and its client.

use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use client::{Client, ClientConfig, ClientError, ClientKey, RequestRetryPolicy};

use super::super::CommandError;
use super::credentials::{self, Credentials};
use crate::wiring::secure_random;

/// The environment variable with the API key.
pub(super) const KEY_VARIABLE: &str = "BELLWETHER_API_KEY";
/// The environment variable with the address of the server.
pub(super) const URL_VARIABLE: &str = "BELLWETHER_URL";
/// The address of a service on this machine with its default settings.
pub(super) const DEFAULT_URL: &str = "http://127.0.0.1:8080";

/// The server of a command.
#[derive(Args, Debug)]
pub(super) struct ConnectionArgs {
    /// The address of the server; also BELLWETHER_URL, or that of `bellwether login`
    #[arg(long, global = true, value_name = "URL")]
    pub(super) url: Option<String>,
}

impl ConnectionArgs {
    /// Returns a client with the key of the environment or of `bellwether login`.
    pub(super) fn client(&self) -> Result<Client, CommandError> {
        let Credentials { url, api_key } = self.credentials()?;
        client_for(url, api_key)
    }

    fn credentials(&self) -> Result<Credentials, CommandError> {
        let stored = match credentials::path(variable) {
            Some(path) => credentials::read(&path)?,
            None => None,
        };
        let (stored_url, stored_key) = stored.map(|stored| (stored.url, stored.api_key)).unzip();
        let given_url = self.url.clone().or_else(|| variable(URL_VARIABLE));
        let given_key = match variable(KEY_VARIABLE) {
            Some(text) => Some(ClientKey::new(&text).ok_or_else(|| {
                CommandError::Usage(format!(
                    "{KEY_VARIABLE} is no API key; copy it from the settings of your account"
                ))
            })?),
            None => None,
        };
        // The stored key belongs to the stored address.
        let is_other_server = given_url.is_some() && given_url != stored_url;
        let key = given_key.or(stored_key.filter(|_| !is_other_server));
        let api_key = key.ok_or_else(|| {
            let login = match &given_url {
                Some(url) => format!("bellwether login --url {url}"),
                None => "bellwether login".to_owned(),
            };
            CommandError::Usage(format!(
                "there is no API key for this server; run `{login}`, or set {KEY_VARIABLE}"
            ))
        })?;
        let url = given_url.or(stored_url).unwrap_or_else(|| DEFAULT_URL.to_owned());
        Ok(Credentials { url, api_key })
    }
}

/// Returns a client of a server.
pub(super) fn client_for(url: String, api_key: ClientKey) -> Result<Client, CommandError> {
    let random = secure_random()?;
    let client = Client::new(ClientConfig {
        url,
        api_key,
        retry: RequestRetryPolicy::default(),
        new_id: Arc::new(move || random.uuid()),
    });
    client.map_err(|error| CommandError::Usage(error.to_string()))
}

/// Returns a variable of the environment; `None` if it is empty.
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

impl From<ClientError> for CommandError {
    fn from(error: ClientError) -> Self {
        Self::Failed(error.into())
    }
}

/// Runs a request.
pub(super) fn block_on<T>(run: impl Future<Output = Result<T, CommandError>>) -> Result<T, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("cannot start")?.block_on(run)
}
