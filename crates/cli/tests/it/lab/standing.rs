//! A lab of one test, and what is left of one.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use laneway_lab::{LabName, Plan, read_plan};
use laneway_needs::{Need, program};
use serde_json::Value;

/// Whether a lab can be built here.
pub fn needs() -> bool {
    let root = Path::new("/proc/self/ns/net").exists() && is_root();
    let tried = if root { Ok(()) } else { Err("it takes root".to_string()) };
    let tun = match Path::new("/dev/net/tun").exists() {
        true => Ok(()),
        false => Err("there is no /dev/net/tun".to_string()),
    };
    Need::Namespaces.is_met(program("ip").and(program("tc")).and(tried).and(tun))
}

fn is_root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().any(|line| line.starts_with("Uid:\t0\t"))
}

/// The command, ended after two minutes.
pub fn laneway(args: &[&str]) -> Output {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "120"]).arg(env!("CARGO_BIN_EXE_laneway")).args(args);
    command.env_remove("LANEWAY_LAB").stdin(Stdio::null()).output().expect("timeout starts")
}

pub fn succeed(args: &[&str]) -> Output {
    let output = laneway(args);
    let (out, err) = (&output.stdout, String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{args:?}: {} {err}", String::from_utf8_lossy(out));
    output
}

/// It ended with this code and says this.
pub fn refused(output: &Output, code: i32, part: &str) {
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{err}");
    assert!(err.contains("error: ") && err.contains(part), "{part} is not in {err}");
}

pub fn rows(output: &Output) -> Vec<Value> {
    let text = String::from_utf8_lossy(&output.stdout);
    let document: Value = serde_json::from_str(&text).unwrap_or_else(|why| panic!("{why}: {text}"));
    document["rows"].as_array().cloned().unwrap_or_default()
}

/// A lab that is taken down with this value.
pub struct Standing {
    pub name: String,
}

impl Standing {
    pub fn up(name: &str, words: &[&str]) -> Standing {
        let lab = Standing { name: format!("t-{name}-{}", std::process::id()) };
        let mut args = vec!["lab", "up", "--lab", &lab.name];
        args.extend(words);
        succeed(&args);
        lab
    }

    pub fn lab(&self) -> LabName {
        LabName::new(&self.name).expect("a name")
    }

    pub fn plan(&self) -> Plan {
        read_plan(&self.lab()).expect("a plan")
    }

    /// A verb of this lab, and what follows `--`.
    pub fn command(&self, verb: &[&str], words: &[&str]) -> Output {
        let mut args = vec!["lab"];
        args.extend(verb);
        args.extend(["--lab", &self.name, "--"]);
        args.extend(words);
        laneway(&args)
    }

    pub fn run(&self, words: &[&str]) -> Output {
        self.command(&["run"], words)
    }

    pub fn fault(&self, words: &str, options: &[&str]) -> Vec<Value> {
        let mut args = vec!["lab", "fault", "--lab", &self.name, "--format", "json"];
        args.extend(words.split(' '));
        args.extend(options);
        rows(&succeed(&args))
    }
}

impl Drop for Standing {
    fn drop(&mut self) {
        laneway(&["lab", "down", "--lab", &self.name]);
    }
}

/// Namespaces, processes and files that still carry a lab's name.
pub fn left(name: &str) -> Vec<String> {
    let prefix = format!("laneway.{name}.");
    let entries = std::fs::read_dir("/run/netns").into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut found: Vec<String> = names.filter(|found| found.starts_with(&prefix)).collect();
    let folder = LabName::new(name).expect("a name").folder();
    found.extend(folder.exists().then(|| folder.display().to_string()));
    found.extend(processes_with(name));
    found
}

/// Processes on whose command line a lab is named.
fn processes_with(name: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let words = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    words.filter(|words| words.contains(&format!("--lab {name} "))).collect()
}
