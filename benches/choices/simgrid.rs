//! SimGrid as a judge: the times of a choice and of what was best in our simulator.

use std::collections::BTreeMap;
use std::path::Path;

use laneway_benches::smpirun::Exported;
use laneway_sim::platform::Platform;

use crate::draw::Call;

/// Bytes that all ranks may have together in one process.
const MOST_BYTES: u64 = 256_000_000;

/// Whether all buffers of a call fit into memory.
pub fn fits(call: &Call, ranks: u32) -> bool {
    let shape = call.shape(ranks);
    let of = |rank| shape.in_len(rank).saturating_add(shape.out_len(rank));
    (0..ranks).map(of).fold(0u64, u64::saturating_add) <= MOST_BYTES
}

/// Seconds of schedules by their spelled names.
pub fn times(
    object: &Path,
    platform: &Platform,
    text: &str,
    call: &Call,
    name: &str,
    schedules: &[String],
) -> Result<BTreeMap<String, f64>, String> {
    let mut names: Vec<&str> = schedules.iter().map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    let exported = Exported::new(platform, &format!("choices-{name}"))?;
    // The folder is named so in `Exported`; what ranks get is another file.
    let file =
        std::env::temp_dir().join(format!("laneway-given-{name}-{}.toml", std::process::id()));
    std::fs::write(&file, text).map_err(|error| error.to_string())?;
    let (size, root, spec) =
        (call.size.to_string(), call.root.to_string(), format!("file:{}", file.display()));
    let list = names.join(",");
    let words = ["virtual-time", call.op.name(), &list, &size, &root, &spec];
    let printed = exported.run(&[], object, &words);
    let _ = std::fs::remove_file(&file);
    let time = |line: &str| -> Option<(String, f64)> {
        let fields: Vec<&str> = line.split(',').collect();
        let &[_, name, _, _, time, skew] = &fields[..] else { return None };
        // Ranks that begin apart are another call.
        (skew.parse() == Ok(0.0)).then_some((name.to_owned(), time.parse().ok()?))
    };
    let times: BTreeMap<String, f64> = printed?.lines().skip(1).filter_map(time).collect();
    match times.len() == names.len() && times.values().all(|time| *time > 0.0) {
        true => Ok(times),
        false => Err(format!("SimGrid timed {} of {} schedules", times.len(), names.len())),
    }
}
