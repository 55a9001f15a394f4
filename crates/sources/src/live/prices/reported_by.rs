//! The providers of quotes that were reported together.

use std::collections::BTreeMap;

use market::Symbol;

/// The provider that reported each quote.
#[derive(Clone, Copy)]
pub(in crate::live) enum ReportedBy<'a> {
    /// The provider of the stream reported all of them.
    Stream(Option<&'static str>),
    /// Several providers answered a request.
    Answer(&'a BTreeMap<Symbol, &'static str>),
}

impl ReportedBy<'_> {
    pub(super) fn provider_of(self, symbol: Symbol) -> Option<&'static str> {
        match self {
            Self::Stream(provider) => provider,
            Self::Answer(providers) => providers.get(&symbol).copied(),
        }
    }
}
