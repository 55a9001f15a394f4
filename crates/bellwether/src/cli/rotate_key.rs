//! `bellwether admin rotate-key`: re-encrypts the database's secrets with a new key, while nothing else uses the
//! database.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use clock::Clock;
use foundation::Random;
use foundation::vault::Vault;
use serde_json::json;
use service::sealing;
use service::sealing::{RotationSummary, UnreadablePolicy};
use store::{KeyRotation, KeyRotationError};

use super::{CommandError, SettingsArgs, print, runtime, say};
use crate::clock::SystemClock;
use crate::keys::{self, KeySource};
use crate::settings::{SecretString, Setting, Settings};
use crate::{keyfile, wiring};

#[derive(Args, Debug)]
pub(super) struct RotateKey {
    /// A file with the new auth.secret_key. Required if auth.secret_key is set; otherwise a new key file is created
    #[arg(long, value_name = "FILE")]
    new_key_file: Option<PathBuf>,
    /// If the former key is lost: disable webhooks whose secret is unreadable and give them a new secret, and delete
    /// unreadable messages
    #[arg(long)]
    discard_unreadable: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// The location of the new key.
enum NewKey {
    /// The operator's file. Its text becomes `auth.secret_key`.
    Given { file: PathBuf, secret: String },
    /// The key file, after the database is sealed with the new key.
    File(PathBuf),
}

pub(super) fn run(args: &RotateKey) -> Result<(), CommandError> {
    let settings = args.settings.load()?;
    let source = KeySource::of(&settings);
    let new = match (&args.new_key_file, &source) {
        (Some(file), _) => NewKey::Given {
            file: file.clone(),
            secret: read_secret(file)?,
        },
        (None, KeySource::File(file)) => NewKey::File(file.clone()),
        (None, KeySource::Setting(_)) => {
            return Err(CommandError::Usage(
                "auth.secret_key is set; write the new one to a file, pass it as --new-key-file, and set auth.secret_key \
                 to it afterwards"
                    .to_owned(),
            ));
        }
    };
    let rotated = runtime()?.block_on(rotate(args, &settings, &source, &new))?;
    print(&report(&rotated, &new, args.json))
}

fn read_secret(file: &Path) -> Result<String, CommandError> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let secret = text.trim_end_matches(['\r', '\n']);
    match SecretString::from_text(secret) {
        Some(secret) => Ok(secret.expose().to_owned()),
        None => Err(CommandError::Usage(format!(
            "{} must contain {}",
            file.display(),
            SecretString::allowed()
        ))),
    }
}

async fn rotate(
    args: &RotateKey,
    settings: &Settings,
    source: &KeySource,
    new: &NewKey,
) -> anyhow::Result<RotationSummary> {
    let options = store::StoreOptions::new(settings.database.url.expose());
    let url = &settings.database.url;
    let mut database = KeyRotation::begin::<std::convert::Infallible>(&options)
        .await
        .with_context(|| format!("cannot rotate the key of the database {url}"))?;
    let check = database.key_check().await?;
    if let (KeySource::File(file), Some(check)) = (source, &check) {
        keys::finish_interrupted_rotation(file, check)?;
    }
    let former = former_key(source, args.discard_unreadable)?;
    let random = wiring::secure_random()?;
    let secret = match new {
        NewKey::Given { secret, .. } => secret.clone(),
        NewKey::File(file) => keyfile::stage(file, &random.bytes())?,
    };
    let rotated = seal_anew(args, &mut database, (&former, &secret), &random).await?;
    // This happens before the database is released. Otherwise the next start could complete the rotation at the same
    // time.
    if let NewKey::File(file) = new {
        keyfile::promote(file)?;
    }
    database.close().await;
    Ok(rotated)
}

/// Returns the key that the database is sealed with now.
fn former_key(source: &KeySource, may_be_lost: bool) -> anyhow::Result<String> {
    let key = match source {
        KeySource::Setting(secret) => Some(secret.expose().to_owned()),
        KeySource::File(file) => keyfile::read(file)?,
    };
    match key {
        Some(key) => Ok(key),
        // An empty secret is shorter than the minimum length, so it decrypts nothing.
        None if may_be_lost => Ok(String::new()),
        None => anyhow::bail!(
            "there is no former key: the key file is missing; restore it from a backup, or give --discard-unreadable if it is \
             lost for good"
        ),
    }
}

async fn seal_anew(
    args: &RotateKey,
    database: &mut KeyRotation,
    (former, new): (&str, &str),
    random: &Random,
) -> anyhow::Result<RotationSummary> {
    let unreadable = match args.discard_unreadable {
        true => UnreadablePolicy::Discard,
        false => UnreadablePolicy::Refuse,
    };
    let (former, new) = (Vault::new(former.as_bytes()), Vault::new(new.as_bytes()));
    let now = SystemClock.now();
    sealing::rotate_key(database, &former, &new, random, now, unreadable)
        .await
        .map_err(|error| match error {
            KeyRotationError::Refused(refusal) => anyhow::anyhow!(
                "{refusal} than the one that is set now, so nothing was changed; start with the right key, or give \
                 --discard-unreadable if it is lost for good"
            ),
            other => other.into(),
        })
}

fn report(rotated: &RotationSummary, new: &NewKey, as_json: bool) -> String {
    let RotationSummary { sealed, discarded } = rotated;
    match new {
        NewKey::Given { file, .. } => say!(
            "Set auth.secret_key to the text in {} before the next start.",
            file.display()
        ),
        NewKey::File(file) => say!(
            "The new key is in {}. The former one is in {}: keep it with the backups from before now, and remove it here.",
            file.display(),
            keyfile::former(file).display()
        ),
    }
    say!(
        "Links in mail that was sent before now no longer work, and people sign in again where they used access tokens."
    );
    if as_json {
        return format!("{}\n", json!({"sealed": sealed, "discarded": discarded}));
    }
    format!("{sealed} secrets are sealed with the new key, {discarded} were discarded\n")
}
