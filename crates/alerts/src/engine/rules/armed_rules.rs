//! The armed rules and their scheduled instants.

use std::collections::BTreeSet;

use hashbrown::HashMap;
use jiff::Timestamp;

use super::rule::ArmedRule;
use crate::alert::AlertId;
use crate::engine::level_index::Slot;

/// The armed rules by alert, and the instants at which they are judged without an observation.
#[derive(Clone, Debug, Default)]
pub(in crate::engine) struct ArmedRules {
    slots: HashMap<AlertId, Slot>,
    rules: Vec<Option<Box<ArmedRule>>>,
    free: Vec<Slot>,
    moments: BTreeSet<(Timestamp, Slot)>,
    /// The rules of facts alone that were not judged since they were armed.
    unjudged: BTreeSet<Slot>,
    /// The rules that were re-armed since the last evaluation.
    rearmed: BTreeSet<Slot>,
    /// The number of rules that use details of quotes.
    with_quote_details: usize,
}

impl ArmedRules {
    /// Returns the number of armed rules.
    pub(in crate::engine) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns whether a rule uses details of quotes.
    pub(in crate::engine) const fn use_quote_details(&self) -> bool {
        self.with_quote_details > 0
    }

    /// Returns the armed rules.
    pub(in crate::engine) fn iter(&self) -> impl Iterator<Item = &ArmedRule> {
        self.rules.iter().flatten().map(AsRef::as_ref)
    }

    /// Returns the armed rules.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut ArmedRule> {
        self.rules.iter_mut().flatten().map(AsMut::as_mut)
    }

    /// Returns an armed rule.
    pub(in crate::engine) fn find(&self, id: AlertId) -> Option<&ArmedRule> {
        let slot = self.slots.get(&id)?;
        self.rules.get(slot.0 as usize)?.as_deref()
    }

    /// Returns the first scheduled instant.
    pub(in crate::engine) fn next_moment(&self) -> Option<Timestamp> {
        self.moments.first().map(|&(at, _)| at)
    }

    /// Adds a rule that is not armed yet.
    ///
    /// # Panics
    /// Panics beyond 2³² rules.
    pub(super) fn add(&mut self, id: AlertId, rule: ArmedRule) -> Slot {
        self.with_quote_details += usize::from(rule.has_quote_details);
        let slot = self.free.pop().unwrap_or_else(|| {
            self.rules.push(None);
            Slot(u32::try_from(self.rules.len() - 1).expect("fewer than 2^32 rules"))
        });
        self.rules[slot.0 as usize] = Some(Box::new(rule));
        self.slots.insert(id, slot);
        slot
    }

    /// Removes a rule and returns it.
    pub(super) fn remove(&mut self, id: AlertId) -> Option<(Slot, Box<ArmedRule>)> {
        let slot = self.slots.remove(&id)?;
        self.unjudged.remove(&slot);
        self.rearmed.remove(&slot);
        let rule = self.take(slot)?;
        self.with_quote_details -= usize::from(rule.has_quote_details);
        self.free.push(slot);
        Some((slot, rule))
    }

    /// Takes a rule out for a judgement. [`put_back`](Self::put_back) must follow.
    pub(super) fn take(&mut self, slot: Slot) -> Option<Box<ArmedRule>> {
        self.rules.get_mut(slot.0 as usize)?.take()
    }

    /// Puts a rule back after its judgement.
    pub(super) fn put_back(&mut self, slot: Slot, rule: Box<ArmedRule>) {
        self.rules[slot.0 as usize] = Some(rule);
    }

    /// Lets a rule of facts alone be judged soon.
    pub(super) fn add_unjudged(&mut self, slot: Slot) {
        self.unjudged.insert(slot);
    }

    /// Returns the rules of facts alone that were not judged since they were armed, and forgets them.
    pub(super) fn take_unjudged(&mut self) -> BTreeSet<Slot> {
        std::mem::take(&mut self.unjudged)
    }

    /// Lets a rule that was re-armed be judged at the next evaluation.
    pub(super) fn add_rearmed(&mut self, slot: Slot) {
        self.rearmed.insert(slot);
    }

    /// Returns the rules that were re-armed since the last evaluation, and forgets them.
    pub(in crate::engine) fn take_rearmed(&mut self) -> BTreeSet<Slot> {
        std::mem::take(&mut self.rearmed)
    }

    /// Returns a rule.
    pub(super) fn get(&self, slot: Slot) -> Option<&ArmedRule> {
        self.rules.get(slot.0 as usize)?.as_deref()
    }

    /// Returns a rule.
    pub(super) fn get_mut(&mut self, slot: Slot) -> Option<&mut ArmedRule> {
        self.rules.get_mut(slot.0 as usize)?.as_deref_mut()
    }

    /// Moves the scheduled instant of a rule.
    pub(super) fn schedule(&mut self, slot: Slot, from: Option<Timestamp>, to: Option<Timestamp>) {
        if from != to {
            from.map(|at| self.moments.remove(&(at, slot)));
            to.map(|at| self.moments.insert((at, slot)));
        }
    }

    /// Returns the next rule whose instant has come, with the instant, and forgets it.
    pub(super) fn pop_due(&mut self, now: Timestamp) -> Option<(Timestamp, Slot)> {
        self.moments.first().filter(|(at, _)| *at <= now)?;
        self.moments.pop_first()
    }
}
