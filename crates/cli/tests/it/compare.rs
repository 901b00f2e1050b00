//! `laneway compare` and `laneway report` on files as people have them: ours, OSU's, IMB's, broken.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use laneway_report::json::{self, Json};
use serde_json::Value;

/// A folder that goes when the test is over.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("laneway-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("a readable name").to_owned()
    }

    fn file(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        std::fs::write(self.0.join(name), text).expect("a file");
        self.path(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn laneway(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
    command.args(args).stdin(Stdio::null()).output().expect("the command starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The exit code and the JSON of a comparison.
fn compared(args: &[&str]) -> (Option<i32>, Value) {
    let output = laneway(&[&["compare", "--format", "json"], args].concat());
    let json = serde_json::from_slice(&output.stdout);
    (output.status.code(), json.unwrap_or_else(|_| panic!("{args:?}: {}", stderr(&output))))
}

fn refused(args: &[&str], code: i32, says: &str) {
    let output = laneway(args);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
    assert_eq!(stdout(&output), "", "{args:?} prints something");
    for word in ["error: ", "cause: ", "try: ", says] {
        assert!(text.contains(word), "{args:?} does not say `{word}`:\n{text}");
    }
}

/// A document of ours with these members of its rows.
fn ours(rows: &[String]) -> String {
    let rows: Vec<String> = rows.iter().map(|row| format!("{{{row}}}")).collect();
    let rows = rows.join(",\n");
    format!(
        "{{\"schema\": \"laneway.measure/1\", \"env\": {{\"host\": \"n1\"}}, \"rows\": [{rows}]}}"
    )
}

fn row(algorithm: &str, size: u32, time: f64, rest: &str) -> String {
    format!(
        "\"op\": \"bcast\", \"algorithm\": \"{algorithm}\", \"ranks\": 16, \
         \"size_bytes\": {size}, \"time_us\": {time}{rest}"
    )
}

fn interval(low: f64, high: f64) -> String {
    format!(", \"ci_low_us\": {low}, \"ci_high_us\": {high}, \"ci_level\": 0.95")
}

#[test]
fn intervals_decide_and_nothing_is_hidden() {
    let folder = Folder::new("compare-intervals");
    let old = folder.file(
        "old.json",
        ours(&[
            row("ring", 1024, 20.0, &interval(19.0, 21.0)),
            row("ring", 8, 10.0, &interval(9.9, 10.1)),
            row("binomial", 8, 10.0, &interval(8.0, 12.0)),
            row("binomial", 64, 10.0, &interval(9.9, 10.1)),
            row("gone", 8, 1.0, ""),
        ]),
    );
    let new = folder.file(
        "new.json",
        ours(&[
            row("ring", 8, 12.0, &interval(11.5, 12.5)),
            row("ring", 1024, 15.0, &interval(14.0, 16.0)),
            row("binomial", 8, 12.0, &interval(9.0, 15.0)),
            row("binomial", 64, 10.2, &interval(10.15, 10.25)),
            row("fresh", 8, 1.0, ""),
        ]),
    );
    let output = laneway(&["compare", &old, &new]);
    let wanted = "           size_   old_   new_          ratio_  ratio_
algorithm  bytes     us     us   ratio     low    high  verdict  note
ring           8  10.00  12.00   1.200   1.139   1.263  slower
ring        1024  20.00  15.00  0.7500  0.6667  0.8421  faster
binomial       8  10.00  12.00   1.200  0.7500   1.875  unknown  not significant
binomial      64  10.00  10.20   1.020   1.005   1.035  same
gone           8  1.000      -       -       -       -  unknown  only in old
fresh          8      -  1.000       -       -       -  unknown  only in new

Common to all rows: op bcast, ranks 16.

Of 6 points, 1 is slower, 1 faster, 1 the same and 3 unknown; \
1 is only in the old run and 1 is only in the new run.
Slower: 1 of 6 points, the most bcast ring at 8 B, by a factor of 1.200. \
Not all was compared: OLD lacks 1 point of NEW; NEW lacks 1 point of OLD. \
--allow-missing accepts that.
";
    assert_eq!(stdout(&output).replace(&old, "OLD").replace(&new, "NEW"), wanted);
    assert_eq!(output.status.code(), Some(1));
    let (code, json) = compared(&[&old, &new, "--threshold", "25%"]);
    assert_eq!((code, &json["summary"]["slower"]), (Some(1), &Value::from(0)));
    let (code, json) = compared(&[&old, &new, "--threshold", "25%", "--allow-missing"]);
    assert_eq!((code, &json["summary"]["slower"]), (Some(0), &Value::from(0)));
    assert_eq!(
        (&json["summary"]["ok"], &json["summary"]["missing_new"]),
        (&true.into(), &1.into())
    );
    assert_eq!(json["schema"], "laneway.compare/1");
    let (code, json) = compared(&[&old, &new, "--threshold", "1%"]);
    assert_eq!((code, &json["rows"][3]["verdict"]), (Some(1), &Value::from("slower")));
    let (code, json) = compared(&[&old, &old]);
    assert_eq!((code, &json["summary"]["same"]), (Some(0), &Value::from(5)));
    let (_, json) = compared(&[&old, &new, "--level", "99%"]);
    assert_eq!(json["rows"][0]["note"], "interval of 95%");
    // Single launches of the same thing differ by as much as a fifth: the cause is unknown.
    let launch = format!("{}, \"ci_scope\": \"launch\"", interval(9.9, 10.1));
    let near = folder.file("near.json", ours(&[row("ring", 8, 10.0, &launch)]));
    let (code, json) = compared(&[&near, &new, "--allow-missing"]);
    assert_eq!((code, &json["rows"][0]["verdict"]), (Some(0), &Value::from("unknown")));
    assert_eq!(json["rows"][0]["note"], "single launch, not significant");
    let launch = format!("{}, \"ci_scope\": \"launch\"", interval(7.9, 8.1));
    let launch = folder.file("launch.json", ours(&[row("ring", 8, 8.0, &launch)]));
    let (code, json) = compared(&[&launch, &new]);
    assert_eq!((code, &json["rows"][0]["verdict"]), (Some(1), &Value::from("slower")));
    assert_eq!(json["rows"][0]["note"], "single launch");
    let warned = stderr(&laneway(&["compare", &launch, &new]));
    assert!(warned.contains("1 of 1 differences rest on single launches"), "{warned}");
}

/// What a run that was stopped has left passes no gate, in whatever format it was written.
#[test]
fn a_run_that_was_stopped_passes_no_gate() {
    let folder = Folder::new("compare-stopped");
    let all: Vec<String> = [8, 64, 512, 4096].map(|size| row("ring", size, 2.0, "")).into();
    let params = "\"params\": {\"sizes\": \"8,64,512,4K\"}";
    let marked = |rows: &[String], mark: &str| {
        ours(rows).replacen("\"env\"", &format!("{mark}, {params}, \"env\""), 1)
    };
    let whole = folder.file("whole.json", marked(&all, "\"complete\": true"));
    let part = [&all[..1], &all[2..]].concat();
    let stopped = "\"complete\": false, \"done\": \"3 of 4 points\"";
    let stopped = folder.file("stopped.json", marked(&part, stopped));
    let mut names = "op,algorithm,ranks,size_bytes,time_us,complete\n".to_owned();
    let line = |size: u32, mark: bool| format!("bcast,ring,16,{size},2.0,{mark}\n");
    for size in [8, 64, 512] {
        names += &line(size, false);
    }
    let csv = folder.file("whole.csv", names.clone() + &line(4096, true));
    // Cut off at a line, and within a number.
    let short = folder.file("short.csv", &names);
    let torn = folder.file("torn.csv", names.clone() + "bcast,ring,16,4096,2");
    let osu = |mark: &str| {
        format!("# OSU MPI Broadcast Latency Test\n# Size  Latency (us)\n8 2.0\n{mark}")
    };
    let text = folder.file("stopped.txt", osu("# incomplete: 1 of 4 points\n"));
    let other = folder.file("other.txt", osu("# complete\n"));
    for (old, new, says) in [
        (&whole, &stopped, "stopped.json is incomplete (3 of 4 points); "),
        (&stopped, &whole, "stopped.json lacks 1 point of "),
        (&stopped, &stopped, "stopped.json is incomplete"),
        (&csv, &short, "short.csv is incomplete (3 rows); "),
        (&short, &short, "short.csv is incomplete (3 rows)"),
        (&other, &text, "stopped.txt is incomplete (1 of 4 points)"),
    ] {
        let output = laneway(&["compare", old, new]);
        assert_eq!(output.status.code(), Some(1), "{old} {new}: {}", stdout(&output));
        let last = stdout(&output).lines().last().map(str::to_owned).unwrap_or_default();
        assert!(last.contains(says) && last.contains("--allow-missing"), "{last}");
        let output = laneway(&["compare", old, new, "--allow-missing"]);
        assert_eq!(output.status.code(), Some(0), "{old} {new}: {}", stdout(&output));
    }
    refused(&["compare", &csv, &torn], 2, "5 fields under 6 names");
    for (old, new) in [(&whole, &whole), (&csv, &csv), (&other, &other), (&whole, &csv)] {
        let output = laneway(&["compare", old, new]);
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
        assert!(stdout(&output).ends_with("\nNothing is slower.\n"), "{}", stdout(&output));
    }
    // An older file has no mark, which is said.
    let older = folder.file("older.json", ours(&all));
    let output = laneway(&["compare", &older, &whole]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("older.json does not say whether it is complete"));

    // The page has two lines around what is missing, and says so; and what compare says.
    let page = folder.path("page.html");
    let output = laneway(&["report", &stopped, "-o", &page]);
    assert!(stderr(&output).contains("stopped.json is incomplete: 3 of 4 points"));
    let html = std::fs::read_to_string(&page).expect("the page");
    assert!(html.contains("<p>This run is incomplete: 3 of 4 points.</p>"), "{html}");
    let parts = |html: &str| ["<polyline", "class=\"gap\""].map(|part| html.matches(part).count());
    assert_eq!(parts(&html), [2, 1]);
    let output = laneway(&["report", &whole, &stopped, "-o", &page]);
    let says = "Nothing is slower. Not all was compared: stopped is incomplete (3 of 4 points)";
    assert!(stderr(&output).contains(&format!("stopped compared with whole: {says}")));
    let html = std::fs::read_to_string(&page).expect("the page");
    assert!(html.contains("<h3>stopped compared with whole</h3>") && html.contains(says));
}

/// Pairs grow with the square of the ranks: what stands out is shown, and the rest on demand.
#[test]
fn many_pairs_are_summed_up() {
    let folder = Folder::new("compare-many");
    let pairs = |slow: Option<(u32, u32)>| {
        let pairs = (0..12).flat_map(|to| (0..to).map(move |from| (from, to)));
        let rows: Vec<String> = pairs
            .map(|(from, to)| {
                let us = if slow == Some((from, to)) { 9.0 } else { 2.5 };
                let ends = format!("\"from\": {from}, \"to\": {to}");
                format!("\"pattern\": \"latency\", {ends}, \"size_bytes\": 8, \"time_us\": {us}")
            })
            .collect();
        ours(&rows)
    };
    let old = folder.file("old.json", pairs(None));
    let new = folder.file("new.json", pairs(Some((3, 7))));
    let brief = laneway(&["compare", &old, &new]);
    assert_eq!(brief.status.code(), Some(1));
    let text = stdout(&brief);
    assert!(text.lines().count() < 16, "{text}");
    for says in [
        "latency: 66 points, 1 slower, 0 faster, 65 the same, 0 unknown; ratios from 1.000 to",
        "--all prints every point",
        "Slower: 1 of 66 points, the most latency from rank 3 to 7 at 8 B, by a factor of 3.600.\n",
    ] {
        assert!(text.replace('\n', " ").contains(&says.replace('\n', " ")), "{says}\n{text}");
    }
    let all = stdout(&laneway(&["compare", &old, &new, "--all"]));
    assert!(all.lines().filter(|line| line.contains("same")).count() >= 65, "{all}");
    let (_, json) = compared(&[&old, &new]);
    assert_eq!(json["rows"].as_array().map(Vec::len), Some(66));
}

/// An interval that reaches 0 is not missing: nothing is sure about such a figure.
#[test]
fn an_interval_that_reaches_zero_decides_nothing() {
    let folder = Folder::new("compare-zero");
    let old = folder.file("old.json", ours(&[row("ring", 8, 1.0, &interval(-0.2, 2.2))]));
    let new = folder.file("new.json", ours(&[row("ring", 8, 2.0, &interval(1.9, 2.1))]));
    for files in [[&old, &new], [&new, &old]] {
        let (code, json) = compared(&[files[0], files[1]]);
        let found = &json["rows"][0];
        assert_eq!((code, &found["verdict"]), (Some(0), &"unknown".into()), "{found}");
        assert_eq!(found["note"], "not significant");
    }
    let (_, json) = compared(&[&new, &old]);
    assert_eq!(json["rows"][0]["ratio_low"], 0.0);
    // The page and the script have a logarithmic axis, which has no 0.
    let page = stdout(&laneway(&["report", &old]));
    assert!(page.contains("class=\"dot\"") && !page.contains("NaN\"") && !page.contains("inf\""));
}

#[test]
fn samples_are_better_than_intervals() {
    let folder = Folder::new("compare-samples");
    let samples = |factor: f64| {
        let list: Vec<String> =
            (0..40).map(|i| format!("{:.3}", factor * (100.0 + f64::from(i * 7 % 40)))).collect();
        // An interval that would decide nothing.
        format!("{}, \"samples_us\": [{}]", interval(1.0, 1000.0), list.join(", "))
    };
    let old = folder.file("old.json", ours(&[row("ring", 8, 119.5, &samples(1.0))]));
    let new = folder.file("new.json", ours(&[row("ring", 8, 143.4, &samples(1.2))]));
    let (code, json) = compared(&[&old, &new]);
    let found = &json["rows"][0];
    let number = |name: &str| found[name].as_f64().expect(name);
    assert_eq!((code, &found["verdict"]), (Some(1), &Value::from("slower")));
    assert!((number("ratio") - 1.2).abs() < 1e-3, "{found}");
    assert!(number("ratio_low") > 1.0 && number("ratio_high") < 1.5, "{found}");
    let (_, surer) = compared(&[&old, &new, "--level", "99.9%"]);
    let low = surer["rows"][0]["ratio_low"].as_f64().expect("a number");
    assert!(low < number("ratio_low"), "{surer}");
    let (code, back) = compared(&[&new, &old]);
    assert_eq!((code, &back["rows"][0]["verdict"]), (Some(0), &Value::from("faster")));
    // Samples of several launches are not one sample: their interval over the launches counts.
    let several = |factor| format!("{}, \"ci_scope\": \"launches\"", samples(factor));
    let old = folder.file("old.json", ours(&[row("ring", 8, 119.5, &several(1.0))]));
    let new = folder.file("new.json", ours(&[row("ring", 8, 143.4, &several(1.2))]));
    let (code, json) = compared(&[&old, &new]);
    assert_eq!((code, &json["rows"][0]["verdict"]), (Some(0), &Value::from("unknown")));
}

const OSU_BW: &str = "# OSU MPI Bandwidth Test v7.3\n# Datatype: MPI_CHAR.\n\
    # Size      Bandwidth (MB/s)\n1                       4.00\n1048576             10000.00\n";
const OSU_BCAST: &str = "\n# OSU MPI Broadcast Latency Test v7.3\n# Size       Avg Latency(us)\n\
    8                       2.00\n1024                    4.00\n";
const IMB: &str = "# Benchmarking Bcast\n# #processes = 16\n#-------\n       #bytes #repetitions  \
    t_min[usec]  t_max[usec]  t_avg[usec]\n            8         1000         1.90         2.20  \
    \t 2.05\n         1024         1000         5.00         7.00         6.00\n";

#[test]
fn texts_of_osu_and_imb_are_read() {
    let folder = Folder::new("compare-texts");
    let (bw, bcast) = (folder.file("bw.txt", OSU_BW), folder.file("bcast.txt", OSU_BCAST));
    let lower = folder.file("lower.txt", OSU_BW.replace("10000.00", "8000.00"));
    let (code, json) = compared(&[&bw, &lower]);
    let large = &json["rows"][1];
    assert_eq!((code, &large["verdict"]), (Some(1), &Value::from("slower")));
    assert_eq!((&large["op"], &large["note"]), (&"bandwidth".into(), &"no interval".into()));
    assert_eq!((&large["old_mb_s"], &large["old_us"]), (&Value::from(10000.0), &Value::Null));
    assert_eq!(large["ratio"], 0.8);
    let (code, json) = compared(&[&lower, &bw]);
    assert_eq!((code, &json["rows"][1]["verdict"]), (Some(0), &Value::from("faster")));

    let imb = folder.file("imb.txt", IMB);
    let (code, json) = compared(&[&bcast, &imb]);
    let verdicts = [&json["rows"][0]["verdict"], &json["rows"][1]["verdict"]];
    assert_eq!((code, verdicts), (Some(1), [&"same".into(), &"slower".into()]));
    assert_eq!(json["rows"][0]["ranks"], 16);

    // Text without algorithms stands against each of ours.
    let both = [row("ring", 8, 2.0, ""), row("binomial", 8, 3.0, "")];
    let (code, json) = compared(&[&bcast, &folder.file("ours.json", ours(&both))]);
    assert_eq!((code, json["rows"].as_array().map(Vec::len)), (Some(1), Some(3)));
    assert_eq!(json["rows"][1]["algorithm"], "binomial");
    assert_eq!(json["rows"][2]["note"], "only in old");
}

#[test]
fn what_a_verb_exports_can_be_compared() {
    let folder = Folder::new("compare-export");
    let simulate = |file: &str, platform: &str| {
        let sizes = ["--sizes", "8,64K", "--algorithm", "binomial,linear"];
        let start = ["sim", "bcast", "--platform", platform, "--export", file];
        let output = laneway(&[&start[..], &sizes[..]].concat());
        assert!(output.status.success(), "{}", stderr(&output));
    };
    let (json, csv, slow) = (folder.path("a.json"), folder.path("a.csv"), folder.path("b.csv"));
    simulate(&json, "cluster:8");
    simulate(&csv, "cluster:8");
    simulate(&slow, "cluster:8,latency=1ms");
    let (code, same) = compared(&[&json, &csv]);
    assert_eq!((code, &same["summary"]["same"]), (Some(0), &Value::from(4)), "{same}");
    assert_eq!(same["summary"]["unknown"], 0);
    let (code, slower) = compared(&[&json, &slow]);
    assert_eq!((code, &slower["rows"][0]["verdict"]), (Some(1), &"slower".into()), "{slower}");
}

#[test]
fn a_launch_of_a_simulation_is_enough() {
    let folder = Folder::new("compare-simulated");
    let measure = |file: &str, platform: &str| {
        let args = ["measure", "coll", "bcast", "--backend", platform, "--export", file];
        let output = laneway(&args);
        assert!(output.status.success(), "{}", stderr(&output));
    };
    let (old, new) = (folder.path("old.json"), folder.path("new.json"));
    measure(&old, "sim:cluster:8,latency=50us");
    measure(&new, "sim:cluster:8,latency=58us");
    let (code, json) = compared(&[&old, &new]);
    assert_eq!((code, &json["rows"][0]["verdict"]), (Some(1), &"slower".into()), "{json}");
    assert_eq!(json["rows"][0]["note"], "");
    assert_eq!(compared(&[&old, &old]).0, Some(0));
}

#[test]
fn both_figures_of_a_pair_are_compared() {
    let folder = Folder::new("compare-pairs");
    let measure = |file: &str, platform: &str| {
        let output = laneway(&["measure", "pairs", "--backend", platform, "--export", file]);
        assert!(output.status.success(), "{}", stderr(&output));
    };
    let path = |name: &str| folder.path(name);
    let (old, late, narrow) = (path("old.json"), path("late.json"), path("narrow.csv"));
    measure(&old, "sim:cluster:3");
    measure(&late, "sim:cluster:3,latency=100us");
    measure(&narrow, "sim:cluster:3,rate=500Mbit");
    let (code, json) = compared(&[&old, &late]);
    let count = |json: &Value, name: &str| json["summary"][name].as_u64();
    assert_eq!((code, count(&json, "slower")), (Some(1), Some(3)), "{json}");
    assert_eq!((&json["rows"][0]["op"], &json["rows"][0]["from"]), (&"latency".into(), &0.into()));
    // CSV does not say that it was simulated, nor with which size.
    let (code, json) = compared(&[&old, &narrow]);
    assert_eq!((code, count(&json, "slower")), (Some(1), Some(3)), "{json}");
    let slow = json["rows"].as_array().expect("rows").iter().find(|row| row["verdict"] == "slower");
    let slow = slow.expect("a slower one");
    assert_eq!(slow["op"], "bandwidth");
    assert!(slow["ratio_low"].is_f64() && slow["old_mb_s"].is_f64(), "{slow}");
    assert_eq!(compared(&[&old, &old]).0, Some(0));
}

/// Red only on request, or if a terminal shows it.
#[test]
fn what_is_slower_is_red_where_there_is_colour() {
    let folder = Folder::new("compare-colour");
    let old = folder.file("old.json", ours(&[row("ring", 8, 2.0, ""), row("ring", 16, 2.0, "")]));
    let new = folder.file("new.json", ours(&[row("ring", 8, 3.0, ""), row("ring", 16, 2.0, "")]));
    let with = |name: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
        let command = command.args(["compare", &old, &new]).stdin(Stdio::null());
        stdout(&command.env(name, "1").output().expect("the command starts"))
    };
    assert!(with("CLICOLOR_FORCE").contains("\x1b[31mslower\x1b[0m"));
    assert!(!with("NO_COLOR").contains('\x1b') && with("NO_COLOR").contains("slower"));
    // As wide as it is set to be.
    assert!(with("COLUMNS").lines().count() > with("NO_COLOR").lines().count());
}

#[test]
fn files_that_are_none_are_refused() {
    let folder = Folder::new("compare-bad");
    let good = folder.file("good.json", ours(&[row("ring", 8, 2.0, "")]));
    let whole = ours(&[row("ring", 8, 2.0, "")]);
    for (text, says) in [
        (&b""[..], "it holds no text"),
        (b"\x7fELF\x02\x01\x00\xff\xfe", "it is not text"),
        (&whole.as_bytes()[..whole.len() - 9], "line 1, column"),
        (b"{\"schema\": \"other/1\", \"rows\": []}", "other/1"),
        (b"{\"schema\": \"laneway.measure/1\", \"rows\": []}", "it holds no rows"),
        (b"op,size_bytes\nbcast,8,9\n", "line 2: 3 fields under 2 names"),
        (b"dear diary\n", "neither JSON or CSV"),
        (&b"[".repeat(100_000), "recursion limit"),
        (b"{\"schema\": \"laneway.measure/1\", \"rows\": [{\"time_us\": 1e999}]}", "range"),
        (b"{\"schema\": \"laneway.measure/1\", \"rows\": [{\"time_us\": NaN}]}", "expected value"),
        (b"op,size_bytes\r\nbcast,\"8\r\n", "never closed"),
        (b"# Size  Latency (us)\r\n8\r\n", "line 2"),
        (b"# Benchmarking Bcast\r\n", "it holds no rows"),
        (b"\xff\xfe{\x00}\x00", "it is not text"),
    ] {
        let bad = folder.file("bad", text);
        refused(&["compare", &good, &bad], 2, says);
        refused(&["compare", &bad, &good], 2, says);
        refused(&["report", &good, &bad, "-o", &folder.path("x.html")], 2, says);
    }
    assert!(!folder.0.join("x.html").exists());
    refused(&["compare", &good, &folder.path("none")], 3, "No such file");
    refused(&["compare", &good, &folder.path("")], 3, "directory");
    let other = ours(&[row("ring", 16, 2.0, "")]);
    refused(&["compare", &good, &folder.file("other.json", other)], 2, "can be compared");
    let zero = ours(&[row("ring", 8, 0.0, "")]);
    refused(&["compare", &good, &folder.file("zero.json", zero)], 2, "can be compared");
    refused(&["compare", &good, &good, "--threshold", "5"], 2, "as 5%");
    refused(&["compare", &good, &good, "--level", "100%"], 2, "as 95%");
    refused(&["compare", &good], 2, "NEW");
    refused(&["report", &good, "-o", &good], 2, "it is one of the files to read");
    refused(&["report", &good, "-o", &folder.path("no/such/x.html")], 3, "cannot write");
}

#[test]
fn a_report_holds_all_runs() {
    let folder = Folder::new("report");
    let old = folder.file("old.json", ours(&[row("ring", 8, 2.0, &interval(1.5, 2.5))]));
    let bcast = folder.file("bcast.txt", OSU_BCAST);
    let page = folder.path("page.html");
    let output = laneway(&["report", &old, &bcast, "-o", &page, "--title", "Mon <1>"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output), "");
    let html = std::fs::read_to_string(&page).expect("the page");
    for part in [
        "<h1>Mon &lt;1&gt;</h1>",
        "ring ranks 16 (old)",
        "bcast (bcast)",
        "<dd>n1</dd>",
        "<dd>OSU</dd>",
    ] {
        assert!(html.contains(part), "{part} is missing in\n{html}");
    }
    // All pairs of 300 ranks are 44,850 curves; looking for each among all took minutes.
    let pairs = (0..300).flat_map(|to| (0..to).map(move |from| (from, to)));
    let pairs: Vec<String> = pairs
        .map(|(from, to)| {
            let ends = format!("\"from\": {from}, \"to\": {to}");
            format!("\"pattern\": \"latency\", {ends}, \"size_bytes\": 8, \"time_us\": 2.5")
        })
        .collect();
    let begun = std::time::Instant::now();
    let shown = laneway(&["report", &folder.file("pairs.json", ours(&pairs))]);
    assert!(stdout(&shown).contains("from 298 to 299") && shown.status.success());
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    let shown = laneway(&["report", &old]);
    assert!(stdout(&shown).starts_with("<!doctype html>") && shown.status.success());
}

/// Our reader against another: it takes what that one takes and refuses what that one refuses.
#[test]
fn json_is_read_as_another_reader_reads_it() {
    fn same(ours: &Json, theirs: &Value) -> bool {
        use laneway_core::Value as Plain;
        match (ours, theirs) {
            (Json::Plain(Plain::Nothing), Value::Null) => true,
            (Json::Plain(Plain::Truth(a)), Value::Bool(b)) => a == b,
            (Json::Plain(Plain::Text(a)), Value::String(b)) => a == b,
            (Json::Plain(Plain::Whole(a)), Value::Number(b)) => Some(*a as f64) == b.as_f64(),
            (Json::Plain(Plain::Real(a)), Value::Number(b)) => {
                // The other reader rounds the last digit in haste.
                b.as_f64().is_some_and(|b| (a - b).abs() <= a.abs() * 1e-15)
            }
            (Json::List(a), Value::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
            }
            (Json::Object(a), Value::Object(b)) => {
                let found = |(name, value): &(String, Json)| {
                    b.get(name).is_some_and(|other| same(value, other))
                };
                a.len() == b.len() && a.iter().all(found)
            }
            _ => false,
        }
    }
    let text = concat!(
        r#"{"a": [1, -2.5e-3, 0.1, null, true], "#,
        r#""é\u00e9\ud83d\ude00": {"b": "x\"\\\/\n"}}"#
    );
    let odd: Vec<char> = "{}[]\",:\\-+.eE019 u\n\u{1}truefalsn".chars().collect();
    let mut draws = laneway_stats::SplitMix64::new(11);
    let mut below = |limit: usize| (draws.uniform() * limit as f64) as usize;
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..30_000 {
        let mut damaged: Vec<char> = text.chars().collect();
        for _ in 0..1 + below(3) {
            let at = below(damaged.len());
            match below(3) {
                0 => drop(damaged.remove(at)),
                1 => damaged.insert(at, odd[below(odd.len())]),
                _ => damaged[at] = odd[below(odd.len())],
            }
        }
        let damaged: String = damaged.into_iter().collect();
        match (json::parse(&damaged), serde_json::from_str::<Value>(&damaged)) {
            (Ok(ours), Ok(theirs)) => {
                assert!(same(&ours, &theirs), "{damaged}\n{ours:?}\n{theirs:?}");
                taken += 1;
            }
            (Err(_), Err(_)) => refused += 1,
            (ours, theirs) => panic!("{damaged}\n{ours:?}\n{theirs:?}"),
        }
    }
    assert!(taken > 1000 && refused > 1000, "{taken} taken, {refused} refused");
}
