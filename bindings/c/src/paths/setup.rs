//! What is done by itself: policies, first paths, going back, and when a connection is given up.

use std::ffi::c_int;

use laneway_connections::Setup;
use laneway_path::{
    AckTimeout, FailBack, NotReadyTimer, OnArmed, OnMigrated, PathId, Policy, Retries,
};

use super::*;
use crate::arguments::refused;
use crate::failure::Failure;

/// For a time of InfiniBand: without end.
const NEVER: c_int = -1;
/// For a count: not once.
const NOT_ONCE: c_int = -1;

pub fn read_setup(options: &PathsOptions) -> Result<Setup, Failure> {
    let usual = Setup::usual();
    let primary = first_path(options)?;
    let policy = Policy { fail_back: fail_back(options, primary)?, ..policy(options)? };
    let code = |name, value, usual: u8| in_range(name, value, 31, usual, "0, or 1 to 31");
    let ack_timeout = match options.ack_timeout {
        NEVER => Some(AckTimeout::NEVER),
        other => AckTimeout::new(code("ack_timeout", other, usual.ack_timeout.code())?),
    };
    let not_ready_timer = options.not_ready_timer;
    let not_ready_timer = code("not_ready_timer", not_ready_timer, usual.not_ready_timer.code())?;
    Ok(Setup {
        kind: None,
        policy,
        primary,
        spread: options.spread != 0,
        arms: options.by_hand == 0,
        specifies: false,
        security: None,
        ack_timeout: ack_timeout.unwrap_or(usual.ack_timeout),
        retries: count("retries", options.retries, 7)?,
        not_ready_timer: NotReadyTimer::new(not_ready_timer).unwrap_or(usual.not_ready_timer),
        not_ready_retries: count("not_ready_retries", options.not_ready_retries, 6)?,
    })
}

fn policy(options: &PathsOptions) -> Result<Policy, Failure> {
    let on_armed = match options.on_armed {
        LANEWAY_ON_ARMED_NOTHING => OnArmed::Nothing,
        LANEWAY_ON_ARMED_MIGRATE => OnArmed::Migrate,
        other => return Err(no_choice("on_armed", other, "LANEWAY_ON_ARMED_...")),
    };
    let on_migrated = match options.on_migrated {
        LANEWAY_ON_MIGRATED_REARM => OnMigrated::Rearm,
        LANEWAY_ON_MIGRATED_SPECIFY => OnMigrated::Specify,
        LANEWAY_ON_MIGRATED_NOTHING => OnMigrated::Nothing,
        other => return Err(no_choice("on_migrated", other, "LANEWAY_ON_MIGRATED_...")),
    };
    Ok(Policy { on_armed, on_migrated, ..Policy::keep_armed(false) })
}

fn first_path(options: &PathsOptions) -> Result<PathId, Failure> {
    let path = options.first_path;
    // How many paths there may be is seen when they are opened.
    let known = u8::try_from(path).ok().filter(|_| path < options.count.max(1));
    known.map(PathId).ok_or_else(|| no_choice("first_path", path, "0 to count - 1"))
}

/// When connections go back to the path that they began with, where that is asked for.
fn fail_back(options: &PathsOptions, primary: PathId) -> Result<Option<FailBack>, Failure> {
    let PathsOptions { spread, fail_back, hold_ms, most_hold_ms, .. } = *options;
    if spread == 0 && fail_back == 0 {
        return match hold_ms != 0 || most_hold_ms != 0 {
            true => {
                let cause = "hold_ms or most_hold_ms is given, and no connection goes back";
                Err(refused("nothing to hold", cause, "fail_back = 1, or spread = 1"))
            }
            false => Ok(None),
        };
    }
    let usual = FailBack::to(primary);
    let nanos = |name, value: c_int, usual: u64| match u64::try_from(value) {
        Ok(0) => Ok(usual),
        Ok(milliseconds) => Ok(milliseconds * 1_000_000),
        Err(_) => Err(no_choice(name, value, "milliseconds, or 0")),
    };
    let hold = nanos("hold_ms", hold_ms, usual.hold)?;
    let most_hold = nanos("most_hold_ms", most_hold_ms, usual.most_hold.max(hold))?;
    if most_hold < hold {
        let cause = format!("most_hold_ms is {most_hold_ms}");
        return Err(refused("invalid time", cause, "hold_ms (0 for 200) or more"));
    }
    Ok(Some(FailBack { path: primary, hold, most_hold }))
}

/// How often something is tried again, `most` times by number.
fn count(name: &str, value: c_int, most: u8) -> Result<Retries, Failure> {
    let number = match value {
        NOT_ONCE => 0,
        other => {
            let try_this = format!("-1, 0, or 1 to {most}");
            in_range(name, other, most, Retries::MOST.count(), &try_this)?
        }
    };
    Ok(Retries::new(number).unwrap_or(Retries::MOST))
}

/// From 1 to `most`, or 0 for the usual one.
fn in_range(name: &str, value: c_int, most: u8, usual: u8, try_: &str) -> Result<u8, Failure> {
    match u8::try_from(value) {
        Ok(0) => Ok(usual),
        Ok(number) if number <= most => Ok(number),
        _ => Err(no_choice(name, value, try_)),
    }
}

fn no_choice(name: &str, value: c_int, try_this: &str) -> Failure {
    refused("invalid option", format!("{name} is {value}"), try_this)
}
