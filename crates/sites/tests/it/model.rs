//! The cost model against the paper's figures, and against the slips that were found in it.

use laneway_sites::model::{Form, HostRates, ModelError, TwoSites, WanRate};

const GIGABIT: f64 = 125e6;
const CONNECTION: f64 = GIGABIT / 4.0;
/// The paper's 4 MB.
const BLOCK: f64 = (4u64 << 20) as f64;

/// The paper's testbed at 5 ms.
fn testbed(wan: WanRate) -> TwoSites {
    TwoSites {
        near: 32,
        far: 32,
        block: BLOCK,
        latency: 5e-3,
        lan_latency: 0.0,
        overhead: 0.0,
        lan: GIGABIT,
        wan,
        rates: HostRates::default(),
    }
}

fn shared(connection: f64) -> WanRate {
    WanRate::Shared { connection, together: GIGABIT }
}

/// To the digits that are written down.
#[track_caller]
fn assert_reads(time: f64, expected: f64) {
    assert!((time - expected).abs() <= 5e-4, "{time} s, not {expected} s");
}

#[track_caller]
fn assert_close(time: f64, expected: f64) {
    assert!((time - expected).abs() <= 1e-12 * expected, "{time} s, not {expected} s");
}

#[test]
fn the_printed_model_chooses_32_lanes_of_a_constant_rate() {
    let sites = testbed(WanRate::Constant(CONNECTION));
    let best = sites.best(Form::Printed).expect("a best");
    assert_eq!(best.lanes, 32);
    assert_reads(best.time, 2.220);
    for lanes in 16..=31 {
        assert_reads(sites.printed(lanes).expect("a time"), 2.320);
    }
}

#[test]
fn the_printed_model_chooses_few_lanes_of_a_shared_rate() {
    for (connection, lanes) in [(CONNECTION, 4), (GIGABIT / 8.0, 8), (65e6 / 8.0, 16)] {
        let best = testbed(shared(connection)).best(Form::Printed).expect("a best");
        assert_eq!(best.lanes, lanes);
    }
    let best = testbed(shared(CONNECTION)).best(Form::Printed).expect("a best");
    assert_reads(best.time, 2.924);
}

#[test]
fn a_blocking_root_takes_what_a_fluid_simulation_takes() {
    let sites = testbed(shared(CONNECTION));
    for (lanes, time) in [(4, 2.919), (8, 2.525), (16, 2.315), (30, 2.315), (32, 2.220)] {
        assert_reads(sites.corrected(lanes).expect("a time"), time);
    }
    assert_eq!(sites.best(Form::Corrected).expect("a best").lanes, 32);
}

#[test]
fn a_root_that_goes_on_reaches_the_bound_from_6_lanes() {
    let sites = testbed(shared(CONNECTION));
    let bound = 63.0 * BLOCK / GIGABIT;
    assert_reads(bound, 2.114);
    for lanes in 6..=24 {
        assert_close(sites.overlapped(lanes).expect("a time"), bound);
    }
    let best = sites.best(Form::Overlapped).expect("a best");
    assert_eq!(best.lanes, 6);
    assert_close(best.time, bound);
    // Harmless up to P = n0 + 1 - X B / b, which leaves out the latency: 25.
    assert_reads(sites.overlapped(25).expect("a time"), bound + 5e-3);
    assert_reads(sites.overlapped(32).expect("a time"), 2.220);
}

#[test]
fn a_narrow_link_is_drained_at_its_rate() {
    let mut sites = testbed(WanRate::Shared { connection: CONNECTION, together: CONNECTION });
    let drain = 32.0 * BLOCK / CONNECTION + sites.latency;
    assert_eq!(sites.overlapped(16), Ok(drain));
    // Lanes only share what one of them could have: the walk cannot be quicker than the link.
    for lanes in 1..=32 {
        assert!(sites.corrected(lanes).expect("a time") > drain, "{lanes} lanes");
    }
    // Two lanes that were measured to have half of it each are the same link.
    let time = sites.overlapped(2);
    sites.wan = WanRate::Measured(vec![CONNECTION, CONNECTION / 2.0]);
    assert_eq!(sites.overlapped(2), time);
}

/// Where the far site is the larger one, the paper forgets what the root still sends at home.
#[test]
fn the_printed_number_of_blocks_is_wrong_for_a_larger_far_site() {
    let sites = |near, far| TwoSites { near, far, ..testbed(shared(CONNECTION)) };
    let blocks = |near, far, form| sites(near, far).lan_blocks(form, 8).expect("a number");
    assert_eq!(blocks(31, 32, Form::Printed), 38);
    assert_eq!(blocks(31, 32, Form::Corrected), 58);
    assert_eq!(blocks(32, 32, Form::Printed), 59);

    // Counted: triples (n0, n1, P), n0 and n1 from 2 to 64, P from 1 to the smaller of them, whose
    // printed Y is not (n1 - X) + (P - 1) + max(n0 - P, X - 1).
    let (mut all, mut wrong) = (0, 0);
    for (near, far) in (2..=64).flat_map(|near| (2..=64).map(move |far| (near, far))) {
        let sites = sites(near, far);
        for lanes in 1..=near.min(far) {
            let printed = sites.lan_blocks(Form::Printed, lanes).expect("a number");
            let right = sites.lan_blocks(Form::Corrected, lanes).expect("a number");
            all += 1;
            wrong += u32::from(printed != right);
            assert!(near < far || printed == right, "{near} + {far}, {lanes} lanes");
        }
    }
    println!("{wrong} of {all}");
    assert_eq!((wrong, all), (33_965, 89_313));
}

