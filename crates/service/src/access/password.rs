//! Passwords: what will do, and how they are kept.

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};

use crate::{Service, ServiceError};

/// The fewest characters of a password.
const MIN_CHARACTERS: usize = 8;
/// The most characters of a password: long enough for any sentence, short enough to be hashed.
const MAX_CHARACTERS: usize = 200;
/// The bytes of a salt, as the PHC string format recommends.
const SALT_BYTES: usize = 16;

/// What a password is compared with where there is none to compare with: so that an address without an account takes as
/// long as one with. No password is known that fits.
const NOBODYS: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$TmVyIE1lbnNjaCB3ZWlzcw$5S1uq3lU5aVB6lm8q0q0cPyVZ2G2bS0s9l5WmQf1oXA";

/// What is wrong with a password, if anything is.
pub(crate) fn fault(password: &str) -> Option<String> {
    let characters = password.chars().count();
    (!(MIN_CHARACTERS..=MAX_CHARACTERS).contains(&characters))
        .then(|| format!("must have {MIN_CHARACTERS} to {MAX_CHARACTERS} characters, but has {characters}"))
}

impl Service {
    /// What is kept of a password: argon2id, off the threads that answer requests and few at a time.
    pub(crate) async fn hash_password(&self, password: String) -> Result<String, ServiceError> {
        let salt: [u8; SALT_BYTES] = self.0.ports.chance.bytes();
        self.0.reception.hashing.run(move || hash(&password, &salt)).await?
    }

    /// Whether a password is the one that is kept. Without one that is kept it takes as long, and is not.
    pub(crate) async fn is_password(&self, password: String, kept: Option<String>) -> Result<bool, ServiceError> {
        let fits = move || {
            let (kept, is_somebodys) = match &kept {
                Some(kept) => (kept.as_str(), true),
                None => (NOBODYS, false),
            };
            let parsed = PasswordHash::new(kept).map_err(|error| ServiceError::internal(error.to_string()))?;
            let fits = Argon2::default().verify_password(password.as_bytes(), &parsed).is_ok();
            Ok(fits && is_somebodys)
        };
        self.0.reception.hashing.run(fits).await?
    }
}

fn hash(password: &str, salt: &[u8]) -> Result<String, ServiceError> {
    let hashed: Result<PasswordHash, _> = Argon2::default().hash_password_with_salt(password.as_bytes(), salt);
    hashed.map(|hash| hash.to_string()).map_err(ServiceError::internal)
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn what_nobodys_password_is_kept_as_costs_what_others_cost_and_fits_none() {
        let parsed = PasswordHash::new(NOBODYS).unwrap();
        assert_eq!(parsed.hash.as_ref().map(|hash| hash.as_bytes().len()), Some(32));
        let params = argon2::Params::try_from(&parsed).unwrap();
        assert_eq!((params.m_cost(), params.t_cost(), params.p_cost()), (19_456, 2, 1));
        assert!(Argon2::default().verify_password(b"", &parsed).is_err());
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
