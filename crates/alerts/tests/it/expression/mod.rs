//! The language of expressions.

mod evaluation;
mod grammar;
mod support;
