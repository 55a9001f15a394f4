use std::collections::HashMap;

use uuid::Uuid;

use super::*;

const A: NodeId = NodeId(Uuid::from_u128(1));
const B: NodeId = NodeId(Uuid::from_u128(2));
const C: NodeId = NodeId(Uuid::from_u128(3));

fn node(id: NodeId) -> ClusterNode {
    ClusterNode {
        id,
        name: format!("node-{}", id.0.as_u128()),
        roles: 0,
        is_connected: true,
    }
}

fn free(shard: Shard) -> ShardState {
    ShardState {
        shard,
        owner: None,
        standby: None,
        is_standby_ready: false,
        epoch: Epoch(0),
        clock: None,
    }
}

/// A database that carries out the plans of nodes at once, as the statements of the store do.
struct Shards {
    state: ClusterState,
    roles: HashMap<NodeId, [ShardRole; Shard::COUNT]>,
}

impl Shards {
    fn of(nodes: &[NodeId]) -> Self {
        Self {
            state: ClusterState {
                nodes: nodes.iter().map(|id| node(*id)).collect(),
                shards: Shard::all().map(free).collect(),
            },
            roles: HashMap::new(),
        }
    }

    fn add(&mut self, id: NodeId) {
        self.state.nodes.push(node(id));
    }

    /// Ends a node: it renews no lease any more.
    fn end(&mut self, id: NodeId) {
        self.state.nodes.retain(|node| node.id != id);
    }

    fn disconnect(&mut self, id: NodeId) {
        for node in self.state.nodes.iter_mut().filter(|node| node.id == id) {
            node.is_connected = false;
        }
    }

    fn plan_of(&mut self, id: NodeId) -> Plan {
        let roles = self.roles.entry(id).or_insert([ShardRole::Elsewhere; Shard::COUNT]);
        let evaluators: Vec<&ClusterNode> = self.state.nodes.iter().collect();
        let own = OwnNode {
            id,
            roles,
            may_claim: true,
        };
        plan(&self.state, &evaluators, own)
    }

    fn step(&mut self, id: NodeId) {
        let plan = self.plan_of(id);
        let state = &mut self.state;
        let Some(roles) = self.roles.get_mut(&id) else { return };
        let at = |shard: Shard| usize::from(shard.0);
        for shard in plan.lost {
            roles[at(shard)] = ShardRole::Elsewhere;
        }
        for (shard, epoch) in plan.owned {
            roles[at(shard)] = ShardRole::Owner(epoch);
        }
        for shard in plan.standing_by {
            roles[at(shard)] = ShardRole::Standby;
            state.shards[at(shard)].is_standby_ready = true;
        }
        for (shard, epoch) in plan.claim {
            let row = &mut state.shards[at(shard)];
            assert_eq!(row.epoch, epoch);
            if row.standby == Some(id) {
                (row.standby, row.is_standby_ready) = (None, false);
            }
            (row.owner, row.epoch) = (Some(id), Epoch(epoch.0 + 1));
            roles[at(shard)] = ShardRole::Owner(row.epoch);
        }
        for (shard, replaced) in plan.stand_by {
            let row = &mut state.shards[at(shard)];
            assert_eq!(row.standby, replaced);
            (row.standby, row.is_standby_ready) = (Some(id), true);
            roles[at(shard)] = ShardRole::Standby;
        }
        for (shard, epoch) in plan.hand_over {
            let row = &mut state.shards[at(shard)];
            (row.owner, row.standby, row.epoch) = (row.standby, Some(id), Epoch(epoch.0 + 1));
            roles[at(shard)] = ShardRole::Standby;
        }
    }

    /// Lets all nodes take steps until none has a next one.
    fn settle(&mut self) {
        for _ in 0..20 {
            let before = self.state.clone();
            let ids: Vec<NodeId> = self.state.nodes.iter().map(|node| node.id).collect();
            for id in ids {
                self.step(id);
            }
            if self.state == before {
                return;
            }
        }
        panic!("the nodes move shards for ever");
    }

    /// The number of shards that a node owns.
    fn owned_by(&self, id: NodeId) -> usize {
        self.state.shards.iter().filter(|row| row.owner == Some(id)).count()
    }

    fn assert_each_has_owner_and_standby(&self) {
        for row in &self.state.shards {
            let live = |id: Option<NodeId>| id.is_some_and(|id| self.state.nodes.iter().any(|node| node.id == id));
            assert!(live(row.owner), "{row:?}");
            assert!(live(row.standby) && row.is_standby_ready, "{row:?}");
            assert_ne!(row.owner, row.standby);
        }
    }
}

#[test]
fn single_node_owns_all_shards_without_a_standby() {
    let mut shards = Shards::of(&[A]);
    shards.settle();
    assert_eq!(shards.owned_by(A), Shard::COUNT);
    assert!(shards.state.shards.iter().all(|row| row.standby.is_none()));
}

#[test]
fn nodes_share_the_shards_about_equally_and_each_has_a_standby() {
    let mut shards = Shards::of(&[A, B, C]);
    shards.settle();
    shards.assert_each_has_owner_and_standby();
    for id in [A, B, C] {
        assert!((60..=115).contains(&shards.owned_by(id)), "{}", shards.owned_by(id));
    }
}

