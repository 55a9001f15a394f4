//! Whom a question is about, by the provider's names for them.

use std::collections::BTreeMap;

use market::Symbol;

use super::symbols::Style;

/// The symbols of a question. The answer comes back under the names that were asked for.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    style: Style,
    /// By the provider's name; several, where both BRK.B and BRK-B were asked for.
    names: BTreeMap<String, Vec<Symbol>>,
}

impl Asked {
    /// The symbols as `style` writes them.
    pub(super) fn new(symbols: &[Symbol], style: Style) -> Self {
        let mut names: BTreeMap<String, Vec<Symbol>> = BTreeMap::new();
        for &symbol in symbols {
            let known = names.entry(style.write(symbol)).or_default();
            if !known.contains(&symbol) {
                known.push(symbol);
            }
        }
        Self { style, names }
    }

    /// Them in pieces of at most so many.
    pub(super) fn pieces(&self, most: usize) -> Vec<Self> {
        let names: Vec<_> = self.names.iter().collect();
        let piece = |names: &[(&String, &Vec<Symbol>)]| Self {
            style: self.style,
            names: names
                .iter()
                .map(|(name, symbols)| ((*name).clone(), (*symbols).clone()))
                .collect(),
        };
        names.chunks(most.max(1)).map(piece).collect()
    }

    /// Their names, with commas between.
    pub(super) fn list(&self) -> String {
        self.names.keys().map(String::as_str).collect::<Vec<_>>().join(",")
    }

    /// Whom the provider's `name` stands for, among those asked for.
    pub(super) fn of(&self, name: &str) -> &[Symbol] {
        self.names.get(name).map_or(&[], Vec::as_slice)
    }

    /// The symbols that `knows` is not true of.
    pub(super) fn missing(&self, knows: impl Fn(&str) -> bool) -> Vec<Symbol> {
        let missing = self.names.iter().filter(|(name, _)| !knows(name));
        missing.flat_map(|(_, symbols)| symbols.iter().copied()).collect()
    }

    /// Leaves out the provider's `name`, and tells whom it stood for.
    pub(super) fn leave_out(&mut self, name: &str) -> Vec<Symbol> {
        self.names.remove(name).unwrap_or_default()
    }

    /// How many there are, by the provider's names.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// The first of them; nothing where a question names nobody.
    pub(super) fn first(&self) -> &str {
        self.names.keys().next().map_or("", String::as_str)
    }

    /// One piece with nobody in it, for what is answered about the whole market.
    pub(super) fn nobody() -> Vec<Self> {
        vec![Self::new(&[], Style::Dot)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols(texts: &[&str]) -> Vec<Symbol> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn the_answer_comes_back_under_each_name_that_was_asked_for() {
        let asked = Asked::new(&symbols(&["BRK.B", "AAPL", "BRK-B", "AAPL"]), Style::Dash);
        assert_eq!(asked.list(), "AAPL,BRK-B");
        assert_eq!(asked.of("BRK-B"), symbols(&["BRK.B", "BRK-B"]));
        assert_eq!(asked.of("AAPL"), symbols(&["AAPL"]));
        assert_eq!(asked.of("MSFT"), symbols(&[]));
    }

    #[test]
    fn pieces_have_at_most_so_many_and_together_all() {
        let asked = Asked::new(&symbols(&["A", "B", "C", "D", "E"]), Style::Dot);
        let lists: Vec<_> = asked.pieces(2).iter().map(Asked::list).collect();
        assert_eq!(lists, ["A,B", "C,D", "E"]);
        assert!(Asked::new(&[], Style::Dot).pieces(2).is_empty());
    }

    #[test]
    fn who_is_not_known_is_missing() {
        let asked = Asked::new(&symbols(&["A", "B", "C"]), Style::Dot);
        assert_eq!(asked.missing(|name| name == "B"), symbols(&["A", "C"]));
    }
}
