//! Stocks that belong together, because an alert is over several of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ::market::Symbol;

use crate::evaluator::Evaluator;

/// The sets of linked stocks.
#[derive(Debug, Default)]
pub(crate) struct StockLinks {
    /// For each linked stock another one of its set, or itself.
    parents: HashMap<Symbol, Symbol>,
}

impl StockLinks {
    /// Links the stocks of an alert.
    fn link(&mut self, stocks: impl IntoIterator<Item = Symbol>) {
        let mut stocks = stocks.into_iter();
        let Some(first) = stocks.next() else {
            return;
        };
        let root = self.root(first);
        self.parents.entry(root).or_insert(root);
        for stock in stocks {
            let other = self.root(stock);
            self.parents.insert(other, root);
        }
    }

    /// Returns the representative of a stock's set.
    fn root(&self, stock: Symbol) -> Symbol {
        let mut root = stock;
        while let Some(&parent) = self.parents.get(&root).filter(|parent| **parent != root) {
            root = parent;
        }
        root
    }

    /// Divides stocks into batches of about `size`, each with all stocks that are linked to one of it.
    pub(crate) fn batches(&self, stocks: impl IntoIterator<Item = Symbol>, size: usize) -> Vec<Vec<Symbol>> {
        let mut members: BTreeMap<Symbol, BTreeSet<Symbol>> = BTreeMap::new();
        for &stock in self.parents.keys() {
            members.entry(self.root(stock)).or_default().insert(stock);
        }
        let roots: BTreeSet<Symbol> = stocks.into_iter().map(|stock| self.root(stock)).collect();
        let mut batches: Vec<Vec<Symbol>> = Vec::new();
        for root in roots {
            let set = members.remove(&root).unwrap_or_else(|| BTreeSet::from([root]));
            match batches.last_mut().filter(|batch| batch.len() + set.len() <= size) {
                Some(batch) => batch.extend(set),
                None => batches.push(set.into_iter().collect()),
            }
        }
        batches
    }
}

impl Evaluator {
    /// Returns the links of all stocks by the armed alerts.
    pub(crate) fn stock_links(&self) -> StockLinks {
        let mut links = StockLinks::default();
        self.read(|engine| {
            for (_, stocks) in engine.rules_of_several_stocks() {
                links.link(stocks);
            }
        });
        links
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batches(links: &[&[&str]], stocks: &[&str], size: usize) -> Vec<Vec<String>> {
        let symbols = |names: &[&str]| names.iter().map(|name| name.parse().unwrap()).collect::<Vec<Symbol>>();
        let mut known = StockLinks::default();
        for stocks in links {
            known.link(symbols(stocks));
        }
        let batches = known.batches(symbols(stocks), size).into_iter();
        batches
            .map(|batch| batch.iter().map(Symbol::to_string).collect())
            .collect()
    }

    #[test]
    fn batch_has_all_linked_stocks() {
        assert_eq!(batches(&[], &["A", "B", "C"], 2), [vec!["A", "B"], vec!["C"]]);
        let links: [&[&str]; 2] = [&["A", "Z"], &["Z", "C"]];
        assert_eq!(batches(&links, &["A", "B", "C"], 2), [vec!["A", "C", "Z"], vec!["B"]]);
        assert_eq!(batches(&links, &["B"], 2), [vec!["B"]]);
        assert_eq!(batches(&links, &["C"], 9), [vec!["A", "C", "Z"]]);
    }
}
