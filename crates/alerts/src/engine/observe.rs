//! Full evaluation of the alerts of one stock.
//!
//! An observation outside the quiet band evaluates every group exactly and recomputes the band. A band that is narrower than
//! necessary, for example after an alert was deleted, causes an extra evaluation and no wrong result.

use jiff::Timestamp;
use jiff::civil::Date;

use super::decision::{AlertAction, Decision};
use super::event::Quote;
use super::group::{Band, Group, GroupKey, View, compare_with_average_of};
use super::hot_line::{HotLine, NO_DAY, seconds};
use super::level_index::Slot;
use super::level_key::rsi_key;
use super::reason::reason_for;
use super::registry::Registry;
use super::stock::Stock;
use crate::condition::{Condition, Side};

impl Stock {
    /// Evaluates an observation outside the quiet band. Returns `false` if its session is already completed.
    pub(super) fn observe(
        &mut self,
        hot: &mut HotLine,
        quote: &Quote,
        (date, day): (Date, i32),
        now: Timestamp,
        registry: &mut Registry,
        out: &mut Vec<Decision>,
    ) -> bool {
        self.previous_at_s = (hot.day == day).then_some(hot.observed_at_s);
        if hot.day != day {
            if hot.day > day || self.is_completed(date) {
                return false;
            }
            self.begin_session(hot, date, day, quote.price);
        }
        self.remember_range(hot);
        hot.volume = hot.volume.max(quote.volume);
        hot.last = quote.price.micros();
        self.last_date = Some(date);
        hot.observed_at_s = seconds(now);
        self.evaluate(hot, false, now, registry, out);
        hot.high = hot.high.max(hot.last);
        hot.low = hot.low.min(hot.last);
        self.draw_band(hot);
        true
    }

    /// Evaluates everything that was armed or became known since the last observation of the session `day` against that
    /// observation.
    pub(super) fn reevaluate(
        &mut self,
        hot: &mut HotLine,
        day: i32,
        now: Timestamp,
        registry: &mut Registry,
        out: &mut Vec<Decision>,
    ) {
        if hot.day == day && self.session.is_some() {
            self.evaluate(hot, true, now, registry, out);
            self.draw_band(hot);
        }
    }

    /// Evaluates every group. An observation that is evaluated `again` is not new, so it cannot touch an average or set an
    /// extreme.
    fn evaluate(
        &mut self,
        hot: &mut HotLine,
        again: bool,
        now: Timestamp,
        registry: &mut Registry,
        out: &mut Vec<Decision>,
    ) {
        self.forget_old_bands(hot);
        self.set_rsi_sides(hot, now, registry, out);
        let mut groups = std::mem::take(&mut self.groups);
        let view = self.view(hot, false);
        let price = Self::last_price(hot);
        let mut identities = Vec::new();
        for group in &mut groups {
            let key = group.key;
            if again && matches!(key, GroupKey::Touch { .. } | GroupKey::Extreme(_)) {
                continue;
            }
            if group.band.contains(view.price, view.volume) {
                continue;
            }
            group.band = Band::EMPTY;
            if let Some(reached) = group.reached(&view) {
                group.index.drain_through(reached, |levels, slots| {
                    // In two passes: reads of identities, which lie anywhere, overlap if nothing comes between them.
                    registry.retire_all(slots, &mut identities);
                    let fired = levels.iter().zip(slots).zip(&identities);
                    out.extend(fired.map(|((&level, &slot), &(alert, revision))| Decision {
                        alert,
                        revision,
                        stock: registry.alert(slot).stock,
                        at: now,
                        action: AlertAction::Fire {
                            price,
                            reason: reason_for(key, level, &view, registry, slot),
                        },
                    }));
                });
            }
            if !again {
                group.remember(&view);
            }
        }
        groups.retain(|group| !group.index.is_empty());
        self.groups = groups;
    }

    /// Computes the quiet band again without an evaluation.
    pub(super) fn settle(&mut self, hot: &mut HotLine) {
        self.forget_old_bands(hot);
        self.draw_band(hot);
    }

    /// Forgets the bands of all groups if something besides the price and the volume has changed, which empties the stock's band.
    fn forget_old_bands(&mut self, hot: &HotLine) {
        if hot.is_unsettled() {
            self.groups.iter_mut().for_each(|group| group.band = Band::EMPTY);
        }
    }

