//! The expressions and recipes of `docs/rules.md`.

const PAGE: &str = include_str!("../../../../../docs/rules.md");

/// A recipe of the page.
pub(super) struct Recipe {
    /// The title.
    pub(super) title: &'static str,
    /// The JSON of the alert.
    pub(super) alert: &'static str,
    /// The firings on recorded data.
    pub(super) firings: &'static str,
}

/// Returns all recipes in the order of the page.
pub(super) fn recipes() -> Vec<Recipe> {
    let (_, section) = PAGE.split_once("\n## Recipes\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    section.split("\n### ").skip(1).map(recipe).collect()
}

fn recipe(text: &'static str) -> Recipe {
    let (title, text) = text.split_once('\n').unwrap();
    let (_, text) = text.split_once("```json alert\n").unwrap();
    let (alert, text) = text.split_once("```").unwrap();
    let firings = text.lines().find(|line| line.starts_with("Firings: "));
    Recipe {
        title,
        alert,
        firings: firings.unwrap_or_else(|| panic!("{title} lacks its firings")),
    }
}

/// Returns the expressions in the table of examples.
pub(super) fn examples() -> Vec<&'static str> {
    let (_, section) = PAGE.split_once("\n| part | examples |\n").unwrap();
    let rows = section.lines().take_while(|line| line.starts_with('|'));
    rows.flat_map(|row| row.split('`').skip(1).step_by(2)).collect()
}
