//! Comparison operators in words.

use super::ast::Relation;

/// The words of each relation. No entry begins with the words of an earlier one.
pub(super) const RELATION_WORDS: &[(&[&str], Relation)] = &[
    (&["at", "or", "below"], Relation::AtMost),
    (&["at", "most"], Relation::AtMost),
    (&["at", "or", "above"], Relation::AtLeast),
    (&["at", "least"], Relation::AtLeast),
    (&["less", "than"], Relation::Below),
    (&["below"], Relation::Below),
    (&["under"], Relation::Below),
    (&["more", "than"], Relation::Above),
    (&["above"], Relation::Above),
    (&["over"], Relation::Above),
];

/// The words of a relation after its right side: `is 180 or below`.
pub(super) const RELATION_SUFFIXES: &[(&[&str], Relation)] = &[
    (&["or", "below"], Relation::AtMost),
    (&["or", "above"], Relation::AtLeast),
];

/// The words that begin a comparison's operator.
pub(super) const OPERATOR_WORDS: &[&str] = &[
    "is", "are", "does", "do", "between", "crosses", "cross", "falls", "rises", "below", "under", "less", "above",
    "over", "more", "at",
];

/// The signs that begin a comparison's operator.
pub(super) const OPERATOR_SIGNS: &[&str] = &["<", "<=", ">", ">="];

/// Words with a meaning, which are no metrics.
pub(super) const KEYWORDS: &[&str] = &["and", "or", "not", "while", "to", "than", "most", "least", "its"];

/// Returns the words of a relation in a sentence.
pub(super) const fn relation_in_words(relation: Relation) -> &'static str {
    match relation {
        Relation::Below => "under",
        Relation::AtMost => "at or below",
        Relation::Above => "over",
        Relation::AtLeast => "at or above",
    }
}
