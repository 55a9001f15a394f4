//! Mapping of ApeWisdom's errors. ApeWisdom follows HTTP semantics.

use crate::provider::ProviderError;

/// Maps a status and a body to an error where ApeWisdom deviates from HTTP semantics: never.
pub(super) const fn classify_error(_: u16, _: &[u8]) -> Option<ProviderError> {
    None
}
