//! One build of the library under every MPI whose compiler is here, and without any, as a program
//! in C sees it.

mod mpis;
mod paths;

use std::path::Path;
use std::process::Command;

use laneway_coll::algorithms;
use laneway_core::Collective;
use laneway_needs::{Need, file, program};
use mpis::{Installed, all, cargo, finished, source, text};

/// Builds a program with each MPI's own compiler, runs it on 4 ranks, and looks for a line.
fn everywhere(name: &str, program: &Path, line: &str) {
    let installed = Installed::new(name);
    for mpi in all() {
        let program = installed.build(&mpi, program);
        let output = installed.run(&mpi, 4, &program);
        let said = text(&output);
        assert!(output.status.success(), "{}: {:?}\n{said}", mpi.name, output.status);
        assert_eq!(said.matches(line).count(), 1, "{}:\n{said}", mpi.name);
        println!("{}:\n{said}", mpi.name);
    }
}

#[test]
fn the_papers_program_works_under_every_mpi() {
    let program = source("examples/opt_scatter.c");
    everywhere("opt", &program, "Opt_Scatter on 4 ranks: right");
}

#[test]
fn promises_are_kept_under_every_mpi() {
    let program = source("tests/library/behaviour.c");
    everywhere("promises", &program, "all as promised on 4 ranks");
}

#[test]
fn ones_own_functions_are_checked_and_measured_under_every_mpi() {
    let program = source("tests/library/own.c");
    everywhere("own", &program, "one's own as promised on 4 ranks");
}

/// Every collective and its algorithms, as the program takes them; or MPI's own and one of ours.
fn words(all: bool) -> Vec<String> {
    let of = |collective: Collective| {
        let names = algorithms(collective.family()).map(|algorithm| algorithm.name);
        let names = ["native"].into_iter().chain(names);
        let names: Vec<&str> = names.take(if all { usize::MAX } else { 2 }).collect();
        [collective.name().to_owned(), names.join(",")]
    };
    Collective::ALL.into_iter().flat_map(of).collect()
}

/// What a datatype, an operator or a handle is depends on the MPI; an algorithm does not.
#[test]
fn calls_take_what_the_mpi_functions_take_under_every_mpi() {
    let installed = Installed::new("call");
    for (at, mpi) in all().iter().enumerate() {
        let begun = std::time::Instant::now();
        let program = installed.build(mpi, &source("tests/library/call.c"));
        let words = words(at == 0);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = installed.run_with(mpi, 4, &program, &words);
        let said = text(&output);
        assert!(output.status.success(), "{}: {:?}\n{said}", mpi.name, output.status);
        assert!(said.contains("calls as MPI's own on 4 ranks"), "{}:\n{said}", mpi.name);
        assert!(!said.contains("refused"), "{}:\n{said}", mpi.name);
        println!("{}: {:.1} s", mpi.name, begun.elapsed().as_secs_f64());
    }
}

/// A platform that has this host, where all ranks are, and another site; its name.
fn sites_file(installed: &Installed) -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("a name");
    let platform = format!(
        "site = [{{ name = 'a', latency = '10us' }}, {{ name = 'b', latency = '10us' }}]\n\
         host = [{{ name = '{}', site = 'a', rate = '10Gbit' }},\n\
         {{ name = 'far', site = 'b', rate = '10Gbit' }}]\n\
         [wan]\nrate = '1Gbit'\nlatency = '5ms'\n",
        host.trim()
    );
    let file = installed.0.join("sites.toml");
    std::fs::write(&file, platform).expect("a file");
    file.display().to_string()
}

#[test]
fn where_ranks_are_goes_with_their_communicator_under_every_mpi() {
    let installed = Installed::new("placed");
    let file = sites_file(&installed);
    for mpi in all() {
        let program = installed.build(&mpi, &source("tests/library/placed.c"));
        let output = installed.run_with(&mpi, 4, &program, &[&file]);
        let said = text(&output);
        assert!(output.status.success(), "{}:\n{said}", mpi.name);
        assert!(said.contains("placements go on 4 ranks"), "{}:\n{said}", mpi.name);
    }
}

#[test]
fn models_are_estimated_and_asked_under_every_mpi() {
    let installed = Installed::new("model");
    let file = installed.0.join("model.toml").display().to_string();
    for mpi in all() {
        let program = installed.build(&mpi, &source("tests/library/model.c"));
        let output = installed.run_with(&mpi, 2, &program, &[&file]);
        let said = text(&output);
        assert!(output.status.success(), "{}:\n{said}", mpi.name);
        assert!(said.contains("a model as promised on 2 ranks"), "{}:\n{said}", mpi.name);
    }
}

