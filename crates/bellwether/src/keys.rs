//! The key of the database's secrets, from `auth.secret_key` or the key file, checked against the database.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use foundation::Random;
use foundation::vault::Vault;
use jiff::Timestamp;
use service::sealing;
use service::sealing::KeyError;
use store::Store;

use crate::keyfile;
use crate::settings::{SecretString, Settings};

/// The hint for a permanently lost key.
const LOST_KEY_HINT: &str = "If that key is lost for good, stop everything and run `bellwether admin rotate-key --discard-unreadable`: \
                    webhooks are disabled and get new secrets, and unsent mail is deleted";

/// The source of the key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum KeySource {
    /// `auth.secret_key`.
    Setting(SecretString),
    /// The key file.
    File(PathBuf),
}

impl KeySource {
    pub(crate) fn of(settings: &Settings) -> Self {
        match &settings.auth.secret_key {
            Some(secret) => Self::Setting(secret.clone()),
            None => Self::File(keyfile::path_for(settings.database.url.expose())),
        }
    }

    /// Returns the instruction to restore the right key.
    fn recovery_hint(&self) -> String {
        match self {
            Self::Setting(_) => {
                "set auth.secret_key to its former value, or remove it if there was none before; to change it, use \
                              `bellwether admin rotate-key`"
                    .to_owned()
            }
            Self::File(file) => format!(
                "if the service runs in another folder, run this command there; otherwise restore {} from the backup that goes with this \
                 database, or set auth.secret_key if that was set before",
                file.display()
            ),
        }
    }
}

/// Returns the vault with the database's key. A new database gets a key.
///
/// # Errors
/// If the database's secrets are sealed with another key, or the key file cannot be read or created.
pub(crate) async fn vault(
    settings: &Settings,
    store: &Store,
    random: &Random,
    now: Timestamp,
) -> anyhow::Result<Arc<Vault>> {
    let source = KeySource::of(settings);
    let secret = match &source {
        KeySource::File(file) => key_from_file(file, &source, store, random).await?,
        KeySource::Setting(secret) => secret.expose().to_owned(),
    };
    let vault = Arc::new(Vault::new(secret.as_bytes()));
    match sealing::check_key(store, &vault, random, now).await {
        Ok(()) => Ok(vault),
        Err(KeyError::Store(error)) => Err(error).context("cannot check the key of the database's secrets"),
        Err(refusal) => Err(anyhow::anyhow!(
            "{refusal} than this program's; {}. {LOST_KEY_HINT}",
            source.recovery_hint()
        )),
    }
}

async fn key_from_file(file: &Path, source: &KeySource, store: &Store, random: &Random) -> anyhow::Result<String> {
    let check = store.key_check().await?;
    if let Some(check) = &check {
        finish_interrupted_rotation(file, check)?;
    }
    if let Some(key) = keyfile::read(file)? {
        return Ok(key);
    }
    if check.is_some() || sealing::has_sealed_values(store).await? {
        anyhow::bail!(
            "the key file {} is missing, and the secrets in the database are sealed with it; {}. {LOST_KEY_HINT}",
            file.display(),
            source.recovery_hint()
        );
    }
    keyfile::create(file, &random.bytes())
}

/// Completes or reverts an interrupted rotation: the key check value shows whether the database is sealed with the staged key.
///
/// # Errors
/// If a key file cannot be read, renamed or removed.
pub(crate) fn finish_interrupted_rotation(file: &Path, check: &[u8]) -> anyhow::Result<()> {
    let opens = |key: Option<String>| key.is_some_and(|key| sealing::is_key_for(&Vault::new(key.as_bytes()), check));
    let Some(staged) = keyfile::read(&keyfile::next(file))? else {
        return Ok(());
    };
    if opens(Some(staged)) {
        tracing::info!(file = %file.display(), "completed a key rotation that was interrupted after the database was sealed");
        return keyfile::promote(file);
    }
    if opens(keyfile::read(file)?) {
        return keyfile::remove_staged(file);
    }
    Ok(())
}
