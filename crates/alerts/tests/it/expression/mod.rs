//! The language of expressions.

mod conversion;
mod crossings;
mod documentation;
mod errors;
mod evaluation;
mod fraction;
pub(crate) mod generator;
mod grammar;
mod limits;
mod oracle;
mod price_effect;
mod properties;
mod sentences;
mod shape;
pub(crate) mod support;
