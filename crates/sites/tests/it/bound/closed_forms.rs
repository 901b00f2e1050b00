//! Platforms whose bound can be worked out on paper.

use laneway_sim::platform::{CardRates, Layout, LayoutHost, LayoutPipe, LayoutSite, LayoutWay};
use laneway_sites::bound::{Bound, BoundError, gather, scatter};

use super::support::layout;

const GIGABIT: f64 = 125e6;
/// The multi-lane paper's 4 MB.
const BLOCK: u64 = 4 << 20;
const LAN: f64 = 50e-6;

/// A block for each host, from the first; scatter and gather must agree.
fn equal(layout: &Layout, block: u64) -> Bound {
    let hosts: Vec<u32> = (0..layout.hosts.len() as u32).collect();
    let blocks = vec![block; hosts.len()];
    let found = scatter(layout, &hosts, 0, &blocks).expect("a bound");
    let back = gather(layout, &hosts, 0, &blocks).expect("a bound");
    assert!((found.time - back.time).abs() <= 1e-12 * found.time, "{found:?}, {back:?}");
    found
}

#[track_caller]
fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-12 * expected, "{found}, not {expected}");
}

#[test]
fn one_card_for_all_is_63_blocks_long() {
    let found = equal(&layout("two-sites:32x32"), BLOCK);
    assert_close(found.transfer, 63.0 * BLOCK as f64 / GIGABIT);
    assert_eq!(format!("{:.3}", found.transfer), "2.114");
    assert_eq!(found.latency, LAN);
    assert_eq!(found.limit, "the root's card");
}

#[test]
fn a_card_for_other_sites_adds_to_the_root() {
    let spec = "two-sites:32x32,rate=10Gbit,wan-rate=1Gbit,wan=10Gbit";
    let found = equal(&layout(spec), BLOCK);
    assert_close(found.transfer, 63.0 * BLOCK as f64 / (11.0 * GIGABIT));
    assert_eq!(format!("{:.3}", found.transfer), "0.192");
    assert_eq!(found.limit, "the root's card and the root's card for other sites");
}

#[test]
fn three_sites_are_limited_by_the_root() {
    let text = r#"
        [[site]]
        name = "a"
        latency = "50us"
        [[site]]
        name = "b"
        latency = "50us"
        [[site]]
        name = "c"
        latency = "50us"
        [[host]]
        name = "a[0-31]"
        site = "a"
        rate = "1Gbit"
        [[host]]
        name = "b[0-15]"
        site = "b"
        rate = "1Gbit"
        [[host]]
        name = "c[0-7]"
        site = "c"
        rate = "1Gbit"
        [wan]
        latency = "5ms"
        rate = "1Gbit"
        window = "156K"
        [[between]]
        sites = ["a", "c"]
        latency = "50ms"
        rate = "500Mbit"
        [[between]]
        sites = ["b", "c"]
        latency = "50ms"
        rate = "500Mbit"
    "#;
    let platform = laneway_sim::platform::Platform::parse("three", text).expect("a platform");
    let found = equal(&platform.layout().expect("a layout"), BLOCK);
    assert_close(found.transfer, 55.0 * BLOCK as f64 / GIGABIT);
    assert_eq!(format!("{:.3}", found.transfer), "1.845");
    assert_eq!(found.limit, "the root's card");
}

#[test]
fn a_narrow_link_limits_with_its_latency() {
    let found = equal(&layout("two-sites:4x12,wan=100Mbit"), BLOCK);
    assert_close(found.transfer, 12.0 * BLOCK as f64 / (GIGABIT / 10.0));
    assert_eq!((found.latency, &*found.limit), (5e-3, "the link site0-site1"));
    let found = equal(&layout("sites:4,12,3,uplink=100Mbit"), BLOCK);
    assert_close(found.transfer, 15.0 * BLOCK as f64 / (GIGABIT / 10.0));
    assert_eq!((found.latency, &*found.limit), (5e-3, "the uplink of site0"));
    let found = equal(&layout("sites:4,2,3,aggregate=100Mbit"), BLOCK);
    assert_close(found.transfer, 5.0 * BLOCK as f64 / (GIGABIT / 10.0));
    assert_eq!((found.latency, &*found.limit), (5e-3, "what all sites share"));
}

#[test]
fn few_bytes_far_away_take_their_latency() {
    let layout = layout("two-sites:8x8,latency=20ms");
    let found = equal(&layout, 100);
    assert_eq!(found.latency, 20e-3);
    assert_close(found.transfer, 800.0 / GIGABIT);
    assert_eq!(found.limit, "the link site0-site1");
}

