//! Password rules and password hashes.

use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::{Algorithm, Argon2, Block, Params, Version};

use super::hashing::HashBuffer;
use crate::access::Authenticator;
use foundation::ServiceError;

/// Minimum length of a password, in characters.
const MIN_PASSWORD_CHARACTERS: usize = 8;
/// Maximum length of a password, in characters: long enough for a sentence, short enough to hash.
const MAX_PASSWORD_CHARACTERS: usize = 200;
/// Length of a salt in bytes, as the PHC string format recommends.
const SALT_BYTES: usize = 16;

/// Hash to verify against if an account does not exist or has no password, so that the response time does not reveal
/// it. No known password has this hash.
const DUMMY_HASH: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$TmVyIE1lbnNjaCB3ZWlzcw$5S1uq3lU5aVB6lm8q0q0cPyVZ2G2bS0s9l5WmQf1oXA";

/// Minimum number of guesses that a password must withstand. Attackers try the first few thousand entries of common
/// password lists on every account.
const MIN_GUESSES: u64 = 10_000;

/// Returns an error message if a password has a wrong length or is too easy to guess.
pub(crate) fn violation(password: &str) -> Option<String> {
    let characters = password.chars().count();
    if !(MIN_PASSWORD_CHARACTERS..=MAX_PASSWORD_CHARACTERS).contains(&characters) {
        return Some(format!(
            "must have {MIN_PASSWORD_CHARACTERS} to {MAX_PASSWORD_CHARACTERS} characters, but has {characters}"
        ));
    }
    is_common(password).then(|| {
        "is too common and easy to guess; choose several unrelated words, or use a password manager".to_owned()
    })
}

/// Returns whether a password is common, a repetition or a sequence.
fn is_common(password: &str) -> bool {
    zxcvbn::zxcvbn(password, &[]).guesses() < MIN_GUESSES
}

impl Authenticator {
    /// Hashes a password with argon2id on a hashing thread.
    ///
    /// # Errors
    /// [`ServiceError::Overloaded`] if too many passwords wait to be hashed.
    pub(crate) async fn hash_password(&self, password: String) -> Result<String, ServiceError> {
        let salt: [u8; SALT_BYTES] = self.ports.random.bytes();
        let hashing = &self.credential_cache.hashing;
        hashing.run(move |buffer| hash(&password, &salt, buffer)).await?
    }

    /// Returns whether a password matches the stored hash. Without a stored hash it takes as long and returns `false`.
    ///
    /// # Errors
    /// [`ServiceError::Overloaded`] if too many passwords wait to be hashed.
    pub(crate) async fn verify_password(&self, password: String, stored: Option<String>) -> Result<bool, ServiceError> {
        let fits = move |buffer: &mut HashBuffer| {
            let (stored, is_real) = match &stored {
                Some(stored) => (stored.as_str(), true),
                None => (DUMMY_HASH, false),
            };
            Ok(verify(&password, stored, buffer)? && is_real)
        };
        self.credential_cache.hashing.run(fits).await?
    }
}

fn hash(password: &str, salt: &[u8], buffer: &mut HashBuffer) -> Result<String, ServiceError> {
    let (algorithm, version, params) = (Algorithm::default(), Version::default(), Params::default());
    let texts = ParamsString::try_from(&params).map_err(text_error)?;
    let output = output(password, salt, (algorithm, version, params), buffer)?;
    let hash = PasswordHash {
        algorithm: algorithm.ident(),
        version: Some(version.into()),
        params: texts,
        salt: Some(Salt::new(salt).map_err(text_error)?),
        hash: Some(output),
    };
    Ok(hash.to_string())
}

/// Returns whether a password matches a hash, with the parameters that the hash was made with.
fn verify(password: &str, stored: &str, buffer: &mut HashBuffer) -> Result<bool, ServiceError> {
    let stored = PasswordHash::new(stored).map_err(text_error)?;
    let (Some(salt), Some(expected)) = (stored.salt, stored.hash) else {
        return Ok(false);
    };
    let algorithm = Algorithm::try_from(stored.algorithm.as_str()).map_err(text_error)?;
    let version = stored.version.map(Version::try_from).transpose().map_err(text_error)?;
    let params = Params::try_from(&stored).map_err(text_error)?;
    let context = (algorithm, version.unwrap_or_default(), params);
    // `Output` compares in constant time.
    Ok(output(password, &salt, context, buffer)? == expected)
}

