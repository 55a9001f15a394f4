//! Passwords: what will do, and how they are kept.

use argon2::Argon2;
use argon2::password_hash::PasswordHasher;
use argon2::password_hash::phc::PasswordHash;

use crate::{Service, ServiceError};

/// The fewest characters of a password.
const MIN_CHARACTERS: usize = 8;
/// The most characters of a password: long enough for any sentence, short enough to be hashed.
const MAX_CHARACTERS: usize = 200;
/// The bytes of a salt, as the PHC string format recommends.
const SALT_BYTES: usize = 16;

/// What is wrong with a password, if anything is.
pub(super) fn fault(password: &str) -> Option<String> {
    let characters = password.chars().count();
    (!(MIN_CHARACTERS..=MAX_CHARACTERS).contains(&characters))
        .then(|| format!("must have {MIN_CHARACTERS} to {MAX_CHARACTERS} characters, but has {characters}"))
}

impl Service {
    /// What is kept of a password: argon2id, off the threads that answer requests and few at a time.
    pub(super) async fn hash_password(&self, password: String) -> Result<String, ServiceError> {
        let salt: [u8; SALT_BYTES] = self.0.ports.chance.bytes();
        let turn = self.0.reception.hashing.acquire().await;
        let _turn = turn.map_err(ServiceError::internal)?;
        let hashing = tokio::task::spawn_blocking(move || hash(&password, &salt));
        hashing.await.map_err(ServiceError::internal)?
    }
}

fn hash(password: &str, salt: &[u8]) -> Result<String, ServiceError> {
    let hashed: Result<PasswordHash, _> = Argon2::default().hash_password_with_salt(password.as_bytes(), salt);
    hashed.map(|hash| hash.to_string()).map_err(ServiceError::internal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use argon2::PasswordVerifier;

    #[test]
    fn eight_characters_will_do_and_seven_or_two_hundred_and_one_will_not() {
        assert_eq!(fault("12345678"), None);
        assert_eq!(fault(&"ä".repeat(200)), None);
        assert_eq!(
            fault("1234567").as_deref(),
            Some("must have 8 to 200 characters, but has 7")
        );
        assert!(fault(&"a".repeat(201)).is_some());
    }

    #[test]
    fn a_hash_is_argon2id_and_fits_only_its_password() {
        let hash = hash("correct horse", &[7; SALT_BYTES]).unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        let parsed = PasswordHash::new(&hash).unwrap();
        assert!(Argon2::default().verify_password(b"correct horse", &parsed).is_ok());
        assert!(Argon2::default().verify_password(b"correct horsf", &parsed).is_err());
    }
}
