//! Hints at the inputs of a condition.

/// Returns what a threshold is and which values it takes, once if the range says both.
pub(super) fn threshold_hint(description: &str, range: &str) -> String {
    let description = plain(description);
    match range.to_lowercase().starts_with(&description.to_lowercase()) {
        true => format!("{description}{}", range.get(description.len()..).unwrap_or_default()),
        false => format!("{description}: {range}"),
    }
}

/// Returns a description without the marks of code.
pub(super) fn plain(description: &str) -> String {
    description.replace('`', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threshold_is_described_once() {
        let range = "a price in US dollars above 0";
        assert_eq!(
            threshold_hint("A price in US dollars", range),
            "A price in US dollars above 0"
        );
        assert_eq!(threshold_hint("The `change`", "above 0"), "The change: above 0");
    }
}