/// The names of settings and their values, the default first, as the program takes them.
fn settings_of(lines: &[&str], quote: char) -> Vec<String> {
    let mut words = Vec::new();
    for line in lines {
        let quoted: Vec<&str> = line.split(quote).skip(1).step_by(2).collect();
        let values = quoted[1..]
            .iter()
            .map(|value| value.replace("[:ALGORITHM]", "").replace("cold:SIZE", "cold:64M"));
        words.extend([quoted[0].to_owned(), values.collect::<Vec<_>>().join(",")]);
    }
    words
}

#[test]
fn the_page_and_the_header_state_the_defaults() {
    let page = std::fs::read_to_string(source("../../docs/c.md")).expect("the page");
    let table = page.split("| name | values, the default first |").nth(1).expect("the table");
    let rows: Vec<&str> = table.lines().skip(2).take_while(|line| line.starts_with('|')).collect();
    // The purposes, behind the values, may name other settings.
    let cells: Vec<String> =
        rows.iter().map(|row| row.split('|').take(3).collect::<Vec<_>>().join("|")).collect();
    let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
    let of_page = settings_of(&cells, '`');
    let header = std::fs::read_to_string(source("include/laneway.h")).expect("the header");
    // One text each: lines that go on are joined.
    let list = header.split("which is named first here:").nth(1).expect("the list");
    let list = list.split("# Safety").next().expect("its end").replace("\n//  ", "");
    let items: Vec<&str> = list.lines().filter(|line| line.starts_with("// - ")).collect();
    let of_header = settings_of(&items, '"');
    assert!(of_page.len() >= 18 && of_page.len() == of_header.len(), "{of_page:?} {of_header:?}");
    for words in [of_page, of_header] {
        let line = "settings as described: root, confirmation, isolation";
        paths::run_with("settings", "tests/library/settings.c", &words, line);
    }
}

#[test]
fn files_of_measurements_are_compared_without_an_mpi() {
    paths::run("compare", "tests/library/compare.c", "comparisons as promised");
}

#[test]
fn what_is_chosen_for_sites_works_under_every_mpi() {
    let installed = Installed::new("rows");
    let file = sites_file(&installed);
    for mpi in all() {
        let program = installed.build(&mpi, &source("examples/rows.c"));
        for (arguments, says) in [
            (&[][..], "rows by native in "),
            (&[&file[..]], "0 of 128 products wrong"),
            (&["no-such-platform"], "where the ranks are"),
            (&["two-sites:2x2"], "is unknown"),
        ] {
            let output = installed.run_with(&mpi, 4, &program, arguments);
            let said = text(&output);
            assert!(said.contains(says), "{} {arguments:?}:\n{said}", mpi.name);
            let wrong = arguments.iter().any(|word| *word != file);
            assert_eq!(output.status.success(), !wrong, "{} {arguments:?}:\n{said}", mpi.name);
        }
    }
}

/// The same program in Rust, on a simulated cluster.
#[test]
fn the_papers_program_works_in_rust() {
    let package = ["run", "--package", "laneway-measure", "--example", "opt_scatter"];
    let (mut command, _) = cargo(&package);
    let output = finished(&mut command);
    assert!(output.status.success(), "{}", text(&output));
    assert!(text(&output).contains("Opt_Scatter on 16 ranks: right"), "{}", text(&output));
}

#[test]
fn an_mpi_that_is_loaded_apart_is_found() {
    let installed = Installed::new("hidden");
    let program = installed.0.join("hidden");
    let mut compiler = Command::new("cc");
    compiler.arg(source("tests/library/hidden.c")).arg("-o").arg(&program);
    compiler.arg("-L").arg(installed.0.join("lib")).args(["-llaneway", "-ldl"]);
    let output = finished(&mut compiler);
    assert!(output.status.success(), "{}", text(&output));
    // As the two count their handles in Fortran.
    for (library, world) in [("libmpi.so.40", "0"), ("libmpich.so.12", "0x44000000")] {
        let folder = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
        let library = Path::new(&folder).join(library);
        if !Need::Mpi.is_met(file(&library)) {
            continue;
        }
        let mut command = Command::new(&program);
        command.arg(&library).arg(world).env("LD_LIBRARY_PATH", installed.0.join("lib"));
        let output = finished(&mut command);
        let said = text(&output);
        assert!(output.status.success(), "{}: {said}", library.display());
        assert!(said.contains("before: 3 error: no MPI library is in this process"), "{said}");
        assert!(said.contains("after: 0"), "{}: {said}", library.display());
    }
}

