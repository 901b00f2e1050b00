//! Figures 4 and 5 over real TCP: times over the size of a block.

use std::time::Duration;

use laneway_core::Collective;
use laneway_core::units::format_size;

use super::{Bed, LARGE, NATIVE, SCALE, SINGLE, Times, in_paper};
use crate::error::PaperError;
use crate::multilane::modelled;
use crate::multilane::typed::{CHOSEN, Ran};
use crate::part::{Axes, Curve, Drawn, How, Part};
use crate::{Claim, Printed, Request};

const SIZES: [u64; 5] = [16 << 10, 64 << 10, 128 << 10, 256 << 10, LARGE];
/// A gain that a reader sees in a drawing.
const SEEN: f64 = 1.1;
/// How long it may take without a budget.
const USUAL: Duration = Duration::from_secs(150);

const AXES: Axes = Axes {
    across: "size_bytes",
    unit: Some("ms"),
    up: "time in ms",
    along: "size of a block",
    drawn: Drawn::Tenfold,
};

pub fn figure_4(request: &Request) -> Result<Part, PaperError> {
    let part = Part::new("tcp-figure-4", How::Lab, "Figure 4 over real TCP: scatter", AXES);
    over_sizes(request, Collective::Scatter, part)
}

pub fn figure_5(request: &Request) -> Result<Part, PaperError> {
    let part = Part::new("tcp-figure-5", How::Lab, "Figure 5 over real TCP: gather", AXES);
    over_sizes(request, Collective::Gather, part)
}

fn over_sizes(request: &Request, op: Collective, part: Part) -> Result<Part, PaperError> {
    let bed = Bed::new(request, 5);
    let lanes = bed.all_lanes();
    let algorithms = [SINGLE, &lanes, NATIVE, CHOSEN].map(str::to_owned);
    let sizes = if request.quick { &SIZES[4..] } else { &SIZES[..] };
    let words = sizes.iter().map(|size| format_size(*size)).collect::<Vec<_>>().join(",");
    let operations = [op];
    let plan = bed.plan(&operations, &algorithms, &words, USUAL);
    let commands = vec![plan.line()];
    let ran = plan.run(request);
    let times = Times { op, ran: &ran };
    let gain = |size: u64| times.ratio(SINGLE, &lanes, size);
    let claims = match op {
        Collective::Gather => gather_claims(sizes, gain),
        _ => scatter_claims(sizes, gain),
    };
    let of_others = [("the library's own", NATIVE), ("our choice", CHOSEN)].map(|(what, name)| {
        let what = format!("single lane over {what}, {}", in_paper(LARGE));
        Claim::own_ratio(what, times.ratio(SINGLE, name, LARGE))
    });
    let mut curves = Vec::new();
    for (label, name) in
        [("single lane", SINGLE), ("all lanes", &lanes), ("library", NATIVE), ("chosen", CHOSEN)]
    {
        curves.push(measured(&times, label, name, sizes));
    }
    curves.extend(predicted(&bed, op, sizes)?);
    let remarks = vec![bed_remark(&bed, &ran)];
    let missing = ran.missing.into_iter().collect();
    // Few hosts are not those of the paper.
    let claims = claims.into_iter().map(|claim| match request.quick {
        true => claim.unasked(),
        false => claim,
    });
    let claims = claims.chain(of_others).collect();
    Ok(Part { commands, claims, remarks, missing, curves, ..part })
}

fn bed_remark(bed: &Bed, ran: &Ran) -> String {
    format!(
        "{}; {} figures were measured. Rates are a quarter of the paper's, so that a block takes \
         as long as one of four times the size in the paper; windows are those of sockets.",
        bed.words(),
        ran.seen.len()
    )
}

fn measured(times: &Times, label: &str, name: &str, sizes: &[u64]) -> Curve {
    let seen = sizes.iter().filter_map(|size| times.of(name, *size));
    let (points, intervals) = seen.map(|seen| ((seen.size, seen.time), seen.range())).unzip();
    Curve { intervals, ..Curve::new(times.op.name(), format!("{label}, measured"), points) }
}

/// By the paper's model, with the same rate for any number of lanes.
fn predicted(bed: &Bed, op: Collective, sizes: &[u64]) -> Result<[Curve; 2], PaperError> {
    let (mut single, mut lanes) = (Vec::new(), Vec::new());
    for &size in sizes {
        let model = bed.model(size)?;
        single.push((size, modelled(model.single_lane())? * 1e3));
        lanes.push((size, modelled(model.printed(bed.hosts))? * 1e3));
    }
    Ok([
        Curve::new(op.name(), "single lane, predicted", single),
        Curve::new(op.name(), "all lanes, predicted as printed", lanes),
    ])
}

fn scatter_claims(sizes: &[u64], gain: impl Fn(u64) -> f64) -> Vec<Claim> {
    let mut claims: Vec<Claim> = sizes
        .iter()
        .map(|size| {
            let claim =
                Claim::own_ratio(format!("gain of lanes, {}", in_paper(*size)), gain(*size));
            match *size == LARGE {
                true => claim
                    .printed(Printed::range(1.5, 2.0, 0.1), "about 1.5 to 2.0")
                    .known(3, 2.05, 2.6),
                false => claim,
            }
        })
        .collect();
    if sizes.len() > 1 {
        let seen = sizes.iter().find(|size| gain(**size) >= SEEN);
        let complete = sizes.iter().all(|size| gain(*size).is_finite());
        let first = seen.filter(|_| complete).map_or(f64::NAN, |size| *size as f64 * SCALE / 1e3);
        let what = "the smallest size with a gain of 1.1, as in the paper";
        claims.push(
            Claim::of(what, "KB", Some(500.0), first)
                .printed(Printed::new(500.0, 100.0), "a difference appears from about 500 KB on")
                .known(4, 65.0, 66.0),
        );
    }
    claims
}

fn gather_claims(sizes: &[u64], gain: impl Fn(u64) -> f64) -> Vec<Claim> {
    let about = Printed::new(2.0, 1.0);
    let claim = |size: &u64| {
        let what = format!("gain of lanes, {}", in_paper(*size));
        Claim::ratio_of(what, Some(2.0), gain(*size))
            .printed(about, "always about 2, for small and large blocks")
            .known(12, 0.4, 3.0)
    };
    sizes.iter().map(claim).collect()
}
