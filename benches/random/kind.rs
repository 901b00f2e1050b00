//! What kind of platform a seed has drawn.

use laneway_sim::Network;
use laneway_sim::network::Traffic;
use laneway_sim::platform::Platform;

/// Whether the printed time must be the true one.
pub fn is_exact(platform: &Platform) -> bool {
    platform.is_symmetric() && platform.background().is_empty()
}

pub fn has_right_clocks(platform: &Platform) -> bool {
    (0..platform.hosts()).all(|host| platform.clock(host) == Default::default())
}

/// A platform in a few words.
pub fn describe(platform: &Platform) -> String {
    let ways = if platform.is_symmetric() { "symmetric" } else { "asymmetric" };
    let others = match platform.background() {
        [] => "no background",
        _ if is_steady(platform) => "steady background",
        _ => "bursty background",
    };
    let clocks = if has_right_clocks(platform) { "right" } else { "wrong" };
    format!(
        "{} hosts, {} sites, {ways}, eager {}, {others}, clocks {clocks}",
        platform.hosts(),
        platform.site_names().len(),
        platform.eager_bytes(),
    )
}

/// Whether one call is as good as any other.
pub fn is_steady(platform: &Platform) -> bool {
    longest_period(platform) == 0.0
}

/// Seconds from one message of others to the next, where they send such; the longest.
pub fn longest_period(platform: &Platform) -> f64 {
    let period = |traffic: &Traffic| match *traffic {
        Traffic::Steady { .. } => 0.0,
        Traffic::Messages { every, .. } => every,
    };
    platform.background().iter().map(|source| period(&source.traffic)).fold(0.0, f64::max)
}