    /// Computes the bands that have to be computed, and narrows the stock's band to all of them.
    fn draw_band(&mut self, hot: &mut HotLine) {
        let mut band = Band::WIDE;
        let mut groups = std::mem::take(&mut self.groups);
        let view = self.view(hot, true);
        for group in &mut groups {
            if group.band == Band::EMPTY {
                let mut own = Band::WIDE;
                group.tighten(&view, &mut own);
                group.band = own;
            }
            band.intersect(&group.band);
        }
        self.groups = groups;
        self.rules.tighten(&mut band);
        hot.set_band(band);
    }

    /// Adds an alert to its group and narrows the quiet band.
    pub(super) fn insert(&mut self, hot: &mut HotLine, key: GroupKey, level: i64, slot: Slot) {
        let at = self
            .groups
            .iter()
            .position(|group| group.key == key)
            .unwrap_or_else(|| {
                self.track(key);
                let previous = self.previous_side(hot, key);
                self.groups.push(Group {
                    previous,
                    ..Group::new(key)
                });
                self.groups.len() - 1
            });
        self.groups[at].index.insert(level, slot);
        self.groups[at].band = Band::EMPTY;
        if hot.day != NO_DAY {
            let mut band = Band {
                lo: hot.lo,
                hi: hot.hi,
                volume_hi: hot.volume_hi,
            };
            self.groups[at].tighten(&self.view(hot, true), &mut band);
            if hot.volume >= band.volume_hi {
                // The volume is already reached, and the next quote may come without a volume.
                band = Band::EMPTY;
            }
            hot.set_band(band);
        }
    }

    pub(super) fn remove(&mut self, key: GroupKey, level: i64, slot: Slot) {
        if let Some(at) = self.groups.iter().position(|group| group.key == key) {
            self.groups[at].index.remove(level, slot);
            if self.groups[at].index.is_empty() {
                self.groups.swap_remove(at);
            }
        }
    }

    /// Lets the history maintain the sums that the group needs at every observation.
    fn track(&mut self, key: GroupKey) {
        match key {
            GroupKey::Cross(_) => [49, 50, 199, 200]
                .into_iter()
                .for_each(|len| self.history.track_closes(len)),
            GroupKey::Touch { period, .. } => self.history.track_closes(usize::from(period) - 1),
            GroupKey::Volume(baseline) => self.history.track_volumes(usize::from(baseline.sessions())),
            _ => {}
        }
    }

    /// Returns the side of the average on which the last observation was, with the average of its time.
    pub(super) fn previous_side(&self, hot: &HotLine, key: GroupKey) -> Option<std::cmp::Ordering> {
        let GroupKey::Touch { period, .. } = key else {
            return None;
        };
        if hot.last == 0 {
            return None;
        }
        compare_with_average_of(self.last_date?, hot.last, period, &self.history)
    }

    /// Returns the stock as of the last observation. With `after`, the observation itself counts for the extremes.
    pub(super) fn view(&self, hot: &HotLine, after: bool) -> View<'_> {
        let (mut high, mut low) = self
            .session
            .map_or((None, None), |session| (session.high_before, session.low_before));
        if hot.high >= hot.low {
            high = high.max(Some(hot.high));
            low = Some(low.map_or(hot.low, |low| low.min(hot.low)));
        }
        if after && hot.day != NO_DAY {
            high = high.max(Some(hot.last));
            low = Some(low.map_or(hot.last, |low| low.min(hot.last)));
        }
        View {
            price: hot.last,
            volume: hot.volume,
            high,
            low,
            history: &self.history,
            fundamentals: &self.fundamentals,
        }
    }

    /// Sets the side of RSI alerts for both directions as soon as the RSI has a value.
    fn set_rsi_sides(&mut self, hot: &mut HotLine, now: Timestamp, registry: &mut Registry, out: &mut Vec<Decision>) {
        let Some(at) = self.groups.iter().position(|group| group.key == GroupKey::RsiUndecided) else {
            return;
        };
        let Some(rsi) = self.history.rsi().micros_at(hot.last) else {
            return;
        };
        for (_, slot) in self.groups.swap_remove(at).index.iter() {
            let Condition::Rsi { threshold, .. } = registry.alert(slot).condition else {
                continue;
            };
            let side = other_side(rsi, threshold.micros());
            out.push(registry.set_rsi_side(slot, side, now));
            let (key, level) = rsi_key(Some(side), threshold.micros());
            self.insert(hot, key, level, slot);
        }
    }
}

/// Returns the side of the threshold opposite to the RSI.
pub(super) fn other_side(now: i64, threshold: i64) -> Side {
    if now >= threshold { Side::Below } else { Side::Above }
}
