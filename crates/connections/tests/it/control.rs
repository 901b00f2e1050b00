//! Processes that are asked while they run: what they say, what they do, and who gets nowhere.

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use laneway_connections::control::{self, Answered, Status};
use laneway_connections::{
    ConnectionId, Endpoint, LocalPath, NetError, Options, Secret, Service, Setup, What,
};
use laneway_path::{Event, MigrationState, PathId, QpState};

const LIMIT: Duration = Duration::from_secs(20);

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
static FOLDERS: AtomicU32 = AtomicU32::new(0);

/// A folder of control sockets for one test, which goes with this value.
struct Folder {
    path: PathBuf,
    _alone: MutexGuard<'static, ()>,
}

impl Folder {
    fn new() -> Folder {
        let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let name = format!("laneway-control-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        // SAFETY: tests that look at the variable run one after the other.
        unsafe { std::env::set_var(control::VARIABLE, &path) };
        Folder { path, _alone: alone }
    }

    fn files(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(&self.path) else { return Vec::new() };
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        let mut names: Vec<String> = entries.flatten().map(name).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.path);
        _ = fs::remove_file(&self.path);
    }
}

fn endpoint(paths: usize, arms: bool) -> Endpoint {
    let local: SocketAddr = "127.0.0.1:0".parse().expect("address");
    let (paths, secret) = (vec![LocalPath::at(local); paths], Secret::none());
    let setup = Setup { arms, ..Setup::usual() };
    Endpoint::open(Options { paths, secret, accepts: true, setup }).expect("an endpoint")
}

fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < LIMIT);
        thread::sleep(Duration::from_millis(2));
    }
}

/// Two services of this process, the first of which has opened a connection.
struct Pair {
    ends: [Service; 2],
    ids: [ConnectionId; 2],
}

impl Pair {
    fn new(paths: [usize; 2]) -> Pair {
        let ends = paths.map(|paths| Service::start(endpoint(paths, true)).expect("a service"));
        let to = ends[1].endpoint().addresses();
        let id = ends[0].endpoint().connect(&to, 9, LIMIT).expect("connected");
        let peer = until(|| {
            let notice = ends[1].endpoint().poll()?;
            matches!(notice.what, What::Accepted { .. }).then_some(notice.connection)
        });
        Pair { ends, ids: [id, peer] }
    }

    fn await_armed(&self) {
        for (end, id) in self.ends.iter().zip(self.ids) {
            until(|| {
                let state = end.endpoint().get(id).map(|connection| connection.migration());
                (state == Ok(MigrationState::Armed)).then_some(())
            });
        }
    }

    /// Whether `count` messages arrive, once and in order.
    fn carry(&self, count: u64) {
        let [here, there] = &self.ends;
        for number in 0..count {
            let room = Vec::with_capacity(20_000);
            there.visit().post_receive(self.ids[1], number, room).expect("room");
            here.visit().send(self.ids[0], number, vec![number as u8; 20_000]).expect("sent");
        }
        for number in 0..count {
            until(|| match there.endpoint().poll()?.what {
                What::Event(Event::Received { id, message }) => {
                    assert_eq!((id, message), (number, vec![number as u8; 20_000]));
                    Some(())
                }
                _ => None,
            });
        }
    }
}

fn statuses() -> Vec<Status> {
    let answers = control::status(control::list().expect("a folder"), LIMIT);
    answers.into_iter().map(|answered| answered.answer.expect("an answer")).collect()
}

/// The first service alone.
fn first() -> Vec<control::Process> {
    let mut all = control::list().expect("a folder");
    all.truncate(1);
    all
}

