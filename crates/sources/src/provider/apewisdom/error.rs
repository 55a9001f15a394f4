//! What ApeWisdom means by an error: nothing but what HTTP says.

use crate::provider::ProviderError;

/// What it means by a status and a body where HTTP does not say it.
pub(super) const fn judge(_: u16, _: &[u8]) -> Option<ProviderError> {
    None
}
