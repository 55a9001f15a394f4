//! Suggestions for misspelt names.

/// The maximum number of suggestions.
const MAX_SUGGESTIONS: usize = 3;

/// Returns the known names that are nearest to a misspelt one, the best first.
pub(crate) fn nearest(text: &str, known: impl IntoIterator<Item = &'static str>) -> Vec<String> {
    let text = text.to_ascii_lowercase();
    // Names of one or two letters match almost anything after one error.
    let allowed = match text.chars().count() {
        0..=1 => 0,
        2..=4 => 1,
        _ => 2,
    };
    let mut scored: Vec<(usize, &str)> = known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&text, name), name))
        .filter(|(distance, _)| *distance <= allowed)
        .collect();
    scored.sort_unstable();
    scored.dedup();
    scored.truncate(MAX_SUGGESTIONS);
    scored.into_iter().map(|(_, name)| name.to_owned()).collect()
}
