//! Suggestions for misspelt keys.

/// Returns the end of a message about an unknown name: the nearest known name, or all known names.
pub(crate) fn did_you_mean(text: &str, known: &[&str]) -> String {
    let distance = |name: &str| strsim::damerau_levenshtein(&text.to_lowercase(), name);
    // A third of the letters may be wrong.
    let allowed = text.chars().count().div_ceil(3);
    let nearest = known
        .iter()
        .min_by_key(|name| distance(name))
        .filter(|name| distance(name) <= allowed);
    match nearest {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("the known keys are {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_name_is_suggested_and_otherwise_all_are_named() {
        let known = ["name", "symbol", "threshold"];
        assert_eq!(did_you_mean("treshold", &known), "did you mean `threshold`?");
        assert_eq!(did_you_mean("Name", &known), "did you mean `name`?");
        assert_eq!(
            did_you_mean("frequency", &known),
            "the known keys are name, symbol, threshold"
        );
    }
}
