//! `bellwether login`: stores the address of a server and an API key.

use std::io::{self, BufRead, IsTerminal};

use anyhow::Context;
use clap::Args;
use client::{ClientKey, RemoteAlertFilter};

use super::super::{CommandError, print, say};
use super::connection::{ConnectionArgs, DEFAULT_URL, KEY_VARIABLE, URL_VARIABLE, block_on, client_for, variable};
use super::credentials::{self, Credentials};

#[derive(Args, Debug)]
#[command(
    after_help = "The key is read from the variable BELLWETHER_API_KEY, or as a line of standard input. It is never an \
                        argument, since arguments are visible to other users of the machine."
)]
pub(in crate::cli) struct LoginArgs {
    #[command(flatten)]
    connection: ConnectionArgs,
}

/// Checks the key with a request and stores it.
pub(super) fn run(args: &LoginArgs) -> Result<(), CommandError> {
    let given = args.connection.url.clone().or_else(|| variable(URL_VARIABLE));
    let url = given.unwrap_or_else(|| DEFAULT_URL.to_owned());
    let path = credentials::path(variable)
        .context("there is no home folder to store the key in; set HOME, or use BELLWETHER_API_KEY without login")?;
    let api_key = read_key(&url)?;
    let client = client_for(url.clone(), api_key.clone())?;
    let search = RemoteAlertFilter {
        // No alert is in this source: only the key counts.
        source: Some("login".to_owned()),
        ..RemoteAlertFilter::default()
    };
    block_on(async { Ok(client.alerts(&search).await?) })?;
    credentials::write(
        &path,
        &Credentials {
            url: url.clone(),
            api_key,
        },
    )?;
    print(&format!(
        "logged in at {url}; the key is stored in {}\n",
        path.display()
    ))
}

fn read_key(url: &str) -> Result<ClientKey, CommandError> {
    let text = match variable(KEY_VARIABLE) {
        Some(key) => key,
        None => {
            if io::stdin().is_terminal() {
                say!("Paste an API key of your account at {url} (settings, API keys), and press Enter:");
            }
            let mut line = String::new();
            io::stdin()
                .lock()
                .read_line(&mut line)
                .context("cannot read the API key from standard input")?;
            line
        }
    };
    ClientKey::new(&text).ok_or_else(|| {
        CommandError::Usage(format!(
            "no API key was given; set {KEY_VARIABLE}, or write it as a line to standard input"
        ))
    })
}
