//! The files for SimGrid; where SimGrid is here, its own virtual time against ours.

use std::process::Command;

use laneway_needs::{Need, program};

use super::*;

/// Each rank of the first half sends to its peer of the second at time 0. Much later in virtual
/// time, rank 0 and every other rank exchange messages, one pair after the other. Prints what was
/// timed.
const PROGRAM: &str = r#"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  int bytes = atoi(argv[1]);
  char *data = calloc(1, bytes);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int half = size / 2, peer = rank < half ? rank + half : rank - half;
  double start = MPI_Wtime();
  if (rank < half) MPI_Send(data, bytes, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
  else {
    MPI_Recv(data, bytes, MPI_CHAR, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("together %d %.12f\n", rank, MPI_Wtime() - start);
  }
  sleep(100);
  for (int other = 1; other < size; other++)
    for (int turn = 0; turn < 2; turn++) {
      start = MPI_Wtime();
      if (rank == 0) {
        MPI_Send(data, bytes, MPI_CHAR, other, 2, MPI_COMM_WORLD);
        MPI_Recv(data, bytes, MPI_CHAR, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (turn == 1) printf("pair %d %.12f\n", other, MPI_Wtime() - start);
      } else if (rank == other) {
        MPI_Recv(data, bytes, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(data, bytes, MPI_CHAR, 0, 3, MPI_COMM_WORLD);
      }
    }
  MPI_Finalize();
  return 0;
}
"#;

/// What was timed: kind, rank, seconds.
fn simulate(folder: &Folder, platform: &Platform, bytes: u32) -> Vec<(String, HostId, f64)> {
    let export = platform.export_simgrid().expect("an export");
    assert_eq!(export.lost, [""; 0]);
    let xml = folder.write("platform.xml", &export.platform_xml);
    let hostfile = folder.write("hostfile", &export.hostfile);
    let output = Command::new("timeout")
        .args(["60", "smpirun", "-np", &platform.hosts().to_string()])
        .args(["-platform", &xml, "-hostfile", &hostfile])
        .args(&export.arguments)
        .args([folder.0.join("program").as_os_str(), bytes.to_string().as_ref()])
        .current_dir(&folder.0)
        .output()
        .expect("smpirun starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let line = |line: &str| {
        let mut words = line.split(' ');
        let kind = words.next()?.to_string();
        Some((kind, words.next()?.parse().ok()?, words.next()?.parse().ok()?))
    };
    let times: Vec<_> = text.lines().filter_map(line).collect();
    assert_eq!(times.len() as u32, platform.hosts() / 2 + platform.hosts() - 1, "{text}");
    times
}

/// One message on an idle network: what [`Network`] promises.
fn alone(platform: &Platform, from: HostId, to: HostId, bytes: u32) -> f64 {
    let mut route = Route::default();
    platform.route(from, to, &mut route);
    let rates = route.resources.iter().map(|id| platform.resources()[*id as usize].rate);
    route.latency + whole(platform, bytes) / rates.fold(route.most, f64::min)
}

/// A message with its header.
fn whole(platform: &Platform, bytes: u32) -> f64 {
    (u64::from(bytes) + platform.header_bytes()) as f64
}

fn near(ours: f64, theirs: f64, what: &str) {
    println!("{what}: ours {ours:.9} s, SimGrid {theirs:.9} s");
    // SimGrid's own precision is a nanosecond.
    assert!((ours - theirs).abs() < 2e-9, "{what}: ours {ours}, SimGrid {theirs}");
}

#[test]
fn simgrid_gives_the_same_times() {
    if !Need::Simgrid.is_met(program("smpirun")) {
        return;
    }
    let folder = Folder::new();
    let source = folder.write("program.c", PROGRAM);
    let compiled = Command::new("smpicc")
        .args(["-O1", &source, "-o"])
        .arg(folder.0.join("program"))
        .current_dir(&folder.0)
        .output()
        .expect("smpicc starts");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    // The rate that each of the pairs has while all of them send.
    let cases = [
        ("cluster:8", 125e6),
        ("two-sites:8x8", 125e6 / 8.0),
        ("two-sites:2x2", 31.25e6),
        ("two-sites:4x4,wan-rate=100Mbit,window=1M,latency=2ms", 12.5e6),
        ("sites:4,4,uplink=200Mbit,connection=1Gbit", 25e6 / 4.0),
        ("two-sites:3x3,aggregate=60Mbit,rate-in=50Mbit,rate-out=90Mbit,duplex=full", 2.5e6),
        ("cluster:4,duplex=half,lan=80Mbit", 5e6),
    ];
    for (spec, rate) in cases {
        let simgrids = "header=16,in-order=false,sharing=by-latency";
        let platform = Platform::read(&format!("{spec},{simgrids}")).expect(spec);
        for bytes in [1, 1_000_000] {
            for (kind, rank, theirs) in simulate(&folder, &platform, bytes) {
                let what = format!("{spec} {bytes} B {kind} {rank}");
                if kind == "pair" {
                    let back = alone(&platform, rank, 0, bytes);
                    near(alone(&platform, 0, rank, bytes) + back, theirs, &what);
                } else {
                    let latency = route(&platform, 0, rank).1;
                    near(latency + whole(&platform, bytes) / rate, theirs, &what);
                }
            }
        }
    }
}

#[test]
fn what_simgrid_cannot_say_is_listed() {
    let export = Platform::read("mpiblib16").expect("a platform").export_simgrid();
    let lost = export.expect("an export").lost;
    let listed = ["costs of 16 hosts", "header of 0 bytes", "in-order", "receive-buffer"];
    assert_eq!(lost.len(), listed.len(), "{lost:?}");
    listed.iter().zip(&lost).for_each(|(word, what)| assert!(what.contains(word), "{lost:?}"));
    let text = "include = ['cluster:3,header=16,in-order=false,clock-offset=1s']\n\
        event = [{ at = '1s', host = 'node0', down = true }]\n\
        background = [{ from = 'node0', to = 'node[1-2]', rate = '1bit' }]\n";
    let lost = read_text(text).expect("a platform").export_simgrid().expect("an export").lost;
    let listed = ["clocks of 3 hosts", "2 changes", "traffic of 2 pairs"];
    assert_eq!(lost.len(), listed.len(), "{lost:?}");
    listed.iter().zip(&lost).for_each(|(word, what)| assert!(what.contains(word), "{lost:?}"));
    let several = Platform::read("cluster:2,header=16,connections=4").expect("a platform");
    let lost = several.export_simgrid().expect("an export").lost;
    assert!(lost.iter().any(|what| what.contains("4 connections")), "{lost:?}");
    for (sharing, listed) in [("", 1), (",sharing=equal", 1), (",sharing=by-latency", 0)] {
        let spec = format!("two-sites:2x2,header=16,in-order=false{sharing}");
        let export = Platform::read(&spec).expect("a platform").export_simgrid();
        let lost = export.expect("an export").lost;
        assert_eq!(lost.len(), listed, "{lost:?}");
        assert!(lost.iter().all(|what| what.contains("equal shares")), "{lost:?}");
    }
    assert!(Platform::read("two-sites:2x2,sharing=unfair").is_err());
    let platform = Platform::read("cluster:1025").expect("a platform");
    assert_eq!(platform.export_simgrid().expect_err("too many").fault, Fault::Size);
    let export = Platform::read("cluster:3,eager=1K").expect("a platform").export_simgrid();
    let export = export.expect("an export");
    assert_eq!(export.platform_xml.matches("<route ").count(), 6);
    assert!(export.arguments.contains(&"--cfg=smpi/send-is-detached-thresh:1025".to_string()));
    let [(_, xml), (name, hosts), _] = export.files();
    assert!(xml.starts_with("<?xml") && name == "hostfile", "{name}");
    assert_eq!(hosts, "node0\nnode1\nnode2\n");
}
