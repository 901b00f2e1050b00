//! Files damaged by chance: a text that is taken can be shown.

use laneway_draw::html;
use laneway_report::read;

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

/// Marsaglia's xorshift: enough for damage, and the same on every machine.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

/// A few bytes changed, taken out, doubled or moved.
fn damaged(text: &str, chance: &mut Chance) -> String {
    const ODD: &[u8] = b"{}[]\",:\\\n-+.eE019 #u\x00\xff";
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + chance.below(4) {
        let at = chance.below(bytes.len());
        let end = (at + chance.below(12)).min(bytes.len());
        match chance.below(5) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => bytes.insert(at, ODD[chance.below(ODD.len())]),
            3 if at < bytes.len() => bytes[at] = ODD[chance.below(ODD.len())],
            _ => {
                let part = bytes[at..end].to_vec();
                let to = chance.below(bytes.len() + 1);
                bytes.splice(to..to, part);
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn damaged_files_never_panic() {
    let mut chance = Chance(0x5eed_1234);
    for (name, text) in [("JSON", JSON), ("CSV", CSV), ("OSU", OSU), ("IMB", IMB)] {
        assert!(read(name, text).is_ok_and(|run| !run.rows.is_empty()), "{name}");
        let (mut taken, mut refused) = (0, 0);
        for _ in 0..4000 {
            match read(name, &damaged(text, &mut chance)) {
                Ok(run) => {
                    taken += 1;
                    let page = html::render(name, &[run]);
                    let drawn = page.split("<script>").next().unwrap_or_default();
                    assert!(page.ends_with("</html>\n") && !drawn.contains("NaN"), "{page}");
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
