//! The keys of a browser's subscription.

use aws_lc_rs::agreement::{ECDH_P256, ParsedPublicKey, UnparsedPublicKey};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::channels::config::{ChannelConfigError, ChannelConfigProblem};

/// Length of an uncompressed point of P-256, in bytes.
pub(super) const PUBLIC_KEY_BYTES: usize = 65;
/// The first byte of an uncompressed point (SEC 1, section 2.3.3).
const UNCOMPRESSED_POINT: u8 = 4;
/// Length of the authentication secret, in bytes.
const AUTH_BYTES: usize = 16;

/// The keys that messages to a browser are encrypted with.
pub(super) struct SubscriptionKeys {
    /// The public key, a point on the curve.
    pub(super) p256dh: [u8; PUBLIC_KEY_BYTES],
    /// The authentication secret.
    pub(super) auth: [u8; AUTH_BYTES],
}

impl SubscriptionKeys {
    /// Reads both keys from base64url without padding.
    ///
    /// # Errors
    /// [`ChannelConfigError`] for `config.p256dh` or `config.auth`.
    pub(super) fn parse(p256dh: &str, auth: &str) -> Result<Self, ChannelConfigError> {
        let p256dh = decode(p256dh).filter(is_point);
        let auth = decode(auth);
        Ok(Self {
            p256dh: p256dh.ok_or_else(|| ChannelConfigProblem::PushPublicKey.at("config.p256dh"))?,
            auth: auth.ok_or_else(|| ChannelConfigProblem::PushAuth.at("config.auth"))?,
        })
    }
}

fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()
}

/// Returns whether the bytes are an uncompressed point on the curve. Another point could reveal the private key of a message.
fn is_point(bytes: &[u8; PUBLIC_KEY_BYTES]) -> bool {
    let key = UnparsedPublicKey::new(&ECDH_P256, bytes);
    bytes[0] == UNCOMPRESSED_POINT && ParsedPublicKey::try_from(&key).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const P256DH: &str = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
    const AUTH: &str = "BTBZMqHH6r4Tts7J_aSIgg";

    fn field(p256dh: &str, auth: &str) -> Option<&'static str> {
        SubscriptionKeys::parse(p256dh, auth).err().map(|error| error.field)
    }

    #[test]
    fn keys_must_have_their_lengths_and_the_point_must_be_on_the_curve() {
        assert_eq!(field(P256DH, AUTH), None);
        let mut off_curve: [u8; PUBLIC_KEY_BYTES] = decode(P256DH).unwrap();
        off_curve[64] ^= 1;
        let compressed = [&[2], &decode::<PUBLIC_KEY_BYTES>(P256DH).unwrap()[1..33]].concat();
        for p256dh in [
            String::new(),
            format!("{P256DH}="),
            P256DH.replace('_', "/"),
            URL_SAFE_NO_PAD.encode(off_curve),
            URL_SAFE_NO_PAD.encode(compressed),
            URL_SAFE_NO_PAD.encode([0; PUBLIC_KEY_BYTES]),
        ] {
            assert_eq!(field(&p256dh, AUTH), Some("config.p256dh"), "{p256dh}");
        }
        for auth in [
            "",
            "BTBZMqHH6r4Tts7J_aSIgg==",
            "BTBZMqHH6r4Tts7J_aSI",
            "BTBZMqHH6r4Tts7J/aSIgg",
        ] {
            assert_eq!(field(P256DH, auth), Some("config.auth"), "{auth}");
        }
    }
}