/// Without a limit of the link the walk is the closed form, but for the latency that a blocking
/// root does not wait for.
#[test]
fn the_walk_is_the_closed_form_where_lanes_do_not_share() {
    for (near, far) in (1..=24).flat_map(|near| (1..=24).map(move |far| (near, far))) {
        let wan = WanRate::Constant(CONNECTION);
        let sites = TwoSites { near, far, latency: 0.0, ..testbed(wan) };
        for lanes in 1..=near.min(far) {
            let wan = f64::from(sites.lane_blocks(lanes).expect("a number")) / CONNECTION;
            let lan = sites.lan_blocks(Form::Corrected, lanes).expect("a number") as f64 / GIGABIT;
            let (closed, walk) = (BLOCK * (wan + lan), sites.corrected(lanes).expect("a time"));
            let same = (walk - closed).abs() <= 1e-12 * closed;
            assert!(same, "{near} + {far}, {lanes} lanes: {walk}, not {closed}");
        }
    }
}

#[test]
fn the_baseline_and_the_table_are_as_printed() {
    let mut sites = testbed(WanRate::Constant(CONNECTION));
    let (wan, lan) = (BLOCK / CONNECTION, BLOCK / GIGABIT);
    assert_close(sites.single_lane().expect("a time"), 5e-3 + 32.0 * wan + 31.0 * lan);
    assert_reads(sites.single_lane().expect("a time"), 5.340);
    sites.overhead = 1e-3;
    sites.far = 24;
    let table = sites.table(6).expect("a table");
    let single = table.single_lane;
    assert_eq!(single.prepare, 0.0);
    assert_close(single.wan, 5e-3 + 24.0 * wan);
    assert_close(single.lan, 1e-3 + 23.0 * lan);
    let multi = table.multi_lane;
    assert_close(multi.prepare, 1e-3 + 29.0 * lan);
    assert_close(multi.wan, 5e-3 + 4.0 * wan);
    assert_close(multi.lan, 1e-3 + 4.0 * lan);
    assert_eq!(multi.total, multi.prepare + multi.wan + multi.lan);
}

#[test]
fn what_cannot_be_is_an_error_in_words() {
    let good = testbed(shared(CONNECTION));
    let with = |change: &dyn Fn(&mut TwoSites)| {
        let mut sites = good.clone();
        change(&mut sites);
        sites
    };
    let cases = [
        (with(&|sites| sites.near = 0), 1, "each site needs a host; the root's site has 0"),
        (with(&|sites| sites.far = 0), 1, "each site needs a host"),
        (good.clone(), 0, "0 lanes; 1 to 32 are possible between these sites"),
        (with(&|sites| sites.far = 7), 8, "8 lanes; 1 to 7 are possible between these sites"),
        (with(&|sites| sites.lan = 0.0), 1, "the rate inside a site must be above 0"),
        (with(&|sites| sites.lan = f64::NAN), 1, "the rate inside a site must be above 0"),
        (with(&|sites| sites.wan = WanRate::Constant(-1.0)), 1, "the rate of a lane must be"),
        (with(&|sites| sites.wan = WanRate::Measured(vec![1.0])), 2, "2 lanes at once was not"),
        (with(&|sites| sites.block = -1.0), 1, "the size of a block must be at least 0"),
        (with(&|sites| sites.latency = f64::NAN), 1, "the latency between the sites must be"),
    ];
    for (sites, lanes, words) in &cases {
        for form in [Form::Printed, Form::Corrected, Form::Overlapped] {
            let refused = sites.time(form, *lanes).expect_err(words);
            assert!(refused.to_string().contains(words), "{form:?}: {refused}");
        }
        assert!(sites.table(*lanes).is_err(), "{words}");
    }
    let unmeasured = testbed(WanRate::Measured(vec![CONNECTION; 20]));
    assert_eq!(unmeasured.best(Form::Printed), Err(ModelError::Unmeasured { lanes: 21 }));
}

#[test]
fn nothing_to_send_takes_no_time_but_latency() {
    let sites = TwoSites { block: 0.0, lan_latency: 1e-4, ..testbed(shared(CONNECTION)) };
    for form in [Form::Printed, Form::Corrected, Form::Overlapped] {
        let time = sites.time(form, 4).expect("a time");
        assert!((5e-3..=5.3e-3).contains(&time), "{form:?}: {time}");
    }
}
