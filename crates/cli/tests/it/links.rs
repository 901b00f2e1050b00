//! `laneway sim --record` and `laneway report links` as a person or a script meets them.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

const PLATFORM: &str = "two-sites:4x4,latency=20ms,connection=125Mbit";

fn laneway(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
    command.args(args).output().expect("the command starts")
}

fn succeed(args: &[&str]) -> Output {
    let output = laneway(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// A folder of one test, gone with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = format!("laneway-links-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        Folder(folder)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("a readable name").to_owned()
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).expect("a file")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Records a scatter of 1 MiB; what the command printed.
fn record(file: &str, algorithm: &str, more: &[&str]) -> Output {
    let args = ["sim", "scatter", "--algorithm", algorithm, "--platform", PLATFORM];
    let args: Vec<&str> = args.into_iter().chain(["--sizes", "1M", "--record", file]).collect();
    succeed(&[&args, more].concat())
}

#[test]
fn rows_cover_the_run_and_hold_every_byte() {
    let folder = Folder::new("rows");
    let args = ["sim", "scatter", "--algorithm", "linear", "--platform", PLATFORM, "--sizes", "1M"];
    let plain = succeed(&args);
    let recorded = record(&folder.file("a.json"), "linear", &["--every", "3ms"]);
    assert_eq!(plain.stdout, recorded.stdout, "a record changes no time");
    let json: Value = serde_json::from_str(&folder.read("a.json")).expect("JSON");
    assert_eq!(json["schema"], "laneway.links/1");
    let time_us = json["params"]["time_us"].as_f64().expect("a time");
    let rows = json["rows"].as_array().expect("rows");
    let number = |row: &Value, name: &str| row[name].as_f64().expect("a number");
    // The root's card carries the blocks of the 7 others, the link between the sites 4 of them.
    for (link, direction, blocks) in
        [("s0n0", "out", 7.0), ("site0:to:site1", "there", 4.0), ("s1n3", "in", 1.0)]
    {
        let of = rows.iter().filter(|row| row["link"] == link && row["direction"] == direction);
        let (mut reached_us, mut bytes) = (0.0, 0.0);
        for row in of {
            let (at_us, length_us) = (number(row, "at_us"), number(row, "length_us"));
            assert!((at_us - reached_us).abs() < 1e-6 && length_us <= 3000.0 + 1e-6, "{row}");
            let rate_mbit = number(row, "bytes") * 8.0 / length_us;
            assert!((number(row, "rate_mbit") - rate_mbit).abs() < 1e-6, "{row}");
            assert!(rate_mbit <= number(row, "capacity_mbit") * (1.0 + 1e-9), "{row}");
            reached_us = at_us + length_us;
            bytes += number(row, "bytes");
        }
        assert!((reached_us - time_us).abs() < 1e-6, "{link} ends at {reached_us}");
        assert!((bytes - blocks * 1_048_576.0).abs() < 1.0, "{link} carries {bytes}");
    }
    let idle = rows.iter().any(|row| row["link"] == "s0n0" && row["direction"] == "in");
    assert!(!idle, "nothing comes back to the root");
}

#[test]
fn pictures_show_links_and_records_lie_over_each_other() {
    let folder = Folder::new("pictures");
    record(&folder.file("linear.svg"), "linear", &[]);
    let svg = folder.read("linear.svg");
    for part in ["scatter linear, 1M, 8 ranks", ">site0:to:site1<", ">there<", "Mbit/s", " ms<"] {
        assert!(svg.contains(part), "no {part} in {svg}");
    }
    let (linear, windowed) = (folder.file("linear.json"), folder.file("windowed.csv"));
    record(&linear, "linear", &[]);
    record(&windowed, "windowed", &[]);
    let (both, page) = (folder.file("both.svg"), folder.file("both.html"));
    let wan = ["report", "links", &linear, &windowed, "--link", "site0:to:site1", "-o", &both];
    succeed(&wan);
    let svg = folder.read("both.svg");
    assert!(svg.contains(">linear, there<") && svg.contains(">windowed, there<"), "{svg}");
    assert!(!svg.contains(">s0n0<") && svg.contains("stroke-dasharray"), "{svg}");
    succeed(&["report", "links", &linear, &windowed, "-o", &page, "--title", "A & B"]);
    let html = folder.read("both.html");
    assert!(html.contains("<title>A &amp; B</title>") && html.contains("2 records"), "{html}");
    let printed = succeed(&["report", "links", &linear]).stdout;
    assert!(printed.starts_with(b"<svg "));
}

#[test]
fn wrong_words_are_refused() {
    let folder = Folder::new("wrong");
    let (json, other) = (folder.file("a.json"), folder.file("other.csv"));
    record(&json, "linear", &[]);
    std::fs::write(&other, "op,size_bytes,time_us\nbcast,8,2.5\n").expect("a file");
    let sim = |words: &str| format!("sim scatter --algorithm linear --platform cluster:4 {words}");
    for (words, says) in [
        (sim("--sizes 1K --record x.png"), "--record links.json"),
        (sim("--sizes 1K,2K --record x.json"), "1 algorithm, 2 sizes"),
        ("sim scatter,gather --sizes 1K --record x.json".into(), "one run"),
        (sim("--sizes 1K --record x.json --every 0"), "above 0"),
        (sim("--sizes 1K --record x.json --every 5d"), "--every 5s"),
        (sim("--sizes 1M --record x.json --every 1ns"), "too short"),
        (sim("--sizes 0 --record x.json"), "--sizes 64K"),
        (sim("--ranks 1 --sizes 1K --record x.json"), "--ranks 2"),
        (sim("--sizes 1K --every 1ms"), "--record"),
        (format!("report links {json} -o x.png"), "-o links.svg"),
        (format!("report links {json} --link site0:to:site2"), "--link site0:to:site1"),
        (format!("report links {other}"), "names no `link`"),
        (format!("report links {json} -o {json}"), "must be .svg or .html"),
    ] {
        let output = laneway(&words.split(' ').collect::<Vec<_>>());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{words}: {text}");
        for part in ["error: ", "cause: ", "try: ", says] {
            assert!(text.contains(part), "{words} does not say `{part}`: {text}");
        }
        assert!(output.stdout.is_empty());
    }
}