#[test]
fn standbys_take_the_shards_of_a_node_that_ends_and_no_other_shard_moves() {
    let mut shards = Shards::of(&[A, B, C]);
    shards.settle();
    let before = shards.state.clone();
    shards.end(A);
    for id in [B, C] {
        for (shard, _) in shards.plan_of(id).claim {
            let row = before.shards[usize::from(shard.0)];
            assert_eq!((row.owner, row.standby), (Some(A), Some(id)));
        }
    }
    shards.settle();
    shards.assert_each_has_owner_and_standby();
    for (before, after) in before.shards.iter().zip(&shards.state.shards) {
        if before.owner == Some(A) {
            assert_eq!(after.owner, before.standby);
        } else {
            assert_eq!((after.owner, after.epoch), (before.owner, before.epoch));
        }
    }
}

#[test]
fn new_node_gets_its_share_as_a_standby_first() {
    let mut shards = Shards::of(&[A, B]);
    shards.settle();
    shards.add(C);
    let first = shards.plan_of(C);
    assert!(first.claim.is_empty(), "the shards have owners");
    assert!(!first.stand_by.is_empty());
    assert!(
        shards.plan_of(A).hand_over.is_empty(),
        "the new node has not read the alerts"
    );
    shards.settle();
    shards.assert_each_has_owner_and_standby();
    assert!(shards.owned_by(C) > 60);
}

#[test]
fn node_that_is_restarted_gets_the_same_shards_by_its_name() {
    let mut shards = Shards::of(&[A, B]);
    shards.settle();
    let owned: Vec<Shard> = owned_shards(&shards, A);
    let restarted = NodeId(Uuid::from_u128(9));
    shards.end(A);
    shards.settle();
    shards.state.nodes.push(ClusterNode {
        id: restarted,
        ..node(A)
    });
    shards.settle();
    assert_eq!(owned_shards(&shards, restarted), owned);
}

fn owned_shards(shards: &Shards, id: NodeId) -> Vec<Shard> {
    let owned = shards.state.shards.iter().filter(|row| row.owner == Some(id));
    owned.map(|row| row.shard).collect()
}

#[test]
fn shards_of_a_node_without_market_data_go_to_connected_nodes() {
    let mut shards = Shards::of(&[A, B, C]);
    shards.settle();
    shards.disconnect(A);
    shards.settle();
    assert_eq!(shards.owned_by(A), 0);
    assert_eq!(shards.owned_by(B) + shards.owned_by(C), Shard::COUNT);
}

#[test]
fn shards_go_to_a_connected_node_if_neither_owner_nor_standby_receives_market_data() {
    let mut shards = Shards::of(&[A, B, C]);
    shards.settle();
    shards.disconnect(A);
    shards.disconnect(B);
    shards.settle();
    assert_eq!(shards.owned_by(C), Shard::COUNT);
}

#[test]
fn standby_whose_readiness_is_not_stored_stores_it_again() {
    let mut shards = Shards::of(&[A, B]);
    shards.settle();
    let row = &mut shards.state.shards[7];
    row.is_standby_ready = false;
    let (shard, standby) = (row.shard, row.standby.unwrap());
    assert_eq!(shards.plan_of(standby).ready, [shard]);
}

#[test]
fn nodes_keep_their_shards_when_none_receives_market_data() {
    let mut shards = Shards::of(&[A, B]);
    shards.settle();
    let before = shards.state.shards.clone();
    shards.disconnect(A);
    shards.disconnect(B);
    shards.settle();
    assert_eq!(shards.state.shards, before);
}

#[test]
fn shard_waits_for_its_ready_standby_and_not_for_one_that_has_read_nothing() {
    let mut shards = Shards::of(&[A, B, C]);
    let ranked_first = |shard: Shard| {
        let nodes = [node(B), node(C)];
        first(shard.0, &nodes.iter().collect::<Vec<_>>()).unwrap()
    };
    for row in &mut shards.state.shards {
        let other = if ranked_first(row.shard) == B { C } else { B };
        (row.owner, row.standby, row.is_standby_ready) = (Some(A), Some(other), row.shard.0 % 2 == 0);
    }
    shards.end(A);
    for id in [B, C] {
        for (shard, _) in shards.plan_of(id).claim {
            let is_ready = shard.0 % 2 == 0;
            assert_eq!(ranked_first(shard) != id, is_ready, "shard {}", shard.0);
        }
    }
    let claimed: usize = [B, C].map(|id| shards.plan_of(id).claim.len()).iter().sum();
    assert_eq!(claimed, Shard::COUNT);
}

#[test]
fn node_that_was_cut_off_gives_up_what_others_have_taken_and_takes_nothing_for_a_while() {
    let mut shards = Shards::of(&[A, B]);
    shards.settle();
    let owned = owned_shards(&shards, A);
    shards.end(A);
    shards.settle();
    shards.add(A);
    let evaluators: Vec<&ClusterNode> = shards.state.nodes.iter().collect();
    let own = OwnNode {
        id: A,
        roles: &shards.roles[&A],
        may_claim: false,
    };
    let plan = plan(&shards.state, &evaluators, own);
    assert_eq!(plan.lost, owned);
    assert_eq!((plan.claim, plan.stand_by), (Vec::new(), Vec::new()));
}
