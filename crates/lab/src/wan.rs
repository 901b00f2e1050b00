//! The process that is a lab's WAN, and how others talk to it.

use std::fs::File;
use std::io;
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use crate::emulator::{Engine, Wan, Way, enter_namespace, open_tun, serve};
use crate::error::LabError;
use crate::name::LabName;
use crate::plan::{Plan, queue_of, site_of};
use crate::system::{namespace_file, within};
use crate::task::Task;

const CONTROL: &str = "wan.control";
/// How long it may take to answer.
const LIMIT: Duration = Duration::from_secs(5);

/// Starts the WAN of a lab and waits until it answers.
pub(crate) fn start(lab: &LabName, program: &Path) -> Result<(), LabError> {
    let started = |error| LabError::system("starting the WAN", error);
    let log = File::create(lab.file("wan.log")).map_err(started)?;
    let mut command = Task::Wan.command(lab, program)?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    // SAFETY: between fork and exec one system call is made, without arguments.
    unsafe {
        command.pre_exec(|| {
            libc::setsid();
            Ok(())
        });
    }
    let mut child = command.spawn().map_err(started)?;
    let begun = Instant::now();
    while begun.elapsed() < LIMIT {
        if let Ok(Some(_)) = child.try_wait() {
            break;
        }
        if is_there(lab) {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(2));
    }
    _ = child.kill();
    _ = child.wait();
    let said = std::fs::read_to_string(lab.file("wan.log")).unwrap_or_default();
    let said = if said.is_empty() { "no answer within 5 s" } else { said.trim() };
    Err(LabError::Tool { command: "the WAN".to_string(), said: said.to_string() })
}

/// Whether a lab's WAN answers, whatever it says.
pub(crate) fn is_there(lab: &LabName) -> bool {
    lab.file(CONTROL).exists() && matches!(request(lab, "show"), Ok(_) | Err(LabError::Fault(_)))
}

/// One command to a lab's WAN, and its answer.
pub fn request(lab: &LabName, command: &str) -> Result<String, LabError> {
    let asked = |error| LabError::system(format!("asking the WAN for `{command}`"), error);
    let name = format!("ask.{}.{:?}", std::process::id(), thread::current().id());
    let own = lab.file(&name);
    _ = std::fs::remove_file(&own);
    let socket = UnixDatagram::bind(&own).map_err(asked)?;
    let answer = talk(lab, &socket, command);
    _ = std::fs::remove_file(&own);
    let answer = answer.map_err(asked)?;
    match answer.strip_prefix("error: ") {
        Some(why) => Err(LabError::Fault(format!("the WAN refuses `{command}`: {why}"))),
        None => Ok(answer),
    }
}

fn talk(lab: &LabName, socket: &UnixDatagram, command: &str) -> io::Result<String> {
    socket.set_read_timeout(Some(LIMIT))?;
    socket.set_write_timeout(Some(LIMIT))?;
    socket.send_to(command.as_bytes(), lab.file(CONTROL))?;
    let mut answer = vec![0; 1 << 16];
    let length = socket.recv(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer[..length]).into_owned())
}

/// What the process does: opens a device in every site, moves into a namespace of its own, by which
/// it is found, and carries packets until it is stopped or killed.
pub fn run(lab: &LabName) -> Result<(), LabError> {
    let text = std::fs::read_to_string(lab.file("plan"))
        .map_err(|error| LabError::system("reading the plan", error))?;
    let plan = Plan::parse(&text).map_err(LabError::Name)?;
    let opened = |error| LabError::system("opening a TUN device", error);
    let mut devices = Vec::new();
    for site in 0..plan.sites.len() {
        devices.push(within(&lab.site(site), || open_tun("wan"))?.map_err(opened)?);
    }
    let moved = |error| LabError::system("moving into the WAN's namespace", error);
    enter_namespace(&namespace_file(&lab.wan())).map_err(moved)?;
    let engine = Engine::new(emulated(&plan)).map_err(LabError::Fault)?;
    let control = UnixDatagram::bind(lab.file(CONTROL))
        .map_err(|error| LabError::system("making the WAN's control socket", error))?;
    serve(engine, devices, site_of, control)
        .map_err(|error| LabError::system("carrying packets", error))
}

/// The plan as the emulator wants it.
fn emulated(plan: &Plan) -> Wan {
    let sites = plan.sites.len();
    let mut ways = vec![None; sites * sites];
    for way in &plan.ways {
        let connection = plan.paced(way);
        let queue_bytes = connection.map_or(u64::MAX, queue_of);
        ways[way.from * sites + way.to] = Some(Way {
            delay: way.latency,
            connection,
            pipes: way.pipes.clone(),
            queue_bytes,
            ..Way::default()
        });
    }
    Wan { sites, ways, pipes: plan.pipes.clone(), seed: plan.options.seed }
}
