//! Files of every format that is read, damaged by chance; the drawings are tried with them too.

use laneway_report::{Run, read};
use laneway_stats::SplitMix64;

const JSON: &str = r#"{"schema": "laneway.measure/1", "tool": "laneway 0.1.0",
 "env": {"h": "é\u00e9"}, "params": {}, "rows": [{"op": "bcast",
 "algorithm": "a\"b", "ranks": 4, "size_bytes": 1024,
 "time_us": 2.5e0, "ci_low_us": 2, "ci_high_us": 3.0, "samples_us": [2, 2.5, 3], "root": null},
 {"op": "bcast", "size_bytes": 0, "time_us": -1, "ok": true}], "summary": {"points": 2}}"#;
const CSV: &str = "op,size_bytes,time_us,flags\nbcast,8,1.5,\"a,\"\"b\"\"\"\nbcast,16,2.5,\n";
const OSU: &str = "# OSU MPI Broadcast Latency Test v7.3\n# Size       Avg Latency(us)\n8    1.5\n";
const IMB: &str = "# Benchmarking Bcast\n# #processes = 4\n\
    #bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]\n8 1000 1.0 2.0 1.5\n\
    # Benchmarking Multi-Uniband\n# ( 2 groups of 2 processes each running simultaneous )\n\
    Group #bytes #repetitions Mbytes/sec Msg/sec\n1 8 1000 10.5 131\n1 16 out-of-mem.; X\n";

/// A few bytes changed, taken out, doubled or moved.
fn damage(text: &str, chance: &mut SplitMix64) -> String {
    const ODD: &[u8] = b"{}[]\",:\\\n-+.eE019 #u\x00\xff";
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + below(chance, 4) {
        let at = below(chance, bytes.len());
        let end = (at + below(chance, 12)).min(bytes.len());
        match below(chance, 5) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => bytes.insert(at, ODD[below(chance, ODD.len())]),
            3 if at < bytes.len() => bytes[at] = ODD[below(chance, ODD.len())],
            _ => {
                let part = bytes[at..end].to_vec();
                let to = below(chance, bytes.len() + 1);
                bytes.splice(to..to, part);
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn below(chance: &mut SplitMix64, limit: usize) -> usize {
    (chance.uniform() * limit.max(1) as f64) as usize
}

/// Reads each text damaged in thousands of ways; `show` is given every run that is taken.
pub fn read_damaged(mut show: impl FnMut(&str, Run)) {
    let mut chance = SplitMix64::new(0x5eed_1234);
    for (name, text) in [("JSON", JSON), ("CSV", CSV), ("OSU", OSU), ("IMB", IMB)] {
        assert!(read(name, text).is_ok_and(|run| !run.rows.is_empty()), "{name}");
        let (mut taken, mut refused) = (0, 0);
        for _ in 0..4000 {
            match read(name, &damage(text, &mut chance)) {
                Ok(run) => {
                    taken += 1;
                    show(name, run);
                }
                Err(error) => {
                    refused += 1;
                    assert!(!error.to_string().is_empty());
                }
            }
        }
        // Damage that is always noticed, or never, would test nothing.
        assert!(taken > 100 && refused > 100, "{name}: {taken} taken, {refused} refused");
    }
}
