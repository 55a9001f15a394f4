//! The limits of an expression.

/// The maximum length of an expression, in Unicode characters.
pub const MAX_CHARACTERS: usize = 1_000;

/// The maximum length of an expression in words, in Unicode characters. Words are longer than operators; the expression that
/// they state must still fit in [`MAX_CHARACTERS`].
pub const MAX_CHARACTERS_IN_WORDS: usize = 50_000;

/// The maximum number of comparisons.
pub const MAX_COMPARISONS: usize = 20;

/// The maximum number of symbols. The alert's own symbol counts if it is used.
pub const MAX_SYMBOLS: usize = 8;

/// The maximum number of parentheses, `not` and minus signs around a place.
pub const MAX_DEPTH: usize = 16;

/// The maximum number of constants and metrics of a comparison. Sums and products of many numbers need large fractions.
pub const MAX_NUMBERS_OF_COMPARISON: usize = 20;

/// The maximum number of constants and metrics: each needs a character and an operator.
pub(super) const MAX_NUMBERS: usize = MAX_CHARACTERS.div_ceil(2);