#[test]
fn a_path_is_drained_and_given_back_while_messages_pass() {
    let folder = Folder::new();
    let pair = Pair::new([2, 2]);
    pair.await_armed();
    let own = std::process::id();
    assert_eq!(folder.files(), [format!("{own}-1.sock"), format!("{own}.sock")]);
    let mode = |path: &PathBuf| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    let socket = pair.ends[0].control().expect("a socket").to_path_buf();
    assert_eq!((mode(&folder.path), mode(&socket)), (0o700, 0o600));
    pair.carry(20);
    // The last acknowledgement may be under way.
    let all = until(|| {
        let all = statuses();
        let waits = |status: &Status| status.connections[0].waiting_messages > 0;
        (!all.iter().any(waits)).then_some(all)
    });
    let [here, there] = &all[..] else { panic!("two services") };
    for (status, received) in [(here, false), (there, true)] {
        let [one] = &status.connections[..] else { panic!("{status:?}") };
        assert_eq!((one.state, one.migration), (QpState::Rts, MigrationState::Armed));
        assert_eq!((one.primary, one.alternate), (0, Some(1)));
        let [main, other] = &status.paths[..] else { panic!("{status:?}") };
        let traffic = if received { main.received } else { main.sent };
        assert!(traffic.bytes > 400_000 && traffic.packets >= 20 * 14, "{main:?}");
        assert!(main.carrier && !main.drained && other.sent.bytes < 100_000, "{status:?}");
        assert!(status.program.starts_with("it-"), "{}", status.program);
    }
    let trip = here.connections[0].round_trip;
    assert!(trip.is_some_and(|trip| (1000..1_000_000_000).contains(&trip)), "{trip:?}");
    assert_eq!(here.paths[0].address, pair.ends[0].endpoint().addresses()[0]);
    assert_eq!(there.connections[0].peer, here.paths[0].address);

    let [Answered { pid, service: 0, answer: Ok(changes), .. }] =
        &control::drain(first(), "0", LIMIT)[..]
    else {
        panic!("drained");
    };
    let [change] = &changes[..] else { panic!("{changes:?}") };
    assert_eq!((*pid, change.number, &change.name), (own, 0, &here.paths[0].name()));
    assert_eq!((change.primary_before, change.primary_after), (1, 0));
    pair.carry(20);
    until(|| {
        let all = statuses();
        assert_eq!(all[0].paths.iter().map(|path| path.drained).collect::<Vec<_>>(), [true, false]);
        let on = |status: &Status| (status.connections[0].primary, status.connections[0].alternate);
        (on(&all[0]) == (1, None) && on(&all[1]).0 == 1).then_some(())
    });

    let undrained = control::undrain(first(), &here.paths[0].address.to_string(), LIMIT);
    let changes = undrained[0].answer.as_ref().expect("undrained");
    assert_eq!((changes[0].number, changes[0].alternate_after), (0, 1));
    pair.await_armed();
    pair.carry(20);
    let now = &statuses()[0];
    assert_eq!((now.connections[0].primary, now.connections[0].alternate), (1, Some(0)));
    assert_eq!((now.connections[0].migrations, now.totals.migrations), (1, 1));
    pair.ends[0].endpoint().close(pair.ids[0]).expect("closed");
    let now = &statuses()[0];
    assert_eq!((now.connections.len(), now.totals.migrations), (0, 1), "what was counted stays");
    drop(pair);
    assert_eq!(folder.files(), [""; 0], "sockets go with their services");
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let _folder = Folder::new();
    // The second end has one path: nothing is to be done at its connection.
    let pair = Pair::new([2, 1]);
    for word in ["eth9", "2", "127.0.0.2", "0 1", "\u{1}"] {
        for ask in [control::drain, control::undrain] {
            let answers = ask(first(), word, LIMIT);
            let Err(NetError::ControlRefused { why, .. }) = &answers[0].answer else {
                panic!("{answers:?}")
            };
            assert!(why.contains("unknown path") || why.contains("requests are"), "{why}");
        }
    }
    let drained = control::drain(first(), "1", LIMIT);
    assert_eq!(drained[0].answer.as_ref().map(Vec::len), Ok(1), "{drained:?}");
    // Every path of this address: the connection has no other, and stays.
    let drained = control::drain(first(), "127.0.0.1", LIMIT);
    let changes = drained[0].answer.as_ref().expect("both");
    assert_eq!((changes.len(), changes[0].primary_after), (2, 1));
    pair.carry(5);
}

#[test]
fn a_client_that_says_nothing_or_nonsense_blocks_no_other() {
    let _folder = Folder::new();
    let pair = Pair::new([2, 2]);
    let socket = pair.ends[0].control().expect("a socket").to_path_buf();
    let connect = || UnixStream::connect(&socket).expect("the socket listens");
    let begun = Instant::now();
    // More than are served at a time.
    let silent: Vec<UnixStream> = (0..10).map(|_| connect()).collect();
    pair.carry(10);
    assert!(begun.elapsed() < Duration::from_secs(1), "messages waited {:?}", begun.elapsed());
    assert_eq!(statuses().len(), 2);
    assert!(begun.elapsed() < Duration::from_secs(4), "an answer took {:?}", begun.elapsed());
    drop(silent);
    for (said, answered) in [
        (&b"hello\n"[..], true),
        (b"\n", true),
        (b"drain\n", true),
        (b"status now\n", true),
        (b"\xff\xfe\x00\n", true),
        (&[b'x'; 10_000], false),
        (b"status", false),
    ] {
        let mut stream = connect();
        stream.set_read_timeout(Some(LIMIT)).expect("a time");
        // The other end may have seen enough before all is said.
        _ = stream.write_all(said);
        _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = String::new();
        _ = stream.read_to_string(&mut answer);
        assert_eq!(answer.contains("\nrefused requests are"), answered, "{said:?}: {answer}");
        assert_eq!(answer.is_empty(), !answered, "{said:?}: {answer}");
    }
    // Who asks and never listens is left alone, too.
    let deaf: Vec<UnixStream> = (0..3).map(|_| connect()).collect();
    deaf.iter().for_each(|mut stream| stream.write_all(b"status\n").expect("sent"));
    assert_eq!(statuses().len(), 2);
    pair.carry(10);
}

