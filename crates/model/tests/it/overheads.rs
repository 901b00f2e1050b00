//! Hosts whose costs of a message change with its size: predictions of linear scatters and gathers.

use crate::clusters;

use laneway_coll::find;
use laneway_core::{Collective, Shape};
use laneway_model::{Fitted, Model, ModelError, ModelKind, Request, fit, platform_text};
use laneway_sim::platform::Platform;
use laneway_sim::{HostCost, HostId, Network, Resource, Route, simulate};

/// From so many bytes on a message costs twice as much, and a byte less.
const STEP: u64 = 8192;

/// A cluster, with such costs.
struct Stepped(Platform);

impl Network for Stepped {
    fn hosts(&self) -> u32 {
        self.0.hosts()
    }

    fn resources(&self) -> &[Resource] {
        self.0.resources()
    }

    fn route(&self, from: HostId, to: HostId, route: &mut Route) {
        self.0.route(from, to, route);
    }

    fn cost(&self, host: HostId) -> HostCost {
        self.0.cost(host)
    }

    fn cost_of(&self, host: HostId, bytes: u64) -> Option<HostCost> {
        let HostCost { per_send, per_recv, per_byte_sent, per_byte_received } = self.cost(host);
        (bytes >= STEP).then_some(HostCost {
            per_send: 2.0 * per_send,
            per_recv: 2.0 * per_recv,
            per_byte_sent: 0.5 * per_byte_sent,
            per_byte_received: 0.5 * per_byte_received,
        })
    }

    fn eager_bytes(&self) -> u64 {
        self.0.eager_bytes()
    }
}

fn cluster() -> Platform {
    Platform::read(
        "cluster:6,rate=40Gbit,send=10us,receive=8us,per-byte=0.4ns,latency=20us,eager=64M",
    )
    .expect("a platform")
}

fn fitted(network: &dyn Network) -> Fitted {
    let sizes = vec![4 << 10, 64 << 10, 1 << 20];
    let request = Request { sizes, budget: 1e4, ..Request::default() };
    let found = clusters::estimated(network, &request).expect("experiments");
    fit(&found, ModelKind::Lmo).expect("a model")
}

#[test]
fn overheads_that_change_with_the_size_are_in_the_model() {
    let network = Stepped(cluster());
    let fitted = fitted(&network);
    assert!(fitted.quality.holds(), "{:?}", fitted.quality);
    let Model::Lmo(lmo) = &fitted.model else { panic!("LMO") };
    assert!(lmo.overheads.len() > 6, "{:?}", lmo.overheads);
    for collective in [Collective::Scatter, Collective::Gather, Collective::Bcast] {
        for bytes in [1, 1000, 4000, 7000, 10_000, 65_536, 100_000, 1 << 20] {
            let (algorithm, params) = find(collective, "linear").expect("an algorithm");
            let shape = Shape::new(collective, 6, bytes);
            let schedule = algorithm.schedule(&shape, &params).expect("a schedule");
            let truth = simulate(&network, &*schedule, None).expect("it runs").finish;
            let found = fitted.predict(&*schedule).expect("it holds").seconds;
            let off = (found / truth - 1.0).abs();
            assert!(off < 0.03, "{collective:?} {bytes} B: {found:e} for {truth:e}");
        }
    }
    let loaded = Fitted::load("saved", &fitted.save()).expect("a file");
    assert!(matches!(&loaded.model, Model::Lmo(own) if own.overheads == lmo.overheads));
    assert!(matches!(platform_text(&fitted), Err(ModelError::Refused { .. })));
}

#[test]
fn straight_overheads_have_no_factors() {
    let fitted = fitted(&cluster());
    assert!(matches!(&fitted.model, Model::Lmo(lmo) if lmo.overheads.is_empty()));
}