#[test]
fn ranks_of_one_host_share_its_card() {
    let layout = layout("cluster:3");
    // Two ranks beside the root cost nothing, three are together on the last host.
    let hosts = [1, 1, 1, 2, 2, 2, 0];
    let found = scatter(&layout, &hosts, 1, &[9, 9, 9, 1000, 500, 250, 1]).expect("a bound");
    assert_close(found.transfer, 1751.0 / GIGABIT);
    assert_eq!(found.limit, "the root's card");
    let mut slow = layout.clone();
    slow.hosts[2].card.into = Some(1e6);
    let found = scatter(&slow, &hosts, 1, &[9, 9, 9, 1000, 500, 250, 1]).expect("a bound");
    assert_close(found.transfer, 1750e-6);
    assert_eq!(found.limit, "the card of node2");
    let alone = scatter(&layout, &[0, 0], 1, &[5, 5]).expect("a bound");
    assert_eq!((alone.time, &*alone.limit), (0.0, "nothing: no byte leaves a host"));
}

/// Sites 0 to 2 with a host each, a way of 1 byte a second between any two, and 1.5 for all.
fn with_an_aggregate() -> Layout {
    let card = CardRates { out: None, into: None };
    let host = |site: usize| LayoutHost {
        name: format!("h{site}"),
        site,
        number: 0,
        card,
        wan_card: None,
    };
    let mut pipes =
        vec![LayoutPipe { name: "wan:all".to_string(), rate: 1.5, congestion: Default::default() }];
    let mut ways = Vec::new();
    for (from, to) in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)] {
        pipes.push(LayoutPipe {
            name: format!("site{from}:to:site{to}"),
            rate: 1.0,
            congestion: Default::default(),
        });
        let pipes = vec![0, pipes.len() - 1];
        ways.push(LayoutWay { from, to, latency: 1e-3, connection: None, window: None, pipes });
    }
    let site = |site: usize| LayoutSite { name: format!("site{site}"), latency: 0.0 };
    Layout { hosts: (0..3).map(host).collect(), sites: (0..3).map(site).collect(), ways, pipes }
}

/// What goes over a relay passes the aggregate twice: no single cut says so.
#[test]
fn a_relay_passes_what_all_share_twice() {
    let layout = with_an_aggregate();
    for is_gather in [false, true] {
        let bound = if is_gather { gather } else { scatter };
        let link = if is_gather { "site1-site0" } else { "site0-site1" };
        // In T seconds T directly, and a quarter of T over the third site: T + 2 T / 4 = 1.5 T.
        let found = bound(&layout, &[0, 1], 0, &[0, 3]).expect("a bound");
        assert_close(found.transfer, 3.0 / 1.25);
        assert_eq!(found.latency, 1e-3);
        assert_eq!(found.limit, format!("what all sites share and the link {link}"));
        // Both at once need no relay.
        let found = bound(&layout, &[0, 1, 2], 0, &[0, 3, 3]).expect("a bound");
        assert_close(found.transfer, 6.0 / 1.5);
        assert_eq!(found.limit, "what all sites share");
    }
}

#[test]
fn what_cannot_be_is_an_error_in_words() {
    let good = with_an_aggregate();
    let refused = |layout: &Layout, hosts: &[u32], root: u32| {
        let found = scatter(layout, hosts, root, &[1, 1]);
        found.expect_err("an error").to_string()
    };
    assert_eq!(refused(&good, &[0], 0), "2 blocks and 1 hosts: each rank has one of both");
    assert_eq!(refused(&good, &[0, 3], 0), "rank 1 is on host 3, and there are 3 hosts");
    assert_eq!(refused(&good, &[0, 1], 2), "the root is 2, and there are 2 ranks");
    let mut bad = good.clone();
    bad.pipes[0].rate = 0.0;
    assert_eq!(refused(&bad, &[0, 1], 0), "the rate of wan:all cannot be 0");
    bad = good.clone();
    bad.hosts[1].card.into = Some(f64::NAN);
    assert_eq!(refused(&bad, &[0, 1], 0), "the rate of a card of h1 cannot be NaN");
    bad = good.clone();
    bad.ways[0].pipes.push(99);
    assert!(refused(&bad, &[0, 1], 0).contains("no such site, or no such pipe"));
    bad = good.clone();
    bad.ways.retain(|way| way.to != 1);
    let lost = BoundError::Unreachable { host: "h1".to_string() };
    assert_eq!(scatter(&bad, &[0, 1], 0, &[1, 1]), Err(lost));
    assert!(gather(&bad, &[0, 1], 0, &[1, 1]).is_ok());
}