#[test]
fn sockets_of_the_dead_are_removed_and_nothing_else() {
    let folder = Folder::new();
    assert!(control::list().expect("no folder is none").is_empty());
    let service = Service::start(endpoint(1, true)).expect("a service");
    for name in ["999999.sock", "999998-3.sock", "other.sock"] {
        drop(UnixListener::bind(folder.path.join(name)).expect("a socket"));
    }
    fs::write(folder.path.join("notes"), "mine").expect("a file");
    fs::write(folder.path.join("17.sock"), "no socket").expect("a file");
    let found: Vec<(u32, u32)> =
        control::list().expect("a folder").iter().map(|one| (one.pid, one.service)).collect();
    assert_eq!(found, [(std::process::id(), 0)]);
    drop(service);
    assert_eq!(folder.files(), ["17.sock", "notes", "other.sock"]);
    // One that listens and never answers is reported, in time.
    let _mute = UnixListener::bind(folder.path.join("999997.sock")).expect("a socket");
    let begun = Instant::now();
    let answers = control::status(control::list().expect("one"), Duration::from_millis(200));
    assert!(matches!(answers[0].answer, Err(NetError::NoControl { pid: 999_997, .. })));
    assert!(begun.elapsed() < Duration::from_secs(2));
}

#[test]
fn a_service_without_a_socket_goes_on_and_says_why() {
    let folder = Folder::new();
    fs::create_dir(&folder.path).expect("a folder");
    fs::set_permissions(&folder.path, Permissions::from_mode(0o777)).expect("a mode");
    let pair = Pair::new([2, 2]);
    let why = pair.ends[0].control().expect_err("others may write").to_string();
    assert!(why.ends_with("others may write to it"), "{why}");
    assert!(control::list().is_err_and(|error| error.to_string() == why));
    pair.carry(3);
    assert_eq!(folder.files(), [""; 0]);
    drop((pair, folder));

    let folder = Folder::new();
    fs::write(&folder.path, "a file").expect("written");
    let service = Service::start(endpoint(1, true)).expect("a service");
    let why = service.control().expect_err("a file").to_string();
    assert!(why.ends_with("it is not a folder"), "{why}");
    drop((service, folder));

    let folder = Folder::new();
    let real = folder.path.with_extension("real");
    fs::create_dir(&real).expect("a folder");
    std::os::unix::fs::symlink(&real, &folder.path).expect("a link");
    assert!(Service::start(endpoint(1, true)).expect("a service").control().is_err());
    drop(folder);
    fs::remove_dir(&real).expect("removed");

    let folder = Folder::new();
    // SAFETY: tests that look at the variable run one after the other.
    unsafe { std::env::set_var(control::VARIABLE, folder.path.join("of/missing")) };
    assert!(Service::start(endpoint(1, true)).expect("a service").control().is_err());
    // SAFETY: the same.
    unsafe { std::env::set_var(control::VARIABLE, folder.path.join("x".repeat(120))) };
    fs::create_dir(&folder.path).expect("a folder");
    let service = Service::start(endpoint(1, true)).expect("a service");
    assert!(service.control().is_err(), "a name that no socket can have");
}

#[test]
fn a_program_that_never_lets_go_for_long_is_asked_all_the_same() {
    let _folder = Folder::new();
    let pair = Pair::new([2, 2]);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        // One polls all the time, the other rests with the endpoint in its hands.
        scope.spawn(|| {
            while !stop.load(Ordering::Acquire) {
                pair.ends[0].endpoint().progress();
            }
        });
        scope.spawn(|| {
            while !stop.load(Ordering::Acquire) {
                pair.ends[1].endpoint().wait(Duration::from_millis(20));
            }
        });
        let mut longest = [Duration::ZERO; 2];
        for _ in 0..20 {
            for (service, longest) in longest.iter_mut().enumerate() {
                let mut all = control::list().expect("a folder");
                all.retain(|process| process.service == service as u32);
                let begun = Instant::now();
                let answers = control::status(all, LIMIT);
                *longest = begun.elapsed().max(*longest);
                assert!(answers[0].answer.is_ok(), "{answers:?}");
            }
        }
        stop.store(true, Ordering::Release);
        println!("longest answers {longest:?}");
        assert!(longest.iter().all(|took| *took < Duration::from_millis(300)), "{longest:?}");
    });
}

/// An answer that no socket takes at once.
#[test]
fn thousands_of_connections_fit_one_answer() {
    const CONNECTIONS: usize = 3000;
    let _folder = Folder::new();
    let there = Service::start(endpoint(2, false)).expect("a service");
    let to = there.endpoint().addresses();
    let mut here = endpoint(2, false);
    let begun = Instant::now();
    let mut opened = 0;
    for batch in 1..=CONNECTIONS / 100 {
        for label in 0..100 {
            here.begin_open(&to, label, LIMIT).expect("begun");
        }
        while opened < 100 * batch {
            assert!(begun.elapsed() < LIMIT, "{opened} opened");
            here.wait(Duration::from_millis(5));
            while let Some(notice) = here.poll() {
                opened += usize::from(notice.what == What::Connected);
            }
        }
    }
    let begun = Instant::now();
    let all = statuses();
    println!("{CONNECTIONS} connections were reported in {:?}", begun.elapsed());
    assert_eq!(all[0].connections.len(), CONNECTIONS);
    there.endpoint().drain(PathId(0)).expect("there");
    assert!(statuses()[0].paths[0].drained);
}
