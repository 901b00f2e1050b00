//! Estimates on real processes of this machine: all of it ends, in its budget, and every model is
//! sound or says why there is none. How near it comes depends on who else uses the machine, so that
//! it is printed and not demanded.

use std::process::ExitCode;
use std::time::Duration;

use laneway_core::{Collective, Comm, Shape};
use laneway_local::{Launch, Transport, attach};
use laneway_model::{
    Fitted, ModelError, ModelKind, Range, Request, Sweep, estimate, fit, share, sweep,
};
use laneway_stats::median;

const BUDGET: f64 = 20.0;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|word| word == "--list") {
        if !arguments.iter().any(|word| word == "--ignored") {
            println!("local: test");
        }
        return ExitCode::SUCCESS;
    }
    match attach() {
        Ok(Some(comm)) => match rank(&comm) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("rank {}: {error}", comm.rank());
                ExitCode::FAILURE
            }
        },
        Ok(None) => {
            for ranks in [2, 3] {
                let limit = Some(Duration::from_secs(60));
                let code = Launch { ranks, transport: Transport::Memory, limit }.run();
                if !matches!(code, Ok(0)) {
                    eprintln!("{ranks} ranks: {code:?}");
                    return ExitCode::FAILURE;
                }
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}: {}", error.cause());
            ExitCode::FAILURE
        }
    }
}

fn rank(comm: &dyn Comm) -> Result<(), ModelError> {
    let sizes = vec![1 << 10, 16 << 10, 128 << 10, 256 << 10];
    let request = Request { sizes, gaps: true, precision: 0.05, budget: BUDGET, parallel: false };
    let experiments = estimate(comm, &request)?;
    let held_back = [4 << 10, 64 << 10];
    let scatters = sweep(comm, Collective::Scatter, &held_back, 50, &())?;
    let mut one = None;
    if let Some(experiments) = experiments {
        println!("{} ranks: {:?}", comm.size(), experiments.cost);
        assert!(experiments.cost.seconds <= BUDGET);
        for kind in ModelKind::ALL {
            match fit(&experiments, kind) {
                Ok(fitted) => {
                    tell(&fitted, scatters.as_deref().unwrap_or_default())?;
                    let again = Fitted::load("saved", &fitted.save())?;
                    assert_eq!(again.model.kind(), kind);
                    one = Some(fitted);
                }
                Err(error @ (ModelError::TooFewRanks { .. } | ModelError::Sizes { .. })) => {
                    assert!(kind != ModelKind::Lmo || comm.size() < 3, "{error}");
                    println!("{}: {error}", kind.name());
                }
                Err(error) => return Err(error),
            }
        }
    }
    let shared = share(comm, one.as_ref())?;
    assert_eq!(shared.hosts.len() as u32, comm.size());
    Ok(())
}

fn tell(fitted: &Fitted, scatters: &[Sweep]) -> Result<(), ModelError> {
    let quality = &fitted.quality;
    println!("{}: worst {:.2} ({})", fitted.model.kind().name(), quality.worst, quality.worst_of);
    for sweep in scatters {
        let (algorithm, params) =
            laneway_coll::find(Collective::Scatter, "linear").expect("an algorithm");
        let shape = Shape::new(Collective::Scatter, fitted.hosts.len() as u32, sweep.bytes);
        let schedule = algorithm.schedule(&shape, &params).expect("a schedule");
        let found = fitted.read(&*schedule)?;
        let within = |ends: Range| ends.low <= found.seconds && found.seconds <= ends.high;
        assert!(found.interval.is_none_or(within));
        let measured = median(&sweep.samples).unwrap_or(f64::NAN);
        let ratio = found.seconds / measured;
        println!(
            "  scatter {} B: {:.2e} s of {measured:.2e} s: {ratio:.2}",
            sweep.bytes, found.seconds
        );
    }
    Ok(())
}