/// The ranks of a simulation are one process, and are refused before they could meet there.
#[test]
fn a_simulation_is_refused_and_does_not_crash() {
    if !Need::Simgrid.is_met(program("smpirun")) {
        return;
    }
    let installed = Installed::new("simulated");
    let (program, include) = (installed.0.join("opt_scatter"), installed.0.join("include"));
    let mut compiler = Command::new("smpicc");
    compiler.arg(source("examples/opt_scatter.c")).arg("-o").arg(&program).arg("-I").arg(include);
    compiler.arg("-L").arg(installed.0.join("lib")).arg("-llaneway");
    let output = finished(&mut compiler);
    assert!(output.status.success(), "{}", text(&output));
    let platform = "<?xml version='1.0'?>\n\
        <!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n\
        <platform version=\"4.1\"><cluster id=\"c\" prefix=\"node-\" suffix=\"\" radical=\"0-1\" \
        speed=\"1Gf\" bw=\"1GBps\" lat=\"5us\"/></platform>\n";
    std::fs::write(installed.0.join("platform.xml"), platform).expect("a file");
    std::fs::write(installed.0.join("hosts"), "node-0\nnode-1\n").expect("a file");
    let mut command = Command::new("smpirun");
    command.args(["-np", "2", "-platform"]).arg(installed.0.join("platform.xml"));
    command.arg("-hostfile").arg(installed.0.join("hosts")).arg(&program);
    let output = finished(command.env("LD_LIBRARY_PATH", installed.0.join("lib")));
    let said = text(&output);
    assert!(said.contains("error: this process is a simulation"), "{said}");
    assert!(!said.contains("Segmentation"), "{said}");
}

#[test]
fn the_header_is_what_cbindgen_writes() {
    if !Need::Cbindgen.is_met(program("cbindgen")) {
        return;
    }
    let mut command = Command::new("cbindgen");
    command.args(["--quiet", "--config"]).arg(source("cbindgen.toml")).arg(source("."));
    let output = finished(&mut command);
    assert!(output.status.success(), "{}", text(&output));
    let written = std::fs::read_to_string(source("include/laneway.h")).expect("the header");
    let generated = String::from_utf8_lossy(&output.stdout);
    assert!(written == generated, "cbindgen --config cbindgen.toml --output include/laneway.h");
}

#[test]
fn the_header_serves_cpp_as_well() {
    let installed = Installed::new("cpp");
    for mpi in all() {
        let mut command = Command::new(&mpi.compiler);
        command.args(["-x", "c++", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]);
        // What old headers of MPI do in C++ is not ours.
        command.args(["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", "-I"]);
        command.arg(installed.0.join("include")).args(["-include", "laneway.h", "/dev/null"]);
        let output = finished(&mut command);
        assert!(output.status.success(), "{}: {}", mpi.name, text(&output));
    }
}

#[test]
fn cmake_finds_the_package() {
    if !Need::Cmake.is_met(program("cmake")) {
        return;
    }
    let mpis = all();
    let Some(mpi) = mpis.first() else { return };
    let installed = Installed::new("cmake");
    let project = installed.0.join("project");
    std::fs::create_dir(&project).expect("a folder");
    let program = source("examples/opt_scatter.c");
    std::fs::copy(program, project.join("opt_scatter.c")).expect("a copy");
    let lists = format!(
        "cmake_minimum_required(VERSION 3.13)\n\
         project(example C)\n\
         find_package(laneway 99 QUIET)\n\
         if(laneway_FOUND)\n  message(FATAL_ERROR \"this is not version 99\")\nendif()\n\
         find_package(laneway {} REQUIRED)\n\
         add_executable(opt_scatter opt_scatter.c)\n\
         target_link_libraries(opt_scatter laneway::laneway)\n",
        env!("CARGO_PKG_VERSION")
    );
    std::fs::write(project.join("CMakeLists.txt"), lists).expect("a file");
    let build = project.join("build");
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(&project).arg("-B").arg(&build);
    configure.arg(format!("-DCMAKE_PREFIX_PATH={}", installed.0.display()));
    configure.arg(format!("-DCMAKE_C_COMPILER={}", mpi.compiler.display()));
    let mut make = Command::new("cmake");
    make.arg("--build").arg(&build);
    for command in [&mut configure, &mut make] {
        let output = finished(command);
        assert!(output.status.success(), "{}", text(&output));
    }
    let output = installed.run(mpi, 2, &build.join("opt_scatter"));
    assert!(text(&output).contains("Opt_Scatter on 2 ranks: right"), "{}", text(&output));
}
