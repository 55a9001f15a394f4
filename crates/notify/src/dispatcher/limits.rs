//! How much at once.

use jiff::SignedDuration;

use super::lane::Standing;

/// The bounds of a dispatcher. They say what one endpoint, one host, one account and all bad endpoints together can take
/// from the others. A bound of zero counts as one: it would stop all work.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Attempts at endpoints that are quick and take what comes, at once.
    pub good_at_once: usize,
    /// Attempts at endpoints of which nothing is known yet, at once.
    pub new_at_once: usize,
    /// Attempts at endpoints that fail or are slow, at once.
    pub poor_at_once: usize,
    /// Attempts at new and poor endpoints together, those included that turned out slow after they had begun.
    pub doubtful_at_once: usize,
    /// All attempts at once. Each takes a file descriptor.
    pub at_once: usize,
    /// Attempts at one good endpoint at once.
    pub each_good: usize,
    /// Attempts at one endpoint that is new or poor.
    pub each_doubtful: usize,
    /// Attempts at one host.
    pub each_host: usize,
    /// Attempts for one account.
    pub each_account: usize,
    /// Claimed deliveries that wait for their turn in memory, of good endpoints; of new and of poor ones, half as many each.
    pub waiting: usize,
    /// Claimed deliveries that wait for one good endpoint.
    pub waiting_each: usize,
    /// So many results are settled at a time.
    pub settled_at_once: usize,
    /// An attempt that takes longer makes its endpoint a poor one.
    pub slow_after: SignedDuration,
    /// How long a claim lasts; at least twice as long as an attempt may take.
    pub lease: SignedDuration,
    /// How long an attempt may take; nothing is begun whose claim ends sooner.
    pub longest_attempt: SignedDuration,
    /// How often to look for what nobody rang for: other processes' deliveries, claims that ended.
    pub look_every: SignedDuration,
    /// The pause between two claims of deliveries to endpoints that fail or are slow. They come in fewer, larger transactions,
    /// which hold up those of other deliveries less.
    pub poor_claim_pause: SignedDuration,
    /// How long to wait after the outbox has failed.
    pub retry_outbox: SignedDuration,
    /// How long attempts may go on when the dispatcher is stopped.
    pub drain: SignedDuration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            good_at_once: 256,
            new_at_once: 256,
            poor_at_once: 256,
            doubtful_at_once: 512,
            at_once: 768,
            each_good: 8,
            each_doubtful: 2,
            each_host: 32,
            each_account: 32,
            waiting: 1_024,
            waiting_each: 16,
            settled_at_once: 512,
            slow_after: SignedDuration::from_secs(1),
            lease: SignedDuration::from_secs(60),
            longest_attempt: SignedDuration::from_secs(10),
            look_every: SignedDuration::from_secs(15),
            poor_claim_pause: SignedDuration::from_millis(100),
            retry_outbox: SignedDuration::from_secs(1),
            drain: SignedDuration::from_secs(10),
        }
    }
}

/// Nothing is looked for, or asked again, more often than this.
const BREATH: SignedDuration = SignedDuration::from_millis(100);

impl Limits {
    /// The same limits, but with what would stop all work, or keep the dispatcher busy with nothing, made as little as works:
    /// with no attempt at all nothing is delivered, and with claims that end before an attempt does, all that is claimed
    /// goes back at once.
    pub(super) fn workable(mut self) -> Self {
        for count in [
            &mut self.good_at_once,
            &mut self.new_at_once,
            &mut self.poor_at_once,
            &mut self.doubtful_at_once,
            &mut self.at_once,
            &mut self.each_good,
            &mut self.each_doubtful,
            &mut self.each_host,
            &mut self.each_account,
            &mut self.waiting_each,
            &mut self.settled_at_once,
        ] {
            *count = (*count).max(1);
        }
        self.waiting = self.waiting.max(2);
        self.slow_after = self.slow_after.max(SignedDuration::from_millis(1));
        self.longest_attempt = self.longest_attempt.max(BREATH);
        self.lease = self.lease.max(self.longest_attempt.saturating_mul(2));
        self.look_every = self.look_every.max(BREATH);
        self.retry_outbox = self.retry_outbox.max(BREATH);
        self
    }

    pub(super) fn of_class(&self, standing: Standing) -> usize {
        match standing {
            Standing::Good => self.good_at_once,
            Standing::New => self.new_at_once,
            Standing::Poor => self.poor_at_once,
        }
    }

    pub(super) fn each(&self, standing: Standing) -> usize {
        match standing {
            Standing::Good => self.each_good,
            Standing::New | Standing::Poor => self.each_doubtful,
        }
    }

    /// Claimed deliveries that may wait in memory.
    pub(super) fn waiting_of_class(&self, standing: Standing) -> usize {
        match standing {
            Standing::Good => self.waiting,
            Standing::New | Standing::Poor => self.waiting / 2,
        }
    }

    /// Claimed deliveries that may wait for one endpoint.
    pub(super) fn waiting_for(&self, standing: Standing) -> usize {
        match standing {
            Standing::Good => self.waiting_each,
            Standing::New | Standing::Poor => self.each_doubtful,
        }
    }
}