fn output(
    password: &str,
    salt: &[u8],
    (algorithm, version, params): (Algorithm, Version, Params),
    buffer: &mut HashBuffer,
) -> Result<Output, ServiceError> {
    let blocks = params.block_count();
    if buffer.len() < blocks {
        buffer.resize(blocks, Block::default());
    }
    let mut bytes = [0; Output::MAX_LENGTH];
    let length = params.output_len().unwrap_or(Params::DEFAULT_OUTPUT_LEN);
    let bytes = bytes
        .get_mut(..length)
        .ok_or_else(|| ServiceError::internal("a password hash is too long"))?;
    Argon2::new(algorithm, version, params)
        .hash_password_into_with_memory(password.as_bytes(), salt, bytes, &mut buffer[..blocks])
        .map_err(text_error)?;
    Output::new(bytes).map_err(text_error)
}

fn text_error(error: impl std::fmt::Display) -> ServiceError {
    ServiceError::internal(error.to_string())
}

#[cfg(test)]
mod tests {
    use argon2::password_hash::{PasswordHasher, PasswordVerifier};

    use super::*;

    #[test]
    fn password_length_is_8_to_200() {
        assert_eq!(violation("vqz7-km2"), None);
        assert_eq!(violation(&"correct horse ".repeat(20)[..200]), None);
        assert_eq!(
            violation("1234567").as_deref(),
            Some("must have 8 to 200 characters, but has 7")
        );
        assert!(violation(&"a".repeat(201)).is_some());
    }

    #[test]
    fn common_passwords_are_rejected() {
        for password in [
            "password",
            "Password1",
            "12345678",
            "aaaaaaaa",
            "qwertyuiop",
            "iloveyou",
            "sunshine",
            "password123",
            "abcdefgh",
            "11112222",
        ] {
            assert!(
                violation(password).is_some_and(|fault| fault.contains("too common")),
                "{password}"
            );
        }
        for password in [
            "correct horse",
            "battery staple",
            "another battery",
            "vqz7-km2",
            "p:a/s s+w%ö",
        ] {
            assert_eq!(violation(password), None, "{password}");
        }
    }

    #[test]
    fn dummy_hash_has_default_cost_and_matches_no_password() {
        let parsed = PasswordHash::new(DUMMY_HASH).unwrap();
        assert_eq!(parsed.hash.as_ref().map(|hash| hash.as_bytes().len()), Some(32));
        let params = Params::try_from(&parsed).unwrap();
        assert_eq!((params.m_cost(), params.t_cost(), params.p_cost()), (19_456, 2, 1));
        assert!(!verify("", DUMMY_HASH, &mut HashBuffer::new()).unwrap());
    }

    #[test]
    fn hash_is_argon2id_and_matches_only_its_password() {
        let mut buffer = HashBuffer::new();
        let hash = hash("correct horse", &[7; SALT_BYTES], &mut buffer).unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        assert!(verify("correct horse", &hash, &mut buffer).unwrap());
        assert!(!verify("correct horsf", &hash, &mut buffer).unwrap());
        // Earlier versions hashed and verified with the library's own buffers.
        let parsed = PasswordHash::new(&hash).unwrap();
        assert!(Argon2::default().verify_password(b"correct horse", &parsed).is_ok());
        let theirs: PasswordHash = Argon2::default()
            .hash_password_with_salt(b"correct horse", &[7; SALT_BYTES])
            .unwrap();
        assert_eq!(theirs.to_string(), hash);
    }

    #[test]
    fn reused_buffer_gives_same_hash_and_does_not_grow() {
        let mut buffer = HashBuffer::new();
        let first = hash("correct horse", &[7; SALT_BYTES], &mut buffer).unwrap();
        let place = (buffer.as_ptr(), buffer.len());
        hash("something else", &[8; SALT_BYTES], &mut buffer).unwrap();
        assert_eq!(hash("correct horse", &[7; SALT_BYTES], &mut buffer).unwrap(), first);
        assert_eq!((buffer.as_ptr(), buffer.len()), place);
        assert_eq!(buffer.len(), 19_456);
    }

    #[test]
    fn hash_with_other_parameters_is_verified() {
        let params = Params::new(64, 3, 2, Some(16)).unwrap();
        let theirs: PasswordHash = Argon2::from(params)
            .hash_password_with_salt(b"correct horse", &[7; SALT_BYTES])
            .unwrap();
        let mut buffer = HashBuffer::new();
        assert!(verify("correct horse", &theirs.to_string(), &mut buffer).unwrap());
        assert!(!verify("correct horsf", &theirs.to_string(), &mut buffer).unwrap());
    }
}
